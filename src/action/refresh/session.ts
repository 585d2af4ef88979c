import type { TerminalStatus } from "../../client/contract.ts";
import { planTasks, type SendingTask } from "../plan.ts";
import type { SessionEvent } from "../report/log-events.ts";
import { cancelledBeforeSending, isJobNotFound, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { readJob } from "../run-job.ts";
import type { SessionEntry } from "./entry.ts";
import type { SessionMemory } from "./session-memory.ts";
import { untilAborted } from "./until-aborted.ts";

/** Returns the entry of the session. If it cannot be read, the result says so, and nothing may be sent. */
export async function recallSession(
  memory: SessionMemory,
  signal: AbortSignal,
): Promise<{ entry: SessionEntry | undefined } | RunResult> {
  const found = await untilAborted(memory.find(), signal);
  if (!found) return cancelledBeforeSending;
  return "error" in found ? { kind: "blocked", cause: "session", detail: found.error } : found;
}

/**
 * Decides what a session sends: a follow-up while the job it remembers is active or its pull request is open, otherwise a
 * create. A follow-up comes with the create that replaces it if the job is gone by then.
 *
 * @param jobId - the job that the session remembers; `undefined` if there is none
 */
export async function planSession(
  prompt: string,
  jobId: string | undefined,
  run: Run,
): Promise<SendingTask[] | RunResult> {
  const { state } = run;
  const say = (event: SessionEvent): void => run.log.session(event, run.settings.session);
  if (jobId === undefined) {
    say({ kind: "first-job" });
    return planTasks(prompt);
  }

  const result = await readJob(jobId, run);
  const { pullRequest } = state;
  const status = isJobNotFound(result, state) ? "not found" : statusOf(result);
  if (status === undefined) return result;
  state.forgetJob();
  if (status === "active") {
    say({ kind: "job-active", jobId });
    return planTasks(prompt, jobId);
  }
  if (status !== "completed" || !pullRequest) {
    say({ kind: "job-over", jobId, reason: status === "completed" ? "no pull request" : status });
    return planTasks(prompt);
  }
  // Loaded here, because few runs of a session find a job that has completed.
  const { readPullRequestState } = await import("./pull-request-state.ts");
  const pullRequestState = await readPullRequestState(pullRequest, run);
  say({ kind: "pull-request", jobId, pullRequest, state: pullRequestState });
  const isOver = pullRequestState === "merged" || pullRequestState === "closed";
  return planTasks(prompt, isOver ? undefined : jobId);
}

/** Returns the status that a single read of a job found; `undefined` if it could not be read. */
function statusOf(result: RunResult): TerminalStatus | "active" | undefined {
  if (result.kind === "done") return result.status;
  return result.kind === "started" ? "active" : undefined;
}
