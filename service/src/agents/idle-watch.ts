import type { ModelUse } from "./network/model-proxy.ts";

/** Watches for an agent that stays although nothing more is to come of it. */
export interface IdleWatch extends Disposable {
  /** Aborts when it has done nothing for long enough. */
  readonly signal: AbortSignal;
  /** Why nothing more is to come of it, once `signal` has aborted. */
  readonly isOver: "silence" | "wait" | undefined;
  /** Called for events. @param isFinal - whether the agent has said how its turn ended */
  onEvent(isFinal: boolean): void;
}

export interface IdleWatchOptions {
  timeLimitMs: number;
  /** How long there may be no event, and no request to the model that is not answered. */
  silenceMs: number;
}

/**
 * Starts to watch an agent. Nothing more is to come of it once it has said how its turn ended, or when its model has asked it to wait for
 * longer than it has time.
 *
 * @param use - of its model. Default: unknown, so that only its events count
 */
export function watchIdle(use: ModelUse | undefined, { timeLimitMs, silenceMs }: IdleWatchOptions): IdleWatch {
  const controller = new AbortController();
  const endsAt = performance.now() + timeLimitMs;
  let hasSaid = false;
  let lastAt = performance.now();
  let isOver: IdleWatch["isOver"];
  const check = (): void => {
    const waits = use?.retryAt !== undefined && use.retryAt > endsAt;
    const isBusy = use !== undefined && (use.open > 0 || performance.now() - use.lastAt < silenceMs);
    if ((!hasSaid && !waits) || isBusy || performance.now() - lastAt < silenceMs) return;
    isOver = hasSaid ? "silence" : "wait";
    controller.abort();
  };
  const timer = setInterval(check, Math.min(1000, silenceMs / 4)).unref();
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    onEvent: (isFinal) => {
      hasSaid = isFinal;
      lastAt = performance.now();
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
