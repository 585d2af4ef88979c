import { isJobNotFound, type RunResult } from "./result.ts";
import type { Run } from "./run.ts";
import { readJob } from "./run-job.ts";
import { RunState } from "./run-state.ts";

/** A job that the service does not find is looked for again after this time, in milliseconds. */
const secondLookMs = 3000;

/**
 * Reads a job once. It is gone only if the service itself says so twice: a single `404` may come from a service that is just
 * being restarted. Never rejects.
 */
export async function findJob(jobId: string, run: Run): Promise<RunResult | "gone"> {
  const result = await readJob(jobId, run);
  if (!isJobNotFound(result, run.state)) return result;
  run.state.forgetJob();
  return lookAgain(jobId, run);
}

/** Returns whether a job is still not found some seconds after a request for it was answered with `404`. Never rejects. */
export async function isStillGone(jobId: string, run: Run): Promise<boolean> {
  const state = new RunState();
  state.startedAt = run.state.startedAt;
  return (await lookAgain(jobId, { ...run, state })) === "gone";
}

async function lookAgain(jobId: string, run: Run): Promise<RunResult | "gone"> {
  const { clock, signal } = run.ports;
  await clock.sleep(secondLookMs, signal);
  const result = await readJob(jobId, run);
  return isJobNotFound(result, run.state) ? "gone" : result;
}
