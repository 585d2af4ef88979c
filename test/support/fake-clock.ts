import type { Clock } from "../../src/client/clock.ts";

/** The wall-clock time at which the fake clock starts: 2026-01-01T00:00:00Z. */
export const epoch = Date.UTC(2026, 0, 1);

/**
 * A clock that only moves when something sleeps on it: hours pass instantly, and times are exact to the millisecond. As
 * with the real one, `now()` does not begin at 0, so a time that is used as a duration shows.
 */
export class FakeClock implements Clock {
  readonly #startedAt: number;
  #now: number;
  #events: { at: number; run: () => void }[] = [];
  /** When those wake who sleep now. Whoever wakes first lets time pass. */
  readonly #wakeTimes: number[] = [];

  constructor(startedAt = 1_000_000) {
    this.#startedAt = startedAt;
    this.#now = startedAt;
  }

  now(): number {
    return this.#now;
  }

  /** Milliseconds since the start of the clock. */
  get elapsedMs(): number {
    return this.#now - this.#startedAt;
  }

  wallTime(): number {
    return epoch + this.elapsedMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const end = this.#now + Math.max(0, ms);
    this.#wakeTimes.push(end);
    do {
      // Work that needs no time is done before time passes, also the work that an event causes.
      await new Promise(setImmediate);
    } while (!signal?.aborted && (end > Math.min(...this.#wakeTimes) || this.#reachEvent(end)));
    this.#wakeTimes.splice(this.#wakeTimes.indexOf(end), 1);
  }

  /** Calls `run` when `elapsedMs` have passed since the start, even in the middle of a longer sleep. */
  at(elapsedMs: number, run: () => void): void {
    this.#events.push({ at: this.#startedAt + elapsedMs, run });
    this.#events.sort((one, other) => one.at - other.at);
  }

  /** Lets `ms` milliseconds pass, or fewer if `signal` aborts in the meantime. */
  advance(ms: number, signal?: AbortSignal): void {
    const end = this.#now + Math.max(0, ms);
    while (!signal?.aborted && this.#reachEvent(end));
  }

  /** Lets time pass until the next event, or until `end` if there is none before. Returns whether there was one. */
  #reachEvent(end: number): boolean {
    const event = this.#events[0];
    const isBefore = event !== undefined && event.at <= end;
    this.#now = Math.max(this.#now, isBefore ? event.at : end);
    if (!isBefore) return false;
    this.#events.shift();
    event.run();
    return true;
  }
}
