import { DatabaseSync } from "node:sqlite";

export interface StoredJob {
  id: string;
  project: string;
  /** When it was created, in milliseconds since 1970. */
  createdAt: number;
  archivedAt: number | null;
  /** The link, and the last commit of it; none before the first. */
  pullRequest: string | null;
  head: string | null;
}

/** One piece of work of a job: that of the create, or that of one message. */
export interface Turn {
  id: number;
  job: string;
  prompt: string;
  /** How often an agent was run for it and not stopped by the service in good order. */
  attempts: number;
}

type TurnState = "waiting" | "running" | "completed" | "failed";

export interface StoredPull {
  number: number;
  job: string;
  title: string;
  branch: string;
  target: string;
  base: string;
  head: string;
}

const schema = `
  CREATE TABLE IF NOT EXISTS job (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, createdAt INTEGER NOT NULL, archivedAt INTEGER,
    pullRequest TEXT, head TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS turn (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job, prompt TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, endedAt INTEGER
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
 * What the service must not forget, in one SQLite file. What a method has done is on the disk when it returns, so that
 * nothing is lost by a service that is killed. One service to a file.
 */
export class Store implements Disposable {
  readonly #db: DatabaseSync;

  /** @param file - made where it is missing; `:memory:` for one that is forgotten */
  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    // A second service on the same file is refused, since it would do the same work again.
    this.#db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    this.#db.exec("PRAGMA foreign_keys = ON;");
    this.#db.exec(schema);
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  /** A new job with its first turn. */
  addJob(job: Pick<StoredJob, "id" | "project" | "createdAt">, prompt: string): void {
    this.#together(() => {
      this.#run("INSERT INTO job (id, project, createdAt) VALUES (?, ?, ?)", job.id, job.project, job.createdAt);
      this.#run("INSERT INTO turn (job, prompt) VALUES (?, ?)", job.id, prompt);
    });
  }

  /** One more turn, which also takes the job out of the archive. */
  addTurn(jobId: string, prompt: string): void {
    this.#together(() => {
      this.#run("INSERT INTO turn (job, prompt) VALUES (?, ?)", jobId, prompt);
      this.#run("UPDATE job SET archivedAt = NULL WHERE id = ?", jobId);
    });
  }

  job(id: string): StoredJob | undefined {
    return this.#row<StoredJob>("SELECT * FROM job WHERE id = ?", id);
  }

  /** The state of a job's turns: at work while one waits or runs, else how the last one ended. */
  stateOf(jobId: string): "active" | "completed" | "failed" {
    const open = "SELECT 1 FROM turn WHERE job = ? AND state IN ('waiting', 'running') LIMIT 1";
    if (this.#row(open, jobId)) return "active";
    const last = this.#row<{ state: TurnState }>(
      "SELECT state FROM turn WHERE job = ? ORDER BY id DESC LIMIT 1",
      jobId,
    );
    return last?.state === "completed" ? "completed" : "failed";
  }

  /** The oldest turn that waits and has no unfinished one of its job before it, now begun; or none. */
  beginTurn(): Turn | undefined {
    return this.#row<Turn>(
      `UPDATE turn SET state = 'running' WHERE id = (
         SELECT id FROM turn AS one WHERE state = 'waiting' AND NOT EXISTS (
           SELECT 1 FROM turn AS other WHERE other.job = one.job AND other.id < one.id
             AND other.state IN ('waiting', 'running')
         ) ORDER BY id LIMIT 1
       ) RETURNING id, job, prompt, attempts`,
    );
  }

  /** All prompts of a job, in order. */
  prompts(jobId: string): string[] {
    const rows = this.#rows<{ prompt: string }>("SELECT prompt FROM turn WHERE job = ? ORDER BY id", jobId);
    return rows.map(({ prompt }) => prompt);
  }

  countAttempt(turnId: number): void {
    this.#run("UPDATE turn SET attempts = attempts + 1 WHERE id = ?", turnId);
  }

  endTurn(id: number, state: "completed" | "failed", at: number): void {
    this.#run("UPDATE turn SET state = ?, endedAt = ? WHERE id = ?", state, at, id);
  }

  /** A turn that was stopped in good order waits again, with as many attempts as it had when it was begun. */
  putBack({ id, attempts }: Turn): void {
    this.#run("UPDATE turn SET state = 'waiting', attempts = ? WHERE id = ?", attempts, id);
  }

  /** Turns that a service which is gone has left running wait again; the jobs that they are of. */
  recover(): string[] {
    const rows = this.#rows<{ job: string }>("UPDATE turn SET state = 'waiting' WHERE state = 'running' RETURNING job");
    return rows.map(({ job }) => job);
  }

  setPullRequest(jobId: string, link: string, head: string): void {
    this.#run("UPDATE job SET pullRequest = ?, head = ? WHERE id = ?", link, head, jobId);
  }

  /** Archives a job, unless there is work for it or it has another pull request by now: then false. */
  archive({ id, pullRequest, head }: StoredJob, at: number): boolean {
    const sql = `UPDATE job SET archivedAt = ? WHERE id = ? AND archivedAt IS NULL AND pullRequest IS ? AND head IS ?
      AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.job = job.id AND state IN ('waiting', 'running'))`;
    return this.#run(sql, at, id, pullRequest, head).changes > 0;
  }

  /** Jobs that are neither at work nor archived, and when they came to rest. */
  restingJobs(): (StoredJob & { restsSince: number })[] {
    return this.#rows<StoredJob & { restsSince: number }>(
      `SELECT *, (SELECT max(endedAt) FROM turn WHERE turn.job = job.id) AS restsSince FROM job WHERE archivedAt IS NULL AND NOT EXISTS (
         SELECT 1 FROM turn WHERE turn.job = job.id AND state IN ('waiting', 'running')
       ) ORDER BY createdAt`,
    );
  }

  /** The number of a pull request of the service's own. */
  addPull({ job, title, branch, target, base, head }: Omit<StoredPull, "number">): number {
    const insert = "INSERT INTO pull (job, title, branch, target, base, head) VALUES (?, ?, ?, ?, ?, ?)";
    return Number(this.#run(insert, job, title, branch, target, base, head).lastInsertRowid);
  }

  /** False where the job has no pull request of that number. */
  setPullCommits(number: number, job: string, base: string, head: string): boolean {
    return (
      this.#run("UPDATE pull SET base = ?, head = ? WHERE number = ? AND job = ?", base, head, number, job).changes > 0
    );
  }

  pull(number: number): StoredPull | undefined {
    return this.#row<StoredPull>("SELECT * FROM pull WHERE number = ?", number);
  }

  /**
   * Returns a persistent rate limiter: at most `limit` uses per project in any `windowMs` milliseconds.
   *
   * @param kind - what is limited; each kind is counted separately
   * @param now - milliseconds since 1970
   */
  rateLimiter(kind: string, limit: number, windowMs: number, now: () => number = Date.now) {
    return {
      acquire: (projectId: string): number =>
        this.#together(() => {
          const at = now();
          this.#run("DELETE FROM use WHERE kind = ? AND at <= ?", kind, at - windowMs);
          const uses = "SELECT count(*) AS count, min(at) AS oldest FROM use WHERE kind = ? AND project = ?";
          const { count = 0, oldest = at } = this.#row<{ count: number; oldest: number }>(uses, kind, projectId) ?? {};
          if (count >= limit) return oldest + windowMs - at;
          this.#run("INSERT INTO use (kind, project, at) VALUES (?, ?, ?)", kind, projectId, at);
          return 0;
        }),
    };
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

  #together<T>(change: () => T): T {
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
