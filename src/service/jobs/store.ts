import { chmodSync } from "node:fs";
import type { EarlierTurn } from "../agents/run-agent.ts";
import type { PageStore, TurnExcerpt } from "../pages/pull-request-pages.ts";
import type { LocalPullRequest, LocalPullRequestStore } from "../pulls/local.ts";
import { Database } from "./database.ts";
import { type RateLimited, StoreUnavailable } from "./engine.ts";
import { findStore } from "./find-store.ts";
import { countUse } from "./hourly-limit.ts";
import { isActive, type JobCopy, type TurnCopy } from "./job-copies.ts";
import { openSchema } from "./schema.ts";
import { lockStore } from "./store-lock.ts";
import { type NextTurnId, TurnQueue } from "./turn-queue.ts";

/** A row of `job`. Times are milliseconds since 1970. */
export interface StoredJob {
  id: string;
  project: string;
  createdAt: number;
  /** `active` while a turn of the job is waiting or running, otherwise the result of its last turn. */
  state: "active" | "completed" | "failed";
  /** When its last turn ended; `null` while it is active. */
  idleSince: number | null;
  archivedAt: number | null;
  /** The link to the job's last pull request, and the last commit pushed to it. `null` before the first one. */
  pullRequest: string | null;
  head: string | null;
}

/** A job that is neither active nor archived, and has a pull request. */
export interface JobWithPullRequest {
  id: string;
  idleSince: number;
  pullRequest: string;
  head: string;
}

/** A row of `turn`. */
export interface Turn {
  id: number;
  job: string;
  prompt: string;
  /** Attempts so far, not counting those that a graceful shutdown stopped. */
  attempts: number;
}

export type TurnState = "waiting" | "running" | "completed" | "failed";

/** A turn and how it went so far. */
export interface StoredTurn extends Turn {
  state: TurnState;
  /** What the agent said last; `null` if that is unknown. */
  answer: string | null;
}

/**
 * The persistent state of the service, in one SQLite file. A change is on disk when its method returns, so a service that
 * is killed loses nothing. Only one service can open a file, but other processes can read it.
 *
 * Methods throw `StoreUnavailable` while the file cannot be used, such as on a full disk. Nothing is changed then.
 */
export class Store implements Disposable, LocalPullRequestStore, PageStore {
  readonly #lock: Disposable | undefined;
  readonly #db: Database;
  readonly #queue: TurnQueue;
  /** Changes of a running turn that could not be stored yet, by job. */
  readonly #postponedChanges = new Map<string, (() => void)[]>();

  /**
   * @param file - created if it does not exist; `:memory:` persists nothing
   * @param log - receives a line when the file cannot be written any more, and when it can again
   * @param nextTurnId - default: counts
   * @throws if another service has the file open, or could open it by a hard link, or if it is damaged, incomplete, of a
   *   newer version or not a store
   */
  constructor(file: string, log: (line: string) => void = () => {}, nextTurnId?: NextTurnId) {
    const path = file === ":memory:" ? file : findStore(file);
    this.#lock = path === ":memory:" ? undefined : lockStore(path);
    let db: Database | undefined;
    let isOpen = false;
    try {
      // Before it is open, an error is thrown, and no outage begins.
      db = new Database(path, (line) => isOpen && log(line));
      openSchema(db, path);
      // It has prompts. SQLite gives its other files the same mode.
      if (path !== ":memory:") chmodSync(path, 0o600);
      db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
      isOpen = true;
    } catch (error) {
      db?.[Symbol.dispose]();
      this.#lock?.[Symbol.dispose]();
      if (error instanceof StoreUnavailable) throw new Error(`cannot open ${path}: ${error.message}`);
      throw error;
    }
    this.#db = db;
    this.#queue = new TurnQueue(db, nextTurnId);
  }

  [Symbol.dispose](): void {
    this.#db[Symbol.dispose]();
    this.#lock?.[Symbol.dispose]();
  }

  /** Returns the name of the repository that the jobs belong to; `undefined` before it is set. */
  repository(): string | undefined {
    return this.#db.row<{ name: string }>("SELECT name FROM repository")?.name;
  }

