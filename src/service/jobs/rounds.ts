import { setTimeout } from "node:timers/promises";
import { errorStack } from "../error-message.ts";
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "./engine.ts";
import { cautiousClock } from "./steady-clock.ts";

/** Something that is done every minute. */
export interface Round {
  /** @param now - milliseconds since 1970 */
  run(now: number): Promise<void>;
}

const intervalMs = 60_000;

/**
 * Runs rounds one after another, at once and then every minute, until `signal` aborts. A round that another process on the same
 * store is running is left to that. Never rejects.
 */
export async function runRounds(
  rounds: readonly Round[],
  store: Pick<Store, "exclusively">,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<void> {
  const now = cautiousClock();
  while (!signal.aborted) {
    for (const round of rounds)
      await store
        .exclusively(round.constructor.name, () => round.run(now()))
        .catch((error: unknown) => {
          // The store has logged that it cannot be written.
          if (!(error instanceof StoreUnavailable)) log(`${round.constructor.name} failed: ${errorStack(error)}`);
        });
    await setTimeout(intervalMs, undefined, { signal }).catch(() => {});
  }
}
