import { errorStack } from "../error-message.ts";
import { type Sleep, sleep as timer } from "../sleep.ts";
import { type Clocks, cautiousClock } from "../steady-clock.ts";
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "../store-errors.ts";

/** Something that is done every minute. */
export interface Round {
  /** @param now - milliseconds since 1970 */
  run(now: number): Promise<void>;
}

/** How rounds know the time. Default: by the machine. */
export interface RoundPorts {
  sleep?: Sleep;
  clocks?: Clocks;
}

const intervalMs = 60_000;

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
  { sleep = timer, clocks }: RoundPorts = {},
): Promise<void> {
  const now = cautiousClock(clocks);
  while (!signal.aborted) {
    for (const round of rounds) {
      const run = () => round.run(now());
      const done = shared === undefined ? run() : shared.exclusively(round.constructor.name, run);
      await done.catch((error: unknown) => {
        // The store has logged that it cannot be written.
        if (!(error instanceof StoreUnavailable)) log(`${round.constructor.name} failed: ${errorStack(error)}`);
      });
    }
    await sleep(intervalMs, { signal }).catch(() => {});
  }
}
