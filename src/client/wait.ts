import { NetworkError } from "../runner-kit/transport.ts";
import type { AgentJobClient } from "./client.ts";
import type { CallLimits, Clock } from "./clock.ts";
import { isTerminal, type Job } from "./contract.ts";
import { HttpError, isRequestError, type RequestError, TokenError } from "./errors.ts";
import { isTransientPollFailure } from "./retry.ts";
import { hasEnded, type TurnStatus } from "./step-lookup.ts";

/** A new job may not be visible immediately: `404` is transient for this long after a create, in milliseconds. */
const notFoundGraceMs = 10_000;
/** A record may show the state from before a message for this long, in milliseconds. */
export const staleStateMs = 15_000;
/** The last poll is sent this long before the deadline, or a tenth of the whole timeout if that is less. */
const lastPollReserveMs = 1000;
/** A held poll ends this long before the last poll, in milliseconds. */
const heldPollReserveMs = 1000;

/** The longest time that the service is asked to hold a poll, in seconds: well below the timeout of a request. */
const maxHoldSeconds = 25;
/** How long before its limit the service has to answer a held poll, in milliseconds. */
const answerMs = 2000;
/** A poll that ends sooner, in milliseconds, was not held, whatever the response says: it would be polled in a loop. */
const minHeldMs = 1000;
/** After as many held polls in a row that failed, no more are sent: something on the way cannot hold them. */
const maxFailedHolds = 2;

/** `at`: monotonic time of the response. `resumed`: an earlier attempt sent a message, at an unknown time. */
export type WaitOrigin =
  | { kind: "created"; job: Job; at: number }
  | { kind: "messaged"; job: Job; at: number }
  | { kind: "resumed" }
  | { kind: "attached" };

export interface WaitRequest extends CallLimits {
  jobId: string;
  origin: WaitOrigin;
  /** Monotonic time of the first request. The poll schedule depends on the time waited since. */
  startedAt: number;
  /** The limits of the delay between polls, in milliseconds, before jitter. */
  intervals: { minMs: number; maxMs: number };
  /** `response`: stop after the first record, whatever its state. */
  until: "terminal" | "response";
  /** Reads the turn once the job has ended; `undefined` if the service does not say. @throws RequestError */
  readTurn?: (() => Promise<TurnStatus | undefined>) | undefined;
}

/** The progress of a wait. `nextDelayMs` is `undefined` if there is no next poll, and 0 if it follows at once. */
export type WaitEvent =
  | { kind: "polled"; job: Job; nextDelayMs: number | undefined; isStale: boolean }
  | { kind: "poll-failed"; error: RequestError; nextDelayMs: number | undefined };

export type WaitResult =
  /** `turn`: its status, if the service says it. `wasSeenToStart`: after a message, something proves that it was worked on. */
  | { kind: "done"; job: Job; turn: TurnStatus | undefined; wasSeenToStart: boolean }
  | { kind: "timed-out"; lastError?: RequestError }
  | { kind: "cancelled" };

/**
 * Polls a job until it ends, the deadline passes or the signal aborts. Transient errors are repeated at the next interval. With a
 * service that can hold polls, they follow each other. @throws RequestError if a poll fails permanently
 */
