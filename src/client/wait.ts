import type { AgentJobClient, CallLimits } from "./client.ts";
import type { Clock } from "./clock.ts";
import { isTerminal, type Job } from "./contract.ts";
import { ExchangeError, isRequestError, RefusalError, type RequestError } from "./errors.ts";
import { isPassing } from "./retry.ts";
import { nextPollDelayMs, type PollIntervals } from "./schedule.ts";

/** A job just created may not be found at once: `404` is passing for this long. */
const notFoundGraceMs = 10_000;
/** A record may show the state from before a message for this long. */
const staleStateMs = 15_000;
/** The last poll has this long for its answer, or a tenth of the whole time where that is less. */
const lastPollReserveMs = 1000;

/** How the wait came about, for a job not known to have ended; `at` is the monotonic time of the answer, `job` what it said. */
export type WaitOrigin =
  | { kind: "created"; job: Job; at: number }
  | { kind: "messaged"; job: Job; at: number }
  | { kind: "attached" };

export interface WaitRequest extends CallLimits {
  jobId: string;
  origin: WaitOrigin;
  /** Monotonic time of the first request, from which the time waited counts. */
  startedAt: number;
  intervals: PollIntervals;
  /** `answer` ends the wait with the first record read, whatever its state. */
  until: "terminal" | "answer";
}

/** What a wait shows of itself while it goes on. `nextDelayMs` is absent where no further poll comes. */
export type WaitEvent =
  | { kind: "polled"; job: Job; nextDelayMs?: number; isStale: boolean }
  | { kind: "poll-failed"; error: RequestError; nextDelayMs?: number };

export type WaitResult =
  | { end: "settled"; job: Job }
  /** `lastError` is set where the last poll was in vain. */
  | { end: "timed-out"; lastError?: RequestError }
  | { end: "cancelled" };

/**
 * Polls a job until it has ended, the deadline has come or the signal aborts. A poll that fails for a passing reason
 * is repeated at the next interval.
 *
 * @throws RequestError where the service firmly refuses a poll
 */
export async function waitForJob(
  request: WaitRequest,
  client: Pick<AgentJobClient, "getJob">,
  ports: { clock: Clock; random: () => number },
  onEvent: (event: WaitEvent) => void,
): Promise<WaitResult> {
  const { jobId, origin, startedAt, deadline, signal } = request;
  const { clock, random } = ports;
  let hasSeenActive = origin.kind === "messaged" && origin.job.status === "active";
  const reserveMs = Math.min(lastPollReserveMs, (deadline - startedAt) / 10);
  let lastError: RequestError | undefined;
  let hasAnswer = false;
  let hasContact = origin.kind !== "attached";
  let delays = 0;

  /** The delay before the next poll; none where the time is up without another. */
  const nextDelay = (leastMs = 0): number | undefined => {
    const waitedMs = clock.now() - startedAt;
    const delayMs = Math.max(nextPollDelayMs(waitedMs, delays++ === 0, request.intervals, random()), leastMs);
    const latestMs = deadline - reserveMs - clock.now();
    return latestMs > 0 ? Math.min(delayMs, latestMs) : undefined;
  };

  let delayMs = origin.kind === "attached" ? 0 : nextDelay();
  for (;;) {
    await clock.sleep(delayMs ?? deadline - clock.now(), signal);
    if (signal.aborted) return { end: "cancelled" };
    if (delayMs === undefined) return { end: "timed-out", ...(lastError && { lastError }) };

    const sentAt = clock.now();
    try {
      const job = await client.getJob(jobId, { deadline, signal });
      hasSeenActive ||= job.status === "active";
      const isStale =
        origin.kind === "messaged" && isTerminal(job.status) && !hasSeenActive && sentAt - origin.at < staleStateMs;
      const isSettled = request.until === "answer" || (isTerminal(job.status) && !isStale);
      lastError = undefined;
      hasAnswer = true;
      hasContact = true;
      delayMs = isSettled ? undefined : nextDelay();
      onEvent({ kind: "polled", job, isStale, ...(delayMs !== undefined && { nextDelayMs: delayMs }) });
      if (isSettled) return { end: "settled", job };
    } catch (error) {
      if (signal.aborted) return { end: "cancelled" };
      if (!isRequestError(error) || !isRepeatable(error, { origin, hasContact, sentAt })) throw error;
      // A poll that the deadline cut off tells nothing of the service.
      if (clock.now() >= deadline && hasAnswer) return { end: "timed-out", ...(lastError && { lastError }) };
      hasContact ||= !(error instanceof ExchangeError);
      lastError = error;
      delayMs = nextDelay(error instanceof RefusalError ? error.retryAfterMs : 0);
      onEvent({ kind: "poll-failed", error, ...(delayMs !== undefined && { nextDelayMs: delayMs }) });
    }
  }
}

function isRepeatable(error: RequestError, poll: { origin: WaitOrigin; hasContact: boolean; sentAt: number }): boolean {
  const { origin } = poll;
  if (error instanceof RefusalError && error.status === 404) {
    return origin.kind === "created" && poll.sentAt - origin.at < notFoundGraceMs;
  }
  // Where the address has been reached before, a certificate may be a passing fault of the way to it.
  if (!poll.hasContact && error instanceof ExchangeError && error.reason === "certificate") return false;
  return isPassing(error);
}
