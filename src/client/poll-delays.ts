import type { Clock } from "./clock.ts";
import { nextPollDelayMs, type PollIntervals } from "./schedule.ts";

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
