import { NetworkError } from "../runner-kit/transport.ts";
import type { AgentJobClient } from "./client.ts";
import type { CallLimits, Clock } from "./clock.ts";
import { isTerminal, type Job } from "./contract.ts";
import { HttpError, isRequestError, type RequestError, TokenError } from "./errors.ts";
import { HeldPolls, type PollIntervals, pollDelays, wasHeld } from "./polls.ts";
import { isTransientPollFailure } from "./retry.ts";
import { hasEnded, type TurnStatus } from "./step-lookup.ts";

/** A new job may not be visible immediately: `404` is transient for this long after a create, in milliseconds. */
const notFoundGraceMs = 10_000;
/** A record may show the state from before a message for this long, in milliseconds. */
const staleStateMs = 15_000;
/** The last poll is sent this long before the deadline, or a tenth of the whole timeout if that is less. */
const lastPollReserveMs = 1000;
/** A held poll ends this long before the last poll, in milliseconds. */
const heldPollReserveMs = 1000;

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
  intervals: PollIntervals;
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
  const { jobId, origin, startedAt, deadline, signal } = request;
  const { clock } = ports;
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
  const delays = pollDelays({ startedAt, lastPollAt, intervals: request.intervals }, ports);
  const heldPolls = new HeldPolls();

  let delayMs = isAttached ? 0 : delays.next();
  for (;;) {
    await clock.sleep(delayMs ?? deadline - clock.now(), signal);
    if (signal.aborted) return { kind: "cancelled" };
    if (delayMs === undefined) return { kind: "timed-out", ...(lastError && { lastError }) };

    const pollAt = clock.now();
    const holdLimit = lastPollAt - heldPollReserveMs;
    // The first record of a job that was attached to is shown at once.
    const mayHold = request.until === "terminal" && (!isAttached || hasRecord);
    const holdSeconds = mayHold ? heldPolls.secondsFor(holdLimit - pollAt) : 0;
    try {
      const limits = { deadline: holdSeconds > 0 ? holdLimit : deadline, signal };
      const { job, heldMs, sentAt } = await client.getJob(jobId, limits, holdSeconds);
      if (holdSeconds > 0) heldPolls.succeeded();
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
      else delayMs = wasHeld(heldMs) ? delays.afterHeld(heldMs) : delays.next();
      onEvent({ kind: "polled", job, isStale, nextDelayMs: delayMs });
      if (isDone) return { kind: "done", job, turn, wasSeenToStart: !isUnproven };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      if (!isRequestError(error) || !isTransient(error, origin, hasReachedService)) throw error;
      // A poll that was cut off by the deadline says nothing about the service.
      if (clock.now() >= deadline && (hasRecord || lastError))
        return { kind: "timed-out", ...(lastError && { lastError }) };
      hasReachedService ||= !(error instanceof NetworkError || error instanceof TokenError);
      if (holdSeconds > 0) heldPolls.failed(error, clock.now() - pollAt);
      // Nor does a held poll that had to make room for the last one.
      const isTimeout = error instanceof NetworkError && error.reason === "timeout";
      const hasMadeRoom = holdSeconds > 0 && isTimeout && clock.now() >= holdLimit;
      if (!hasMadeRoom) lastError = error;
      delayMs = delays.next(error instanceof HttpError ? error.retryAfterMs : 0);
      if (!hasMadeRoom) onEvent({ kind: "poll-failed", error, nextDelayMs: delayMs });
    }
  }
}

function isTransient(error: RequestError, origin: WaitOrigin, hasReachedService: boolean): boolean {
  if (error instanceof HttpError && error.status === 404) {
    return origin.kind === "created" && error.sentAt - origin.at < notFoundGraceMs;
  }
  if (!hasReachedService && error instanceof TokenError && !error.isTransient) return false;
  // If the service has been reached before, something on the way to it may have caused a certificate error.
  if (!hasReachedService && error instanceof NetworkError && error.reason === "certificate") return false;
  return isTransientPollFailure(error);
}
