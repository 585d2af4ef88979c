import type { Turn } from "../model.ts";
import type { TurnContext } from "./turn-ports.ts";

/**
 * Returns how programs of a turn run. Only its agent gets a prompt and the earlier turns.
 *
 * @param signal - ends them, as does whoever stops the turn
 */
export function runOptions(
  { job: jobId, request: requestId }: Turn,
  { directory: directories, repository, sandbox, network, limits, cgroups, logFile, stop }: TurnContext,
  signal: AbortSignal,
) {
  return {
    ...{ prompt: "", isFollowUp: false, history: [], jobId, requestId, directories, objects: repository.objects },
    ...{ sandbox, network, limits, cgroups, logFile, signal: stop ? AbortSignal.any([signal, stop]) : signal },
  };
}
