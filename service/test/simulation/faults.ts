import type { Period } from "./machine-process.ts";
import type { Fault, FaultKind, Scenario } from "./scenario.ts";

const refusalKinds = ["refuse-branch", "refuse-push", "refuse-pull"] as const satisfies readonly FaultKind[];
export type RefusalKind = (typeof refusalKinds)[number];

/** How many more steps a machine takes. */
interface Steps {
  machine: number;
  steps: number;
}

/** The faults of a history, with their times and machines. The machines are numbered, the API's first. */
export class Faults {
  readonly #faults: readonly Fault[];
  /** Those that wait for a step of a machine: of which one, and how many are left, once an agent has ended there. */
  #waiting: { fault: Fault; until: number; after?: Steps }[];
  /** The pauses that end early, with the steps that are left. */
  #ending: { fault: Fault; after: Steps }[] = [];
  readonly #apis: number;
  readonly #workers: number;
  /** When the last one ends. */
  readonly endsAt: number;

  constructor({ faults, apis, workers }: Scenario) {
    this.#faults = faults.map((fault) =>
      fault.step === undefined ? fault : { ...fault, at: Number.POSITIVE_INFINITY },
    );
    this.#waiting = faults.flatMap(({ step, at }, index) => {
      const fault = this.#faults[index];
      return step === undefined || fault === undefined ? [] : [{ fault, until: at + waitMs }];
    });
    this.endsAt = Math.max(0, ...faults.map(endOf));
    this.#apis = apis;
    this.#workers = workers;
  }

  /** Returns the faults of a kind on a machine. */
  on(machine: number, kind: FaultKind): readonly Fault[] {
    return this.#faults.filter((fault) => fault.kind === kind && this.#isOn(machine, fault));
  }

  /** Tells that an agent has run to its end on a machine. */
  agentEnded(machine: number, now: number): void {
    for (const one of this.#waiting)
      if (one.after === undefined && this.#isOn(machine, one.fault) && now >= one.until - waitMs)
        one.after = { machine, steps: one.fault.step ?? 0 };
  }

  /** Tells that a machine has taken a turn over from another one. */
  takenOver(from: number, by: number, now: number): void {
    for (const fault of this.on(from, "pause"))
      if (fault.wake !== undefined && activeAt([fault], now))
        this.#ending.push({ fault, after: { machine: by, steps: fault.wake } });
  }

  /**
   * Tells that a machine begins a step.
   *
   * @returns the faults that begin with it, and the pauses that end; pauses and outages have begun and ended then
   */
  step(machine: number, now: number): { begun: readonly Fault[]; ended: readonly Fault[] } {
    const isDue = ({ after }: { after?: Steps }): boolean => after?.machine === machine && after.steps-- <= 0;
    const due = this.#waiting.filter(isDue);
    this.#waiting = this.#waiting.filter((one) => now < one.until && !due.includes(one));
    const begun = due.filter(({ until }) => now < until).map(({ fault }) => fault);
    for (const fault of begun) fault.at = now;
    const ending = this.#ending.filter(isDue);
    this.#ending = this.#ending.filter((one) => !ending.includes(one));
    const ended = ending.map(({ fault }) => fault).filter((fault) => activeAt([fault], now));
    for (const fault of ended) fault.ms = now - fault.at;
    return { begun, ended };
  }

  /** Returns whether the remote or the platform refuses something at a time: for all machines. */
  refuses(kind: RefusalKind, now: number): boolean {
    return activeAt(this.#of(kind), now) !== undefined;
  }

  /** Returns whether anything was refused at a time from one to another. */
  refusedBetween(from: number, to: number): boolean {
    return refusalKinds.flatMap((kind) => this.#of(kind)).some(({ at, ms }) => at <= to && at + ms > from);
  }

  #of(kind: FaultKind): readonly Fault[] {
    return this.#faults.filter((fault) => fault.kind === kind);
  }

  #isOn(machine: number, fault: Fault): boolean {
    return fault.isEverywhere || lossMs(fault) > 0 || this.machineOf(fault) === machine;
  }

  /** Returns the number of the machine of a fault: one with a worker, if the fault waits for an agent. */
  machineOf({ machine, step }: Fault): number {
    if (step === undefined) return machine % (this.#apis + this.#workers);
    return this.#apis + (machine % this.#workers);
  }

  /** Returns how far the clock of a machine is from the time. */
  clockOffset(machine: number, time: number): number {
    const fault = this.on(machine, "clock").findLast(({ at }) => at <= time);
    return fault === undefined ? 0 : fault.ms * (fault.machine % 2 === 0 ? 12 : -12);
  }

  /** How often the store loses what it has committed. */
  get losses(): number {
    return this.#faults.filter((fault) => lossMs(fault) > 0).length;
  }

  has(kind: FaultKind): boolean {
    return this.count(kind) > 0;
  }

  count(kind: FaultKind): number {
    return this.#of(kind).length;
  }
}

/** How long a fault waits for what it begins with, such as a `store-cut` for a transaction. */
export const waitMs = 60_000;

function endOf({ kind, at, ms, step }: Fault): number {
  if (kind === "clock" || kind === "foreign-push") return at;
  return at + ms + (kind === "store-cut" || step !== undefined ? waitMs : 0);
}

/** Returns how long before a fault the store lost what it committed until then; 0 if it does not lose anything. */
export function lossMs({ kind, ms }: Fault): number {
  if (kind === "restore") return Math.min(ms, 20_000);
  return kind === "lost-second" ? 1000 : 0;
}

/** Returns the fault that is the case at a time. */
export function activeAt<T extends Period>(faults: readonly T[], time: number): T | undefined {
  return faults.find(({ at, ms }) => time >= at && time < at + ms);
}
