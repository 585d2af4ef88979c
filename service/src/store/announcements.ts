import type { JobChanges } from "./job-changes.ts";
import type { ReadyTurns } from "./ready-turns.ts";
import type { Database, Transaction } from "./sql.ts";

/** Tells listeners, in all processes on a store, that turns have become ready and that jobs have changed. */
export class Announcements {
  readonly #database: Database;
  readonly #changes: JobChanges | undefined;
  readonly #listeners = new Set<() => void>();
  /** By the ids of jobs. */
  readonly #followers = new Map<string, Set<() => void>>();

  /** @param changes - default: no other process changes jobs */
  constructor(database: Database, ready: ReadyTurns, changes?: JobChanges) {
    this.#database = database;
    this.#changes = changes;
    ready.onReady(() => this.turnReady());
    changes?.onChange((job) => this.jobChanged(job));
  }

  /** Calls `listener` whenever a turn may have become ready. */
  onReady(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Calls `listener` whenever a turn of a job may have been added, started or ended.
   *
   * @returns a function that removes the listener
   */
  followJob(id: string, listener: () => void): () => void {
    const followers = this.#followers.get(id) ?? new Set();
    this.#followers.set(id, followers.add(listener));
    return () => {
      followers.delete(listener);
      if (followers.size === 0 && this.#followers.get(id) === followers) this.#followers.delete(id);
    };
  }

  /** Makes changes of a job together, and announces them. */
  async changeJob<T>(job: string, change: (transaction: Transaction) => Promise<T>): Promise<T> {
    const result = await this.#database.transaction(async (transaction) => {
      const changed = await change(transaction);
      await this.announceJob(transaction, job);
      return changed;
    });
    this.jobChanged(job);
    return result;
  }

  /** Announces a change of a job to other processes. They receive this when the transaction is committed. */
  async announceJob(transaction: Transaction, job: string): Promise<void> {
    await this.#changes?.announce(transaction, job);
  }

  /**
   * Tells the listeners of this process that a job has changed.
   *
   * @param job - default: any
   */
  jobChanged(job?: string): void {
    const all = job === undefined ? [...this.#followers.values()] : [this.#followers.get(job) ?? []];
    for (const followers of all) for (const listener of followers) listener();
  }

  /** Tells the listeners of this process that a turn may have become ready. */
  turnReady(): void {
    for (const listener of this.#listeners) listener();
  }
}
