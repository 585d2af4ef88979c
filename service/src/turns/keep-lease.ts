import { type Machine, thisMachine } from "../machine.ts";
import type { RunningTurn } from "../model.ts";
import type { Store } from "../store/store.ts";
import { LeaseLost } from "../store-errors.ts";
import { isStoreOutage } from "./outages.ts";

/** Where leases are kept. */
export type LeaseStore = Pick<Store["runningTurns"], "renewEveryMs" | "renewLease">;

/** The lease of a running turn, which is renewed until it is disposed of. */
export interface KeptLease extends Disposable {
  /** Aborts when another worker has taken the turn over, with a `LeaseLost`, or the service stops. */
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
    lose: () => lost.abort(new LeaseLost(turn.id)),
    [Symbol.dispose]: () => end.abort(),
  };
}

const retryPauseMs = 2000;

async function renew(
  turn: RunningTurn,
  store: LeaseStore,
  everyMs: number,
  lost: AbortController,
  end: AbortSignal,
  machine: Machine,
): Promise<void> {
  for (let pauseMs = everyMs; ; ) {
    await machine.sleep(pauseMs, end);
    if (end.aborted) return;
    // A store that cannot be reached says nothing of the turn. After an outage, everybody has the time of a lease to renew theirs.
    const isHeld = await store.renewLease(turn).catch(() => undefined);
    pauseMs = isHeld === undefined ? Math.min(everyMs, retryPauseMs) : everyMs;
    if (isHeld !== false || end.aborted) continue;
    lost.abort(new LeaseLost(turn.id));
    return;
  }
}

/**
 * Does something with the store, and again while the store cannot be used. For turns whose agent has run, which would have to run
 * again otherwise.
 *
 * @param use - can be repeated: it may have taken effect although it failed
 * @param signal - ends the wait with its reason
 */
export async function untilStoreIsBack<T>(use: () => Promise<T>, signal: AbortSignal, machine: Machine): Promise<T> {
  for (;;) {
    try {
      return await use();
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
    }
    await machine.sleep(retryPauseMs, signal);
    signal.throwIfAborted();
  }
}
