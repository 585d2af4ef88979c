import type { Log } from "../log/log.ts";
import { OutageLog } from "../log/outage-log.ts";
import { oneLine } from "../one-line.ts";

const firstPauseMs = 1000;
const lastPauseMs = 60_000;
/** How many pauses are an hour: six take a minute together, and the others a minute each. */
export const pausesOfAnHour = 65;

/** Returns how long what was tried again so often waits for the next time, in milliseconds. */
export const pauseAfter = (count: number): number => Math.min(firstPauseMs * 2 ** count, lastPauseMs);

/** Decides how long turns wait that the machine cannot start now, for example for lack of file descriptors. */
export class Postponements {
  /** No turn is started for this long after one was postponed, so that many waiting turns do not keep failing. */
  readonly gapMs = firstPauseMs;
  readonly #outage: OutageLog;
  /** How often each turn was postponed, by id. */
  readonly #counts = new Map<number, number>();
  #starts = 0;
  #lastPostponed = 0;

  constructor(log: Log) {
    this.#outage = new OutageLog(log);
  }

  /** Whether no turn could be run since one was postponed. */
  get isOut(): boolean {
    return this.#outage.isOut;
  }

  /** Returns the position of a turn in the order of starts. */
  start(): number {
    this.#starts++;
    return this.#starts;
  }

  /** Returns whether a turn was postponed and has not ended since. */
  has(turnId: number): boolean {
    return this.#counts.has(turnId);
  }

  /** Returns the milliseconds until a turn can be started again. They double each time, up to a minute. */
  postpone(turnId: number, reason: string): number {
    this.#outage.begin(
      `Turns cannot be run now: ${oneLine(reason)}. They wait and are tried again every minute or more often, without ` +
        "counting an attempt. If this lasts, check the machine's file descriptors, processes, memory and disk, and that the service's programs are installed.",
    );
    this.#lastPostponed = this.#starts;
    const count = this.#counts.get(turnId) ?? 0;
    this.#counts.set(turnId, count + 1);
    return pauseAfter(count);
  }

  /**
   * Returns the milliseconds until a turn can be started again whose repository's host cannot be reached. Other turns are not
   * concerned.
   *
   * @returns `undefined` if it has waited for an hour, and should fail
   */
  postponeForRemote(turnId: number): number | undefined {
    const count = this.#counts.get(turnId) ?? 0;
    if (count >= pausesOfAnHour) return undefined;
    this.#counts.set(turnId, count + 1);
    return pauseAfter(count);
  }

  /** Records that a turn, with its position in the order of starts, ended and was not postponed. */
  end(turnId: number, position: number): void {
    this.#counts.delete(turnId);
    if (position > this.#lastPostponed) this.#outage.end("Turns can be run again.");
  }
}
