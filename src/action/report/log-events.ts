import type { CacheAccess } from "../../runner-kit/cache.ts";
import type { Changes } from "../changes/changes.ts";
import type { PullRequest, PullRequestState } from "../pull-request.ts";

/** What the log has to say about re-runs. */
export type RerunEvent =
  /** `earlierAttempt`: the one that started the job, if that is known. `besides`: a later one, of which nothing says what it sent. */
  | {
      kind: "resuming";
      jobId: string;
      attempt: number;
      earlierAttempt: number | undefined;
      besides: number | undefined;
    }
  /** The service says that an earlier attempt sent this turn. */
  | { kind: "resuming-turn"; jobId: string; attempt: number; hasOtherPrompt: boolean }
  /** The job of the earlier attempt is of no use, so the request is sent again. */
  | { kind: "starting-over"; jobId: string; reason: "failed" | "stopped" | "archived" | "not found" | "rejected" }
  /** `isInTime`: nothing has been sent yet. */
  | { kind: "not-saved"; error: unknown; isInTime: boolean };

/** What later runs will not know, because the Actions cache cannot be written. */
export interface Forgotten {
  access: CacheAccess;
  /** Whether a re-run will not find the job of this attempt. */
  forgetsAttempt: boolean;
  /** The session's name, or empty. */
  session: string;
}

/** Why a session sends a follow-up or starts a new job. */
export type SessionEvent =
  | { kind: "first-job" }
  | { kind: "job-active"; jobId: string }
  | { kind: "pull-request"; jobId: string; pullRequest: PullRequest; state: PullRequestState }
  | { kind: "job-over"; jobId: string; reason: "failed" | "archived" | "not found" | "no pull request" }
  /** The failed job rejects the follow-up, so that the session leaves its open pull request. */
  | { kind: "rejected"; jobId: string; pullRequest: PullRequest }
  /** Turn after turn of the job has failed, so that the session leaves its open pull request. */
  | { kind: "failed-again"; jobId: string; pullRequest: PullRequest; failures: number };

/** What the log has to say about changes. */
export type ChangesEvent =
  | { kind: "found"; changes: Changes }
  | { kind: "nothing-new"; changes: Changes }
  /** The event has nothing to compare. */
  | { kind: "nothing-to-compare"; eventName: string }
  /** GitHub does not show a pull request of the session, and the messages of commits say that it was merged. */
  | { kind: "by-message"; pullRequest: number }
  /** The start of the range is no longer part of the history, so the range is the last day. */
  | { kind: "replaced-start"; base: string };
