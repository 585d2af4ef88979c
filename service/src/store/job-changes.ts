import type { Transaction } from "./sql.ts";

/** Tells processes on the same store about each other's changes of jobs. */
export interface JobChanges {
  /** Announces that a job has changed. Others receive this when the transaction is committed. */
  announce(transaction: Transaction, job: string): Promise<void>;
  /**
   * Calls `listener` with the id of a job that another process may have changed; with `undefined` if announcements may have
   * been missed.
   */
  onChange(listener: (job: string | undefined) => void): void;
}
