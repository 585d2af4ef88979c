import type { TerminalStatus } from "../client/contract.ts";
import { type Acceptance, HttpError, type RequestError, type SubmissionError } from "../client/errors.ts";
import { type Message, plain, type Text } from "../runner-kit/text.ts";
import type { Reason } from "./memory/decide.ts";
import type { Level, Outcome } from "./outcome.ts";
import type { RunState } from "./run-state.ts";

/** What is wrong with an input and how to fix it. Never contains the value of `api-key`. */
export interface InputProblem {
  input: string;
  /** Continues the sentence that begins with the input's name. */
  problem: Text;
}

/** What the step was asked to do; `poll` if it only waits for a job. */
export type Operation = "create" | "message" | "poll";

/** Thrown when the agent's service cannot start, or has ended early. The text says what to change. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly title: string;
  readonly text: Text;

  constructor(title: string, text: Text) {
    super(plain(text));
    this.title = title;
    this.text = text;
  }
}

/** Returns the result of a run whose agent failed. Default: before anything was sent. */
export function agentFailed({ title, text }: AgentError, acceptance: Acceptance = "rejected"): RunResult {
  return { kind: "agent-failed", title, text, acceptance };
}

/** How the run ended, before it becomes an outcome. */
export type RunResult =
  | { kind: "invalid-inputs"; problems: readonly InputProblem[] }
  | { kind: "done"; status: TerminalStatus }
  /** `wait: false`: the service accepted the create or message, or the job was polled once and is not done. */
  | { kind: "started" }
  /** `timeoutMs`: the time since the first request that was over. */
  | { kind: "timed-out"; lastError?: RequestError; timeoutMs: number }
  /** `acceptance`: whether the service accepted the create or message. A run that only waits for a job counts as accepted. */
  | { kind: "cancelled"; operation: Operation; acceptance: Acceptance }
  | { kind: "submission-failed"; operation: "create" | "message"; error: SubmissionError }
  | { kind: "poll-failed"; error: RequestError }
  /** The agent that runs with the step could not be started, or ended early. */
  | ({ kind: "agent-failed"; acceptance: Acceptance } & Pick<AgentError, "title" | "text">)
  | SkippedResult
  | BlockedResult
  | { kind: "crashed"; error: unknown };

/** The event is not a request, or not one that its author may make; nothing that counts has changed; or nothing is to be sent. */
export type SkippedResult =
  /** `handledBy`: the event that GitHub fires for the same request, and that handles it. `isBase`: the work would start from the branch of a fork. */
  | { kind: "skipped"; reason: EventSkipReason; triggerKind: TriggerKind; handledBy?: string; isBase?: boolean }
  /** With a trigger, on an event by which nobody can ask. */
  | { kind: "skipped"; reason: "no-trigger"; event: string }
  /** The event is about a commit of an agent. */
  | { kind: "skipped"; reason: "own-change" }
  | { kind: "skipped"; reason: "not-permitted"; triggerKind: TriggerKind; has: string; needs: string }
  | { kind: "skipped"; reason: "nothing-new" }
  /** `plan`: what the step would have done, or why it would have failed. */
  | { kind: "skipped"; reason: "dry-run"; plan: Text | BlockedResult };

/** Why an event asks for no job. `fork`: a run for a fork has no secrets; `command`: one like `status` starts nothing. */
export type EventSkipReason = "no-trigger" | "no-instruction" | "bot" | "edited" | "fork" | "command" | "withdrawn";

/** Why the step starts nothing: the `skip-reason` output. */
export type SkipReason = SkippedResult["reason"];

/** The kind of thing that asks for a job in comment mode: a text, or a label that is set on an issue or pull request. */
export type TriggerKind = "comment" | "review" | "issue" | "pull request" | "label";

