import { epoch } from "../../../test/support/fake-clock.ts";
import type { Machine } from "../../src/machine.ts";

/** Returns a machine on which no time passes and no pause ends before the test says so, except for what the test gives. */
export function fakeMachine(given: Partial<Machine> = {}): Machine {
  return {
    // Not 0, so that a time that is used as a duration shows.
    now: () => 1_000_000,
    wallTime: () => epoch,
    sleep: (_ms, signal) => new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
    random: () => 0.5,
    freeBytes: async () => Number.POSITIVE_INFINITY,
    ...given,
  };
}
