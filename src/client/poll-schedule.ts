import { NetworkError } from "../runner-kit/transport.ts";
import type { Clock } from "./clock.ts";
import { type RequestError, TokenError } from "./errors.ts";

/** The limits of the delay between polls, in milliseconds, before jitter. */
export interface PollIntervals {
  minMs: number;
  maxMs: number;
}

/**
 * Returns the delay before the next poll, in milliseconds: 10 % of the time waited so far, within the two intervals.
 * The end of a short job is noticed early, and long jobs cost few requests. The jitter spreads out jobs that were
 * started together; it is widest on the first delay.
 *
 * @param random - a number in [0, 1)
 */
export function nextPollDelayMs(waitedMs: number, isFirst: boolean, intervals: PollIntervals, random: number): number {
  const base = Math.min(Math.max(waitedMs * 0.1, intervals.minMs), intervals.maxMs);
  return base * (isFirst ? 0.5 + random : 0.8 + 0.4 * random);
}

/** The delays between the polls of one wait, in milliseconds; `undefined` if no time is left for another poll. */
export class PollDelays {
  readonly #wait: { startedAt: number; lastPollAt: number; intervals: PollIntervals };
  readonly #clock: Clock;
  readonly #random: () => number;
  #isFirst = true;

  /** @param wait - monotonic times of the first request and of the last poll, and the limits of the delays */
  constructor(
    wait: { startedAt: number; lastPollAt: number; intervals: PollIntervals },
    { clock, random }: { clock: Clock; random: () => number },
  ) {
    this.#wait = wait;
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns the next delay of the schedule, or `minMs` if that is longer. */
  next(minMs = 0): number | undefined {
    const { startedAt, intervals } = this.#wait;
    const delayMs = nextPollDelayMs(this.#clock.now() - startedAt, this.#isFirst, intervals, this.#random());
    this.#isFirst = false;
    return this.#untilLastPoll(Math.max(delayMs, minMs));
  }

  /** Returns the delay after a poll that was held: that time counts as a part of the shortest delay. */
  afterHeld(heldMs: number): number | undefined {
    return this.#untilLastPoll(Math.max(0, this.#wait.intervals.minMs - heldMs));
  }

  #untilLastPoll(delayMs: number): number | undefined {
    const maxMs = this.#wait.lastPollAt - this.#clock.now();
    return maxMs > 0 ? Math.min(delayMs, maxMs) : undefined;
  }
}

/** The longest time that the service is asked to hold a poll, in seconds: well below the timeout of a request. */
const maxHoldSeconds = 25;
/** How long before its limit the service has to answer a held poll, in milliseconds. */
const answerMs = 2000;
/** A poll that ends sooner, in milliseconds, was not held, whatever the response says. */
const minHeldMs = 1000;
/** After as many held polls in a row that failed, no more are sent: something on the way cannot hold them. */
const maxFailures = 2;

/**
 * Returns whether a poll was held. A service that answers at once, and says that it waited, would be polled in a loop.
 *
 * @param heldMs - how long the service says that it waited, in milliseconds
 */
export function wasHeld(heldMs: number): boolean {
  return heldMs >= minHeldMs;
}

/** Decides which polls of a wait the service is asked to hold until the job ends. */
export class HeldPolls {
  #failures = 0;

  /**
   * Returns for how many seconds the next poll may be held; 0 if it must not be.
   *
   * @param leftMs - the time left for the poll, in milliseconds
   */
  secondsFor(leftMs: number): number {
    if (this.#failures >= maxFailures) return 0;
    return Math.max(0, Math.min(maxHoldSeconds, Math.floor((leftMs - answerMs) / 1000)));
  }

  /** Call it when a poll has succeeded that could be held. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Call it when a poll has failed that could be held. A failure at once has another cause than that it was held. */
  failed(error: RequestError, tookMs: number): void {
    const wasSent = !(error instanceof TokenError || (error instanceof NetworkError && error.phase === "connecting"));
    if (wasSent && tookMs >= minHeldMs) this.#failures++;
  }
}
