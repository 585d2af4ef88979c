import type { Machine } from "../machine.ts";

/** How many clients with failures are remembered. With more, those that failed first are forgotten. */
const maxClients = 10_000;

/** Limits the failed attempts of each client, so that nobody can use up another's. */
export class AttemptLimit {
  readonly #max: number;
  readonly #windowMs: number;
  readonly #machine: Pick<Machine, "now">;
  /** The times of the last failures of each client, oldest first. */
  readonly #failures = new Map<string, number[]>();

  constructor(max: number, windowMs: number, machine: Pick<Machine, "now">) {
    this.#max = max;
    this.#windowMs = windowMs;
    this.#machine = machine;
  }

  /** Returns how long a client has to wait for its next attempt, in milliseconds; `undefined` if it is allowed now. */
  waitMs(client: string): number | undefined {
    const since = this.#machine.now() - this.#windowMs;
    const failures = (this.#failures.get(client) ?? []).filter((at) => at > since);
    if (failures.length === 0) this.#failures.delete(client);
    else this.#failures.set(client, failures);
    const [oldest] = failures;
    return oldest === undefined || failures.length < this.#max ? undefined : oldest - since;
  }

  addFailure(client: string): void {
    const failures = this.#failures.get(client) ?? [];
    this.#failures.delete(client);
    this.#failures.set(client, [...failures, this.#machine.now()]);
    const [first] = this.#failures.keys();
    if (this.#failures.size > maxClients && first !== undefined) this.#failures.delete(first);
  }
}
