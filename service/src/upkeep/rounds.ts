import { errorStack } from "../error-message.ts";
import { type Machine, thisMachine } from "../machine.ts";
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "../store-errors.ts";
import { cautiousClock, minuteMs } from "../time.ts";

/** A task that runs every minute. */
export interface Round {
  /** The name in the log, and of the lock that lets only one process on a store run it at a time. It must not change. */
  readonly name: string;
  /** @param now - milliseconds since 1970 */
  run(now: number): Promise<void>;
}

const intervalMs = minuteMs;

/**
 * Runs rounds one after another, at once and then every minute, until `signal` aborts. Never rejects.
 *
 * @param shared - the store of several processes, of which only one runs a round at a time. Default: each process runs them
 */
export async function runRounds(
  rounds: readonly Round[],
  shared: Pick<Store, "exclusively"> | undefined,
  signal: AbortSignal,
  log: (line: string) => void,
  machine: Machine = thisMachine,
): Promise<void> {
  const now = cautiousClock(machine);
  while (!signal.aborted) {
    for (const round of rounds) {
      const run = () => round.run(now());
      const done = shared === undefined ? run() : shared.exclusively(round.name, run);
      await done.catch((error: unknown) => {
        // The store has logged that it cannot be written.
        if (!(error instanceof StoreUnavailable)) log(`${round.name} failed: ${errorStack(error)}`);
      });
    }
    await machine.sleep(intervalMs, signal);
  }
}
