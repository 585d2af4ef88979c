import { errorMessage } from "../../error-message.ts";
import { moveUsesToTurns } from "../earlier-uses.ts";
import { Connection } from "./connection.ts";

/** SQLite's `application_id` of stores: "ajob". */
const applicationId = 0x616a6f62;

/** Each raises `user_version` by one; the first creates the tables. After a release they are never changed: add another. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE job (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, createdAt INTEGER NOT NULL, archivedAt INTEGER,
    state TEXT NOT NULL DEFAULT 'active', idleSince INTEGER, pullRequest TEXT, head TEXT, model TEXT
  ) STRICT;
  CREATE INDEX idleJob ON job (idleSince) WHERE idleSince IS NOT NULL;
  CREATE INDEX unarchivedJob ON job (idleSince) WHERE idleSince IS NOT NULL AND archivedAt IS NULL;
  CREATE INDEX unarchivedPullRequest ON job (idleSince, id)
    WHERE idleSince IS NOT NULL AND archivedAt IS NULL AND pullRequest IS NOT NULL;
  -- Lists of jobs, newest first: all, by project, and by status.
  CREATE INDEX jobByAge ON job (createdAt, id);
  CREATE INDEX jobOfProject ON job (project, createdAt, id);
  CREATE INDEX jobByStatus ON job ((CASE WHEN archivedAt IS NULL THEN state ELSE 'archived' END), createdAt, id);

  CREATE TABLE turn (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job, prompt TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, startedAt INTEGER, endedAt INTEGER,
    answer TEXT, reason TEXT, stopRequestedAt INTEGER, lease TEXT
  ) STRICT;
  CREATE INDEX turnByJob ON turn (job, id);
  CREATE INDEX turnInState ON turn (state, id);

  -- The turns that can be started: they wait, and no earlier turn of their job is open.
  CREATE TABLE ready (turn INTEGER PRIMARY KEY REFERENCES turn, project TEXT NOT NULL) STRICT;
  CREATE INDEX readyInProject ON ready (project, turn);
  -- The position of each project in the order of starts.
  CREATE TABLE project (name TEXT PRIMARY KEY, lastStart INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE INDEX projectByStart ON project (lastStart);

  -- AUTOINCREMENT: the number of a deleted pull request is not given to another one.
  CREATE TABLE pullRequest (
    number INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL REFERENCES job, title TEXT NOT NULL,
    branch TEXT NOT NULL, target TEXT NOT NULL, base TEXT NOT NULL, head TEXT NOT NULL
  ) STRICT;
  CREATE INDEX pullRequestOfJob ON pullRequest (job);

  CREATE TABLE use (kind TEXT NOT NULL, project TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE INDEX useOfProject ON use (kind, project, at);
  -- Deleted jobs whose files are not removed yet.
  CREATE TABLE deletedJob (id TEXT PRIMARY KEY) STRICT;

  -- At most one row: the repository whose clone is in the service's folder itself.
  CREATE TABLE repository (name TEXT NOT NULL) STRICT;
  -- The repository that the jobs of each project belong to.
  CREATE TABLE projectRepository (project TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;

  PRAGMA application_id = ${applicationId};
  `,
  `
  -- Turns get the key of their request. SQLite adds no column that must have a value, so the table is replaced.
  CREATE TABLE keyedTurn (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job, prompt TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, startedAt INTEGER, endedAt INTEGER,
    answer TEXT, reason TEXT, stopRequestedAt INTEGER, lease TEXT,
    project TEXT NOT NULL, caller TEXT NOT NULL, step TEXT NOT NULL, request TEXT NOT NULL
  ) STRICT;
  INSERT INTO keyedTurn SELECT turn.id, turn.job, prompt, turn.state, attempts, startedAt, endedAt,
    answer, reason, stopRequestedAt, lease, job.project, '', '', CAST(turn.id AS TEXT)
    FROM turn JOIN job ON job.id = turn.job;
  DROP TABLE turn;
  ALTER TABLE keyedTurn RENAME TO turn;
  CREATE INDEX turnByJob ON turn (job, id);
  CREATE INDEX turnInState ON turn (state, id);
  CREATE UNIQUE INDEX turnByKey ON turn (project, caller, step, request);
  `,
  `
  -- Turns get what their agents say that they cost.
  ALTER TABLE turn ADD COLUMN costUsd REAL;
  ALTER TABLE turn ADD COLUMN sessionCost TEXT;
  `,
  `
  -- Jobs get a branch of their own choice to start from. Only workers that know of it run their turns, which Postgres checks.
  ALTER TABLE job ADD COLUMN base TEXT;
  ALTER TABLE turn ADD COLUMN knowsBase INTEGER;
  `,
  `
  -- Turns get how they were accepted, by which the hourly limit counts them. Those that were copied do not count.
  ALTER TABLE turn ADD COLUMN acceptedAs TEXT;
  ALTER TABLE turn ADD COLUMN acceptedAt INTEGER;
  ${moveUsesToTurns}
  CREATE INDEX acceptedTurn ON turn (project, acceptedAs, acceptedAt) WHERE acceptedAt IS NOT NULL;
  `,
];

/**
 * Brings a store to the schema of this version, or creates that in an empty file, in one transaction.
 *
 * @param all - the migrations to the schema of this version
 * @throws as `checkStore` does. The file is not changed then
 */
