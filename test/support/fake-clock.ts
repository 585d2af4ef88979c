import type { Clock } from "../../src/client/clock.ts";

/** The wall-clock time at which the fake clock starts: 2026-01-01T00:00:00Z. */
export const epoch = Date.UTC(2026, 0, 1);

/** A clock that only moves when something sleeps on it: hours pass instantly, and times are exact to the millisecond. */
export class FakeClock implements Clock {
  #now = 0;
  #events: { at: number; run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  wallTime(): number {
    return epoch + this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.advance(ms, signal);
  }

  /** Calls `run` at the time `at`, even in the middle of a longer sleep. */
  at(at: number, run: () => void): void {
    this.#events.push({ at, run });
    this.#events.sort((one, other) => one.at - other.at);
  }

  /** Lets `ms` milliseconds pass, or fewer if `signal` aborts in the meantime. */
  advance(ms: number, signal?: AbortSignal): void {
    const end = this.#now + Math.max(0, ms);
    while (!signal?.aborted) {
      const event = this.#events[0];
      if (event === undefined || event.at > end) {
        this.#now = end;
        return;
      }
      this.#events.shift();
      this.#now = Math.max(this.#now, event.at);
      event.run();
    }
  }
}
