import { order } from "../../../test/simulation/timeline.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/store-errors.ts";
import { isOpen } from "./audit.ts";
import type { ApiMachine, World } from "./machines.ts";
import type { Stop } from "./scenario.ts";

/** Stops turns, as a scenario says. */
export class Operator {
  /** The turns that were asked to stop, by their ids. */
  readonly stopped = new Set<number>();
  readonly #world: World;
  readonly #apis: readonly ApiMachine[];

  constructor(world: World, apis: readonly ApiMachine[]) {
    this.#world = world;
    this.#apis = apis;
    for (const stop of world.scenario.stops) world.timeline.at(stop.at, order.read, () => void this.#stop(stop));
  }

  async #stop({ api: machine, turn: number }: Stop): Promise<void> {
    const { audit } = this.#world;
    const turns = [...audit.turns.values()];
    const turn = turns[number % turns.length];
    const api = this.#apis[machine % this.#apis.length];
    const project = turn && audit.jobs.get(turn.job)?.project;
    if (turn === undefined || project === undefined || !api?.process.isAlive) return;
    await new Promise<void>((resolve) => api.process.after(0, order.read, resolve));
    this.stopped.add(turn.id);
    const wasOpen = isOpen(audit.turns.get(turn.id) ?? turn);
    try {
      const stopped = await api.jobs.stopTurn(project, turn.job, turn.id, "Stopped by an operator.");
      const isAccepted = stopped !== undefined && !stopped.hadEnded;
      const now = audit.turns.get(turn.id);
      const isStillOpen = now !== undefined && isOpen(now);
      if (!isAccepted && isStillOpen) audit.violations.push(`turn ${turn.id} cannot be stopped, although it is open`);
      if (isAccepted && !wasOpen) audit.violations.push(`turn ${turn.id} was stopped after it had ended`);
    } catch (error) {
      const isKnown = error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
      if (!isKnown) audit.violations.push(`the stop of turn ${turn.id} was answered with ${error}`);
    }
  }
}
