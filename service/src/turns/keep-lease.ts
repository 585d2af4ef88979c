import { type Machine, thisMachine } from "../machine.ts";
import type { RunningTurn } from "../model.ts";
import type { Store } from "../store/store.ts";
import { LeaseLost } from "../store-errors.ts";
import { isStoreOutage } from "./outages.ts";

export type LeaseStore = Pick<Store["runningTurns"], "renewEveryMs" | "renewLease">;

/** The lease of a running turn, renewed until disposed. */
export interface KeptLease extends Disposable {
  /** Aborts with a `LeaseLost` if another worker has taken the turn over, or when the service stops. */
  readonly signal: AbortSignal;
  readonly isLost: boolean;
  /** Marks the lease as lost before the next renewal. */
  lose(): void;
}

/**
 * Renews the lease of a running turn.
 *
 * @param stop - aborts when the service stops. Renewal continues until the turn's end is stored
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
    // An unreachable store is not an answer. After an outage, every worker gets a full lease period to renew.
    const isHeld = await store.renewLease(turn).catch(() => undefined);
    pauseMs = isHeld === undefined ? Math.min(everyMs, retryPauseMs) : everyMs;
    if (isHeld !== false || end.aborted) continue;
    lost.abort(new LeaseLost(turn.id));
    return;
  }
}

/**
 * Retries a store operation until the store is available. For turns whose agent has run, which would otherwise run again.
 *
 * @param use - must be repeatable: it may have taken effect although it failed
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
