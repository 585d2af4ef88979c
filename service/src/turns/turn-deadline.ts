import { once } from "node:events";
import type { Machine } from "../machine.ts";

/** The commit of a change gets at least this part of the time limit of its turn, however long the agent took. */
const commitRatio = 1 / 10;
const longestReserveMs = 60_000;

/** The time that an agent and the commit of its change have together. */
export interface TurnDeadline extends Disposable {
  /** Aborts when the time is over, and when somebody wants the turn to stop. */
  readonly signal: AbortSignal;
  /** Whether the time is over. */
  readonly isOver: boolean;
}

/**
 * Returns how long the part of a turn after its agent may take, in milliseconds.
 *
 * @param elapsedMs - what the agent took of the time limit
 */
export function timeLeft(timeLimitMs: number, elapsedMs: number): number {
  return Math.max(timeLimitMs - elapsedMs, Math.min(longestReserveMs, timeLimitMs * commitRatio));
}

/**
 * Starts the part of a turn after its agent. The service's own Git works on files of the agent in it, whose names and patterns
 * can take Git any time.
 *
 * @param elapsedMs - what the agent took of the time limit
 * @param stop - aborts when somebody wants the turn to stop
 */
export function startDeadline(
  machine: Machine,
  timeLimitMs: number,
  elapsedMs: number,
  stop: AbortSignal | undefined,
): TurnDeadline {
  const over = new AbortController();
  const end = new AbortController();
  void machine.sleep(timeLeft(timeLimitMs, elapsedMs), end.signal).then(() => {
    if (!end.signal.aborted) over.abort();
  });
  return {
    signal: stop === undefined ? over.signal : AbortSignal.any([over.signal, stop]),
    get isOver() {
      return over.signal.aborted;
    },
    [Symbol.dispose]: () => end.abort(),
  };
}

/**
 * Waits for work until somebody wants the turn to stop.
 *
 * @throws with why the turn fails then as the message
 */
export async function untilStopped<T>(work: Promise<T>, stop: AbortSignal | undefined): Promise<T> {
  if (stop === undefined || stop.aborted) return work;
  const end = new AbortController();
  const stopped = once(stop, "abort", { signal: end.signal }).then(
    () => {
      throw new Error(String(stop.reason));
    },
    () => work,
  );
  try {
    return await Promise.race([work, stopped]);
  } finally {
    end.abort();
  }
}
