import type { Period } from "./machine-process.ts";
import type { Fault, FaultKind, Scenario } from "./scenario.ts";

/** The faults of a history, with their times and machines. The machines are numbered, the API's first. */
export class Faults {
  readonly #faults: readonly Fault[];
  readonly #machines: number;

  constructor({ faults, apis, workers }: Scenario) {
    this.#faults = faults;
    this.#machines = apis + workers;
  }

  /** When the last one ends. */
  get endsAt(): number {
    return Math.max(0, ...this.#faults.map(endOf));
  }

  /** Returns the faults of a kind on a machine. */
  on(machine: number, kind: FaultKind): readonly Fault[] {
    return this.#faults.filter(
      (fault) => fault.kind === kind && (fault.isEverywhere || fault.machine % this.#machines === machine),
    );
  }

  /** Returns how far the clock of a machine is from the time. */
  clockOffset(machine: number, time: number): number {
    const fault = this.on(machine, "clock").findLast(({ at }) => at <= time);
    return fault === undefined ? 0 : fault.ms * (fault.machine % 2 === 0 ? 12 : -12);
  }

  has(kind: FaultKind): boolean {
    return this.#faults.some((fault) => fault.kind === kind);
  }
}

/** How long a `store-cut` waits for a transaction. */
export const cutWaitMs = 60_000;

function endOf({ kind, at, ms }: Fault): number {
  if (kind === "clock" || kind === "foreign-push") return at;
  return at + ms + (kind === "store-cut" ? cutWaitMs : 0);
}

/** Returns the fault that is the case at a time. */
export function activeAt<T extends Period>(faults: readonly T[], time: number): T | undefined {
  return faults.find(({ at, ms }) => time >= at && time < at + ms);
}
