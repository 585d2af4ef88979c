import { isActive } from "../files/job-copies.ts";
import type { StoredLogs } from "../files/job-logs.ts";
import type { SharedHomes } from "../files/shared-homes.ts";
import type {
  Census,
  EarlierTurn,
  EndedState,
  JobCopy,
  JobProgress,
  JobQuery,
  JobWithPullRequest,
  ListedJob,
  LocalPullRequest,
  NewJob,
  RateLimited,
  RunningTurn,
  StoredJob,
  StoredTurn,
  Turn,
  TurnCopy,
  TurnExcerpt,
  TurnState,
} from "../model.ts";
import type { TokenStore } from "../pages/expiring-tokens.ts";
import type { PageStore } from "../pages/page-store.ts";
import type { LocalPullRequestStore } from "../pulls/local.ts";
import { OutcomeUnknown, StoreUnavailable } from "./errors.ts";
import { countUse } from "./hourly-limit.ts";
import type { JobChanges } from "./job-changes.ts";
import { LeaseLost, type ReadyTurns, type TurnLimits } from "./ready-turns.ts";
import type { Database, Sql, Transaction, Value } from "./sql.ts";

/** Returns the id of a new turn, which is greater than that of any earlier turn of its job. */
export type NextTurnId = (transaction: Transaction) => Promise<number>;

/** Counts. Not for several processes. */
export const countTurnIds: NextTurnId = async (transaction) =>
  ((await transaction.row<{ last: number | null }>("SELECT max(id) AS last FROM turn"))?.last ?? 0) + 1;

export interface StoreOptions {
  database: Database;
  ready: ReadyTurns;
  nextTurnId: NextTurnId;
  /** The home directories of agents for all machines. Default: only one machine uses the store. */
  homes?: SharedHomes;
  /** Makes all ids that `nextTurnId` returns from now on greater than this one. Default: they are greater than those stored. */
  skipTurnIds?: (transaction: Transaction, last: number) => Promise<void>;
  /** Default: logs are only files. */
  logs?: StoredLogs;
  /** Default: tokens are not stored. */
  tokens?: TokenStore;
  /** Default: no other process changes jobs. */
  changes?: JobChanges;
  /**
   * Returns the time by which hourly limits count, in milliseconds since 1970: the clocks of several machines differ. Default:
   * what the caller says.
   */
  now?: (sql: Sql) => Promise<number>;
  /** Ends what else belongs to the store, before the database is closed. */
  close?: () => Promise<void>;
}

/**
 * The persistent state of the service. A change is on disk when its method returns, so a service that is killed loses nothing.
 *
 * Methods throw `StoreUnavailable` while the database cannot be used, such as on a full disk. Nothing is changed then. Those
 * that take a `RunningTurn` throw `LeaseLost` if somebody else has taken the turn over.
 */
export class Store implements AsyncDisposable, LocalPullRequestStore, PageStore {
  /** The home directories of agents for all machines; `undefined` if only one machine uses the store. */
  readonly homes: SharedHomes | undefined;
  /** The logs of jobs; `undefined` if they are only files. */
  readonly logs: StoredLogs | undefined;
  /** What the tokens of browsers stand for; `undefined` if they are not stored. */
  readonly tokens: TokenStore | undefined;
  readonly #database: Database;
  readonly #ready: ReadyTurns;
  readonly #nextTurnId: NextTurnId;
  readonly #skipTurnIds: StoreOptions["skipTurnIds"];
  readonly #changes: JobChanges | undefined;
  readonly #listeners = new Set<() => void>();
  /** By the ids of jobs. */
  readonly #followers = new Map<string, Set<() => void>>();
  /** Changes of running turns that could not be stored yet. */
  readonly #postponedChanges = new WeakMap<RunningTurn, ((transaction: Transaction) => Promise<void>)[]>();

  readonly #now: StoreOptions["now"];
  readonly #close: (() => Promise<void>) | undefined;

  constructor(options: StoreOptions) {
    const { database, ready, nextTurnId, skipTurnIds, now, homes, logs, tokens, changes, close } = options;
    this.homes = homes;
    this.logs = logs;
    this.tokens = tokens;
    this.#now = now;
    this.#close = close;
    this.#database = database;
    this.#ready = ready;
    this.#nextTurnId = nextTurnId;
    this.#skipTurnIds = skipTurnIds;
    this.#changes = changes;
    ready.onReady(() => this.#announce());
    changes?.onChange((job) => this.#announceChange(job));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close?.();
    await this.#database[Symbol.asyncDispose]();
  }

  /** Returns the name of the repository whose clone is in the service's folder itself; `undefined` before it is set. */
  async repository(): Promise<string | undefined> {
    return (await this.#database.row<{ name: string }>("SELECT coalesce(main, name) AS name FROM repository"))?.name;
  }

  /** @param isOnly - whether there is no other repository, so that earlier versions of the service can use the store */
  async setRepository(name: string, isOnly = true): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await transaction.run("DELETE FROM repository");
      const insert = "INSERT INTO repository (name, main) VALUES (?, ?)";
      await transaction.run(insert, isOnly ? name : severalRepositories, name);
    });
  }

