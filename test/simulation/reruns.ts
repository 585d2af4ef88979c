import type { CacheEntry, CacheRestore } from "./cache.ts";
import { rounding } from "./limits.ts";
import { firstSubmissionAt, jobOf, type Place, placesOf, sawEnd, seenBefore } from "./places.ts";
import { acceptanceOf } from "./received.ts";
import type { AttemptRun, History } from "./simulate.ts";
import { doubt, submissionsOf } from "./submissions.ts";

/** A re-run never sends again what an earlier attempt of the same step has sent, unless that can no longer be known. */
export function checkReruns(history: History, index: number): string[] {
  const places = placesOf(history);
  const place = places[index];
  if (!place) return [];
  const violations: string[] = [];
  const { run, execution } = place;
  if (run.isSavedLate && !run.hasInternalFault) violations.push("a job was not being saved as soon as it was known");
  const { pauses = [] } = history.scenario.attempts[index] ?? {};
  if (pauses.length === 0 && isForgottenOnSignal(run))
    violations.push("a job was not remembered, although it was being saved when the step was cancelled");
  const isOffered = execution.cache.state !== "absent";
  const hasEnded = ["passed", "failed"].includes(run.end) && !run.hasInternalFault;
  const last = submissionsOf(run).at(-1);
  if (hasEnded && isOffered && execution.onRerun === "resume" && last && acceptanceOf(last) === "unknown") {
    if (!run.cache.saves.some(({ isForSession }) => !isForSession))
      violations.push("it was not saved that a request may have been accepted");
  }
  if (hasEnded && isFailureOfEarlier(run)) violations.push("the result is an earlier failure, and nothing was sent");
  const sentAt = firstSubmissionAt(run);
  if (sentAt === undefined) return violations;
  if (run.cache.restores.some((one) => (one.answeredAt ?? Infinity) <= sentAt && isUnreadable(one))) {
    violations.push("a request was sent, although the cache could not be read");
  }
  if (execution.onRerun === "new") return violations;

  const earlier = places.slice(0, index).filter(({ unit, run }) => unit === place.unit && hasActed(run));
  if (earlier.length === 0) return violations;
  if (!isOffered) {
    const isAnnounced = run.runner.statements.some(({ text }) => text.startsWith("Re-run without a memory"));
    return isAnnounced ? violations : [...violations, "a request was sent again without a memory, and nothing says so"];
  }
  const entry = entriesOf(place, places).at(-1);
  const jobId = entry && !entry.isCorrupt ? jobOf(entry) : undefined;
  if (entry) {
    if (jobId === undefined || !sawEnd(run, jobId))
      violations.push(`a request was sent again, although the cache remembers ${jobId ?? "one"}`);
  } else if (!earlier.every((one) => mayBeForgotten(one, place, places))) {
    violations.push("a request was sent again, and no attempt had announced a doubt");
  }
  return violations;
}

/** How long the step waits for the cache service after a signal, in milliseconds. */
const saveGraceMs = 1500;

/** Returns whether the step, which nobody killed, did not wait after a signal for a save that takes only a short time. */
function isForgottenOnSignal({ end, hasInternalFault, signalAt, endedAt, cache }: AttemptRun): boolean {
  if (!["passed", "failed"].includes(end) || hasInternalFault || signalAt === undefined) return false;
  // A session saves its job again when the first saves are over, and that may be too late.
  const saves = cache.saves.filter(
    ({ isForSession }, index) => cache.saves.findIndex((one) => one.isForSession === isForSession) === index,
  );
  return saves.some(({ startedAt, answersAt = Infinity, storedAt = Infinity }) => {
    const isShort = answersAt < Math.max(signalAt, startedAt) + saveGraceMs - rounding;
    return isShort && storedAt > endedAt;
  });
}

/** Returns whether nothing may be sent after a restore. What a session cannot use is as good as nothing. */
function isUnreadable({ result, found, isForSession }: CacheRestore): boolean {
  return result === "failed" || (!isForSession && (result === "unusable" || found?.isCorrupt === true));
}

/** Returns the entries that the attempts of the same step had saved when the attempt looked for one. */
function entriesOf({ run, unit, index }: Place, places: readonly Place[]): CacheEntry[] {
  const entries = run.cache.restores[0]?.entries ?? run.cache.entriesAtStart;
  return entries.filter(({ owner, isForSession }) => !isForSession && places[owner]?.unit === unit && owner < index);
}

/** Returns whether a later attempt may find nothing of an earlier one that sent something. */
function mayBeForgotten({ run, execution, index }: Place, later: Place, places: readonly Place[]): boolean {
  return (
    execution.onRerun === "new" ||
    execution.cache.state === "absent" ||
    ["killed", "crashed"].includes(run.end) ||
    run.hasInternalFault ||
    run.runner.statements.some(({ text }) => doubt.test(text)) ||
    places.slice(index + 1, later.index + 1).some((one) => one.execution.cacheLoss === "evicted")
  );
}

/** Returns whether the result comes from a job that an earlier attempt created, and which had failed before this one. */
function isFailureOfEarlier(run: Place["run"]): boolean {
  const { outcome = "", "job-origin": origin } = run.runner.outputs;
  const { found } = run.cache.restores[0] ?? {};
  const first = seenBefore(run)[0];
  return (
    origin === "resumed" &&
    found?.text.includes('"create"') === true &&
    first?.status === outcome &&
    outcome !== "active"
  );
}

function hasActed(run: Place["run"]): boolean {
  return submissionsOf(run).some(({ actedAt }) => actedAt !== undefined);
}