  setRepository(name: string): void {
    this.#db.transaction(() => {
      this.#db.run("DELETE FROM repository");
      this.#db.run("INSERT INTO repository (name) VALUES (?)", name);
    });
  }

  /**
   * Adds a job with its first turn, if the hourly limit of its project allows another create. Both are one transaction: a
   * create that could not be stored is not counted.
   *
   * @param at - when it is counted, in milliseconds since 1970
   */
  addJob(
    { id, project, createdAt }: Pick<StoredJob, "id" | "project" | "createdAt">,
    prompt: string,
    at = createdAt,
  ): RateLimited | undefined {
    return this.#db.transaction(() => {
      const limited = countUse(this.#db, "create", project, at);
      if (limited !== undefined) return limited;
      this.#db.run("INSERT INTO job (id, project, createdAt) VALUES (?, ?, ?)", id, project, createdAt);
      this.#queue.add(id, project, prompt);
      return undefined;
    });
  }

  /**
   * Adds a turn to a job and takes the job out of the archive, if the hourly limit of its project allows another message.
   *
   * @param at - when it is counted, in milliseconds since 1970
   * @throws if there is no such job
   */
  addTurn(jobId: string, prompt: string, at: number): RateLimited | undefined {
    return this.#db.transaction(() => {
      const { project } = this.job(jobId) ?? {};
      if (project === undefined) throw new Error(`no job ${jobId}`);
      const limited = countUse(this.#db, "message", project, at);
      if (limited === undefined) this.#queue.add(jobId, project, prompt);
      return limited;
    });
  }

  /** Returns a job with its turns, for another store. */
  copyJob(id: string): JobCopy | undefined {
    const columns = "id, project, createdAt, archivedAt, pullRequest, head";
    const job = this.#db.row<Omit<JobCopy, "turns">>(`SELECT ${columns} FROM job WHERE id = ?`, id);
    const turns = "SELECT id, prompt, state, attempts, endedAt, answer FROM turn WHERE job = ? ORDER BY id";
    return job && { ...job, turns: this.#db.rows<TurnCopy>(turns, id) };
  }

  /** Adds a job of another store. Its running turns become waiting ones. */
  addCopy(copy: JobCopy): void {
    const { id, project, createdAt, archivedAt, pullRequest, head, turns } = copy;
    const { state: lastState = "failed", endedAt = null } = turns.at(-1) ?? {};
    const [state, idleSince] = isActive(copy) ? ["active", null] : [lastState, endedAt ?? createdAt];
    this.#db.transaction(() => {
      const insertJob = `INSERT INTO job (id, project, createdAt, state, idleSince, archivedAt, pullRequest, head)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
      this.#db.run(insertJob, id, project, createdAt, state, idleSince, archivedAt, pullRequest, head);
      const insertTurn = `INSERT INTO turn (id, job, prompt, state, attempts, endedAt, answer)
        VALUES (?, ?, ?, ?, ?, ?, ?)`;
      for (const turn of turns) {
        const turnState = turn.state === "running" ? "waiting" : turn.state;
        this.#db.run(insertTurn, turn.id, id, turn.prompt, turnState, turn.attempts, turn.endedAt, turn.answer);
      }
      this.#queue.adopt(id, project);
    });
  }

  job(id: string): StoredJob | undefined {
    return this.#db.row<StoredJob>("SELECT * FROM job WHERE id = ?", id);
  }

  /** Returns how many jobs there are, and how many turns wait. */
  counts(): { jobs: number; waitingTurns: number } {
    const sql = `SELECT (SELECT count(*) FROM job) AS jobs,
      (SELECT count(*) FROM turn WHERE state = 'waiting') AS waitingTurns`;
    return this.#db.row<{ jobs: number; waitingTurns: number }>(sql) ?? { jobs: 0, waitingTurns: 0 };
  }

  /** Marks the next turn as running and returns it; see `TurnQueue` for the order. */
  startNextTurn(): Turn | undefined {
    return this.#queue.start();
  }

  /** Returns the turns of a job, oldest first. */
  turns(jobId: string): StoredTurn[] {
    return this.#db.rows<StoredTurn>("SELECT * FROM turn WHERE job = ? ORDER BY id", jobId);
  }

  countTurns(jobId: string): number {
    return this.#db.row<{ count: number }>("SELECT count(*) AS count FROM turn WHERE job = ?", jobId)?.count ?? 0;
  }

  /** Returns the ids of a job's newest turns, oldest first. */
  latestTurns(jobId: string, count: number): number[] {
    const sql = "SELECT id FROM turn WHERE job = ? ORDER BY id DESC LIMIT ?";
    return this.#db
      .rows<{ id: number }>(sql, jobId, count)
      .map(({ id }) => id)
      .reverse();
  }

  /** Returns a turn with at most `length` characters of its texts. */
  turnExcerpt(id: number, length: number): TurnExcerpt | undefined {
    const sql = "SELECT state, substr(prompt, 1, ?) AS prompt, substr(answer, 1, ?) AS answer FROM turn WHERE id = ?";
    return this.#db.row<TurnExcerpt>(sql, length, length, id);
  }

  /** Returns the earlier turns of a turn's job in which an agent ran, oldest first. */
  history({ id, job }: Turn): EarlierTurn[] {
    const sql = "SELECT prompt, answer, state FROM turn WHERE job = ? AND id < ? AND attempts > 0 ORDER BY id";
    return this.#db.rows<EarlierTurn>(sql, job, id);
  }

  /** Records what the agent said last in a turn. If that cannot be stored now, it is with the turn's end. */
  setAnswer(turnId: number, answer: string): void {
    const job = this.#db.row<{ job: string }>("SELECT job FROM turn WHERE id = ?", turnId)?.job ?? "";
    this.#storeNowOrAtEnd(job, () => this.#db.run("UPDATE turn SET answer = ? WHERE id = ?", answer, turnId));
  }

  countAttempt(turnId: number): void {
    this.#db.run("UPDATE turn SET attempts = attempts + 1 WHERE id = ?", turnId);
  }

  /** Records how a running turn ended, at a time in milliseconds since 1970. */
  finishTurn(id: number, state: "completed" | "failed", at: number): void {
    const { job = "" } = this.#db.row<{ job: string }>("SELECT job FROM turn WHERE id = ?", id) ?? {};
    this.#db.transaction(() => {
      for (const change of this.#postponedChanges.get(job) ?? []) change();
      this.#queue.finish(id, state, at);
    });
    this.#postponedChanges.delete(job);
  }

  /** Requeues a turn that a graceful shutdown stopped, with the number of attempts it had when it was started. */
  requeueTurn(turn: Turn): void {
    this.#queue.requeue(turn, true);
  }

  /** Requeues a turn as `requeueTurn` does, but it is only started after `resumeTurn`, or by the next service. */
  postponeTurn(turn: Turn): void {
    this.#queue.requeue(turn, false);
  }

  /** Lets a postponed turn start. */
  resumeTurn(id: number): void {
    this.#queue.makeReady(id);
  }

  /** Requeues what an earlier service left: running turns, which it returns, and postponed ones. */
  requeueInterruptedTurns(): Pick<Turn, "id" | "job">[] {
    return this.#queue.resume();
  }

  /** Records a job's pull request and the last commit pushed to it. If that cannot be stored now, it is with the turn's end. */
  setPullRequest(jobId: string, link: string, head: string): void {
    const sql = "UPDATE job SET pullRequest = ?, head = ? WHERE id = ?";
    this.#storeNowOrAtEnd(jobId, () => this.#db.run(sql, link, head, jobId));
  }

  /** Writes without changing anything. Throws `StoreUnavailable` if the file still cannot be written. */
  probe(): void {
    this.#db.probe();
  }

  /** Records the last commit that was pushed for a job, which has no pull request yet. Stored like `setPullRequest`. */
  clearPullRequest(jobId: string, head: string): void {
    const sql = "UPDATE job SET pullRequest = NULL, head = ? WHERE id = ?";
    this.#storeNowOrAtEnd(jobId, () => this.#db.run(sql, head, jobId));
  }

  /**
   * Archives jobs, except those that have received a turn or another pull request since they were read.
   *
   * @param at - milliseconds since 1970
   * @returns the ids of those that it archived
   */
  archiveJobs(jobs: readonly JobWithPullRequest[], at: number): string[] {
    const sql = `UPDATE job SET archivedAt = ?
      WHERE id = ? AND archivedAt IS NULL AND idleSince = ? AND pullRequest = ? AND head = ?`;
    return this.#db.transaction(() =>
      jobs
        .filter((job) => this.#db.run(sql, at, job.id, job.idleSince, job.pullRequest, job.head).changes > 0)
        .map(({ id }) => id),
    );
  }

  /**
   * Archives the jobs that have been idle longest.
   *
   * @param before - archives only jobs whose last turn ended at this time or before, in milliseconds since 1970
   * @param at - milliseconds since 1970
   * @returns the ids of those that it archived, at most `limit`
   */
  archiveIdleJobs(before: number, at: number, limit: number): string[] {
    const oldest = `SELECT id FROM job WHERE idleSince <= ? AND idleSince IS NOT NULL AND archivedAt IS NULL
      ORDER BY idleSince LIMIT ?`;
    return this.#db.transaction(() =>
      this.#db
        .rows<{ id: string }>(`UPDATE job SET archivedAt = ? WHERE id IN (${oldest}) RETURNING id`, at, before, limit)
        .map(({ id }) => id),
    );
  }

  /**
   * Returns jobs that are neither active nor archived and have a pull request, those that have been idle longest first.
   *
   * @param after - the last one that the previous call returned
   */
  jobsWithPullRequest(limit: number, after?: JobWithPullRequest): JobWithPullRequest[] {
    return this.#db.rows<JobWithPullRequest>(
      `SELECT id, idleSince, pullRequest, head FROM job
         WHERE idleSince IS NOT NULL AND archivedAt IS NULL AND pullRequest IS NOT NULL AND (idleSince, id) > (?, ?)
         ORDER BY idleSince, id LIMIT ?`,
      after?.idleSince ?? -1,
      after?.id ?? "",
      limit,
    );
  }

  /**
   * Deletes the jobs that have been idle longest, with their turns and the pages of their pull requests. Their files can
   * be removed then: `deletedJobs` returns them until `forgetDeletedJobs`.
   *
   * @param before - deletes only jobs whose last turn ended at this time or before, in milliseconds since 1970
   * @returns the ids of those that it deleted, at most `limit`
   */
  deleteIdleJobs(before: number, limit: number): string[] {
    const oldest = "SELECT id FROM job WHERE idleSince <= ? AND idleSince IS NOT NULL ORDER BY idleSince LIMIT ?";
    return this.#db.transaction(() => {
      const ids = this.#db.rows<{ id: string }>(oldest, before, limit).map(({ id }) => id);
      for (const id of ids) {
        this.#db.run("DELETE FROM turn WHERE job = ?", id);
        this.#db.run("DELETE FROM pullRequest WHERE job = ?", id);
        this.#db.run("DELETE FROM job WHERE id = ?", id);
        this.#db.run("INSERT OR IGNORE INTO deletedJob (id) VALUES (?)", id);
      }
      return ids;
    });
  }

  /** Returns the ids of deleted jobs whose files are not known to be removed. */
  deletedJobs(limit: number): string[] {
    return this.#db.rows<{ id: string }>("SELECT id FROM deletedJob LIMIT ?", limit).map(({ id }) => id);
  }

  /** Records that the files of deleted jobs are removed. */
  forgetDeletedJobs(ids: readonly string[]): void {
    this.#db.transaction(() => {
      for (const id of ids) this.#db.run("DELETE FROM deletedJob WHERE id = ?", id);
    });
  }

  addPullRequest({ job, title, branch, target, base, head }: LocalPullRequest): number {
    const insert = "INSERT INTO pullRequest (job, title, branch, target, base, head) VALUES (?, ?, ?, ?, ?, ?)";
    return this.#db.run(insert, job, title, branch, target, base, head).id;
  }

  updatePullRequest(number: number, job: string, base: string, head: string): boolean {
    const update = "UPDATE pullRequest SET base = ?, head = ? WHERE number = ? AND job = ?";
    return this.#db.run(update, base, head, number, job).changes > 0;
  }

  pullRequest(number: number): LocalPullRequest | undefined {
    return this.#db.row<LocalPullRequest>("SELECT * FROM pullRequest WHERE number = ?", number);
  }

  /** Returns the newest pull requests, newest first. */
  latestPullRequests(count: number): { number: number; title: string }[] {
    return this.#db.rows("SELECT number, title FROM pullRequest ORDER BY number DESC LIMIT ?", count);
  }

  /** The agent has run and cannot run again for this, so the change waits for the end of the turn, which is retried. */
  #storeNowOrAtEnd(job: string, change: () => void): void {
    try {
      change();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#postponedChanges.set(job, [...(this.#postponedChanges.get(job) ?? []), change]);
    }
  }
}