  /** Returns the name of the repository that the jobs of each project belong to, as far as it is set. */
  async projectRepositories(): Promise<ReadonlyMap<string, string>> {
    const sql = 'SELECT project, name FROM "projectRepository" ORDER BY project';
    const rows = await this.#database.rows<{ project: string; name: string }>(sql);
    return new Map(rows.map(({ project, name }) => [project, name]));
  }

  /** Sets the repositories of these projects, and leaves those of others. */
  async setProjectRepositories(names: ReadonlyMap<string, string>): Promise<void> {
    const set = `INSERT INTO "projectRepository" (project, name) VALUES (?, ?)
      ON CONFLICT (project) DO UPDATE SET name = excluded.name`;
    await this.#database.transaction(async (transaction) => {
      for (const [project, name] of names) await transaction.run(set, project, name);
    });
  }

  /** Returns the projects that have jobs. */
  async projects(): Promise<string[]> {
    const sql = "SELECT DISTINCT project FROM job ORDER BY project";
    return (await this.#database.rows<{ project: string }>(sql)).map(({ project }) => project);
  }

  /** Returns how many turns wait in each project that has any. */
  waitingTurns(): Promise<{ project: string; turns: number }[]> {
    return this.#database.rows(
      `SELECT job.project, count(*) AS turns FROM turn JOIN job ON job.id = turn.job
         WHERE turn.state = 'waiting' GROUP BY job.project ORDER BY job.project`,
    );
  }

  /** Calls `listener` whenever a turn may have become ready to be started, also by another process on the same store. */
  onReady(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Calls `listener` whenever a turn of a job may have been added, started or ended, also by another process on the same store.
   *
   * @returns what ends this
   */
  followJob(id: string, listener: () => void): () => void {
    const followers = this.#followers.get(id) ?? new Set();
    this.#followers.set(id, followers.add(listener));
    return () => {
      followers.delete(listener);
      if (followers.size === 0 && this.#followers.get(id) === followers) this.#followers.delete(id);
    };
  }

  /**
   * Adds a job with its first turn, if the hourly limit of its project allows another create. Both are one transaction: a
   * create that could not be stored is not counted.
   *
   * @param at - when it is counted, in milliseconds since 1970, unless the store has a clock
   * @param onTurn - receives the id of the turn, before it is known whether it is stored
   */
  async addJob(
    job: NewJob,
    prompt: string,
    at = job.createdAt,
    onTurn?: (id: number) => void,
  ): Promise<RateLimited | undefined> {
    const { id, project, createdAt, model = null } = job;
    const limited = await this.#database.transaction(async (transaction) => {
      const exceeded = await countUse(transaction, "create", project, () => this.#now?.(transaction) ?? at);
      if (exceeded !== undefined) return exceeded;
      const insert = 'INSERT INTO job (id, project, "createdAt", model) VALUES (?, ?, ?, ?)';
      await transaction.run(insert, id, project, createdAt, model);
      const turn = await this.#addTurn(transaction, id, project, prompt);
      onTurn?.(turn);
      return undefined;
    });
    this.#announce();
    return limited;
  }

  /**
   * Adds a turn to a job and takes the job out of the archive, if the hourly limit of its project allows another message.
   *
   * @param at - when it is counted, in milliseconds since 1970, unless the store has a clock
   * @param onTurn - receives the id of the turn, before it is known whether it is stored
   * @returns `false` if there is no such job, such as because it was deleted a moment ago
   */
  async addTurn(
    jobId: string,
    prompt: string,
    at: number,
    onTurn?: (id: number) => void,
  ): Promise<RateLimited | boolean> {
    const result = await this.#changeJob(jobId, async (transaction) => {
      await lockJob(transaction, jobId);
      const job = await transaction.row<{ project: string }>("SELECT project FROM job WHERE id = ?", jobId);
      if (job === undefined) return false;
      return this.#addMessage(transaction, { jobId, project: job.project, prompt, at, onTurn });
    });
    this.#announce();
    return result;
  }

  /** Adds a turn, if the hourly limit of its project allows another message. */
  async #addMessage(transaction: Transaction, message: Message): Promise<RateLimited | true> {
    const { jobId, project, prompt, at, onTurn } = message;
    const limited = await countUse(transaction, "message", project, () => this.#now?.(transaction) ?? at);
    if (limited !== undefined) return limited;
    const turn = await this.#addTurn(transaction, jobId, project, prompt);
    onTurn?.(turn);
    return true;
  }

  /** Returns the id of the turn. */
  async #addTurn(transaction: Transaction, job: string, project: string, prompt: string): Promise<number> {
    const isFirst = !(await hasOpenTurn(transaction, job));
    const turn = await this.#nextTurnId(transaction);
    await transaction.run("INSERT INTO turn (id, job, prompt) VALUES (?, ?, ?)", turn, job, prompt);
    const activate = 'UPDATE job SET state = \'active\', "idleSince" = NULL, "archivedAt" = NULL WHERE id = ?';
    await transaction.run(activate, job);
    if (isFirst) await this.#ready.add(transaction, { turn, job, project });
    return turn;
  }

  /** Returns a job with its turns, for another store. */
  async copyJob(id: string): Promise<JobCopy | undefined> {
    const columns = 'id, project, "createdAt", "archivedAt", "pullRequest", head';
    const job = await this.#database.row<Omit<JobCopy, "turns">>(`SELECT ${columns} FROM job WHERE id = ?`, id);
    const turns = `SELECT ${copiedColumns} FROM turn WHERE job = ? ORDER BY id`;
    return job && { ...job, turns: await this.#database.rows<TurnCopy>(turns, id) };
  }

  /** Adds a job of another store. Its running turns become waiting ones. */
  async addCopy(copy: JobCopy): Promise<void> {
    const { id, project, createdAt, archivedAt, pullRequest, head, turns } = copy;
    const { state: lastState = "failed", endedAt = null } = turns.at(-1) ?? {};
    const [state, idleSince] = isActive(copy) ? ["active", null] : [lastState, endedAt ?? createdAt];
    await this.#database.transaction(async (transaction) => {
      const insertJob = `INSERT INTO job
        (id, project, "createdAt", state, "idleSince", "archivedAt", "pullRequest", head) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
      await transaction.run(insertJob, id, project, createdAt, state, idleSince, archivedAt, pullRequest, head);
      const insertTurn = `INSERT INTO turn (job, ${copiedColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
      for (const turn of turns) {
        const { startedAt = null, reason = null, stopRequestedAt = null } = turn;
        const turnState = turn.state === "running" ? "waiting" : turn.state;
        const progress = [turnState, turn.attempts, startedAt, turn.endedAt, turn.answer, reason, stopRequestedAt];
        await transaction.run(insertTurn, id, turn.id, turn.prompt, ...progress);
      }
      await this.#skipTurnIds?.(transaction, turns.at(-1)?.id ?? 0);
      await this.#addNext(transaction, id);
    });
    this.#announce();
  }

  job(id: string): Promise<StoredJob | undefined> {
    return this.#database.row<StoredJob>("SELECT * FROM job WHERE id = ?", id);
  }

  /** Returns jobs, newest first. */
  async jobs(query: JobQuery): Promise<ListedJob[]> {
    if (query.projects.length === 0) return [];
    const { sql, values } = jobsQuery(query);
    return this.#database.rows<ListedJob>(sql, ...values);
  }

  /** Returns how far a job is. */
  progress(jobId: string): Promise<JobProgress | undefined> {
    // The index of states finds the few turns that are running. Read by their job, all would be, with their prompts.
    const sql = `SELECT state,
      (SELECT count(*) FROM turn WHERE turn.job = job.id) AS turns,
      (SELECT max(turn.id) FROM turn WHERE turn.state = 'running' AND turn.job || '' = job.id) AS running
      FROM job WHERE id = ?`;
    return this.#database.row<JobProgress>(sql, jobId);
  }

  /** Returns how many jobs there are, and how many turns wait. */
  async counts(): Promise<{ jobs: number; waitingTurns: number }> {
    const sql = `SELECT (SELECT count(*) FROM job) AS jobs,
      (SELECT count(*) FROM turn WHERE state = 'waiting') AS "waitingTurns"`;
    return (await this.#database.row<{ jobs: number; waitingTurns: number }>(sql)) ?? { jobs: 0, waitingTurns: 0 };
  }

  /** Returns how many jobs and turns there are, by state. It reads every job, so it is not for each request. */
  async census(): Promise<Census> {
    const jobs = await this.#database.row<Census["jobs"]>(
      `SELECT count(*) FILTER (WHERE "archivedAt" IS NULL AND state = 'active') AS active,
         count(*) FILTER (WHERE "archivedAt" IS NULL AND state = 'completed') AS completed,
         count(*) FILTER (WHERE "archivedAt" IS NULL AND state = 'failed') AS failed,
         count(*) FILTER (WHERE "archivedAt" IS NOT NULL) AS archived FROM job`,
    );
    const turns = await this.#database.row<Census["turns"]>(
      `SELECT (SELECT count(*) FROM turn WHERE state = 'waiting') AS waiting,
         (SELECT count(*) FROM turn WHERE state = 'running') AS running`,
    );
    return {
      jobs: jobs ?? { active: 0, completed: 0, failed: 0, archived: 0 },
      turns: turns ?? { waiting: 0, running: 0 },
      oldestWaitingSeconds: await this.#ready.oldestAgeSeconds(this.#database),
    };
  }

  /**
   * Takes the next turn to run it; see `ReadyTurns` for the order.
   *
   * @param limits - default: none
   * @param at - milliseconds since 1970. Default: the time of the machine
   */
  async startNextTurn(limits?: TurnLimits, at = Date.now()): Promise<RunningTurn | undefined> {
    // Asked first, because most calls find no turn, and a transaction would show that the store can be written.
    if (!(await this.#ready.mayHaveTurns(this.#database, limits))) return undefined;
    const started = await this.#database.transaction(async (transaction) => {
      const taken = await this.#ready.take(transaction, limits);
      if (taken === undefined) return undefined;
      const find = "SELECT id, job, prompt, attempts, state FROM turn WHERE id = ?";
      const found = await transaction.row<Turn & { state: TurnState }>(find, taken.turn);
      if (found === undefined) throw new Error(`no turn ${taken.turn}`);
      const { state, ...turn } = found;
      const start = `UPDATE turn SET state = 'running', lease = ?, "startedAt" = coalesce("startedAt", ?) WHERE id = ?`;
      await transaction.run(start, taken.lease, at, turn.id);
      await this.#changes?.announce(transaction, turn.job);
      return { ...turn, lease: taken.lease, isResumed: state === "running" };
    });
    if (started !== undefined) this.#announceChange(started.job);
    return started;
  }

  /** How often the lease of a running turn has to be renewed, in milliseconds; `undefined` if it never expires. */
  get renewEveryMs(): number | undefined {
    return this.#ready.renewEveryMs;
  }

  /** Extends the lease of a running turn. Returns `false` if somebody else has taken it over. */
  renewLease(turn: RunningTurn): Promise<boolean> {
    return this.#ready.renew(taken(turn));
  }

  /** Returns the turns of a job, oldest first. */
  turns(jobId: string): Promise<StoredTurn[]> {
    return this.#database.rows<StoredTurn>("SELECT * FROM turn WHERE job = ? ORDER BY id", jobId);
  }

  async countTurns(jobId: string): Promise<number> {
    const sql = "SELECT count(*) AS count FROM turn WHERE job = ?";
    return (await this.#database.row<{ count: number }>(sql, jobId))?.count ?? 0;
  }

  /** Returns the id of a job's first turn. */
  async firstTurn(jobId: string): Promise<number | undefined> {
    const sql = "SELECT id FROM turn WHERE job = ? ORDER BY id LIMIT 1";
    return (await this.#database.row<{ id: number }>(sql, jobId))?.id;
  }

  /** Returns the ids of a job's newest turns, oldest first. */
  async latestTurns(jobId: string, count: number): Promise<number[]> {
    const sql = "SELECT id FROM turn WHERE job = ? ORDER BY id DESC LIMIT ?";
    return (await this.#database.rows<{ id: number }>(sql, jobId, count)).map(({ id }) => id).reverse();
  }

  /** Returns a turn with at most `length` characters of its texts. */
  turnExcerpt(id: number, length: number): Promise<TurnExcerpt | undefined> {
    const sql = `SELECT state, substr(prompt, 1, ?) AS prompt, substr(answer, 1, ?) AS answer,
      substr(reason, 1, ?) AS reason, "startedAt", "endedAt" FROM turn WHERE id = ?`;
    return this.#database.row<TurnExcerpt>(sql, length, length, length, id);
  }

  /** Returns the earlier turns of a turn's job in which an agent ran, oldest first. */
  history({ id, job }: Turn): Promise<EarlierTurn[]> {
    const sql = "SELECT prompt, answer, state FROM turn WHERE job = ? AND id < ? AND attempts > 0 ORDER BY id";
    return this.#database.rows<EarlierTurn>(sql, job, id);
  }

  /** Checks that nobody else has taken a running turn over. */
  async confirmLease(turn: RunningTurn): Promise<void> {
    if (!(await this.#ready.renew(taken(turn)))) throw new LeaseLost(turn.id);
  }

  /** Records what the agent said last in a turn. If that cannot be stored now, it is when the turn ends or is requeued. */
  async setAnswer(turn: RunningTurn, answer: string): Promise<void> {
    await this.#storeNowOrAtEnd(turn, async (transaction) => {
      await transaction.run("UPDATE turn SET answer = ? WHERE id = ?", answer, turn.id);
    });
  }

  async countAttempt(turn: RunningTurn): Promise<void> {
    await this.#change(turn, async (transaction) => {
      await transaction.run("UPDATE turn SET attempts = attempts + 1 WHERE id = ?", turn.id);
    });
  }

  /**
   * Records how a running turn ended, and lets the next one of its job start.
   *
   * @param at - milliseconds since 1970
   * @param reason - why it failed. Default: unknown
   */
  async finishTurn(turn: RunningTurn, state: EndedState, at: number, reason?: string): Promise<void> {
    const { id, job } = turn;
    await this.#changeJob(job, async (transaction) => {
      if (!(await this.#holds(transaction, turn))) {
        const { state: stored } = (await transaction.row<{ state: TurnState }>(stateOf, id)) ?? {};
        // Recorded already, or the job was deleted.
        if (stored !== "waiting" && stored !== "running") return;
        throw new LeaseLost(id);
      }
      await this.#storePostponed(transaction, turn);
      await this.#ready.remove(transaction, taken(turn));
      const end = 'UPDATE turn SET state = ?, "endedAt" = ?, reason = ?, lease = NULL WHERE id = ?';
      await transaction.run(end, state, at, reason ?? null, id);
      if (await this.#addNext(transaction, job)) return;
      await this.#endJob(transaction, job, at);
    });
    this.#postponedChanges.delete(turn);
    this.#announce();
  }

  /** Gives a job without open turns the state of its last one. That may have been stopped before an earlier one ended. */
  async #endJob(transaction: Transaction, job: string, at: number): Promise<void> {
    const last = "SELECT state FROM turn WHERE job = ? ORDER BY id DESC LIMIT 1";
    await transaction.run(`UPDATE job SET state = (${last}), "idleSince" = ? WHERE id = ?`, job, at, job);
  }

  /** Makes the oldest waiting turn of a job ready. Returns `false` if none waits. */
  async #addNext(transaction: Transaction, job: string): Promise<boolean> {
    const next = await transaction.row<{ turn: number; project: string }>(
      `SELECT turn.id AS turn, job.project FROM turn JOIN job ON job.id = turn.job
         WHERE turn.job = ? AND turn.state = 'waiting' ORDER BY turn.id LIMIT 1`,
      job,
    );
    if (next !== undefined) await this.#ready.add(transaction, { ...next, job });
    return next !== undefined;
  }

  /**
   * Makes a running turn wait again, with the number of attempts that it had when it was started.
   *
   * @param pauseMs - it is not started before this time has passed and `resumeTurn` was called, or by the next service.
   *   Default: 0
   */
  async requeueTurn(turn: RunningTurn, pauseMs = 0): Promise<void> {
    await this.#changeJob(turn.job, async (transaction) => {
      if (!(await this.#holds(transaction, turn))) throw new LeaseLost(turn.id);
      await this.#storePostponed(transaction, turn);
      const requeue = "UPDATE turn SET state = 'waiting', attempts = ?, lease = NULL WHERE id = ?";
      await transaction.run(requeue, turn.attempts, turn.id);
      await this.#ready.putBack(transaction, taken(turn), pauseMs);
    });
    this.#postponedChanges.delete(turn);
    this.#announce();
  }

  /**
   * Stops a turn. One that waits fails at once; one that is running when its worker hears of it: see `stopRequest`.
   *
   * @param at - milliseconds since 1970
   * @param reason - why it failed
   * @returns `false` if the job has no such turn, or the turn has ended
   */
  async stopTurn(jobId: string, turnId: number, at: number, reason: string): Promise<boolean> {
    if (await this.#failWaiting(jobId, turnId, at, reason)) return true;
    const request = `UPDATE turn SET "stopRequestedAt" = ?, reason = ? WHERE id = ? AND job = ? AND state = 'running'`;
    const isAsked = await this.#changeJob(
      jobId,
      async (transaction) => (await transaction.run(request, at, reason, turnId, jobId)) > 0,
    );
    const waiting = "SELECT 1 FROM turn WHERE id = ? AND job = ? AND state = 'waiting'";
    if (isAsked || (await this.#database.row(waiting, turnId, jobId)) === undefined) return isAsked;
    // It was requeued between the two.
    return this.stopTurn(jobId, turnId, at, reason);
  }

  /** Fails a turn that waits. Returns `false` if it does not wait; nothing is changed then. */
  async #failWaiting(jobId: string, turnId: number, at: number, reason: string): Promise<boolean> {
    const fail = `UPDATE turn SET state = 'failed', "endedAt" = ?, reason = ? WHERE id = ? AND job = ? AND state = 'waiting'`;
    try {
      await this.#changeJob(jobId, async (transaction) => {
        await lockJob(transaction, jobId);
        const open = "SELECT min(id) AS first FROM turn WHERE job = ? AND state IN ('waiting', 'running')";
        const isReady = (await transaction.row<{ first: number | null }>(open, jobId))?.first === turnId;
        if (isReady) await this.#ready.withdraw(transaction, { turn: turnId, job: jobId });
        if ((await transaction.run(fail, at, reason, turnId, jobId)) === 0) throw new NotWaiting();
        if (isReady && (await this.#addNext(transaction, jobId))) return;
        if (!(await hasOpenTurn(transaction, jobId))) await this.#endJob(transaction, jobId, at);
      });
    } catch (error) {
      if (error instanceof NotWaiting) return false;
      throw error;
    }
    this.#announce();
    return true;
  }

  /** Returns why a turn is to be stopped; `undefined` if it is not. */
  async stopRequest({ id }: Turn): Promise<string | undefined> {
    const find = 'SELECT reason FROM turn WHERE id = ? AND "stopRequestedAt" IS NOT NULL';
    return (await this.#database.row<{ reason: string }>(find, id))?.reason;
  }

  /**
   * Adds a turn with the prompt of a job's last one, if that has failed. It counts as a message.
   *
   * @param at - when it is counted, in milliseconds since 1970, unless the store has a clock
   * @param onTurn - receives the id of the turn, before it is known whether it is stored
   * @returns `false` if it is not the last turn of the job, or has not failed
   */
  async retryTurn(
    jobId: string,
    turnId: number,
    at: number,
    onTurn?: (id: number) => void,
  ): Promise<RateLimited | boolean> {
    const last = `SELECT turn.id, turn.state, turn.prompt, job.project FROM turn JOIN job ON job.id = turn.job
      WHERE turn.job = ? ORDER BY turn.id DESC LIMIT 1`;
    const result = await this.#changeJob(jobId, async (transaction) => {
      await lockJob(transaction, jobId);
      const turn = await transaction.row<Pick<StoredTurn, "id" | "state" | "prompt"> & { project: string }>(
        last,
        jobId,
      );
      if (turn?.id !== turnId || turn.state !== "failed") return false;
      const { project, prompt } = turn;
      return this.#addMessage(transaction, { jobId, project, prompt, at, onTurn });
    });
    this.#announce();
    return result;
  }

  /** Lets a turn start that was requeued with a pause. */
  async resumeTurn({ id, job }: Turn): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      const waiting = `SELECT job.project FROM turn JOIN job ON job.id = turn.job
        WHERE turn.id = ? AND turn.state = 'waiting'`;
      const found = await transaction.row<{ project: string }>(waiting, id);
      if (found !== undefined) await this.#ready.endPause(transaction, { turn: id, job, project: found.project });
    });
    this.#announce();
  }

  /** Requeues what an earlier service left: running turns, which it returns, and postponed ones. */
  requeueInterruptedTurns(): Promise<Pick<Turn, "id" | "job">[]> {
    return this.#database.transaction((transaction) => this.#ready.recover(transaction));
  }

  /**
   * Records the pull request of a turn's job and the last commit pushed to it. If that cannot be stored now, it is when
   * the turn ends or is requeued.
   */
  async setPullRequest(turn: RunningTurn, link: string, head: string): Promise<void> {
    await this.#setPullRequest(turn, link, head);
  }

  /** Records the last commit that was pushed for a turn's job, which has no pull request yet. Stored like `setPullRequest`. */
  async clearPullRequest(turn: RunningTurn, head: string): Promise<void> {
    await this.#setPullRequest(turn, null, head);
  }

  async #setPullRequest(turn: RunningTurn, link: string | null, head: string): Promise<void> {
    await this.#storeNowOrAtEnd(turn, async (transaction) => {
      await transaction.run('UPDATE job SET "pullRequest" = ?, head = ? WHERE id = ?', link, head, turn.job);
    });
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

  /**
   * Archives jobs, except those that have received a turn or another pull request since they were read.
   *
   * @param at - milliseconds since 1970
   * @returns the ids of those that it archived
   */
  archiveJobs(jobs: readonly JobWithPullRequest[], at: number): Promise<string[]> {
    const sql = `UPDATE job SET "archivedAt" = ?
      WHERE id = ? AND "archivedAt" IS NULL AND "idleSince" = ? AND "pullRequest" = ? AND head = ?`;
    return this.#database.transaction(async (transaction) => {
      const archived: string[] = [];
      for (const { id, idleSince, pullRequest, head } of jobs)
        if ((await transaction.run(sql, at, id, idleSince, pullRequest, head)) > 0) archived.push(id);
      return archived;
    });
  }

  /**
   * Archives the jobs that have been idle longest.
   *
   * @param before - archives only jobs whose last turn ended at this time or before, in milliseconds since 1970
   * @param at - milliseconds since 1970
   * @returns the ids of those that it archived, at most `limit`
   */
  archiveIdleJobs(before: number, at: number, limit: number): Promise<string[]> {
    const oldest = `SELECT id FROM job WHERE "idleSince" <= ? AND "idleSince" IS NOT NULL AND "archivedAt" IS NULL
      ORDER BY "idleSince" LIMIT ?`;
    const archive = `UPDATE job SET "archivedAt" = ? WHERE id IN (${oldest}) AND "idleSince" IS NOT NULL RETURNING id`;
    return this.#database.transaction(async (transaction) =>
      (await transaction.rows<{ id: string }>(archive, at, before, limit)).map(({ id }) => id),
    );
  }

  /**
   * Returns jobs that are neither active nor archived and have a pull request, those that have been idle longest first.
   *
   * @param after - the last one that the previous call returned
   */
  jobsWithPullRequest(limit: number, after?: JobWithPullRequest): Promise<JobWithPullRequest[]> {
    return this.#database.rows<JobWithPullRequest>(
      `SELECT id, project, "idleSince", "pullRequest", head FROM job
         WHERE "idleSince" IS NOT NULL AND "archivedAt" IS NULL AND "pullRequest" IS NOT NULL AND ("idleSince", id) > (?, ?)
         ORDER BY "idleSince", id LIMIT ?`,
      after?.idleSince ?? -1,
      after?.id ?? "",
      limit,
    );
  }

  /**
   * Deletes the jobs that have been idle longest, with their turns, their stored logs and the pages of their pull requests. Their files can
   * be removed then: `deletedJobs` returns them until `forgetDeletedJobs`.
   *
   * @param before - deletes only jobs whose last turn ended at this time or before, in milliseconds since 1970
   * @returns the ids of those that it deleted, at most `limit`
   */
  deleteIdleJobs(before: number, limit: number): Promise<string[]> {
    const isIdle = '"idleSince" <= ? AND "idleSince" IS NOT NULL';
    const oldest = `SELECT id FROM job WHERE ${isIdle} ORDER BY "idleSince" LIMIT ?`;
    return this.#database.transaction(async (transaction) => {
      const deleted: string[] = [];
      for (const { id } of await transaction.rows<{ id: string }>(oldest, before, limit)) {
        await lockJob(transaction, id);
        // A message may have arrived before the lock.
        if (!(await transaction.row(`SELECT 1 FROM job WHERE id = ? AND ${isIdle}`, id, before))) continue;
        await transaction.run("DELETE FROM turn WHERE job = ?", id);
        await transaction.run('DELETE FROM "pullRequest" WHERE job = ?', id);
        await transaction.run("DELETE FROM job WHERE id = ?", id);
        await transaction.run('INSERT INTO "deletedJob" (id) VALUES (?) ON CONFLICT DO NOTHING', id);
        deleted.push(id);
      }
      return deleted;
    });
  }

  /** Returns the ids of deleted jobs whose files are not known to be removed. */
  async deletedJobs(limit: number): Promise<string[]> {
    return (await this.#database.rows<{ id: string }>('SELECT id FROM "deletedJob" LIMIT ?', limit)).map(
      ({ id }) => id,
    );
  }

  /** Records that the files of deleted jobs are removed. */
  async forgetDeletedJobs(ids: readonly string[]): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      for (const id of ids) await transaction.run('DELETE FROM "deletedJob" WHERE id = ?', id);
    });
  }

  /** Adds nothing if the job's last pull request has this head: it was unknown whether that was stored. */
  addPullRequest({ job, title, branch, target, base, head }: LocalPullRequest): Promise<number> {
    const last = 'SELECT number, head FROM "pullRequest" WHERE job = ? ORDER BY number DESC LIMIT 1';
    const insert = `INSERT INTO "pullRequest" (job, title, branch, target, base, head) VALUES (?, ?, ?, ?, ?, ?)
      RETURNING number`;
    return this.#database.transaction(async (transaction) => {
      await lockJob(transaction, job);
      const found = await transaction.row<{ number: number; head: string }>(last, job);
      if (found?.head === head) return found.number;
      const [row] = await transaction.rows<{ number: number }>(insert, job, title, branch, target, base, head);
      return row?.number ?? 0;
    });
  }

  async updatePullRequest(number: number, job: string, base: string, head: string): Promise<boolean> {
    const update = 'UPDATE "pullRequest" SET base = ?, head = ? WHERE number = ? AND job = ?';
    return (await this.#database.run(update, base, head, number, job)) > 0;
  }

  pullRequest(number: number): Promise<LocalPullRequest | undefined> {
    return this.#database.row<LocalPullRequest>('SELECT * FROM "pullRequest" WHERE number = ?', number);
  }

  /** Returns the newest pull requests of a job that are pages, newest first. */
  pullRequestsOf(jobId: string, count: number): Promise<{ number: number; title: string }[]> {
    const sql = 'SELECT number, title FROM "pullRequest" WHERE job = ? ORDER BY number DESC LIMIT ?';
    return this.#database.rows(sql, jobId, count);
  }

  /** Returns the project of a job; `undefined` if there is no such job. */
  async projectOf(jobId: string): Promise<string | undefined> {
    return (await this.#database.row<{ project: string }>("SELECT project FROM job WHERE id = ?", jobId))?.project;
  }

  /** Returns whether a turn is still run by whoever took it with this lease. Somebody else can take it even now. */
  async #holds(transaction: Transaction, { id, job, lease }: RunningTurn): Promise<boolean> {
    await lockJob(transaction, job);
    return (await transaction.row("SELECT 1 FROM turn WHERE id = ? AND lease = ?", id, lease)) !== undefined;
  }

  async #change(turn: RunningTurn, change: (transaction: Transaction) => Promise<void>): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await lockJob(transaction, turn.job);
      // This does not read but change, because nobody else can take a turn that a transaction has changed.
      const hold = "UPDATE turn SET lease = lease WHERE id = ? AND lease = ?";
      if ((await transaction.run(hold, turn.id, turn.lease)) === 0) throw new LeaseLost(turn.id);
      await change(transaction);
    });
  }

  /** The agent has run and cannot run again for this, so the change waits for the end of the turn, which is retried. */
  async #storeNowOrAtEnd(turn: RunningTurn, change: (transaction: Transaction) => Promise<void>): Promise<void> {
    try {
      await this.#change(turn, change);
    } catch (error) {
      // Storing it twice makes no difference.
      if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown)) throw error;
      this.#postponedChanges.set(turn, [...(this.#postponedChanges.get(turn) ?? []), change]);
    }
  }

  async #storePostponed(transaction: Transaction, turn: RunningTurn): Promise<void> {
    for (const change of this.#postponedChanges.get(turn) ?? []) await change(transaction);
  }

  /** Makes changes together, and tells who follows the job of them. */
  async #changeJob<T>(job: string, change: (transaction: Transaction) => Promise<T>): Promise<T> {
    const result = await this.#database.transaction(async (transaction) => {
      const changed = await change(transaction);
      await this.#changes?.announce(transaction, job);
      return changed;
    });
    this.#announceChange(job);
    return result;
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }

  /** @param job - default: any */
  #announceChange(job?: string): void {
    const all = job === undefined ? [...this.#followers.values()] : [this.#followers.get(job) ?? []];
    for (const followers of all) for (const listener of followers) listener();
  }
}

