import type { ServiceRequest } from "./network.ts";
import { acceptanceOf, hasRecord, isNotFound, isSubmission, isTooNew } from "./received.ts";
import type { Attempt, Scenario } from "./scenario.ts";
import type { AttemptRun } from "./simulate.ts";

/** Times are not whole milliseconds, and sums of them are not exact. */
export const rounding = 1;
/** A record may show the state from before a message for this long, in milliseconds. */
export const staleStateMs = 15_000;
/** After a signal, the step ends within this time, in milliseconds: soon after, the runner kills it. */
const signalGraceMs = 7000;
/** How long it may wait then for the cache, and for the last edit of a reply, in milliseconds. */
const saveGraceMs = 2000;
const editGraceMs = 1000;
/** After a signal, a create or message gets this long for its response, in milliseconds. */
export const createGraceMs = 4000;
/** The last poll is sent at least this long before the deadline, if the whole timeout is 10 s or more. */
export const lastPollReserveMs = 1000;
/** How long the state of a job is read that the step does not, or not yet, wait for, in milliseconds. */
export const readLimitMs = 180_000;
/** How long connections to the service are retried before a create or message is given up, in milliseconds. */
const unreachableLimitMs = 60_000;
/** How long it may take to get an OIDC token, in milliseconds: three tries of ten seconds, and the delays between. */
const tokenLimitMs = 33_000;

/** How long the step waits at its end for the cache service, and before it sends something, in milliseconds. */
const maxSavesMs = 5000;
const maxHoldMs = 3000;

/** Returns the times at which the attempt learned something about its job, and before it about what to do. */
function activitiesOf({ startedAt, requests, cache, gitHubRequests, tokenRequests, runner }: AttemptRun): number[] {
  // A restore after the last request only decides something if the step has no job.
  const lastSentAt = runner.outputs["job-origin"] === "" ? Infinity : (requests.at(-1)?.sentAt ?? Infinity);
  const lookups = cache.restores.filter((restore) => restore.startedAt <= lastSentAt);
  return [
    startedAt,
    ...requests.map(({ sentAt, received }) => received?.at ?? sentAt),
    ...lookups.flatMap(({ answeredAt }) => answeredAt ?? []),
    ...[...gitHubRequests, ...tokenRequests].flatMap(({ settledAt }) => settledAt ?? []),
  ];
}

/** Returns how long the attempt took to look up what to do, in milliseconds. */
function lookupMs({ cache, gitHubRequests, endedAt }: AttemptRun): number {
  const lookups = [
    ...cache.restores.map(({ startedAt, answeredAt = endedAt }) => answeredAt - startedAt),
    ...gitHubRequests.map(({ sentAt, settledAt = endedAt }) => settledAt - sentAt),
  ];
  return lookups.reduce((sum, ms) => sum + ms, 0);
}

