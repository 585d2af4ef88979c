import { Announcements, type StoreChanges } from "./announcements.ts";
import { Counts } from "./counts.ts";
import { IdleJobs } from "./idle-jobs.ts";
import { JobLists } from "./job-lists.ts";
import type { TurnParts } from "./job-state.ts";
import { StoredJobs } from "./jobs.ts";
import type { KeptCommits } from "./kept-commits.ts";
import type { PostgresHomes } from "./postgres/homes.ts";
import type { PostgresLogs } from "./postgres/logs.ts";
import { StoredPullRequests } from "./pull-requests.ts";
import { StoredRepositories } from "./repositories.ts";
import { RunningTurns } from "./running-turns.ts";
import type { Database } from "./sql.ts";
import type { TextSearch } from "./text-search.ts";
import type { TokenStore } from "./tokens.ts";
import { StoredTurns } from "./turns.ts";

/** A class as others see it, so that a fake can stand for it. */
type Public<T> = Pick<T, keyof T>;

export interface StoreOptions extends Omit<TurnParts, "announcements"> {
  /** The home directories of agents for all machines. Default: only one machine uses the store. */
  homes?: PostgresHomes;
  /** Commits whose push was refused. Default: they are only in this machine's clone. */
  keptCommits?: KeptCommits;
  /** Default: logs are only files. */
  logs?: Public<PostgresLogs>;
  /** Default: tokens are not stored. */
  tokens?: TokenStore;
  /** Default: no other process uses the store. */
  changes?: StoreChanges;
  /** Default: SQLite's. */
  search?: TextSearch;
  /** Closes what else belongs to the store, before the database is closed. */
  close?: () => Promise<void>;
}

/**
 * The persistent state of the service, with a member for each thing stored. A change is on disk when its method returns, so a service that
 * is killed loses nothing.
 * Methods throw `StoreUnavailable` while the database cannot be used (a full disk, a lost connection). Nothing is changed then.
 */
export class Store implements AsyncDisposable {
  readonly jobs: StoredJobs;
  readonly turns: StoredTurns;
  readonly runningTurns: RunningTurns;
  readonly idleJobs: IdleJobs;
  readonly lists: JobLists;
  readonly counts: Counts;
  readonly pullRequests: StoredPullRequests;
  readonly repositories: StoredRepositories;
  /** The home directories of agents for all machines; `undefined` if only one machine uses the store. */
  readonly homes: PostgresHomes | undefined;
  /** Commits whose push was refused; `undefined` if only one machine uses the store. */
  readonly keptCommits: KeptCommits | undefined;
  /** The logs of jobs; `undefined` if they are only files. */
  readonly logs: Public<PostgresLogs> | undefined;
  /** What the tokens of browsers stand for; `undefined` if they are not stored. */
  readonly tokens: TokenStore | undefined;
  readonly #database: Database;
  readonly #announcements: Announcements;
  readonly #close: (() => Promise<void>) | undefined;

  constructor({ homes, keptCommits, logs, tokens, changes, search, close, ...options }: StoreOptions) {
    const { database, ready } = options;
    const announcements = new Announcements(database, changes);
    const parts = { ...options, announcements };
    this.jobs = new StoredJobs(parts);
    this.turns = new StoredTurns(parts);
    this.runningTurns = new RunningTurns(parts);
    this.idleJobs = new IdleJobs(database);
    this.lists = new JobLists(database, search);
    this.counts = new Counts(database, ready);
    this.pullRequests = new StoredPullRequests(database);
    this.repositories = new StoredRepositories(database);
    this.homes = homes;
    this.keptCommits = keptCommits;
    this.logs = logs;
    this.tokens = tokens;
    this.#database = database;
    this.#announcements = announcements;
    this.#close = close;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close?.();
    await this.#database[Symbol.asyncDispose]();
  }

  /** Calls `listener` whenever a turn may have become ready, in any process on the same store. */
  onReady(listener: () => void): void {
    this.#announcements.onReady(listener);
  }

  /**
   * Calls `listener` whenever a turn of a job may have been added, started or ended, by any process on the same store.
   *
   * @returns a function that removes the listener
   */
  followJob(id: string, listener: () => void): () => void {
    return this.#announcements.followJob(id, listener);
  }

  /** Writes without changing anything. Throws `StoreUnavailable` if the store still cannot be written. */
  async probe(): Promise<void> {
    await this.#database.probe();
  }

  /**
   * Does something unless another process on the same store is doing it.
   *
   * @returns whether it did
   */
  exclusively(name: string, work: () => Promise<void>): Promise<boolean> {
    return this.#database.exclusively(name, work);
  }
}
