import type { TerminalStatus } from "../client/contract.ts";
import { type Acceptance, HttpError, type RequestError, type SubmissionError } from "../client/errors.ts";
import type { Text } from "../runner-kit/text.ts";
import type { Outcome } from "./outcome.ts";
import type { RunState } from "./run-state.ts";

/** What is wrong with an input and how to fix it. Never contains the value of `api-key`. */
export interface InputProblem {
  input: string;
  /** Continues the sentence that begins with the input's name. */
  problem: Text;
}

/** What the step was asked to do; `poll` if it only waits for a job. */
export type Operation = "create" | "message" | "poll";

/** How the run ended, before it becomes an outcome. */
export type RunResult =
  | { kind: "invalid-inputs"; problems: readonly InputProblem[] }
  /** The job reached a terminal state. */
  | { kind: "done"; status: TerminalStatus }
  /** `wait: false`: the service accepted the create or message, or the job was polled once and is not done. */
  | { kind: "started" }
  | { kind: "timed-out"; lastError?: RequestError }
  /** `acceptance`: whether the service accepted the create or message. A run that only waits for a job counts as accepted. */
  | { kind: "cancelled"; operation: Operation; acceptance: Acceptance }
  | { kind: "submission-failed"; operation: "create" | "message"; error: SubmissionError }
  | { kind: "poll-failed"; error: RequestError }
  /**
   * The event is not a request, or not one that its author may make; or nothing that counts has changed. `handledBy`: the
   * event that GitHub fires for the same request, and that handles it. `isBase`: the work would start from the branch of a fork.
   */
  | {
      kind: "skipped";
      reason: EventSkipReason;
      triggerKind: TriggerKind;
      handledBy?: string;
      isBase?: boolean;
    }
  /** `has` and `needs`: permissions in the repository. */
  | { kind: "skipped"; reason: "not-permitted"; triggerKind: TriggerKind; has: string; needs: string }
  | { kind: "skipped"; reason: "nothing-new" }
  /** `plan`: what the step would have done, or why it would have failed. */
  | { kind: "skipped"; reason: "dry-run"; plan: Text | BlockedResult }
  | BlockedResult
  /** A bug in the action. */
  | { kind: "crashed"; error: unknown };

/** Why an event asks for nothing, or not for a job. */
export type EventSkipReason = Exclude<SkipReason, "not-permitted" | "nothing-new" | "dry-run">;

/** Why the step starts nothing. All but the last two are reasons of comment mode. */
export type SkipReason =
  | "no-trigger"
  | "no-instruction"
  | "not-permitted"
  | "bot"
  | "edited"
  /** The pull request is from a fork, so that the run has no secrets. */
  | "fork"
  /** A command, such as `status`, starts nothing. */
  | "command"
  | "nothing-new"
  /** The input asks to send nothing, and to show the request. */
  | "dry-run";

/** The kind of thing that asks for a job in comment mode: a text, or a label that is set on an issue or pull request. */
export type TriggerKind = "comment" | "review" | "issue" | "pull request" | "label";

/** This run sent nothing, because the step could not find out whether, or what, to send. */
export type BlockedResult =
  | { kind: "blocked"; cause: "event" | "review"; detail: string }
  | { kind: "blocked"; cause: "permission"; triggerKind: TriggerKind; detail: string }
  /** The changes that the prompt is about cannot be read. */
  | { kind: "blocked"; cause: "changes"; detail: string }
  /** `no-base`: the service does not take a branch to start from; `base`: that cannot be found out. */
  | { kind: "blocked"; cause: "no-base" }
  | { kind: "blocked"; cause: "base"; detail: string }
  /** The range of changes ends before it begins: a later run has covered it. */
  | { kind: "blocked"; cause: "range-behind"; base: string; head: string }
  /** Plain mode: what an earlier run attempt started cannot be read, or it was something else. */
  | { kind: "blocked"; cause: "memory" | "session"; detail: string }
  | { kind: "blocked"; cause: "other-prompt"; jobId: string | undefined; attempt: number }
  /** The service says that the earlier run attempts sent several prompts, and none of them is this one. */
  | { kind: "blocked"; cause: "several-turns"; jobIds: readonly string[] }
  /** The service had received the same request of this step from somebody else. */
  | { kind: "blocked"; cause: "replayed"; jobId: string }
  /**
   * Nothing says what an earlier run attempt started. `unrecorded`: it ran the step, by GitHub's record; `unknown`: GitHub could
   * not be asked, and the cache could not be written.
   */
  | { kind: "blocked"; cause: "unrecorded" | "unknown"; attempt: number }
  /** A service that may be able to say what was sent did not answer. */
  | { kind: "blocked"; cause: "service"; error: RequestError | undefined }
  /** A later run of the session has sent something else to the job of this one since. */
  | { kind: "blocked"; cause: "later-run"; run: string; jobId: string }
  /** Nothing could be left in the thread, or elsewhere, that tells a re-run of the request. */
  | { kind: "blocked"; cause: "unwitnessed" }
  /** `pending`: an earlier run attempt was about to send something for this request, and whether it did is unknown. */
  | { kind: "blocked"; cause: "prompt" | "thread" | "time" | "pending" };

/** The result of a step that was cancelled while it looked up what to do. */
export const cancelledBeforeSending: RunResult = { kind: "cancelled", operation: "create", acceptance: "rejected" };

/** What a re-run of the workflow run does: sends the same request again, waits for a job, or sends nothing and fails. */
export type RerunAction = "repeats" | "resumes" | "stops";

/** What it does as long as the job is of use, and once that is over. */
export interface RerunEffect {
  usable: RerunAction;
  over: RerunAction;
}

/** Returns the outcome of a run. */
export function outcomeOf(result: RunResult, state: RunState): Outcome {
  switch (result.kind) {
    case "done":
      if (result.status === "completed") return state.pullRequest ? "pr-created" : "no-changes";
      return result.status;
    case "started":
    case "timed-out":
    case "cancelled":
    case "skipped":
      return result.kind;
    case "invalid-inputs":
    case "submission-failed":
    case "poll-failed":
    case "blocked":
    case "crashed":
      return "error";
  }
}

/** Returns whether the service accepted the create or message; `undefined` if the result does not say. */
export function acceptanceOf(result: RunResult): Acceptance | undefined {
  if (result.kind === "submission-failed") return result.error.acceptance;
  return result.kind === "cancelled" ? result.acceptance : undefined;
}

/**
 * Returns whether the service answered the first request with a `404` of its own, so that nothing was started. Specification:
 * an error has a message; the `404` of a gateway has none that the service wrote.
 */
export function isJobNotFound(result: RunResult, state: RunState): boolean {
  const error = httpErrorOf(result);
  return error?.status === 404 && error.serviceMessage !== "" && !state.hasRecord;
}

/** Returns whether the service rejected a create or message for good, and not because of the key or a rate limit. */
export function isRejected(result: RunResult): boolean {
  const status = result.kind === "submission-failed" ? (httpErrorOf(result)?.status ?? 0) : 0;
  return acceptanceOf(result) === "rejected" && status >= 400 && status < 500 && ![401, 403, 404, 429].includes(status);
}

function httpErrorOf(result: RunResult): HttpError | undefined {
  if (result.kind !== "submission-failed" && result.kind !== "poll-failed") return undefined;
  const error = result.kind === "submission-failed" ? result.error.cause : result.error;
  return error instanceof HttpError ? error : undefined;
}
