import { type Machine, thisMachine } from "../machine.ts";
import type { Turn } from "../model.ts";
import type { Store } from "../store/store.ts";

/** Tells a turn that somebody wants it to stop, until it is disposed of. */
export interface StopRequest extends Disposable {
  /** Aborts when it is to stop. Its reason is why the turn fails then, as text. */
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
      // What could not be read may be the request, of which nobody hears again.
      void checkLater();
    }
  };
  const unfollow = store.followJob(turn.job, () => void check());
  // Somebody may have asked whoever ran it before.
  void check();
  return {
    signal: stop.signal,
    [Symbol.dispose]: () => {
      unfollow();
      end.abort();
    },
  };
}
