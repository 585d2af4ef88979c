import type { Outcome } from "./outcome.ts";
import type { SkipReason } from "./result.ts";
import type { RunState } from "./run-state.ts";

/** Returns every output of `action.yml`, empty if unknown. `now` is monotonic time in milliseconds. */
export function outputsOf(
  outcome: Outcome,
  state: RunState,
  now: number,
  skipReason: SkipReason | "" = "",
): Record<string, string> {
  const lastState = state.lastPullRequest?.state ?? "";
  return {
    "job-id": state.jobId,
    status: state.status,
    "pr-link": state.pullRequest?.url ?? "",
    "pr-number": state.pullRequest?.number ?? "",
    "last-pr-link": state.lastPullRequest?.url ?? "",
    "last-pr-state": lastState === "unknown" ? "" : lastState,
    outcome,
    "skip-reason": skipReason,
    "job-origin": state.origin,
    "changed-files": state.changes === undefined || state.changes.isUnlisted ? "" : String(state.changes.files.length),
    "final-message": state.finalMessage,
    "check-result": state.check,
    "cost-usd": state.costUsd === undefined ? "" : String(state.costUsd),
    "log-file": state.logFile,
    "work-file": state.workFile,
    author: state.author,
    "thread-url": state.threadUrl,
    model: state.model,
    repository: state.repository,
    ref: state.ref,
    "created-at": state.createdAt,
    "archived-at": state.archivedAt,
    "duration-seconds": state.startedAt === undefined ? "" : String(Math.floor(state.elapsedMs(now) / 1000)),
  };
}
