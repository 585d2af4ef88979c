import { chmodSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { EarlierTurn } from "../agents/run-agent.ts";
import type { LocalPullRequest, LocalPullRequestStore } from "../pulls/local.ts";
import { commitTitle } from "./commit-title.ts";
import type { RateLimited } from "./engine.ts";
import { hourlyLimit, hourMs } from "./hourly-limit.ts";

/** A row of `job`. Times are milliseconds since 1970. */
export interface StoredJob {
  id: string;
  project: string;
  createdAt: number;
  archivedAt: number | null;
  /** The link to the job's last pull request, and the last commit pushed to it. `null` before the first one. */
  pullRequest: string | null;
  head: string | null;
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

const schema = `
  CREATE TABLE IF NOT EXISTS job (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, createdAt INTEGER NOT NULL, archivedAt INTEGER,
    pullRequest TEXT, head TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS turn (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job, prompt TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, endedAt INTEGER, answer TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS turnOfJob ON turn (job, id);
  CREATE INDEX IF NOT EXISTS turnInState ON turn (state, id);
  CREATE TABLE IF NOT EXISTS pull (
    number INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job, title TEXT NOT NULL, branch TEXT NOT NULL,
    target TEXT NOT NULL, base TEXT NOT NULL, head TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS use (kind TEXT NOT NULL, project TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS useOfProject ON use (kind, project, at);
`;

/**
 * The persistent state of the service, in one SQLite file. A change is on disk when its method returns, so a service that
 * is killed loses nothing. Only one service can open a file.
 */
export class Store implements Disposable, LocalPullRequestStore {
  readonly #db: DatabaseSync;

  /**
   * @param file - created if it does not exist; `:memory:` persists nothing
   * @throws if another service has the file open
   */
  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    // It has prompts. SQLite gives its other files the same mode.
    if (file !== ":memory:") chmodSync(file, 0o600);
    // Locks out a second service, which would run the same turns.
    this.#db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    this.#db.exec("PRAGMA foreign_keys = ON;");
    this.#db.exec(schema);
    // Missing in files of earlier versions.
    if (!this.#row("SELECT 1 FROM pragma_table_info('turn') WHERE name = 'answer'"))
      this.#db.exec("ALTER TABLE turn ADD COLUMN answer TEXT");
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  /**
   * Adds a job with its first turn, if the hourly limit of its project allows another create. Both are one transaction: a
   * create that could not be stored is not counted.
   */
  addJob(job: Pick<StoredJob, "id" | "project" | "createdAt">, prompt: string): RateLimited | undefined {
    return this.#transaction(() => {
      const limited = this.#use("create", job.project, job.createdAt);
      if (limited !== undefined) return limited;
      this.#run("INSERT INTO job (id, project, createdAt) VALUES (?, ?, ?)", job.id, job.project, job.createdAt);
      this.#run("INSERT INTO turn (job, prompt) VALUES (?, ?)", job.id, prompt);
      return undefined;
    });
  }

  /**
   * Adds a turn to a job and takes the job out of the archive, if the hourly limit of its project allows another message.
   *
   * @param at - milliseconds since 1970
   * @throws if there is no such job
   */
  addTurn(jobId: string, prompt: string, at: number): RateLimited | undefined {
    return this.#transaction(() => {
      const { project } = this.job(jobId) ?? {};
      if (project === undefined) throw new Error(`no job ${jobId}`);
      const limited = this.#use("message", project, at);
      if (limited !== undefined) return limited;
      this.#run("INSERT INTO turn (job, prompt) VALUES (?, ?)", jobId, prompt);
      this.#run("UPDATE job SET archivedAt = NULL WHERE id = ?", jobId);
      return undefined;
    });
  }

  job(id: string): StoredJob | undefined {
    return this.#row<StoredJob>("SELECT * FROM job WHERE id = ?", id);
  }

  /** Returns `active` while a turn of the job is waiting or running, otherwise the result of its last turn. */
  stateOf(jobId: string): "active" | "completed" | "failed" {
    const open = "SELECT 1 FROM turn WHERE job = ? AND state IN ('waiting', 'running') LIMIT 1";
    if (this.#row(open, jobId)) return "active";
    const last = this.#row<{ state: TurnState }>(
      "SELECT state FROM turn WHERE job = ? ORDER BY id DESC LIMIT 1",
      jobId,
    );
    return last?.state === "completed" ? "completed" : "failed";
  }

  /** Marks the oldest waiting turn as running and returns it. A turn waits for the earlier turns of its job. */
  startNextTurn(): Turn | undefined {
    return this.#row<Turn>(
      `UPDATE turn SET state = 'running' WHERE id = (
         SELECT id FROM turn AS one WHERE state = 'waiting' AND NOT EXISTS (
           SELECT 1 FROM turn AS other WHERE other.job = one.job AND other.id < one.id
             AND other.state IN ('waiting', 'running')
         ) ORDER BY id LIMIT 1
       ) RETURNING id, job, prompt, attempts`,
    );
  }

  /** Returns the turns of a job, oldest first. */
  turns(jobId: string): StoredTurn[] {
    return this.#rows<StoredTurn>("SELECT * FROM turn WHERE job = ? ORDER BY id", jobId);
  }

  /** Returns the title and state of each turn of a job, oldest first. */
  turnTitles(jobId: string): { title: string; state: StoredTurn["state"] }[] {
    return this.turns(jobId).map(({ prompt, state }) => ({ title: commitTitle(prompt), state }));
  }

  /** Returns the earlier turns of a turn's job in which an agent ran, oldest first. */
  history({ id, job }: Turn): EarlierTurn[] {
    const sql = "SELECT prompt, answer, state FROM turn WHERE job = ? AND id < ? AND attempts > 0 ORDER BY id";
    return this.#rows<EarlierTurn>(sql, job, id);
  }

  /** Records what the agent said last in a turn. */
  setAnswer(turnId: number, answer: string): void {
    this.#run("UPDATE turn SET answer = ? WHERE id = ?", answer, turnId);
  }

  countAttempt(turnId: number): void {
    this.#run("UPDATE turn SET attempts = attempts + 1 WHERE id = ?", turnId);
  }

  /** Records how a turn ended, at a time in milliseconds since 1970. */
  finishTurn(id: number, state: "completed" | "failed", at: number): void {
    this.#run("UPDATE turn SET state = ?, endedAt = ? WHERE id = ?", state, at, id);
  }

  /** Requeues a turn that a graceful shutdown stopped, with the number of attempts it had when it was started. */
  requeueTurn({ id, attempts }: Turn): void {
    this.#run("UPDATE turn SET state = 'waiting', attempts = ? WHERE id = ?", attempts, id);
  }

  /** Requeues turns that a killed service left running. Returns the ids of their jobs. */
  requeueInterruptedTurns(): string[] {
    const rows = this.#rows<{ job: string }>("UPDATE turn SET state = 'waiting' WHERE state = 'running' RETURNING job");
    return rows.map(({ job }) => job);
  }

  setPullRequest(jobId: string, link: string, head: string): void {
    this.#run("UPDATE job SET pullRequest = ?, head = ? WHERE id = ?", link, head, jobId);
  }

  /**
   * Archives a job, unless it has received a turn or another pull request since it was read.
   *
   * @param at - milliseconds since 1970
   * @returns whether the job was archived
   */
  archiveJob({ id, pullRequest, head }: StoredJob, at: number): boolean {
    const sql = `UPDATE job SET archivedAt = ? WHERE id = ? AND archivedAt IS NULL AND pullRequest IS ? AND head IS ?
      AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.job = job.id AND state IN ('waiting', 'running'))`;
    return this.#run(sql, at, id, pullRequest, head).changes > 0;
  }

  /** Returns the jobs that are neither active nor archived, with the time their last turn ended. */
  idleJobs(): (StoredJob & { idleSince: number })[] {
    return this.#rows<StoredJob & { idleSince: number }>(
      `SELECT *, (SELECT max(endedAt) FROM turn WHERE turn.job = job.id) AS idleSince FROM job WHERE archivedAt IS NULL AND NOT EXISTS (
         SELECT 1 FROM turn WHERE turn.job = job.id AND state IN ('waiting', 'running')
       ) ORDER BY createdAt`,
    );
  }

  addPullRequest({ job, title, branch, target, base, head }: LocalPullRequest): number {
    const insert = "INSERT INTO pull (job, title, branch, target, base, head) VALUES (?, ?, ?, ?, ?, ?)";
    return Number(this.#run(insert, job, title, branch, target, base, head).lastInsertRowid);
  }

  updatePullRequest(number: number, job: string, base: string, head: string): boolean {
    return (
      this.#run("UPDATE pull SET base = ?, head = ? WHERE number = ? AND job = ?", base, head, number, job).changes > 0
    );
  }

  pullRequest(number: number): LocalPullRequest | undefined {
    return this.#row<LocalPullRequest>("SELECT * FROM pull WHERE number = ?", number);
  }

  /** Counts a use, unless its project has used up its hourly limit. */
  #use(kind: "create" | "message", project: string, at: number): RateLimited | undefined {
    this.#run("DELETE FROM use WHERE kind = ? AND at <= ?", kind, at - hourMs);
    const uses = "SELECT count(*) AS count, min(at) AS oldest FROM use WHERE kind = ? AND project = ?";
    const { count = 0, oldest = at } = this.#row<{ count: number; oldest: number }>(uses, kind, project) ?? {};
    if (count >= hourlyLimit) return { retryAfterMs: oldest + hourMs - at };
    this.#run("INSERT INTO use (kind, project, at) VALUES (?, ?, ?)", kind, project, at);
    return undefined;
  }

  #run(sql: string, ...values: (string | number | null)[]) {
    return this.#db.prepare(sql).run(...values);
  }

  #row<T>(sql: string, ...values: (string | number | null)[]): T | undefined {
    return this.#db.prepare(sql).get(...values) as T | undefined;
  }

  #rows<T>(sql: string, ...values: (string | number | null)[]): T[] {
    return this.#db.prepare(sql).all(...values) as T[];
  }

  #transaction<T>(change: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = change();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }
}
