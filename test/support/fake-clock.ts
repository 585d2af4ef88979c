import type { Clock } from "../../src/client/clock.ts";

/** 2026-01-01T00:00:00Z, at which the fake clock starts. */
export const epoch = Date.UTC(2026, 0, 1);

/** A clock that stands still but for what sleeps on it: hours pass in no time, and to the millisecond. */
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

  /** Has `run` happen at the moment `at`, in the midst of whatever lasts beyond it. */
  at(at: number, run: () => void): void {
    this.#events.push({ at, run });
    this.#events.sort((one, other) => one.at - other.at);
  }

  /** Lets `ms` pass, or less where `signal` aborts meanwhile. */
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
