import { setImmediate } from "node:timers/promises";
import type { Machine } from "../../src/machine.ts";

/** A machine whose time passes only when a test says so. */
export class FakeMachine implements Machine {
  /** Not 0, so that a time is not taken for none. */
  #now = 5_000_000;
  #wallTime: number;
  readonly #sleepers = new Set<{ until: number; wake: () => void }>();
  /** What `random` returns. */
  randomNumber = 0.5;
  /** How many bytes are free on every disk. */
  free = 1e12;

  /** @param wallTime - at the start, in milliseconds since 1970 */
  constructor(wallTime = Date.UTC(2026, 0, 1)) {
    this.#wallTime = wallTime;
  }

  /** Lets time pass on both clocks, and ends the sleeps that are over by then. */
  pass(ms: number): void {
    this.#now += ms;
    this.#wallTime += ms;
    for (const { until, wake } of this.#sleepers) if (until <= this.#now) wake();
  }

  /** Whether somebody waits for time to pass. */
  get isWaitedFor(): boolean {
    return this.#sleepers.size > 0;
  }

  /** Lets time pass, a minute at a time, until something has settled. */
  async passUntil<T>(done: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    done.then(settle, settle);
    while (!isSettled) {
      await setImmediate();
      this.pass(60_000);
    }
    return done;
  }

  /** Sets the wall clock alone. */
  setWallTime(at: number): void {
    this.#wallTime = at;
  }

  now(): number {
    return this.#now;
  }

  wallTime(): number {
    return this.#wallTime;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const sleeper = { until: this.#now + ms, wake: resolve };
    this.#sleepers.add(sleeper);
    if (ms <= 0 || signal?.aborted) resolve();
    signal?.addEventListener("abort", () => resolve());
    return promise.finally(() => void this.#sleepers.delete(sleeper));
  }

  random(): number {
    return this.randomNumber;
  }

  async freeBytes(): Promise<number> {
    return this.free;
  }
}

/** Returns a fake machine with some of its methods replaced. */
export function fakeMachine(given: Partial<Machine> = {}): Machine {
  return Object.assign(new FakeMachine(), given);
}
