import type { JobQuery, ListedJob, ProjectSpent, Spent, TurnExcerpt, TurnWait } from "../model.ts";
import type { Database, Value } from "./sql.ts";
import { sqliteSearch, type TextSearch, wordsIn } from "./text-search.ts";

/** The lists that pages show: of jobs, and of the turns of a job. */
export class JobLists {
  readonly #database: Database;
  readonly #search: TextSearch;

  /** @param search - default: SQLite's */
  constructor(database: Database, search: TextSearch = sqliteSearch) {
    this.#database = database;
    this.#search = search;
  }

  async jobs(query: JobQuery): Promise<ListedJob[]> {
    const words = query.text === undefined ? undefined : wordsIn(query.text);
    if (query.projects.length === 0 || words?.length === 0) return [];
    const search = words && { ...this.#search, words: this.#search.value(words) };
    if (search?.recently) {
      const { sql, values, count } = jobsQuery(query, { ...search, condition: search.recently }, maxRecent);
      const recent = await this.#database.rows<ListedJob>(sql, ...values);
      if (recent.length === query.limit) return recent;
      const found = await this.#database.row<{ count: number }>(count.sql, ...count.values);
      if ((found?.count ?? 0) < maxRecent) return recent;
    }
    const { sql, values } = jobsQuery(query, search);
    return this.#database.rows<ListedJob>(sql, ...values);
  }

  async countTurns(jobId: string): Promise<number> {
    const sql = "SELECT count(*) AS count FROM turn WHERE job = ?";
    return (await this.#database.row<{ count: number }>(sql, jobId))?.count ?? 0;
  }

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
      substr(reason, 1, ?) AS reason, asked, asker, "costUsd", "startedAt", "endedAt", "checkResult", "checkOutput", ${wait}
      FROM turn WHERE id = ?`;
    return this.#database.row<TurnExcerpt>(sql, length, length, length, id);
  }

  /** Returns which of these jobs have a turn that runs, and of which a turn was put back, with why and until when. */
  async openTurnsOf(jobIds: readonly string[]): Promise<Map<string, TurnWait | "running">> {
    if (jobIds.length === 0) return new Map();
    const these = `job IN (${jobIds.map(() => "?")})`;
    const waits = `SELECT job, ${wait} FROM turn WHERE ${these} AND "waitReason" IS NOT NULL AND state = 'waiting' ORDER BY id DESC`;
    const waiting = await this.#database.rows<TurnWait & { job: string }>(waits, ...jobIds);
    const runs = `SELECT job FROM turn WHERE state IN ('waiting', 'running') AND state = 'running' AND ${these}`;
    const running = await this.#database.rows<{ job: string }>(runs, ...jobIds);
    const all = new Map<string, TurnWait | "running">(waiting.map(({ job, ...turn }) => [job, turn]));
    for (const { job } of running) all.set(job, "running");
    return all;
  }

  /** Returns how many turns wait that are started before the next one of a job. */
  async turnsAhead(jobId: string): Promise<number> {
    const sql = `SELECT count(*) AS count FROM turn
      WHERE state IN ('waiting', 'running') AND state = 'waiting' AND rank < (SELECT min(rank) FROM turn AS own
        WHERE own.state IN ('waiting', 'running') AND own.state = 'waiting' AND own.job || '' = ?)`;
    return (await this.#database.row<{ count: number }>(sql, jobId))?.count ?? 0;
  }

  /** Returns the total spending of a job's turns. */
  async spentBy(jobId: string): Promise<Spent> {
    const none = { tookMs: 0, costUsd: 0, unknownCosts: 0 };
    return (await this.#database.row<Spent>(`SELECT ${spent} FROM turn WHERE job = ?`, jobId)) ?? none;
  }

  /** Returns the spending of each of these projects with turns that ended in a period, from its start until before its end. */
  async spentIn(projects: readonly string[], from: number, before: number): Promise<ProjectSpent[]> {
    if (projects.length === 0) return [];
    const sql = `SELECT project, count(*) AS turns, ${spent} FROM turn WHERE project IN (${projects.map(() => "?")})
      AND "endedAt" >= ? AND "endedAt" < ? AND "startedAt" IS NOT NULL GROUP BY project ORDER BY project`;
    return this.#database.rows<ProjectSpent>(sql, ...projects, from, before);
  }

  /** Returns the people who asked for turns of these projects, sorted by name. */
  async askers(projects: readonly string[], limit: number): Promise<string[]> {
    if (projects.length === 0) return [];
    const sql = `SELECT DISTINCT asker FROM turn WHERE project IN (${projects.map(() => "?")}) AND asker <> '' ORDER BY asker LIMIT ?`;
    return (await this.#database.rows<{ asker: string }>(sql, ...projects, limit)).map(({ asker }) => asker);
  }
}

/** The columns of a `TurnWait`, of a reason that can have all that a remote said. */
const wait = 'substr("waitReason", 1, 300) AS "waitReason", "waitUntil"';

/** The columns of a `Spent`. A clock may have been set back. */
const spent = `CAST(coalesce(sum(CASE WHEN "endedAt" > "startedAt" THEN "endedAt" - "startedAt" ELSE 0 END), 0) AS bigint) AS "tookMs",
  coalesce(sum(CASE WHEN "costUsd" > 0 THEN "costUsd" ELSE 0 END), 0) AS "costUsd",
  coalesce(sum(CASE WHEN "startedAt" IS NOT NULL AND "endedAt" IS NOT NULL AND ("costUsd" IS NULL OR "costUsd" < 0) THEN 1 ELSE 0 END), 0)
    AS "unknownCosts"`;

/** The status of a job, as the index of lists has it. */
const statusOf = `(CASE WHEN "archivedAt" IS NULL THEN state ELSE 'archived' END)`;

/** The most projects that are each looked up in the index: for more, that would be slower. SQLite allows 500. */
const maxParts = 100;

/** How many jobs are looked through for words before all are. Those that have a word which is in one of ten are found then. */
const maxRecent = 500;

/**
 * Returns a query of jobs that uses the indexes of lists.
 *
 * @param recent - only so many jobs are looked through. Default: all. `count` returns how many that are
 */
function jobsQuery(query: JobQuery, search: (TextSearch & { words: string }) | undefined, recent?: number) {
  const { projects, status, asker, from = 0, before = Number.MAX_SAFE_INTEGER, after, limit } = query;
  const columns = 'id, project, "createdAt", state, "archivedAt", "pullRequest"';
  const { createdAt, id } = after ?? { createdAt: Number.MAX_SAFE_INTEGER, id: "" };
  const time = '"createdAt" >= ? AND "createdAt" < ? AND ("createdAt", id) < (?, ?)';
  const times = [from, before, createdAt, id];
  const order = 'ORDER BY "createdAt" DESC, id DESC LIMIT ?';
  const part = `SELECT * FROM (SELECT ${columns} FROM job WHERE project = ? AND ${time} ${order}) AS part`;
  const isOfOne = `project IN (${projects.map(() => "?")})`;
  // Jobs of several are walked by their age, up to the limit.
  const isShown = projects.length === 1 ? isOfOne : isOfOne.replace("project", "project || ''");
  const others: [string, Value[]][] = [];
  if (status !== undefined) others.push([`${statusOf} = ?`, [status]]);
  if (search !== undefined && recent === undefined) others.push([search.condition, []]);
  const ofAsker = "SELECT 1 FROM turn WHERE turn.project = job.project AND turn.asker = ? AND turn.job = job.id";
  if (asker !== undefined) others.push([`EXISTS (${ofAsker})`, [asker]]);
  const isByProject = others.length === 0 && recent === undefined && projects.length <= maxParts;
  const all = isByProject
    ? projects.map(() => part).join(" UNION ALL ")
    : `SELECT ${columns} FROM job WHERE ${[...others.map(([condition]) => condition), isShown, time].join(" AND ")}`;
  const own = isByProject
    ? projects.flatMap((project): Value[] => [project, ...times, limit])
    : [...others.flatMap(([, given]) => given), ...projects, ...times];
  const few = `SELECT * FROM (${all}) AS few ${order}`;
  const found = recent === undefined ? all : `SELECT * FROM (${few}) AS job WHERE ${search?.condition}`;
  // Counts only what belongs to the jobs in the list.
  const sql = `WITH ${search === undefined ? "" : `${search.table}, `}page AS (SELECT * FROM (${found}) AS found ${order})
    SELECT page.*, coalesce(turns, 0) AS turns, "firstTurn", "lastTurn", coalesce("tookMs", 0) AS "tookMs", coalesce("costUsd", 0) AS "costUsd",
    coalesce("unknownCosts", 0) AS "unknownCosts",
    (SELECT max(number) FROM "pullRequest" WHERE "pullRequest".job = page.id) AS "lastPage"
    FROM page LEFT JOIN (SELECT job, count(*) AS turns, min(id) AS "firstTurn", max(id) AS "lastTurn", ${spent} FROM turn
      WHERE job IN (SELECT id FROM page) GROUP BY job) AS own ON own.job = page.id ORDER BY "createdAt" DESC, id DESC`;
  const ofFew = recent === undefined ? [] : [recent];
  return {
    sql,
    values: [...(search === undefined ? [] : [search.words]), ...own, ...ofFew, limit],
    count: { sql: `SELECT count(*) AS count FROM (${few}) AS few`, values: [...own, ...ofFew] },
  };
}