export async function waitForJob(
  request: WaitRequest,
  client: Pick<AgentJobClient, "getJob">,
  ports: { clock: Clock; random: () => number },
  onEvent: (event: WaitEvent) => void,
): Promise<WaitResult> {
  const { jobId, origin, startedAt, deadline, signal, intervals } = request;
  const { clock, random } = ports;
  let hasSeenActive = origin.kind === "messaged" && origin.job.status === "active";
  const reserveMs = Math.min(lastPollReserveMs, (deadline - startedAt) / 10);
  let lastError: RequestError | undefined;
  let hasRecord = false;
  const isAttached = origin.kind === "attached" || origin.kind === "resumed";
  let hasReachedService = !isAttached;
  /** Monotonic time from which the record may show the state from before a message. */
  const messagedAt =
    origin.kind === "messaged" ? origin.at : origin.kind === "resumed" ? clock.now() : Number.NEGATIVE_INFINITY;
  const lastPollAt = deadline - reserveMs;
  let failedHolds = 0;
  let isFirst = true;
  const untilLastPoll = (ms: number): number | undefined =>
    clock.now() < lastPollAt ? Math.min(ms, lastPollAt - clock.now()) : undefined;
  /**
   * Returns 10 % of the time waited so far within the intervals, or `minMs` if that is longer: short jobs end early, long ones
   * cost few requests. The jitter spreads out jobs that were started together.
   */
  const nextDelay = (minMs = 0): number | undefined => {
    const base = Math.min(Math.max((clock.now() - startedAt) * 0.1, intervals.minMs), intervals.maxMs);
    const ms = base * (isFirst ? 0.5 + random() : 0.8 + 0.4 * random());
    isFirst = false;
    return untilLastPoll(Math.max(ms, minMs));
  };

  let delayMs = isAttached ? 0 : nextDelay();
  for (;;) {
    await clock.sleep(delayMs ?? deadline - clock.now(), signal);
    if (signal.aborted) return { kind: "cancelled" };
    if (delayMs === undefined) return { kind: "timed-out", ...(lastError && { lastError }) };

    const pollAt = clock.now();
    const holdLimit = lastPollAt - heldPollReserveMs;
    // The first record of a job that was attached to is shown at once.
    const mayHold = request.until === "terminal" && (!isAttached || hasRecord) && failedHolds < maxFailedHolds;
    const leftSeconds = Math.floor((holdLimit - pollAt - answerMs) / 1000);
    const holdSeconds = mayHold ? Math.max(0, Math.min(maxHoldSeconds, leftSeconds)) : 0;
    try {
      const limits = { deadline: holdSeconds > 0 ? holdLimit : deadline, signal };
      const { job, heldMs, sentAt } = await client.getJob(jobId, limits, holdSeconds);
      if (holdSeconds > 0) failedHolds = 0;
      hasSeenActive ||= job.status === "active";
      const turn = isTerminal(job.status) ? await request.readTurn?.() : undefined;
      const isUnproven = turn === undefined && !hasSeenActive && messagedAt !== Number.NEGATIVE_INFINITY;
      const isStale =
        isTerminal(job.status) &&
        (turn === undefined ? !hasSeenActive && sentAt - messagedAt < staleStateMs : !hasEnded(turn));
      const isDone = request.until === "response" || (isTerminal(job.status) && !isStale);
      lastError = undefined;
      hasRecord = true;
      hasReachedService = true;
      if (isDone) delayMs = undefined;
      // The time for which it was held counts as a part of the shortest delay.
      else delayMs = heldMs >= minHeldMs ? untilLastPoll(Math.max(0, intervals.minMs - heldMs)) : nextDelay();
      onEvent({ kind: "polled", job, isStale, nextDelayMs: delayMs });
      if (isDone) return { kind: "done", job, turn, wasSeenToStart: !isUnproven };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      if (!isRequestError(error) || !isTransient(error, origin, hasReachedService)) throw error;
      // A poll that was cut off by the deadline says nothing about the service.
      if (clock.now() >= deadline && (hasRecord || lastError))
        return { kind: "timed-out", ...(lastError && { lastError }) };
      hasReachedService ||= !(error instanceof NetworkError || error instanceof TokenError);
      const wasSent = !(error instanceof TokenError || (error instanceof NetworkError && error.phase === "connecting"));
      // A failure at once has another cause than that it was held.
      if (holdSeconds > 0 && wasSent && clock.now() - pollAt >= minHeldMs) failedHolds++;
      // Nor does a held poll that had to make room for the last one.
      const isTimeout = error instanceof NetworkError && error.reason === "timeout";
      const hasMadeRoom = holdSeconds > 0 && isTimeout && clock.now() >= holdLimit;
      if (!hasMadeRoom) lastError = error;
      delayMs = nextDelay(error instanceof HttpError ? error.retryAfterMs : 0);
      if (!hasMadeRoom) onEvent({ kind: "poll-failed", error, nextDelayMs: delayMs });
    }
  }
}

function isTransient(error: RequestError, origin: WaitOrigin, hasReachedService: boolean): boolean {
  if (error instanceof HttpError && error.status === 404)
    return origin.kind === "created" && error.sentAt - origin.at < notFoundGraceMs;
  if (!hasReachedService && error instanceof TokenError && !error.isTransient) return false;
  // If the service has been reached before, something on the way to it may have caused a certificate error.
  if (!hasReachedService && error instanceof NetworkError && error.reason === "certificate") return false;
  return isTransientPollFailure(error);
}
