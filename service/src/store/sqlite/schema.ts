import { errorMessage } from "../../error-message.ts";
import { shownLength } from "../text-search.ts";
import { Connection } from "./connection.ts";

/** SQLite's `application_id` of stores: "ajob". */
const applicationId = 0x616a6f62;

/** The version of the tables below, SQLite's `user_version`: raise it with each change, see CONTRIBUTING. */
const schemaVersion = 14;

const tables = `
  CREATE TABLE job (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, createdAt INTEGER NOT NULL, archivedAt INTEGER,
    state TEXT NOT NULL DEFAULT 'active', idleSince INTEGER, pullRequest TEXT, head TEXT, model TEXT, base TEXT, kept TEXT,
    session TEXT, branch TEXT NOT NULL,
    -- When the branch of the archived job is looked at next, to delete it. NULL: it is gone.
    branchDueAt INTEGER
  ) STRICT;
  CREATE INDEX idleJob ON job (idleSince) WHERE idleSince IS NOT NULL;
  CREATE INDEX unarchivedJob ON job (idleSince) WHERE idleSince IS NOT NULL AND archivedAt IS NULL;
  CREATE INDEX unarchivedPullRequest ON job (idleSince, id)
    WHERE idleSince IS NOT NULL AND archivedAt IS NULL AND pullRequest IS NOT NULL;
  CREATE INDEX dueBranch ON job (branchDueAt, id) WHERE archivedAt IS NOT NULL AND pullRequest IS NOT NULL;
  CREATE INDEX unarchivedBase ON job (base) WHERE base IS NOT NULL AND archivedAt IS NULL;
  -- Lists of jobs, newest first: all, by project, and by status.
  CREATE INDEX jobByAge ON job (createdAt, id);
  CREATE INDEX jobOfProject ON job (project, createdAt, id);
  CREATE INDEX jobOfSession ON job (project, session, createdAt) WHERE session IS NOT NULL;
  CREATE INDEX jobByStatus ON job ((CASE WHEN archivedAt IS NULL THEN state ELSE 'archived' END), createdAt, id);

  CREATE TABLE turn (
    id INTEGER PRIMARY KEY, identity TEXT NOT NULL, job TEXT NOT NULL REFERENCES job, prompt TEXT NOT NULL,
    promptHash TEXT NOT NULL DEFAULT '',
    sections TEXT NOT NULL DEFAULT '', asked TEXT, asker TEXT NOT NULL DEFAULT '', covers TEXT,
    state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, startedAt INTEGER, endedAt INTEGER,
    answer TEXT, reason TEXT, head TEXT, kept TEXT, stopRequestedAt INTEGER, costUsd REAL, sessionCost TEXT,
    failureClass TEXT, checkResult TEXT, checkOutput TEXT,
    stage TEXT, made TEXT,
    -- While it is running: the token of the worker that took it, and from when on others may take it over.
    lease TEXT, leaseUntil INTEGER,
    -- Its place in the order of starts, and from when on it can be taken; NULL if it cannot.
    rank INTEGER, readyAt INTEGER,
    -- Why it was put back, and until when; NULL if it was not, or was taken since.
    waitReason TEXT, waitUntil INTEGER,
    project TEXT NOT NULL, caller TEXT NOT NULL, step TEXT NOT NULL, request TEXT NOT NULL,
    -- How it was accepted, by which the hourly limit counts it. A copy does not count.
    acceptedAs TEXT, acceptedAt INTEGER
  ) STRICT;
  -- With what lists add up, so that they do not read prompts.
  CREATE INDEX turnByJob ON turn (job, id, startedAt, endedAt, costUsd);
  CREATE INDEX turnPutBack ON turn (job) WHERE waitReason IS NOT NULL;
  CREATE INDEX turnByAsker ON turn (project, asker, job);
  CREATE INDEX turnByEnd ON turn (project, endedAt, startedAt, costUsd) WHERE endedAt IS NOT NULL;
  CREATE INDEX openTurn ON turn (state, rank, id) WHERE state IN ('waiting', 'running');
  CREATE UNIQUE INDEX turnByKey ON turn (project, caller, step, request);
  CREATE INDEX acceptedTurn ON turn (project, acceptedAs, acceptedAt) WHERE acceptedAt IS NOT NULL;

  -- The words of turns, of what pages show of their texts.
  CREATE VIRTUAL TABLE turnText USING fts5(
    prompt, reason, content = '', contentless_delete = 1, detail = column, tokenize = 'unicode61 remove_diacritics 0'
  );
  CREATE TRIGGER turnAdded AFTER INSERT ON turn BEGIN
    INSERT INTO turnText (rowid, prompt, reason) VALUES (new.id, substr(new.prompt, 1, ${shownLength}), new.reason);
  END;
  CREATE TRIGGER turnFailed AFTER UPDATE OF reason ON turn WHEN new.reason IS NOT old.reason BEGIN
    UPDATE turnText SET prompt = substr(new.prompt, 1, ${shownLength}), reason = new.reason WHERE rowid = new.id;
  END;
  CREATE TRIGGER turnDeleted AFTER DELETE ON turn BEGIN DELETE FROM turnText WHERE rowid = old.id; END;

  -- The last rank of each project, that of the turn that was started last, and when the branches of archived jobs are looked at next.
  CREATE TABLE project (
    name TEXT PRIMARY KEY, lastRank INTEGER NOT NULL, branchesDueAt INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE lastStart (rank INTEGER NOT NULL) STRICT;
  INSERT INTO lastStart VALUES (0);
  -- When expired leases were looked for last, and since when that has happened without a gap.
  CREATE TABLE supervision (at INTEGER NOT NULL, since INTEGER NOT NULL) STRICT;
  INSERT INTO supervision VALUES (0, 0);

  -- AUTOINCREMENT: the number of a deleted pull request is not given to another one.
  CREATE TABLE pullRequest (
    number INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL REFERENCES job, title TEXT NOT NULL,
    branch TEXT NOT NULL, target TEXT NOT NULL, base TEXT NOT NULL, head TEXT NOT NULL
  ) STRICT;
  CREATE INDEX pullRequestOfJob ON pullRequest (job);

  -- Deleted jobs whose files are not removed yet.
  CREATE TABLE deletedJob (id TEXT PRIMARY KEY) STRICT;

  -- At most one row: the repository whose clone is in the service's folder itself.
  CREATE TABLE repository (name TEXT NOT NULL) STRICT;
  -- The repository that the jobs of each project belong to.
  CREATE TABLE projectRepository (project TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;

  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/**
 * Creates the tables of a store in an empty file, in one transaction.
 *
 * @throws as `checkStore` does. The file is not changed then
 */
export function openSchema(db: Connection, file: string): void {
  if (!checkStore(db, file)) db.transaction(() => db.execute(tables));
}

/**
 * Checks a store without changing it. Returns `false` if it is empty.
 *
 * @throws if it is damaged, incomplete, of another program or of another version of the service
 */
export function checkStore(db: Connection, file: string): boolean {
  checkPages(db, file);
  const version = pragma(db, "user_version");
  const columns = columnsOf(db);
  if (columns.size === 0 && version === 0 && pragma(db, "application_id") === 0) return false;
  checkOrigin(db, file, version);
  checkTables(file, columns);
  return true;
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

function checkOrigin(db: Connection, file: string, version: number): void {
  if (pragma(db, "application_id") !== applicationId) throw notOurs(file, "it belongs to another program");
  if (version > schemaVersion)
    throw new Error(
      `${file} was written by a newer version of the service, with schema ${version}; this version knows schemas up to ` +
        `${schemaVersion}. Start the newer version, or choose another --store.`,
    );
  if (version < schemaVersion)
    throw new Error(
      `${file} has schema ${version} of a version before the first release, which this one cannot use: choose another --store.`,
    );
}

function checkTables(file: string, found: Columns): void {
  using db = new Connection(":memory:", () => {});
  db.execute(tables);
  for (const [table, columns] of columnsOf(db))
    for (const column of columns)
      if (!found.get(table)?.has(column))
        throw new Error(
          `${file} is incomplete: its table ${table} ${found.has(table) ? `has no column ${column}` : "is missing"}. ` +
            "Restore a backup, or choose another --store.",
        );
}

function notOurs(file: string, reason: string): Error {
  return new Error(`${file} is not a store of this service: ${reason}. It was not changed. Choose another --store.`);
}

/** The columns of each table. */
type Columns = ReadonlyMap<string, ReadonlySet<string>>;

function columnsOf(db: Connection): Columns {
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
