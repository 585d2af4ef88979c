import type { Database, Transaction } from "./sql.ts";

/** What processes on the same store tell each other. */
export interface StoreChanges {
  /** Announces that a job has changed. Others receive this when the transaction is committed. */
  announceJob(transaction: Transaction, job: string): void;
  /**
   * Calls `listener` with the id of a job that another process may have changed; with `undefined` if announcements may have been missed.
   */
  onJob(listener: (job: string | undefined) => void): void;
  /** Calls `listener` whenever a turn may have become ready in another process. */
  onReady(listener: () => void): void;
}

/** Tells listeners, in all processes on a store, that turns have become ready and that jobs have changed. */
export class Announcements {
  readonly #database: Database;
  readonly #changes: StoreChanges | undefined;
  readonly #listeners = new Set<() => void>();
  /** By the ids of jobs. */
  readonly #followers = new Map<string, Set<() => void>>();

  /** @param changes - default: no other process uses the store */
  constructor(database: Database, changes?: StoreChanges) {
    this.#database = database;
    this.#changes = changes;
    changes?.onReady(() => this.turnReady());
    changes?.onJob((job) => this.jobChanged(job));
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
      this.announceJob(transaction, job);
      return changed;
    });
    this.jobChanged(job);
    return result;
  }

  /** Announces a change of a job to other processes. They receive this when the transaction is committed. */
  announceJob(transaction: Transaction, job: string): void {
    this.#changes?.announceJob(transaction, job);
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
