import type { Census } from "../model.ts";
import { limitOf, type ReadyTurns, type TurnLimits } from "./ready-turns.ts";
import type { Database } from "./sql.ts";

export class Counts {
  readonly #database: Database;
  readonly #ready: ReadyTurns;

  constructor(database: Database, ready: ReadyTurns) {
    this.#database = database;
    this.#ready = ready;
  }

  /** Counts all jobs, and the turns that wait. */
  async total(): Promise<{ jobs: number; waitingTurns: number }> {
    const sql = `SELECT (SELECT count(*) FROM job) AS jobs,
      (SELECT count(*) FROM turn WHERE state IN ('waiting', 'running') AND state = 'waiting') AS "waitingTurns"`;
    return (await this.#database.row<{ jobs: number; waitingTurns: number }>(sql)) ?? { jobs: 0, waitingTurns: 0 };
  }

  /** Counts the turns that wait in each project that has any. */
  waitingTurns(): Promise<{ project: string; turns: number }[]> {
    return this.#database.rows(
      `SELECT job.project, count(*) AS turns FROM turn JOIN job ON job.id = turn.job
         WHERE turn.state IN ('waiting', 'running') AND turn.state = 'waiting' GROUP BY job.project ORDER BY job.project`,
    );
  }

  /**
   * Counts jobs and turns by state. It reads every job, so it is not for each request.
   *
   * @param limits - of the workers. Default: none
   */
  async census(limits?: TurnLimits): Promise<Census> {
    const jobs = await this.#database.row<Census["jobs"]>(
      `SELECT count(*) FILTER (WHERE "archivedAt" IS NULL AND state = 'active') AS active,
         count(*) FILTER (WHERE "archivedAt" IS NULL AND state = 'completed') AS completed,
         count(*) FILTER (WHERE "archivedAt" IS NULL AND state = 'failed') AS failed,
         count(*) FILTER (WHERE "archivedAt" IS NOT NULL) AS archived FROM job`,
    );
    const turns = await this.#database.row<Census["turns"]>(
      `SELECT (SELECT count(*) FROM turn WHERE state IN ('waiting', 'running') AND state = 'waiting') AS waiting,
         (SELECT count(*) FROM turn WHERE state IN ('waiting', 'running') AND state = 'running') AS running`,
    );
    return {
      jobs: jobs ?? { active: 0, completed: 0, failed: 0, archived: 0 },
      turns: turns ?? { waiting: 0, running: 0 },
      expiredLeases: await this.#ready.countExpired(this.#database),
      ...(await this.#takeable(limits)),
    };
  }

  /** Counts the turns that a free worker would take. Others may wait forever, because no worker knows their project. */
  async #takeable(limits: TurnLimits): Promise<Pick<Census, "takeableTurns" | "oldestWaitingSeconds">> {
    let takeableTurns = 0;
    let oldestWaitingSeconds = 0;
    for (const { project, ready, running, oldestAgeSeconds } of await this.#ready.ofProjects(this.#database)) {
      const takeable = Math.min(ready, Math.max(0, limitOf(limits, project) - running));
      if (takeable === 0) continue;
      takeableTurns += takeable;
      oldestWaitingSeconds = Math.max(oldestWaitingSeconds, oldestAgeSeconds);
    }
    return { takeableTurns, oldestWaitingSeconds };
  }
}