/** A message to a job, as `addTurn` takes it. */
interface Message {
  jobId: string;
  project: string;
  prompt: string;
  at: number;
  onTurn: ((id: number) => void) | undefined;
}

/** Returns whether a turn of a job waits or is running. */
async function hasOpenTurn(transaction: Transaction, job: string): Promise<boolean> {
  const open = "SELECT 1 FROM turn WHERE job = ? AND state IN ('waiting', 'running') LIMIT 1";
  return (await transaction.row(open, job)) !== undefined;
}

/** Thrown to undo a transaction, because a turn is running or has ended. */
class NotWaiting extends Error {}

/** More projects are not worth a look at the index of each. SQLite allows 500. */
const maxParts = 100;

/** Returns what finds jobs with the indexes of lists, newest first. */
function jobsQuery({ projects, status, after, limit }: JobQuery): { sql: string; values: Value[] } {
  const columns = 'id, project, "createdAt", state, "archivedAt", "pullRequest"';
  const { createdAt, id } = after ?? { createdAt: Number.MAX_SAFE_INTEGER, id: "" };
  const older = '("createdAt", id) < (?, ?)';
  const order = 'ORDER BY "createdAt" DESC, id DESC LIMIT ?';
  const part = `SELECT * FROM (SELECT ${columns} FROM job WHERE project = ? AND ${older} ${order}) AS part`;
  const isByProject = status === undefined && projects.length <= maxParts;
  const hasStatus = status === undefined ? "" : `${statusOf} = ? AND`;
  const isOfOne = `project IN (${projects.map(() => "?")})`;
  const found = isByProject
    ? projects.map(() => part).join(" UNION ALL ")
    : `SELECT ${columns} FROM job WHERE ${hasStatus} ${isOfOne} AND ${older}`;
  // What is counted is only that of the jobs in the list.
  const sql = `SELECT page.*,
    (SELECT count(*) FROM turn WHERE turn.job = page.id) AS turns,
    (SELECT min(turn.id) FROM turn WHERE turn.job = page.id) AS "firstTurn",
    (SELECT max(number) FROM "pullRequest" WHERE "pullRequest".job = page.id) AS "lastPage"
    FROM (SELECT * FROM (${found}) AS found ${order}) AS page ORDER BY "createdAt" DESC, id DESC`;
  const values = isByProject
    ? projects.flatMap((project) => [project, createdAt, id, limit])
    : [...(status === undefined ? [] : [status]), ...projects, createdAt, id];
  return { sql, values: [...values, limit] };
}

/** The status of a job, as the index of lists has it. */
const statusOf = `(CASE WHEN "archivedAt" IS NULL THEN state ELSE 'archived' END)`;
/** No repository has this name. Services that know only one repository do not start when they read it. */
const severalRepositories = "several (see --config)";

/** Of a turn in a copy of its job. */
const copiedColumns = 'id, prompt, state, attempts, "startedAt", "endedAt", answer, reason, "stopRequestedAt"';

const stateOf = "SELECT state FROM turn WHERE id = ?";

const taken = ({ id, lease }: RunningTurn) => ({ turn: id, lease });

/** Keeps others from changing a job, its turns and its pull requests, or from deleting it, until the transaction has ended. */
async function lockJob(transaction: Transaction, job: string): Promise<void> {
  await transaction.lock(job);
}
