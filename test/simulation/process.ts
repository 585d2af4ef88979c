import type { Clock } from "../../src/client/clock.ts";
import { epoch } from "../support/fake-clock.ts";
import { type Order, order, type Timeline } from "./timeline.ts";

/** A time in which the process does not run, while the world does not stand still. Milliseconds; `at` since its start. */
export interface Pause {
  at: number;
  ms: number;
}

/** The monotonic time at which a process starts: not 0, so that a time that is used as a duration shows. */
const clockStart = 1_000_000;

/** The process of one run attempt: it has a clock, can be paused, and vanishes when it is killed. */
export class SimulatedProcess {
  readonly startedAt: number;
  readonly clock: Clock;
  isAlive = true;
  readonly #timeline: Timeline;
  readonly #pauses: readonly Pause[];

  constructor(timeline: Timeline, pauses: readonly Pause[]) {
    this.#timeline = timeline;
    this.startedAt = timeline.now;
    this.#pauses = pauses.toSorted((one, other) => one.at - other.at);
    this.clock = {
      now: () => clockStart + this.elapsedMs,
      wallTime: () => epoch + timeline.now,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve();
          const wake = (): void => {
            cancel();
            resolve();
          };
          const cancel = this.after(ms, order.timer, wake);
          signal?.addEventListener("abort", wake, { once: true });
        }),
    };
  }

  /** Milliseconds since the start of the process. */
  get elapsedMs(): number {
    return this.#timeline.now - this.startedAt;
  }

  /** Calls `run` after `ms` milliseconds: after a pause if they end in one, and never once the process is killed. */
  after(ms: number, when: Order, run: () => void): () => void {
    const time = this.#resumedAt(this.elapsedMs + Math.max(0, ms));
    return this.#timeline.at(this.startedAt + time, when, () => {
      if (this.isAlive) run();
    });
  }

  kill(): void {
    this.isAlive = false;
  }

  #resumedAt(time: number): number {
    let resumed = time;
    for (const { at, ms } of this.#pauses) if (resumed >= at) resumed = Math.max(resumed, at + ms);
    return resumed;
  }
}
