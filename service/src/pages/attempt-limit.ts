import type { Machine } from "../machine.ts";

/** Limits failed attempts, all clients together: behind a reverse proxy, and on one machine, they have the same address. */
export class AttemptLimit {
  readonly #max: number;
  readonly #windowMs: number;
  readonly #machine: Pick<Machine, "now">;
  /** When the last failures were, oldest first. */
  #failures: number[] = [];

  constructor(max: number, windowMs: number, machine: Pick<Machine, "now">) {
    this.#max = max;
    this.#windowMs = windowMs;
    this.#machine = machine;
  }

  /** Returns how long no attempt is allowed, in milliseconds; `undefined` if one is allowed now. */
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
