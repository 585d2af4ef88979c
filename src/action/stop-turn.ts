import { hasEnded, type SentTurn } from "../client/step-lookup.ts";
import type { RunResult } from "./result.ts";
import { connectService, type Run } from "./run.ts";
import type { Task } from "./settings.ts";

/** How long after a signal the service is asked to stop a turn, in milliseconds: soon after that, the runner kills the step. */
const stopGraceMs = 2000;
/** Before the service is asked again whether the turn has ended, in milliseconds. */
const pauseMs = 250;

/**
 * Stops the turn that a cancelled step has sent itself, if the service can. The state says what became of it, and the result
 * whether a request that was in doubt was accepted. Never rejects.
 */
export async function stopOwnTurn(task: Task, result: RunResult, run: Run): Promise<RunResult> {
  const { settings, state, log } = run;
  const isOwn = task.kind !== "attach" && settings.wait && settings.onCancel === "stop";
  // An agent that runs with the step ends with it.
  if (!isOwn || !(result.kind === "cancelled" || (settings.agent && result.kind === "timed-out"))) return result;
  if (result.kind === "cancelled" && result.acceptance === "rejected") return result;
  const accepted: RunResult = result.kind === "cancelled" ? { ...result, acceptance: "accepted" } : result;
  const { clock } = run.ports;
  // The step's own signal has aborted.
  const limits = { deadline: clock.now() + stopGraceMs, signal: new AbortController().signal };
  try {
    const client = connectService(run);
    const key = run.key.of(task.prompt, task.replaces);
    const announcement = await client.lookUpStep(key, limits);
    if (!announcement) return result;
    state.features = announcement.features;
    const isOwnTurn = ({ request, jobId }: SentTurn): boolean =>
      request === key.request && (state.jobId === "" || jobId === state.jobId);
    const turn = announcement.turns.find(isOwnTurn);
    if (!turn) return result;
    if (state.jobId === "") {
      state.jobId = turn.jobId;
      state.origin = task.kind === "create" ? "created" : "continued";
      run.publishJobId(turn.jobId);
    }
    if (!announcement.features.has("stop")) return accepted;
    state.stop = "asked";
    for (;;) {
      // An earlier attempt may have sent the same request, and its turn may be over.
      const status = hasEnded(turn.status) ? turn.status : await client.stopTurn(turn.jobId, turn.turnId, limits);
      if (status === "stopped") state.stop = "stopped";
      else if (status === "completed" || status === "failed") {
        state.stop = "ended";
        state.update((await client.getJob(turn.jobId, limits)).job, clock.now());
      }
      if (state.stop !== "asked" || clock.now() + pauseMs >= limits.deadline) break;
      await clock.sleep(pauseMs);
    }
    return accepted;
  } catch (error) {
    log.debugError(error);
    if (state.stop !== undefined) return accepted;
    state.stop = "unreached";
    return result;
  }
}
