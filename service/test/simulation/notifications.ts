import { order, type Timeline } from "../../../test/simulation/timeline.ts";
import type { Draws } from "./draws.ts";
import { activeAt } from "./faults.ts";
import type { MachineProcess } from "./machine-process.ts";
import type { Fault } from "./scenario.ts";

/** Who listens, and when it hears nothing or everything twice. */
export interface Listener {
  process: MachineProcess;
  deaf: readonly Fault[];
  echo: readonly Fault[];
  call: () => void;
}

/** The notifications of the store to all processes. */
export class Notifications {
  readonly #timeline: Timeline;
  readonly #draws: Draws;
  readonly #faultsOf: (process: MachineProcess) => Pick<Listener, "deaf" | "echo">;
  #listeners: Listener[] = [];

  constructor(
    timeline: Timeline,
    draws: Draws,
    faultsOf: (process: MachineProcess) => Pick<Listener, "deaf" | "echo">,
  ) {
    this.#timeline = timeline;
    this.#draws = draws;
    this.#faultsOf = faultsOf;
  }

  on(process: MachineProcess, call: () => void): void {
    this.#listeners = [
      ...this.#listeners.filter((one) => one.process.isAlive),
      { process, call, ...this.#faultsOf(process) },
    ];
  }

  send(): void {
    const { now } = this.#timeline;
    for (const { process, deaf, echo, call } of this.#listeners) {
      if (activeAt(deaf, now)) continue;
      process.after(this.#draws.between(1, 50), order.read, call);
      if (activeAt(echo, now)) process.after(this.#draws.between(1, 20_000), order.read, call);
    }
  }
}
