import { type Order, order, type Timeline } from "../../../test/simulation/timeline.ts";
import { epoch } from "../../../test/support/fake-clock.ts";
import type { Machine } from "../../src/machine.ts";
import { activeAt } from "./faults.ts";

/** A time in which something is the case, in milliseconds of the timeline. */
export interface Period {
  at: number;
  ms: number;
}

/** The monotonic time at the start of the simulation: not 0, so that a time that is used as a duration shows. */
const clockStart = 1_000_000;

/** How long a process that continues after a pause takes to do what it had begun. */
const resumingMs = 1000;

export interface ProcessOptions {
  timeline: Timeline;
  /** Called when it is about to ask for something: whatever it has done since its last answer is done. */
  onStep: () => void;
  /** When its machine does not run. Some begin only while it runs. */
  pauses: readonly Period[];
  /** How far the machine's clock is from the time, in milliseconds. It can be set. */
  clockOffset: () => number;
}

/** A process of one machine: it has clocks, does nothing while its machine is paused, and nothing at all once it is killed. */
export class MachineProcess implements Machine {
  isAlive = true;
  diesPushing = false;
  /** When it was told to stop. */
  stoppedAt: number | undefined;
  readonly startedAt: number;
  readonly #options: ProcessOptions;
  /** What waits for the end of a pause: each makes it happen at once. */
  readonly #sleeping = new Set<() => void>();

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.startedAt = options.timeline.now;
  }

  now(): number {
    return clockStart + this.#options.timeline.now;
  }

  wallTime(): number {
    const { timeline, clockOffset } = this.#options;
    return Math.floor(epoch + timeline.now + clockOffset());
  }

  random(): number {
    return 0.5;
  }

  async freeBytes(): Promise<number> {
    return Number.POSITIVE_INFINITY;
  }

  /** Whether it continues after a pause that has ended at this moment. */
  get isResuming(): boolean {
    const { timeline, pauses } = this.#options;
    return pauses.some(({ at, ms }) => timeline.now - (at + ms) >= 0 && timeline.now - (at + ms) < resumingMs);
  }

  /** Calls `run` after some milliseconds: after a pause if they end in one. Returns a function that cancels it. */
  after(ms: number, when: Order, run: () => void): () => void {
    const { timeline, pauses } = this.#options;
    const runOnceAwake = (): void => {
      this.#sleeping.delete(runSoon);
      const pause = activeAt(pauses, timeline.now);
      if (pause === undefined) {
        if (this.isAlive) run();
        return;
      }
      cancel = timeline.at(pause.at + pause.ms, when, runOnceAwake);
      this.#sleeping.add(runSoon);
    };
    const runSoon = (): void => {
      cancel();
      cancel = timeline.at(timeline.now, when, runOnceAwake);
    };
    let cancel = timeline.at(timeline.now + Math.max(0, ms), when, runOnceAwake);
    return () => cancel();
  }

  /**
   * Continues after a pause that has ended earlier than it would have.
   *
   * @param diesPushing - whether it is killed during its next push, which goes on
   */
  wake(diesPushing: boolean): void {
    this.diesPushing = diesPushing;
    for (const runSoon of [...this.#sleeping]) runSoon();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const onAbort = (): void => {
        cancel();
        resolve();
      };
      const cancel = this.after(ms, order.timer, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /**
   * Lets something happen elsewhere. It happens even if the process is killed after it has asked for it.
   *
   * @param requestMs - until it happens
   * @param responseMs - from then until the process knows the result
   */
  ask<T>(requestMs: number, effect: () => Promise<T> | T, responseMs: number): Promise<T> {
    const { timeline, onStep } = this.#options;
    onStep();
    if (!this.isAlive) return new Promise(() => {});
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void): void => void this.after(responseMs, order.read, settle);
      timeline.at(timeline.now + requestMs, order.read, () => {
        new Promise<T>((done) => done(effect())).then(
          (value) => answer(() => resolve(value)),
          (error: unknown) => answer(() => reject(error)),
        );
      });
    });
  }

  kill(): void {
    this.isAlive = false;
  }
}
