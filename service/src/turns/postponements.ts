import type { Log } from "../log/log.ts";
import { OutageLog } from "../log/outage-log.ts";
import { type Machine, thisMachine } from "../machine.ts";
import { oneLine } from "../one-line.ts";
import { dayMs, hourMs } from "../time.ts";

const firstPauseMs = 1000;
const lastPauseMs = 60_000;

/** Returns the pause after this many retries, in milliseconds. */
export const pauseAfter = (count: number): number => Math.min(firstPauseMs * 2 ** count, lastPauseMs);

/** Decides how long turns wait if the machine cannot start them, for example without free file descriptors. */
export class Postponements {
  /** No turn starts for this long after one was postponed, so that waiting turns do not keep failing. */
  readonly gapMs = firstPauseMs;
  readonly #outage: OutageLog;
  /** By turn id. */
  readonly #counts = new Map<number, number>();
  /** When each turn was first postponed because of its repository's host, and when it fails. */
  readonly #remote = new Map<number, { since: number; until: number }>();
  readonly #machine: Pick<Machine, "now">;
  #starts = 0;
  #lastPostponed = 0;

  constructor(log: Log, machine: Pick<Machine, "now"> = thisMachine) {
    this.#machine = machine;
    this.#outage = new OutageLog(log);
  }

  /** Whether no turn has run since one was postponed. */
  get isOut(): boolean {
    return this.#outage.isOut;
  }

  /** Returns the position of a turn in start order. */
  start(): number {
    this.#starts++;
    return this.#starts;
  }

  has(turnId: number): boolean {
    return this.#counts.has(turnId);
  }

  /** Returns the pause until the next attempt in milliseconds, doubling up to a minute. */
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
   * Returns the pause in milliseconds if the repository's host is unavailable. Other turns are unaffected.
   *
   * @param waitMs - how long the host said to wait. Default: unknown
   * @returns `undefined` if the turn should fail: after an hour, or after a day of rate limits
   */
  postponeForRemote(turnId: number, waitMs = 0): number | undefined {
    const now = this.#machine.now();
    const count = this.#counts.get(turnId) ?? 0;
    const { since, until } = this.#remote.get(turnId) ?? { since: now, until: 0 };
    const failsAt = Math.min(Math.max(until, (waitMs > 0 ? now + waitMs : since) + hourMs), since + dayMs);
    if (now >= failsAt) return undefined;
    this.#remote.set(turnId, { since, until: failsAt });
    this.#counts.set(turnId, count + 1);
    return Math.max(pauseAfter(count), waitMs);
  }

  /** Records that a turn, with its position in start order, ended without being postponed. */
  end(turnId: number, position: number): void {
    this.#counts.delete(turnId);
    this.#remote.delete(turnId);
    if (position > this.#lastPostponed) this.#outage.end("Turns can be run again.");
  }
}
