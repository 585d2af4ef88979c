import type { Machine } from "../machine.ts";

/** Limits the failed attempts of all clients together: behind a reverse proxy, and on one machine, they share an address. */
export class AttemptLimit {
  readonly #max: number;
  readonly #windowMs: number;
  readonly #machine: Pick<Machine, "now">;
  /** The times of the last failures, oldest first. */
  #failures: number[] = [];

  constructor(max: number, windowMs: number, machine: Pick<Machine, "now">) {
    this.#max = max;
    this.#windowMs = windowMs;
    this.#machine = machine;
  }

  /** Returns how long to wait for the next attempt, in milliseconds; `undefined` if it is allowed now. */
  waitMs(): number | undefined {
    const since = this.#machine.now() - this.#windowMs;
    this.#failures = this.#failures.filter((at) => at > since);
    const [oldest] = this.#failures;
    return oldest === undefined || this.#failures.length < this.#max ? undefined : oldest - since;
  }

  addFailure(): void {
    this.#failures.push(this.#machine.now());
  }
}
