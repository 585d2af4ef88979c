import type { CacheEntry, CacheRestore } from "./cache.ts";
import { rounding } from "./limits.ts";
import { firstSubmissionAt, type Place, placesOf, seenBefore, wasTold } from "./places.ts";
import { acceptanceOf } from "./received.ts";
import type { AttemptRun, History } from "./simulate.ts";
import { submissionsOf } from "./submissions.ts";

/** What a step sends is remembered as soon as possible, and what cannot be read stops it. */
export function checkMemory(history: History, index: number): string[] {
  const place = placesOf(history)[index];
  if (!place) return [];
  const violations: string[] = [];
  const { run, execution, cacheMode } = place;
  if (["read", "none"].includes(cacheMode) && run.cache.saves.length > 0) {
    violations.push(`an entry was saved, although the runner says that the cache is ${cacheMode}`);
  }
  if (run.isSavedLate && !run.hasInternalFault) violations.push("a job was not being saved as soon as it was known");
  const { pauses = [] } = history.scenario.attempts[index] ?? {};
  if (pauses.length === 0 && isForgottenOnSignal(run))
    violations.push("a job was not remembered, although it was being saved when the step was cancelled");
  const isWritable = execution.cache.state !== "absent" && ["write", "refuses"].includes(cacheMode);
  const hasEnded = ["passed", "failed"].includes(run.end) && !run.hasInternalFault;
  const last = submissionsOf(run).at(-1);
  if (hasEnded && isWritable && execution.onRerun === "resume" && last && acceptanceOf(last) === "unknown") {
    if (!run.cache.saves.some(({ isForSession }) => !isForSession))
      violations.push("it was not saved that a request may have been accepted");
  }
  // A fleet may not say what was sent, and still knows the request.
  const isRepeated = submissionsOf(run).some(({ isReplay }) => isReplay);
  if (hasEnded && isFailureOfEarlier(run) && !isRepeated && !wasTold(run))
    violations.push("the result is an earlier failure, and nothing was sent");
  const sentAt = firstSubmissionAt(run);
  if (sentAt === undefined) return violations;
  const isAnswered = wasTold(run, sentAt);
  const ofSession = run.cache.restores.find(
    ({ isForSession, found }) => isForSession && found && !found.isCorrupt,
  )?.found;
  // The session remembers what an attempt sent, so that only later ones have to be asked about.
  const owner = ofSession !== undefined && ofSession.owner < index ? placesOf(history)[ofSession.owner] : undefined;
  const known = owner?.workflowRun === place.workflowRun ? owner.number : 0;
  if (known > 0 && known === place.number - 1) return violations;
  const { restores } = run.cache;
  const attemptOf = ({ prefix }: CacheRestore): number =>
    Number(/^agent-job-\w{32}-(\d+)-/.exec(prefix)?.[1] ?? Infinity);
  // It is asked for another job, whatever they say: only its range is theirs.
  if (execution.onRerun === "new") return violations;
  const isLeft = (one: CacheRestore): boolean =>
    isUnreadable(one, isAnswered) && !isOutranked(one, restores) && attemptOf(one) > known;
  if (restores.some((one) => (one.answeredAt ?? Infinity) <= sentAt && isLeft(one))) {
    violations.push("a request was sent, although the cache could not be read");
  }
  return violations;
}

/** How long the step waits for the cache service after a signal, in milliseconds. */
const saveGraceMs = 2000;

/** Returns whether the step, which nobody killed, did not wait after a signal for a save that takes only a short time. */
function isForgottenOnSignal({ end, hasInternalFault, signalAt, endedAt, cache }: AttemptRun): boolean {
  if (!["passed", "failed"].includes(end) || hasInternalFault || signalAt === undefined) return false;
  const isOfJob = ({ key }: { key: string }): boolean => /-\d+-job-/.test(key);
  // A session saves its job with the attempt's. When these saves are over, it saves it again, or that of a turn that it waited for,
  // and that may be too late.
  const isWithJob = (startedAt: number): boolean =>
    cache.saves.some((one) => isOfJob(one) && one.startedAt === startedAt);
  const saves = cache.saves.filter(
    ({ isForSession, key, startedAt }, index) =>
      (isForSession ? isWithJob(startedAt) : isOfJob({ key })) &&
      cache.saves.findIndex((one) => one.isForSession === isForSession && (isForSession || one.key === key)) === index,
  );
  return saves.some(({ startedAt, answersAt = Infinity, storedAt = Infinity }) => {
    const isShort = answersAt < Math.max(signalAt, startedAt) + saveGraceMs - rounding;
    return isShort && storedAt > endedAt;
  });
}

/** Returns whether nothing may be sent after a restore. What a session cannot use is as good as nothing. */
function isUnreadable({ result, found, prefix, isForSession }: CacheRestore, isAnswered: boolean): boolean {
  // A service that says what was sent knows more than the entries of attempts.
  if (!isForSession && isAnswered) return false;
  // Whether there is any entry of the step is asked without reading it.
  const isRead = /-\d+-(pending|not-sent|job)-/.test(prefix);
  return result === "failed" || (!isForSession && (result === "unusable" || (isRead && found?.isCorrupt === true)));
}

/** Returns whether an entry does not matter, because the attempt that saved it has left a stronger word, too. */
function isOutranked({ found, prefix }: CacheRestore, restores: readonly CacheRestore[]): boolean {
  if (found?.isCorrupt !== true || !prefix.includes("-pending-")) return false;
  const stronger = ["not-sent", "job"].map((state) => prefix.replace("-pending-", `-${state}-`));
  return restores.some((one) => stronger.includes(one.prefix) && one.found !== undefined && !one.found.isCorrupt);
}

/** Returns the entries of earlier attempts of the same step that the attempt could see. */
export function entriesOf({ run, unit, index }: Place, places: readonly Place[]): CacheEntry[] {
  const restore = run.cache.restores.find(({ isForSession }) => !isForSession);
  const entries = restore?.entries ?? run.cache.entriesAtStart;
  return entries.filter(({ owner, isForSession }) => !isForSession && places[owner]?.unit === unit && owner < index);
}

/** Returns the state that an entry of an attempt names. */
export function stateOf({ key }: CacheEntry): "pending" | "not-sent" | "job" | undefined {
  return /-(pending|not-sent|job)-[^-]*$/.exec(key)?.[1] as "pending" | "not-sent" | "job" | undefined;
}

/** Returns whether the result comes from a job that an earlier attempt created, and which had failed before this one. */
function isFailureOfEarlier(run: Place["run"]): boolean {
  const { outcome = "", "job-origin": origin } = run.runner.outputs;
  const found = run.cache.restores.findLast((one) => one.found && !one.isForSession)?.found;
  const seen = seenBefore(run);
  return (
    origin === "resumed" &&
    found?.text.includes('"create"') === true &&
    seen.length > 0 &&
    // An odd record in between looks as if the job had been active.
    seen.every(({ status }) => status === outcome) &&
    outcome !== "active"
  );
}
