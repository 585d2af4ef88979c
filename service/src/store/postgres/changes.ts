import { thisMachine } from "../../machine.ts";
import type { StoreChanges } from "../announcements.ts";
import type { Transaction } from "../sql.ts";
import { transactionOf } from "./database.ts";
import type { Channels } from "./names.ts";
import type { Notifications } from "./notifications.ts";
import { WakeUps } from "./wake-ups.ts";

/** Notifications wake workers. Polling covers those that do not arrive, and the ends of pauses. */
const pollMs = 5000;

/** Announces what changes with `NOTIFY`. */
export class PostgresChanges implements StoreChanges, Disposable {
  readonly #notifications: Notifications;
  readonly #channels: Channels;
  readonly #listeners = new Set<() => void>();
  readonly #end = new AbortController();
  readonly #wakeUps = new WakeUps(() => this.turnReady(), thisMachine, this.#end.signal);
  readonly #timer: NodeJS.Timeout;

  constructor(notifications: Notifications, channels: Channels) {
    this.#notifications = notifications;
    this.#channels = channels;
    notifications.on(channels.turn, () => this.#wakeUps.notified());
    // So that processes do not all look at the same moment.
    this.#timer = setInterval(() => this.turnReady(), pollMs * (0.8 + 0.4 * Math.random())).unref();
  }

  [Symbol.dispose](): void {
    this.#end.abort();
    clearInterval(this.#timer);
  }

  announceJob(transaction: Transaction, job: string): void {
    transactionOf(transaction).notify(this.#channels.job, job);
  }

  onJob(listener: (job: string | undefined) => void): void {
    this.#notifications.on(this.#channels.job, listener);
  }

  onReady(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Calls the listeners of this process. */
  turnReady(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Tells whether there was a turn when this process looked. */
  looked(hasTurn: boolean): void {
    this.#wakeUps.looked(hasTurn);
  }
}
