import type { CheckResult } from "../client/step-lookup.ts";

interface OutcomeTraits {
  icon: string;
  /** Whether the step passes; `configurable` means unless `fail-on` names the outcome. */
  passes: "always" | "configurable" | "never";
  /** The annotation of a step that passes. A step that fails always has an error annotation. */
  level: "notice" | "warning" | undefined;
  /** Comment mode: the reaction that is added after `eyes`. */
  reaction: "hooray" | "confused" | undefined;
}

/** Everything that depends only on the outcome. */
export const outcomes = {
  "pr-created": { icon: "✅", passes: "always", level: undefined, reaction: "hooray" },
  failed: { icon: "❌", passes: "configurable", level: "warning", reaction: "confused" },
  archived: { icon: "📦", passes: "configurable", level: "warning", reaction: undefined },
  "timed-out": { icon: "⏳", passes: "configurable", level: "warning", reaction: "confused" },
  "no-changes": { icon: "⚪", passes: "configurable", level: "notice", reaction: undefined },
  started: { icon: "🚀", passes: "always", level: undefined, reaction: undefined },
  cancelled: { icon: "⏹️", passes: "never", level: undefined, reaction: undefined },
  skipped: { icon: "⏭️", passes: "always", level: "notice", reaction: undefined },
  error: { icon: "❌", passes: "never", level: undefined, reaction: "confused" },
} as const satisfies Record<string, OutcomeTraits>;

/** How a step ended, as its users see it: the `outcome` output. */
export type Outcome = keyof typeof outcomes;

/** An outcome that `fail-on` may name. */
export type FailableOutcome = {
  [Name in Outcome]: (typeof outcomes)[Name]["passes"] extends "configurable" ? Name : never;
}[Outcome];

export const failableOutcomes = (Object.keys(outcomes) as Outcome[]).filter(isFailable);

function isFailable(outcome: Outcome): outcome is FailableOutcome {
  return outcomes[outcome].passes === "configurable";
}

/** What `fail-on` may name: some outcomes, and a pull request whose check failed. */
export const failReasons = [...failableOutcomes, "check-failed"] as const;
export type FailReason = (typeof failReasons)[number];

/** The annotation of a step: an error if and only if it fails; `undefined` for none. */
export type Level = "notice" | "warning" | "error" | undefined;

/** Returns the annotation of a step with this outcome, which says whether it passes. @param check - empty if there was none */
export function levelOf(outcome: Outcome, failOn: ReadonlySet<FailReason>, check: CheckResult | ""): Level {
  if (outcome === "pr-created" && check !== "" && check !== "passed")
    return check === "failed" && failOn.has("check-failed") ? "error" : "warning";
  const { passes, level } = outcomes[outcome];
  const hasFailed = isFailable(outcome) ? failOn.has(outcome) : passes === "never";
  return hasFailed ? "error" : level;
}
