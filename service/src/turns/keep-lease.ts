import { type Machine, thisMachine } from "../machine.ts";
import type { RunningTurn } from "../model.ts";
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "../store-errors.ts";

/** Where leases are kept. */
export type LeaseStore = Pick<Store["runningTurns"], "renewEveryMs" | "renewLease" | "confirmLease">;

/** The lease of a running turn, which is renewed until it is disposed of. */
export interface KeptLease extends Disposable {
  /** Aborts when another worker has taken the turn over, or the service stops. */
  readonly signal: AbortSignal;
  /** Whether another worker has taken the turn over. */
  readonly isLost: boolean;
  /** Tells it that the turn was taken over, before it asks. */
  lose(): void;
}

/**
 * Keeps the lease of a running turn.
 *
 * @param stop - aborts when the service stops. The lease is renewed until the end of the turn is stored
 */
export function keepLease(
  turn: RunningTurn,
  store: LeaseStore,
  stop: AbortSignal,
  machine: Machine = thisMachine,
): KeptLease {
  const lost = new AbortController();
  const end = new AbortController();
  const { renewEveryMs } = store;
  if (renewEveryMs !== undefined) void renew(turn, store, renewEveryMs, lost, end.signal, machine);
  return {
    signal: AbortSignal.any([stop, lost.signal]),
    get isLost() {
      return lost.signal.aborted;
    },
    lose: () => lost.abort(),
    [Symbol.dispose]: () => end.abort(),
  };
}

async function renew(
  turn: RunningTurn,
  store: LeaseStore,
  everyMs: number,
  lost: AbortController,
  end: AbortSignal,
  machine: Machine,
): Promise<void> {
  for (;;) {
    await machine.sleep(everyMs, end);
    if (end.aborted) return;
    // While the store cannot be used, nobody else can take the turn either.
    const isHeld = await store.renewLease(turn).catch(() => true);
    if (isHeld || end.aborted) continue;
    lost.abort();
    return;
  }
}

const retryPauseMs = 2000;

/**
 * Checks that nobody else has taken a turn over. Waits while the store cannot be used: the agent has run, and would have to run
 * again otherwise.
 *
 * @throws LeaseLost if somebody else has; or when `signal` aborts
 */
export async function confirmLease(
  turn: RunningTurn,
  store: LeaseStore,
  signal: AbortSignal,
  machine: Machine = thisMachine,
): Promise<void> {
  for (;;) {
    try {
      return await store.confirmLease(turn);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    await machine.sleep(retryPauseMs, signal);
    signal.throwIfAborted();
  }
}
