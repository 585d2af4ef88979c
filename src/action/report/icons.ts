import type { Outcome } from "../outcome.ts";

/** An outcome at a glance. */
export const icons: Readonly<Record<Outcome, string>> = {
  "pr-created": "✅",
  "no-changes": "⚪",
  failed: "❌",
  archived: "📦",
  "timed-out": "⏳",
  started: "🚀",
  cancelled: "⏹️",
  skipped: "⏭️",
  error: "❌",
};
