import type { Transaction } from "./sql.ts";

/** Tells processes on the same store of each other's changes of jobs. */
export interface JobChanges {
  /** Announces that a job has changed. The others hear of it when the transaction was committed. */
  announce(transaction: Transaction, job: string): Promise<void>;
  /**
   * Calls `listener` with the id of a job that another process may have changed; with `undefined` if announcements may have
   * been missed.
   */
  onChange(listener: (job: string | undefined) => void): void;
}
