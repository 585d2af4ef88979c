import type { Changes } from "../changes/changes.ts";
import type { PullRequest, PullRequestState } from "../pull-request.ts";

/** What the log has to say about re-runs. */
export type RerunEvent =
  | { kind: "resuming"; jobId: string; attempt: number; earlierAttempt: number }
  /** The job of the earlier attempt is of no use, so the request is sent again. */
  | { kind: "starting-over"; jobId: string; reason: "failed" | "archived" | "not found" }
  /** The runner offers no cache service. */
  | { kind: "no-cache" }
  | { kind: "not-saved"; error: unknown };

/** Why a session sends a follow-up or starts a new job. */
export type SessionEvent =
  | { kind: "first-job" }
  | { kind: "job-active"; jobId: string }
  | { kind: "pull-request"; jobId: string; pullRequest: PullRequest; state: PullRequestState }
  | { kind: "job-over"; jobId: string; reason: "failed" | "archived" | "not found" | "no pull request" }
  /** The runner offers no cache service. */
  | { kind: "no-cache" };

/** What the log has to say about changes. */
export type ChangesEvent =
  | { kind: "found"; changes: Changes }
  | { kind: "nothing-new"; changes: Changes }
  /** The event has nothing to compare. */
  | { kind: "nothing-to-compare"; eventName: string }
  /** The start of the range is no longer part of the history, so the range is the last day. */
  | { kind: "replaced-start"; base: string };
