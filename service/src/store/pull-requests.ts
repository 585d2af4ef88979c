import type { LocalPullRequest } from "../model.ts";
import { LeaseLost } from "../store-errors.ts";
import { lockJob } from "./job-state.ts";
import type { Database, Transaction } from "./sql.ts";

/**
 * The pull requests that are pages of the service. They are deleted with their job.
 * A worker that was paused can continue a turn that others have taken over and ended. So a page gets no head if another commit of the job
 * has been recorded: see `RunningTurns.recordPush`.
 */
export class StoredPullRequests {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Adds a pull request, unless the last one of its job has the same head: it was unknown whether that one was stored.
   *
   * @returns the number of the new pull request, or of the last one
   * @throws LeaseLost if another commit of the job has been recorded
   */
  add({ job, title, branch, target, base, head }: LocalPullRequest): Promise<number> {
    const last = 'SELECT number, head FROM "pullRequest" WHERE job = ? ORDER BY number DESC LIMIT 1';
    const insert = `INSERT INTO "pullRequest" (job, title, branch, target, base, head) VALUES (?, ?, ?, ?, ?, ?)
      RETURNING number`;
    return this.#database.transaction(async (transaction) => {
      await lockJob(transaction, job);
      await confirmHead(transaction, job, head);
      const found = await transaction.row<{ number: number; head: string }>(last, job);
      if (found?.head === head) return found.number;
      const [row] = await transaction.rows<{ number: number }>(insert, job, title, branch, target, base, head);
      return row?.number ?? 0;
    });
  }

  /**
   * Returns `false` if the job has no pull request of that number.
   *
   * @throws LeaseLost if another commit of the job has been recorded
   */
  update(number: number, job: string, base: string, head: string): Promise<boolean> {
    const update = 'UPDATE "pullRequest" SET base = ?, head = ? WHERE number = ? AND job = ?';
    return this.#database.transaction(async (transaction) => {
      await lockJob(transaction, job);
      await confirmHead(transaction, job, head);
      return (await transaction.run(update, base, head, number, job)) > 0;
    });
  }

  find(number: number): Promise<LocalPullRequest | undefined> {
    return this.#database.row<LocalPullRequest>('SELECT * FROM "pullRequest" WHERE number = ?', number);
  }

  /** Returns the branches whose pull requests target a branch. */
  async branchesInto(target: string): Promise<string[]> {
    const sql = 'SELECT DISTINCT branch FROM "pullRequest" WHERE target = ?';
    return (await this.#database.rows<{ branch: string }>(sql, target)).map(({ branch }) => branch);
  }

  /** Returns the newest pull requests of a job, newest first. */
  newestOf(jobId: string, count: number): Promise<{ number: number; title: string }[]> {
    const sql = 'SELECT number, title FROM "pullRequest" WHERE job = ? ORDER BY number DESC LIMIT ?';
    return this.#database.rows(sql, jobId, count);
  }
}

/** @throws LeaseLost if the last recorded commit of a job is another one */
async function confirmHead(transaction: Transaction, job: string, head: string): Promise<void> {
  const other = "SELECT 1 FROM job WHERE id = ? AND head <> ?";
  if ((await transaction.row(other, job, head)) !== undefined) throw new LeaseLost(job);
}
