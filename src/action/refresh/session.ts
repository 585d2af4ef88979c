import type { TerminalStatus } from "../../client/contract.ts";
import type { PullRequest } from "../pull-request.ts";
import { cancelledBeforeSending, isJobNotFound, type RunResult } from "../result.ts";
import type { RunState } from "../run-state.ts";
import { untilAborted } from "./abort.ts";
import type { SendingTask } from "./attempt-memory.ts";
import type { SessionEntry, SessionMemory } from "./session-memory.ts";

export type PullRequestState = "open" | "merged" | "closed" | "unknown";

/** Why a session sends a follow-up or starts a new job. */
export type SessionEvent =
  | { kind: "first-job" }
  | { kind: "job-active"; jobId: string }
  | { kind: "pull-request"; jobId: string; pullRequest: PullRequest; state: PullRequestState }
  | { kind: "job-over"; jobId: string; reason: "failed" | "archived" | "not found" | "no pull request" }
  /** The runner offers no cache service. */
  | { kind: "no-cache" };

export interface SessionPorts {
  /** Reads a job once. Never rejects. */
  readJob: (jobId: string) => Promise<RunResult>;
  /** Never rejects. */
  readPullRequest: (pullRequest: PullRequest) => Promise<PullRequestState>;
  onEvent: (event: SessionEvent) => void;
}

/** Returns what the session remembers. If that cannot be read, the result says so, and nothing may be sent. */
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
  { readJob, readPullRequest, onEvent }: SessionPorts,
  state: RunState,
): Promise<SendingTask[] | RunResult> {
  const create: SendingTask = { kind: "create", prompt };
  if (jobId === undefined) {
    onEvent({ kind: "first-job" });
    return [create];
  }

  const result = await readJob(jobId);
  const { pullRequest } = state;
  const status = isJobNotFound(result, state) ? "not found" : statusOf(result);
  if (status === undefined) return result;
  state.forgetJob();
  const followUp: SendingTask[] = [{ kind: "message", jobId, prompt }, create];
  if (status === "active") {
    onEvent({ kind: "job-active", jobId });
    return followUp;
  }
  const startOver = (reason: Extract<SessionEvent, { kind: "job-over" }>["reason"]): SendingTask[] => {
    onEvent({ kind: "job-over", jobId, reason });
    return [create];
  };
  if (status !== "completed") return startOver(status);
  if (!pullRequest) return startOver("no pull request");
  const pullRequestState = await readPullRequest(pullRequest);
  onEvent({ kind: "pull-request", jobId, pullRequest, state: pullRequestState });
  return pullRequestState === "merged" || pullRequestState === "closed" ? [create] : followUp;
}

/** Returns the status that a single read of a job found; `undefined` if it could not be read. */
function statusOf(result: RunResult): TerminalStatus | "active" | undefined {
  if (result.kind === "done") return result.status;
  return result.kind === "started" ? "active" : undefined;
}