export function openSchema(db: Connection, file: string, all = migrations): void {
  const version = checkStore(db, file, all);
  if (version !== all.length)
    db.transaction(() => {
      for (const migration of all.slice(version)) db.execute(migration);
      db.execute(`PRAGMA user_version = ${all.length}`);
    });
  db.execute("PRAGMA foreign_keys = ON");
}

/**
 * Checks a store without changing it.
 *
 * @param all - the migrations to the schema of this version
 * @returns the version of its schema; 0 if it is empty
 * @throws if it is damaged, incomplete, of another program or of a newer version of the service
 */
export function checkStore(db: Connection, file: string, all = migrations): number {
  checkPages(db, file);
  const version = pragma(db, "user_version");
  const tables = columnsOf(db);
  if (tables.size === 0 && version === 0 && pragma(db, "application_id") === 0) return 0;
  checkOrigin(db, file, version, all);
  checkTables(file, tables, all.slice(0, version));
  return version;
}

function checkPages(db: Connection, file: string): void {
  const advice = `Restore a backup, or move ${file} away to start without its jobs`;
  let found: string;
  try {
    found = db
      // Unlike `quick_check`, it also compares indexes with their tables.
      .rows<{ integrity_check: string }>("PRAGMA integrity_check(3)")
      .map((row) => row.integrity_check)
      .join("; ");
  } catch (error) {
    const { errcode } = error as { errcode?: unknown };
    if (errcode === 26) throw notOurs(file, "it is not a SQLite database");
    if (errcode !== 11) throw error;
    found = errorMessage(error);
  }
  if (found !== "ok") throw new Error(`${file} is damaged: ${found}. ${advice}.`);
}

function checkOrigin(db: Connection, file: string, version: number, all: readonly string[]): void {
  if (pragma(db, "application_id") !== applicationId) throw notOurs(file, "it belongs to another program");
  if (version > all.length)
    throw new Error(
      `${file} was written by a newer version of the service, with schema ${version}; this version knows schemas up to ` +
        `${all.length}. Start the newer version, or choose another --store.`,
    );
}

/** @param applied - the migrations that have made the store */
function checkTables(file: string, tables: Tables, applied: readonly string[]): void {
  const expected = columnsAfter(applied);
  if (![...expected.keys()].some((table) => tables.has(table))) throw notOurs(file, "it belongs to another program");
  for (const [table, columns] of expected)
    for (const column of columns)
      if (!tables.get(table)?.has(column))
        throw new Error(
          `${file} is incomplete: its table ${table} ${tables.has(table) ? `has no column ${column}` : "is missing"}. ` +
            "Restore a backup, or choose another --store.",
        );
}

function notOurs(file: string, reason: string): Error {
  return new Error(`${file} is not a store of this service: ${reason}. It was not changed. Choose another --store.`);
}

function columnsAfter(applied: readonly string[]): Tables {
  using db = new Connection(":memory:", () => {});
  for (const migration of applied) db.execute(migration);
  return columnsOf(db);
}

/** The columns of each table. */
type Tables = ReadonlyMap<string, ReadonlySet<string>>;

function columnsOf(db: Connection): Tables {
  const tables = new Map<string, Set<string>>();
  const sql = `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`;
  for (const { table, column } of db.rows<{ table: string; column: string }>(sql))
    tables.set(table, (tables.get(table) ?? new Set()).add(column));
  return tables;
}

function pragma(db: Connection, name: "user_version" | "application_id"): number {
  return db.row<Record<string, number>>(`PRAGMA ${name}`)?.[name] ?? 0;
}
