import { once } from "node:events";
import type { Machine } from "../machine.ts";

/** Committing a change gets at least this share of the turn's time limit. */
const commitRatio = 1 / 10;
const longestReserveMs = 60_000;

/** The time limit for an agent and its commit. */
export interface TurnDeadline extends Disposable {
  /** Aborts when the time is up, or on a request to stop. */
  readonly signal: AbortSignal;
  readonly isOver: boolean;
}

/** Returns what committing a change gets at least. An agent that has no more time than this is not run. */
export const reserveOf = (timeLimitMs: number): number => Math.min(longestReserveMs, timeLimitMs * commitRatio);

/**
 * Returns the time left after the agent, in milliseconds.
 *
 * @param elapsedMs - how long the agent took
 */
export function timeLeft(timeLimitMs: number, elapsedMs: number): number {
  return Math.max(timeLimitMs - elapsedMs, reserveOf(timeLimitMs));
}

/**
 * Starts the deadline for the part after the agent, in which Git handles the agent's files: their names and patterns can make it
 * arbitrarily slow.
 *
 * @param elapsedMs - how long the agent took
 * @param stop - aborts on a request to stop
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

/** Waits for work, or throws on a request to stop, with the turn's failure as the message. */
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
