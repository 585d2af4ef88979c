import { errorStack } from "../error-message.ts";
import { type Machine, thisMachine } from "../machine.ts";
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "../store-errors.ts";
import { cautiousClock, minuteMs } from "../time.ts";

/** Something that is done every minute. */
export interface Round {
  /** Names it in the log, and for other processes on the same store: only one of them runs it at a time. */
  readonly name: string;
  /** @param now - milliseconds since 1970 */
  run(now: number): Promise<void>;
}

const intervalMs = minuteMs;

/**
 * Runs rounds one after another, at once and then every minute, until `signal` aborts. Never rejects.
 *
 * @param shared - a round that another process on this store is running is left to that. Default: each process runs them
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