/** Ends in time, sends a bounded number of requests, and none when a retry is useless or too early. */
export function checkLimits(scenario: Scenario, run: AttemptRun, attempt: Attempt): string[] {
  const violations: string[] = [];
  const { requests, signalAt } = run;
  const durationMs = run.endedAt - run.startedAt;
  const pausedMs = attempt.pauses.reduce((sum, { ms }) => sum + ms, 0);
  const isComment = scenario.mode.kind === "comment";
  // The last edit and reaction get ten seconds each, and a second look at a missing job begins three seconds after the first.
  const lookMs = requests.some(isNotFound) ? 3000 : 0;
  const endMs = isComment ? 21_000 + lookMs : scenario.workflow ? 1000 + maxHoldMs + maxSavesMs + lookupMs(run) : 1000;
  const stopMs = signalAt === undefined ? 0 : saveGraceMs;
  const limitMs = scenario.timeoutSeconds * 1000 + pausedMs + endMs + stopMs;
  if (durationMs > limitMs + rounding) violations.push(`the run took ${durationMs} ms, the limit is ${limitMs} ms`);
  if (signalAt !== undefined) {
    const inFlight = requests.find(
      ({ sentAt, received }) => sentAt <= signalAt && (received?.at ?? Infinity) >= signalAt,
    );
    // The service is asked to stop the turn in the same time.
    const hasStop = requests.some((request) => isSubmission(request));
    const hasCache = run.cache.saves.length + run.cache.restores.length > 0;
    const reportMs = (hasCache || hasStop ? saveGraceMs : 0) + (isComment ? editGraceMs : 0);
    const requestMs = inFlight && isSubmission(inFlight) ? createGraceMs : 500;
    const graceMs = Math.min(requestMs + reportMs, signalGraceMs) + pausedMs;
    const afterMs = run.endedAt - signalAt;
    if (afterMs > graceMs + rounding)
      violations.push(`the run went on for ${afterMs} ms after a signal, the limit is ${graceMs} ms`);
  }
  const maxRequests = 30 + durationMs / (scenario.minSeconds * 500);
  if (requests.length > maxRequests) violations.push(`${requests.length} requests in ${durationMs} ms`);

  const { outcome } = run.runner.outputs;
  // Without outputs, which an internal fault can prevent, it is unknown what the step did last.
  if (signalAt === undefined && ["passed", "failed"].includes(run.end) && outcome !== undefined) {
    const doneAt = Math.max(...activitiesOf(run));
    const isTimedOut = outcome === "timed-out";
    const holdMs = outcome === "error" || run.runner.outputs["job-id"] === "" ? maxHoldMs : 0;
    // Whoever reads the job next must not take its state from before the message, which could not be read anew.
    const staleMs = outcome === "started" && requests.some(({ kind }) => kind === "message") ? staleStateMs : 0;
    const lateMs = run.endedAt - doneAt - holdMs - staleMs - pausedMs - (isTimedOut ? lastPollReserveMs : 0);
    // Without a token, the last poll is not sent, so what the step did last is unknown.
    // After a doubt, it may have waited to ask again, and a pause took the time for that.
    const last = requests.at(-1);
    const isInDoubt = last?.kind === "lookup" || (last && isSubmission(last) && acceptanceOf(last) === "unknown");
    const hasWaited = isInDoubt && attempt.pauses.length > 0;
    if (scenario.workflow && !scenario.usesTokens && !hasWaited && lateMs > maxSavesMs + rounding)
      violations.push(`the run ended ${lateMs} ms after its job`);
  }

  const deadline = (run.firstRequestAt ?? 0) + scenario.timeoutSeconds * 1000;
  let unreachableSince: number | undefined;
  for (const [index, request] of requests.entries()) {
    const next = requests[index + 1];
    const { received, kind, sentAt } = request;
    if (!next || !received) continue;
    // The service is asked what was sent on several occasions, the last of them after a signal.
    const isOther = kind === "lookup" && next.sentAt >= (signalAt ?? Infinity);
    const isRepeated = next.kind === kind && next.jobId === request.jobId && !isOther;
    if (received.kind === "response") {
      const lateMs = next.sentAt - lookEndsAt(scenario, run, index + 1) - pausedMs;
      if (!scenario.wait && lateMs > rounding) violations.push(`a job was looked at for ${lateMs} ms too long`);
      const latest = Math.min(deadline, lookEndsAt(scenario, run, index) - (scenario.usesTokens ? tokenLimitMs : 0));
      const retryAt = Math.min(received.at + (received.waitMs ?? 0), latest - lastPollReserveMs);
      const isTransient = [408, 429].includes(received.status) || received.status >= 500;
      if (
        isRepeated &&
        isTransient &&
        !run.hasInternalFault &&
        scenario.timeoutSeconds >= 10 &&
        next.sentAt < retryAt - rounding - pausedMs
      ) {
        violations.push(`a ${kind} was repeated ${retryAt - next.sentAt} ms before Retry-After`);
      }
      // A session looks for a job again that the attempt before it had.
      // One that was not found is looked for again.
      const wasNotFound = requests.slice(0, index + 1).some((one) => isNotFound(one) && one.jobId === request.jobId);
      const isLookedUpTwice = kind === "poll" && (scenario.workflow?.hasSession === true || wasNotFound);
      // Unless a poll says that its job is gone, and a token may be missing for that or a fault end it, a message is sent once more.
      const mayLackPoll = scenario.usesTokens || run.hasInternalFault;
      const isUnconfirmed = kind === "message" && received.status === 404 && mayLackPoll;
      const mayRepeat = isTransient || isTooNew(request, requests) || isLookedUpTwice || isUnconfirmed;
      if (isRepeated && kind !== "lookup" && received.status >= 300 && !mayRepeat) {
        violations.push(`a ${kind} was repeated after ${received.status}`);
      }
    }
    const isUnreachable = isSubmission(request) && received.kind === "failure" && received.phase === "connecting";
    unreachableSince = isUnreachable ? (unreachableSince ?? sentAt) : undefined;
    if (isUnreachable && received.reason === "certificate") violations.push("an untrusted certificate was retried");
    const retryLimitMs = unreachableLimitMs + (scenario.usesTokens ? tokenLimitMs : 0);
    if (unreachableSince !== undefined && next.sentAt > unreachableSince + retryLimitMs + pausedMs + rounding) {
      violations.push(`connections were retried for ${next.sentAt - unreachableSince} ms`);
    }
  }
  return violations;
}

/** Returns whether a poll says that the job has ended. */
function hasEndedJob({ kind, received }: ServiceRequest): boolean {
  const status = received?.kind === "response" ? received.record?.status : undefined;
  return kind === "poll" && status !== undefined && ["completed", "failed", "archived"].includes(status);
}

/**
 * Returns when the look at a job ends to which a poll may belong: before something is sent, and after a job was not found, its state
 * is read for a time of its own, which begins just before the first poll. What waits for the end of a job has all of the time.
 */
function lookEndsAt({ mode, wait, workflow }: Scenario, { requests }: AttemptRun, index: number): number {
  const { kind, jobId, sentAt = 0 } = requests[index] ?? {};
  if (kind !== "poll" || (mode.kind === "plain" && mode.task === "attach" && wait)) return Infinity;
  const before = requests.slice(0, index);
  // If the service does not say how the turn ended, the same look goes on.
  const hasEnded = (one: ServiceRequest, at: number): boolean =>
    isNotFound(one) || isSubmission(one) || (hasRecord(one) && requests[at + 1]?.kind !== "lookup");
  const last = before.findLastIndex(hasEnded);
  const ended = before[last];
  const wasFound = ended !== undefined && !isNotFound(ended) && (ended.jobId === jobId || isSubmission(ended));
  // The job of an earlier attempt may be over, and it may be the session's, which is looked at then.
  const isOver = ended !== undefined && workflow?.hasSession === true && hasEndedJob(ended);
  const isSecond = before.some((one) => isNotFound(one) && one.jobId === jobId);
  if (wait && wasFound && !isSecond && !isOver) return Infinity;
  const first = requests.slice(last + 1).find((one) => one.kind === "poll");
  const endsAt = (first?.sentAt ?? Infinity) + readLimitMs;
  // If the second look at a job that was not found shows nothing, it may have been a mistake, and a third one follows.
  return isSecond && sentAt >= endsAt - rounding ? endsAt + readLimitMs : endsAt;
}
