import type { JobWithBranch, JobWithPullRequest, StoredJob } from "../model.ts";
import { lockJob } from "./job-state.ts";
import type { Database } from "./sql.ts";

/** The jobs without open turns: they are archived, and later deleted. */
export class IdleJobs {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Returns jobs that are neither active nor archived and have a pull request, those that have been idle longest first.
   *
   * @param after - the last one that the previous call returned
   */
  withPullRequest(limit: number, after?: JobWithPullRequest): Promise<JobWithPullRequest[]> {
    return this.#database.rows<JobWithPullRequest>(
      `SELECT id, project, branch, "idleSince", "pullRequest", head FROM job
         WHERE "idleSince" IS NOT NULL AND "archivedAt" IS NULL AND "pullRequest" IS NOT NULL AND ("idleSince", id) > (?, ?)
         ORDER BY "idleSince", id LIMIT ?`,
      after?.idleSince ?? -1,
      after?.id ?? "",
      limit,
    );
  }

  /**
   * Returns jobs whose last turn ended after a time, archived or not, those that have been idle longest first.
   *
   * @param time - in milliseconds since 1970
   * @param after - the last one that the previous call returned
   */
  endedAfter(time: number, limit: number, after?: StoredJob): Promise<StoredJob[]> {
    return this.#database.rows<StoredJob>(
      `SELECT * FROM job WHERE "idleSince" IS NOT NULL AND ("idleSince", id) > (?, ?) ORDER BY "idleSince", id LIMIT ?`,
      after?.idleSince ?? time,
      after?.id ?? "",
      limit,
    );
  }

  /**
   * Archives jobs, except those that have received a turn or another pull request since they were read.
   *
   * @param at - milliseconds since 1970
   * @returns the ids of those that it archived
   */
  archive(jobs: readonly JobWithPullRequest[], at: number): Promise<string[]> {
    const sql = `UPDATE job SET "archivedAt" = ?, "branchDueAt" = ?
      WHERE id = ? AND "archivedAt" IS NULL AND "idleSince" = ? AND "pullRequest" = ? AND head = ?`;
    return this.#database.transaction(async (transaction) => {
      const archived: string[] = [];
      for (const { id, idleSince, pullRequest, head } of jobs)
        if ((await transaction.run(sql, at, at, id, idleSince, pullRequest, head)) > 0) archived.push(id);
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
  archiveOldest(before: number, at: number, limit: number): Promise<string[]> {
    const oldest = `SELECT id FROM job WHERE "idleSince" <= ? AND "idleSince" IS NOT NULL AND "archivedAt" IS NULL
      ORDER BY "idleSince" LIMIT ?`;
    const archive = `UPDATE job SET "archivedAt" = ?, "branchDueAt" = ? WHERE id IN (${oldest}) AND "idleSince" IS NOT NULL RETURNING id`;
    return this.#database.transaction(async (transaction) =>
      (await transaction.rows<{ id: string }>(archive, at, at, before, limit)).map(({ id }) => id),
    );
  }

  /**
   * Returns archived jobs with a pull request whose branches are to be looked at, those first that have waited longest.
   *
   * @param now - milliseconds since 1970
   * @param after - the last one that the previous call returned
   */
  withDueBranch(now: number, limit: number, after?: JobWithBranch): Promise<JobWithBranch[]> {
    return this.#database.rows<JobWithBranch>(
      `SELECT id, project, branch, "pullRequest", head, base, "branchDueAt" FROM job
         WHERE "archivedAt" IS NOT NULL AND "pullRequest" IS NOT NULL AND "branchDueAt" <= ? AND ("branchDueAt", id) > (?, ?)
         ORDER BY "branchDueAt", id LIMIT ?`,
      now,
      after?.branchDueAt ?? -1,
      after?.id ?? "",
      limit,
    );
  }

  /**
   * Lets one process look at the branches of a project's archived jobs.
   *
   * @param now - milliseconds since 1970
   * @param intervalMs - when the next one may
   * @returns whether this one may
   */
  async beginBranches(project: string, now: number, intervalMs: number): Promise<boolean> {
    const sql = 'UPDATE project SET "branchesDueAt" = ? WHERE name = ? AND "branchesDueAt" <= ?';
    return (await this.#database.run(sql, now + intervalMs, project, now)) > 0;
  }

  /** Sets when the branch of an archived job is looked at next, in milliseconds since 1970; `null`: it is gone. */
  async setBranchDue(id: string, at: number | null): Promise<void> {
    await this.#database.run('UPDATE job SET "branchDueAt" = ? WHERE id = ?', at, id);
  }

  /** Returns whether a job is archived, has this pull request and this head, and no other job that is not archived starts from its branch. */
  async isBranchUnused({ id, branch, pullRequest, head }: JobWithBranch): Promise<boolean> {
    const sql = `SELECT 1 FROM job WHERE id = ? AND "archivedAt" IS NOT NULL AND "pullRequest" = ? AND head = ?
      AND NOT EXISTS (SELECT 1 FROM job AS other WHERE other.base = ? AND other."archivedAt" IS NULL)`;
    return (await this.#database.row(sql, id, pullRequest, head, branch)) !== undefined;
  }

  /**
   * Deletes the jobs that have been idle longest, with their turns, their stored logs and the pages of their pull requests.
   * Their files can be removed then: `deleted` returns them until `forgetDeleted`.
   *
   * @param before - deletes only jobs whose last turn ended at this time or before, in milliseconds since 1970
   * @returns the ids of those that it deleted, at most `limit`
   */
  deleteOldest(before: number, limit: number): Promise<string[]> {
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
  async deleted(limit: number): Promise<string[]> {
    return (await this.#database.rows<{ id: string }>('SELECT id FROM "deletedJob" LIMIT ?', limit)).map(
      ({ id }) => id,
    );
  }

  /** Records that the files of deleted jobs are removed. */
  async forgetDeleted(ids: readonly string[]): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      for (const id of ids) await transaction.run('DELETE FROM "deletedJob" WHERE id = ?', id);
    });
  }
}
