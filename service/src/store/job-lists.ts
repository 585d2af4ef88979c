import type { JobQuery, ListedJob, TurnExcerpt } from "../model.ts";
import type { Database, Value } from "./sql.ts";

/** The lists that pages show: of jobs, and of the turns of a job. */
export class JobLists {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns jobs, newest first. */
  async jobs(query: JobQuery): Promise<ListedJob[]> {
    if (query.projects.length === 0) return [];
    const { sql, values } = jobsQuery(query);
    return this.#database.rows<ListedJob>(sql, ...values);
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

  /** Returns a turn with at most `length` characters of its texts; `undefined` if it was deleted. */
  turnExcerpt(id: number, length: number): Promise<TurnExcerpt | undefined> {
    const sql = `SELECT state, substr(prompt, 1, ?) AS prompt, substr(answer, 1, ?) AS answer,
      substr(reason, 1, ?) AS reason, "costUsd", "startedAt", "endedAt", "checkResult", "checkOutput" FROM turn WHERE id = ?`;
    return this.#database.row<TurnExcerpt>(sql, length, length, length, id);
  }
}

/** The status of a job, as the index of lists has it. */
const statusOf = `(CASE WHEN "archivedAt" IS NULL THEN state ELSE 'archived' END)`;

/** The most projects that are each looked up in the index: for more, that would be slower. SQLite allows 500. */
const maxParts = 100;

/** Returns a query of jobs that uses the indexes of lists. */
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
  // Counts only what belongs to the jobs in the list.
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
