import { NetworkError } from "../runner-kit/transport.ts";
import type { Clock } from "./clock.ts";
import { type RequestError, TokenError } from "./errors.ts";

/** The limits of the delay between polls, in milliseconds, before jitter. */
export interface PollIntervals {
  minMs: number;
  maxMs: number;
}

/** Returns the delays between polls, in milliseconds; `undefined` if no time is left. Times are monotonic. */
export function pollDelays(
  { startedAt, lastPollAt, intervals }: { startedAt: number; lastPollAt: number; intervals: PollIntervals },
  { clock, random }: { clock: Clock; random: () => number },
) {
  let isFirst = true;
  const untilLastPoll = (delayMs: number): number | undefined => {
    const maxMs = lastPollAt - clock.now();
    return maxMs > 0 ? Math.min(delayMs, maxMs) : undefined;
  };
  return {
    /**
     * Returns 10 % of the time waited so far within the intervals, or `minMs` if that is longer: short jobs end early, long ones
     * cost few requests. The jitter spreads out jobs that were started together.
     */
    next: (minMs = 0): number | undefined => {
      const base = Math.min(Math.max((clock.now() - startedAt) * 0.1, intervals.minMs), intervals.maxMs);
      const delayMs = base * (isFirst ? 0.5 + random() : 0.8 + 0.4 * random());
      isFirst = false;
      return untilLastPoll(Math.max(delayMs, minMs));
    },
    /** Returns the delay after a poll that was held: that time counts as a part of the shortest delay. */
    afterHeld: (heldMs: number): number | undefined => untilLastPoll(Math.max(0, intervals.minMs - heldMs)),
  };
}

/** The longest time that the service is asked to hold a poll, in seconds: well below the timeout of a request. */
const maxHoldSeconds = 25;
/** How long before its limit the service has to answer a held poll, in milliseconds. */
const answerMs = 2000;
/** A poll that ends sooner, in milliseconds, was not held, whatever the response says. */
const minHeldMs = 1000;
/** After as many held polls in a row that failed, no more are sent: something on the way cannot hold them. */
const maxFailures = 2;

/** Returns whether a poll was held: a service that answers at once, and says it waited, would be polled in a loop. */
export function wasHeld(heldMs: number): boolean {
  return heldMs >= minHeldMs;
}

/** Decides which polls of a wait the service is asked to hold until the job ends. */
export class HeldPolls {
  #failures = 0;

  /** Returns for how many seconds a poll with this time left may be held; 0 if it must not be. */
  secondsFor(leftMs: number): number {
    if (this.#failures >= maxFailures) return 0;
    return Math.max(0, Math.min(maxHoldSeconds, Math.floor((leftMs - answerMs) / 1000)));
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Call it when a poll has failed that could be held. A failure at once has another cause than that it was held. */
  failed(error: RequestError, tookMs: number): void {
    const wasSent = !(error instanceof TokenError || (error instanceof NetworkError && error.phase === "connecting"));
    if (wasSent && tookMs >= minHeldMs) this.#failures++;
  }
}
