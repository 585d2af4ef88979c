import type { Store, Turn } from "../store/store.ts";

/** Tells a turn that somebody wants it to stop, until it is disposed of. */
export interface StopRequest extends Disposable {
  /** Aborts when it is to stop. Its reason is why the turn fails then, as text. */
  readonly signal: AbortSignal;
}

/** Watches for a request to stop a running turn. */
export function watchStopRequest(turn: Turn, store: Pick<Store, "stopRequest" | "followJob">): StopRequest {
  const stop = new AbortController();
  const check = async (): Promise<void> => {
    // While the store cannot be read, nobody can ask.
    const reason = await store.stopRequest(turn).catch(() => undefined);
    if (reason !== undefined) stop.abort(reason);
  };
  const end = store.followJob(turn.job, () => void check());
  // Somebody may have asked whoever ran it before.
  void check();
  return { signal: stop.signal, [Symbol.dispose]: end };
}
