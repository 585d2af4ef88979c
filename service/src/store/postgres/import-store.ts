import { existsSync } from "node:fs";
import { errorMessage } from "../../error-message.ts";
import { type ReadyTurn, ReadyTurns } from "../ready-turns.ts";
import { Connection } from "../sqlite/connection.ts";
import { findStore } from "../sqlite/find-store.ts";
import { openSchema as openSqliteSchema } from "../sqlite/schema.ts";
import { lockStore } from "../sqlite/store-lock.ts";
import { PostgresDatabase, type PostgresOptions, type PostgresTransaction } from "./database.ts";
import { openSchema } from "./migrate.ts";
import type { StoreNames } from "./names.ts";
import { defaultTimes, serverClock } from "./times.ts";
import { PostgresTurnQueue } from "./turn-queue.ts";

/** How much was copied. */
export interface Imported {
  jobs: number;
  turns: number;
  pullRequests: number;
  /** The jobs with commits that are not pushed, which stay in the clones of the file's service. */
  unpushed: number;
}

/** The tables, and the query that reads each. Tables that others refer to are first. */
const tables = {
  repository: "SELECT * FROM repository",
  projectRepository: "SELECT * FROM projectRepository",
  job: "SELECT * FROM job ORDER BY id",
  turn: `SELECT id, identity, job, prompt, promptHash, sections, asked, covers, asker, CASE state WHEN 'running' THEN 'waiting' ELSE state END AS state, attempts, startedAt, endedAt,
    answer, reason, head, kept, stopRequestedAt, costUsd, sessionCost, failureClass, checkResult, checkOutput, stage, made, project, caller, step, request, acceptedAs, acceptedAt
    FROM turn ORDER BY id`,
  pullRequest: "SELECT * FROM pullRequest ORDER BY number",
};

interface LastAttempt {
  job: string;
  /** Its identity. */
  turn: string;
}

// SQLite takes the identity from the row that has the greatest id.
const lastAttempts = "SELECT job, identity AS turn, max(id) FROM turn WHERE attempts > 0 GROUP BY job";

const unpushedJobs = `SELECT count(*) AS count FROM job WHERE kept IN ('push', 'unfinished')
  OR id IN (SELECT job FROM turn WHERE state IN ('waiting', 'running'))
    AND id IN (SELECT job FROM turn WHERE kept IN ('push', 'unfinished') OR state <> 'completed' AND stage IN ('made', 'checked'))`;

/** How many characters of rows are sent at once. */
const batchLength = 4_000_000;

/**
 * Copies a SQLite store to a Postgres database that has no jobs: all of it, or nothing. No service runs on the file meanwhile.
 * Turns that were running wait then. Homes of agents stay where they are.
 *
 * @param markHome - called for each job in which an agent ran, with the folder of the file's service and the last such turn. A
 *   worker on that folder can then continue the sessions of agents, and others start new ones
 * @throws if a service runs on the file, or the database has jobs
 */
export async function importStore(
  file: string,
  { url, schema, log }: Pick<PostgresOptions, "url" | "schema" | "log">,
  markHome: (folder: string, job: string, turn: string) => void,
): Promise<Imported> {
  if (!existsSync(file)) throw new Error(`there is no store ${file}`);
  const path = findStore(file);
  using _lock = lockStore(path);
  using source = new Connection(path, () => {});
  openSqliteSchema(source, path);
  await using database = new PostgresDatabase({ url, schema, log });
  const { names } = database;
  try {
    await openSchema({ url, names });
    await using queue = await PostgresTurnQueue.open(database, () => {});
    const ready = new ReadyTurns({ clock: serverClock, leaseMs: defaultTimes.leaseMs, queue });
    const imported = await database.transaction((transaction) => copy(source, transaction, ready, names));
    for (const { job, turn } of source.rows<LastAttempt>(lastAttempts)) markHome(`${path}.files`, job, turn);
    return imported;
  } catch (error) {
    throw new Error(`nothing was copied: ${errorMessage(error)}`, { cause: error });
  }
}

async function copy(
  source: Connection,
  transaction: PostgresTransaction,
  ready: ReadyTurns,
  names: StoreNames,
): Promise<Imported> {
  // Neither a service nor another copy may add jobs before this one is complete.
  await transaction.query(`LOCK TABLE ${names.tables}.job, ${names.tables}.repository IN EXCLUSIVE MODE`);
  if ((await transaction.row("SELECT 1 FROM job LIMIT 1")) !== undefined)
    throw new Error("the database has jobs already");
  await transaction.run("DELETE FROM repository");
  await transaction.run('DELETE FROM "projectRepository"');
  const counts = { repository: 0, projectRepository: 0, job: 0, turn: 0, pullRequest: 0 };
  for (const table of Object.keys(tables) as (keyof typeof tables)[])
    counts[table] = await copyTable(source, table, transaction, names);
  await transaction.query(
    `SELECT setval('${names.tables}."turnId"', (SELECT coalesce(max(id), 0) + 1 FROM ${names.tables}.turn))`,
  );
  // The numbers of deleted pull requests are not used again: their links would show others.
  const last = source.row<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'pullRequest'")?.seq ?? 0;
  await transaction.query(
    `SELECT setval(pg_get_serial_sequence('${names.tables}."pullRequest"', 'number'), $1, false)`,
    [last + 1],
  );
  const first = `SELECT min(id) AS turn, project FROM turn WHERE state = 'waiting' GROUP BY job, project ORDER BY min(id)`;
  for (const turn of await transaction.rows<ReadyTurn>(first)) await ready.add(transaction, turn);
  const unpushed = source.row<{ count: number }>(unpushedJobs)?.count ?? 0;
  return { jobs: counts.job, turns: counts.turn, pullRequests: counts.pullRequest, unpushed };
}

/** Returns the number of rows. */
async function copyTable(
  source: Connection,
  table: keyof typeof tables,
  transaction: PostgresTransaction,
  names: StoreNames,
): Promise<number> {
  let count = 0;
  let batch: string[] = [];
  let length = 0;
  const send = async () => {
    const target = `${names.tables}."${table}"`;
    const insert = `INSERT INTO ${target} SELECT * FROM jsonb_populate_recordset(NULL::${target}, $1)`;
    if (batch.length > 0) await transaction.query(insert, [`[${batch.join(",")}]`]);
    batch = [];
    length = 0;
  };
  for (const row of source.rows<Record<string, unknown>>(tables[table])) {
    // Postgres cannot store a NUL in text, which JSON would escape.
    const text = JSON.stringify(row, (_key, value) =>
      typeof value === "string" ? value.replaceAll("\0", "\u{FFFD}").toWellFormed() : value,
    );
    batch.push(text);
    length += text.length;
    count++;
    if (length > batchLength) await send();
  }
  await send();
  return count;
}
