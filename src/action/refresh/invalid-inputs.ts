import { cacheAccess } from "../../runner-kit/cache.ts";
import { hash } from "../hash.ts";
import type { RunPorts } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";

/** How long the end of the step may take for the save, in milliseconds. */
const maxWaitMs = 5000;

/** Returns the prefix of the key that says that an attempt had invalid inputs, which it could not be told apart by. */
export function invalidInputsPrefix(matrixLeg: string, environment: NodeJS.ProcessEnv, attempt: number): string {
  const { GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
  return `agent-job-inputs-${hash(JSON.stringify([GITHUB_RUN_ID, GITHUB_JOB, GITHUB_ACTION, matrixLeg]))}-${attempt}-`;
}

/**
 * Remembers that this attempt sent nothing, because its inputs were invalid: a missing secret is added, and the run is
 * re-run. Never rejects; without the entry, the re-run asks GitHub.
 */
export async function rememberInvalidInputs(
  matrixLeg: string,
  { environment, connectCache, clock, signal }: Pick<RunPorts, "environment" | "connectCache" | "clock" | "signal">,
): Promise<void> {
  if (cacheAccess(environment) !== "write" || signal.aborted) return;
  const key = `${invalidInputsPrefix(matrixLeg, environment, runAttempt(environment))}1`;
  const settled = new AbortController();
  const save = async (): Promise<void> => (await connectCache()).save(key, JSON.stringify({ version: 1 }));
  void save()
    .catch(() => {})
    .then(() => settled.abort());
  await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
}
