import { type Machine, thisMachine } from "../machine.ts";
import type { Turn } from "../model.ts";
import type { Store } from "../store/store.ts";

/** Signals a request to stop a turn, until disposed. */
export interface StopRequest extends Disposable {
  /** Aborts when the turn should stop. Its reason is the turn's failure, as text. */
  readonly signal: AbortSignal;
}

const retryPauseMs = 2000;

/** Watches for a request to stop a running turn. */
export function watchStopRequest(
  turn: Turn,
  store: Pick<Store, "runningTurns" | "followJob">,
  machine: Machine = thisMachine,
): StopRequest {
  const stop = new AbortController();
  const end = new AbortController();
  let isRetrying = false;
  const checkLater = async (): Promise<void> => {
    if (isRetrying) return;
    isRetrying = true;
    await machine.sleep(retryPauseMs, end.signal);
    isRetrying = false;
    if (!end.signal.aborted) await check();
  };
  const check = async (): Promise<void> => {
    try {
      const reason = await store.runningTurns.stopRequest(turn);
      if (reason !== undefined) stop.abort(reason);
    } catch {
      // An unreadable answer may have been the only notice of the request.
      void checkLater();
    }
  };
  const unfollow = store.followJob(turn.job, () => void check());
  // The stop may have been requested while another worker ran the turn.
  void check();
  return {
    signal: stop.signal,
    [Symbol.dispose]: () => {
      unfollow();
      end.abort();
    },
  };
}
