/** How a step ended, as its users see it: the `outcome` output. */
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

interface OutcomeTraits {
  icon: string;
  /** The title of the annotation, the summary and the reply, unless the result has a more specific one. */
  title: string;
  /** Whether the step passes; `configurable` means unless `fail-on` names the outcome. */
  passes: "always" | "configurable" | "never";
  /** The annotation of a step that passes. A step that fails always has an error annotation. */
  level: "notice" | "warning" | undefined;
  /** Comment mode: the reaction that is added after `eyes`. */
  reaction: "hooray" | "confused" | undefined;
}

/** Everything that depends only on the outcome. */
export const outcomes = {
  "pr-created": {
    icon: "✅",
    title: "Pull request created",
    passes: "always",
    level: undefined,
    reaction: "hooray",
  },
  failed: {
    icon: "❌",
    title: "Job failed",
    passes: "configurable",
    level: "warning",
    reaction: "confused",
  },
  archived: {
    icon: "📦",
    title: "Job archived",
    passes: "configurable",
    level: "warning",
    reaction: undefined,
  },
  "timed-out": {
    icon: "⏳",
    title: "Timed out",
    passes: "configurable",
    level: "warning",
    reaction: "confused",
  },
  "no-changes": {
    icon: "⚪",
    title: "No pull request",
    passes: "configurable",
    level: "notice",
    reaction: undefined,
  },
  started: {
    icon: "🚀",
    title: "Job started",
    passes: "always",
    level: undefined,
    reaction: undefined,
  },
  cancelled: {
    icon: "⏹️",
    title: "Cancelled",
    passes: "never",
    level: undefined,
    reaction: undefined,
  },
  skipped: {
    icon: "⏭️",
    title: "Skipped",
    passes: "always",
    level: "notice",
    reaction: undefined,
  },
  error: {
    icon: "❌",
    title: "Error",
    passes: "never",
    level: undefined,
    reaction: "confused",
  },
} as const satisfies Record<Outcome, OutcomeTraits>;

/** An outcome that `fail-on` may name. */
export type FailableOutcome = {
  [Name in Outcome]: (typeof outcomes)[Name]["passes"] extends "configurable" ? Name : never;
}[Outcome];

export const failableOutcomes = (Object.keys(outcomes) as Outcome[]).filter(isFailable);

function isFailable(outcome: Outcome): outcome is FailableOutcome {
  return outcomes[outcome].passes === "configurable";
}

/** Returns whether a step with this outcome passes. */
export function passes(outcome: Outcome, failOn: ReadonlySet<FailableOutcome>): boolean {
  if (isFailable(outcome)) return !failOn.has(outcome);
  return outcomes[outcome].passes === "always";
}
