import type { JobChanges } from "../job-changes.ts";
import type { Transaction } from "../sql.ts";
import { transactionOf } from "./database.ts";
import type { StoreNames } from "./names.ts";
import type { Notifications } from "./notifications.ts";

/** Announces changes of jobs with `NOTIFY`. */
export class PostgresJobChanges implements JobChanges {
  readonly #notifications: Notifications;
  readonly #channel: string;

  constructor(notifications: Notifications, { channels }: StoreNames) {
    this.#notifications = notifications;
    this.#channel = channels.job;
  }

  async announce(transaction: Transaction, job: string): Promise<void> {
    transactionOf(transaction).notify(this.#channel, job);
  }

  onChange(listener: (job: string | undefined) => void): void {
    this.#notifications.on(this.#channel, listener);
  }
}
