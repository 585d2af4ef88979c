import type { Job } from "../client/contract.ts";
import type { RequestError, SubmissionError } from "../client/errors.ts";
import type { SkipReason } from "./comments/trigger.ts";
import type { FailableOutcome } from "./inputs/rules.ts";
import type { InputProblem } from "./inputs/schema.ts";
import type { Facts } from "./run-state.ts";

/** What the step was about when it ended. */
export type Operation = "create" | "message" | "poll";

/** What could not be told or had before something was started. */
export type NoAdmission = "event" | "permission" | "prompt" | "thread" | "time";

/** How the run ended. */
export type Ending =
  | { kind: "refused-inputs"; problems: readonly InputProblem[] }
  | { kind: "settled"; job: Job }
  | { kind: "started" }
  | { kind: "timed-out"; lastError?: RequestError }
  /** `taken` is what became of the create or message, which a wait alone has not. */
  | { kind: "cancelled"; operation: Operation; taken: "no" | "unclear" | "yes" }
  | { kind: "not-submitted"; operation: "create" | "message"; error: SubmissionError }
  | { kind: "poll-refused"; error: RequestError }
  /** Comment mode: the comment asks for nothing that may be done. */
  | { kind: "skipped"; reason: SkipReason }
  /** Comment mode: whether something may be started, or what, cannot be told. */
  | { kind: "not-admitted"; why: NoAdmission; detail: string }
  /** A fault of the action itself. */
  | { kind: "broken"; error: unknown };

export type Outcome =
  | "pr-created"
  | "no-changes"
  | "failed"
  | "archived"
  | "timed-out"
  | "started"
  | "cancelled"
  | "skipped"
  | "error";

export function outcomeOf(ending: Ending, facts: Facts): Outcome {
  switch (ending.kind) {
    case "settled":
      if (ending.job.status === "completed") return facts.pullRequest ? "pr-created" : "no-changes";
      if (ending.job.status === "failed" || ending.job.status === "archived") return ending.job.status;
      return "started";
    case "started":
    case "timed-out":
    case "cancelled":
    case "skipped":
      return ending.kind;
    default:
      return "error";
  }
}

/** Whether the step passes. `error` and `cancelled` always fail it, `pr-created`, `started` and `skipped` never do. */
export function passes(outcome: Outcome, failOn: ReadonlySet<FailableOutcome>): boolean {
  if (outcome === "error" || outcome === "cancelled") return false;
  return !(failOn as ReadonlySet<string>).has(outcome);
}

/** Every output of `action.yml`; empty where unknown. */
export function outputsOf(
  outcome: Outcome,
  facts: Facts,
  now: number,
  skipReason: SkipReason | "" = "",
): Record<string, string> {
  return {
    "job-id": facts.jobId,
    status: facts.status,
    "pr-link": facts.pullRequest?.url ?? "",
    "pr-number": facts.pullRequest?.number ?? "",
    outcome,
    "skip-reason": skipReason,
    model: facts.model,
    repository: facts.repository,
    ref: facts.ref,
    "created-at": facts.createdAt,
    "archived-at": facts.archivedAt,
    "duration-seconds": facts.startedAt === undefined ? "" : String(Math.floor(facts.elapsedMs(now) / 1000)),
  };
}
