import type { JobChanges } from "../job-changes.ts";
import type { Transaction } from "../sql.ts";
import { jobChannel, type Notifications } from "./notifications.ts";

/** Announces changes of jobs with `NOTIFY`. */
export class PostgresJobChanges implements JobChanges {
  readonly #notifications: Notifications;

  constructor(notifications: Notifications) {
    this.#notifications = notifications;
  }

  async announce(transaction: Transaction, job: string): Promise<void> {
    await transaction.row("SELECT pg_notify(?, ?)", jobChannel, job);
  }

  onChange(listener: (job: string | undefined) => void): void {
    this.#notifications.on(jobChannel, listener);
  }
}