interface BlockedDetails {
  event: { detail: string };
  review: { detail: string };
  permission: { triggerKind: TriggerKind; detail: string };
  /** `jobId`: the last job of the session; `undefined` if the service did not say which that is. */
  "session-job": { jobId: string | undefined; error: RequestError; forMs: number };
  /** Another run works for the session. `jobId`: `undefined` if its agent has not begun; `latest`: until when it works at most. */
  "session-busy": { jobId: string | undefined; latest: string };
  changes: { detail: string };
  /** What asks cannot be read again. */
  request: { triggerKind: TriggerKind; detail: string };
  /** `error`: why the service could not be asked; `undefined` if it takes none. */
  "no-base": { error: RequestError | undefined };
  base: { detail: string };
  /** The newest commit of a branch that can be the agent's. */
  head: { branch: string; detail: string };
  /** The range of changes ends before it begins: another run has covered it, or `since`, the input, names what is ahead of it. */
  "range-behind": { base: string; head: string; since?: string };
  /** Plain mode: what an earlier run attempt, or an earlier run of the session, started cannot be read. */
  memory: { detail: string };
  session: { detail: string };
  /** The service had received the same request of this step from somebody else. */
  replayed: { jobId: string };
  /** A service that may be able to say what was sent did not answer. */
  service: { error: RequestError | undefined };
  /** Nothing could be left in the thread, or elsewhere, that tells a re-run of the request. */
  unwitnessed: object;
  prompt: object;
  /** `detail`: why it cannot be read; `undefined` for a re-run, whose earlier attempt may have left something there. */
  thread: { detail?: string };
  time: object;
}

/** This run sent nothing, because the step could not find out whether, or what, to send. */
export type BlockedResult =
  | { [Cause in keyof BlockedDetails]: { kind: "blocked"; cause: Cause } & BlockedDetails[Cause] }[keyof BlockedDetails]
  | ({ kind: "blocked" } & Exclude<Reason, { cause: "service" | "unreadable" }>);

/** The result of a step that was cancelled while it looked up what to do. */
export const cancelledBeforeSending: RunResult = { kind: "cancelled", operation: "create", acceptance: "rejected" };
/** The same in a re-run, before it knew what earlier attempts had sent. */
export const cancelledWhileLooking: RunResult = { kind: "cancelled", operation: "poll", acceptance: "rejected" };

/** How a run ended: the one description that log, summary and reply print. */
export interface Ending {
  outcome: Outcome;
  /** The annotation; the step fails if it is an error. */
  level: Level;
  message: Message;
  /** The time since the first request, in milliseconds. */
  elapsedMs: number;
}

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
      if (result.status !== "completed") return result.status;
      if (state.unproven !== undefined) return "error";
      if (state.endedWithout !== undefined) return "failed";
      return state.pullRequest && !state.isUnchanged ? "pr-created" : "no-changes";
    case "started":
    case "timed-out":
    case "cancelled":
    case "skipped":
      return result.kind;
    case "invalid-inputs":
    case "submission-failed":
    case "poll-failed":
    case "agent-failed":
    case "crashed":
      return "error";
    case "blocked":
      return result.cause === "session-busy" ? "timed-out" : "error";
  }
}

/** Returns how the turn ended; `undefined` if that is unknown: the job may show its state from before a message. */
export function endOf(result: RunResult, state: RunState): "completed" | "failed" | undefined {
  if (result.kind !== "done" || state.unproven === "start") return undefined;
  return result.status === "completed" ? "completed" : "failed";
}

/** Returns whether the service accepted the create or message; `undefined` if the result does not say. */
export function acceptanceOf(result: RunResult): Acceptance | undefined {
  if (result.kind === "submission-failed") return result.error.acceptance;
  return result.kind === "cancelled" || result.kind === "agent-failed" ? result.acceptance : undefined;
}

/** Returns whether the service's own `404`, which is JSON with a message unlike a gateway's, answered the first request. */
export function isJobNotFound(result: RunResult, state: RunState): boolean {
  const error = httpErrorOf(result);
  return error?.status === 404 && error.isOfService === true && !state.hasRecord;
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
