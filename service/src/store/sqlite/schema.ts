import { errorMessage } from "../../error-message.ts";
import { Connection } from "./connection.ts";

/** SQLite's `application_id` of stores: "ajob". Files of the first version have none. */
const applicationId = 0x616a6f62;

/** The schema of the first version, whose `user_version` is 0. */
const firstSchema = `
  CREATE TABLE job (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, createdAt INTEGER NOT NULL, archivedAt INTEGER,
    pullRequest TEXT, head TEXT
  ) STRICT;
  CREATE TABLE turn (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job, prompt TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, endedAt INTEGER, answer TEXT
  ) STRICT;
  CREATE INDEX turnOfJob ON turn (job, id);
  CREATE INDEX turnInState ON turn (state, id);
  CREATE TABLE pull (
    number INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job, title TEXT NOT NULL, branch TEXT NOT NULL,
    target TEXT NOT NULL, base TEXT NOT NULL, head TEXT NOT NULL
  ) STRICT;
  CREATE TABLE use (kind TEXT NOT NULL, project TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE INDEX useOfProject ON use (kind, project, at);
`;

/** Each raises `user_version` by one. They are never changed: add another. */
const migrations: readonly string[] = [
  `
  -- The state of a job and since when it has been idle, so that neither is computed from its turns.
  ALTER TABLE job ADD COLUMN state TEXT NOT NULL DEFAULT 'active';
  ALTER TABLE job ADD COLUMN idleSince INTEGER;
  UPDATE job SET
    state = coalesce((SELECT state FROM turn WHERE turn.job = job.id ORDER BY id DESC LIMIT 1), 'failed'),
    idleSince = coalesce((SELECT max(endedAt) FROM turn WHERE turn.job = job.id), createdAt)
    WHERE NOT EXISTS (SELECT 1 FROM turn WHERE turn.job = job.id AND turn.state IN ('waiting', 'running'));
  CREATE INDEX idleJob ON job (idleSince) WHERE idleSince IS NOT NULL;
  CREATE INDEX unarchivedJob ON job (idleSince) WHERE idleSince IS NOT NULL AND archivedAt IS NULL;
  CREATE INDEX unarchivedPullRequest ON job (idleSince, id)
    WHERE idleSince IS NOT NULL AND archivedAt IS NULL AND pullRequest IS NOT NULL;

  -- The turns that can be started: they wait, and no earlier turn of their job is open.
  CREATE TABLE ready (turn INTEGER PRIMARY KEY REFERENCES turn, project TEXT NOT NULL) STRICT;
  CREATE INDEX readyInProject ON ready (project, turn);
  -- The position of each project in the order of starts.
  CREATE TABLE project (name TEXT PRIMARY KEY, lastStart INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE INDEX projectByStart ON project (lastStart);
  INSERT INTO project (name) SELECT DISTINCT project FROM job;

  -- AUTOINCREMENT: the number of a deleted pull request is not given to another one.
  CREATE TABLE pullRequest (
    number INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL REFERENCES job, title TEXT NOT NULL,
    branch TEXT NOT NULL, target TEXT NOT NULL, base TEXT NOT NULL, head TEXT NOT NULL
  ) STRICT;
  INSERT INTO pullRequest (number, job, title, branch, target, base, head)
    SELECT number, job, title, branch, target, base, head FROM pull;
  DROP TABLE pull;
  CREATE INDEX pullRequestOfJob ON pullRequest (job);

  -- Deleted jobs whose files are not removed yet.
  CREATE TABLE deletedJob (id TEXT PRIMARY KEY) STRICT;
  -- One row: the repository that the jobs belong to.
  CREATE TABLE repository (name TEXT NOT NULL) STRICT;

  PRAGMA application_id = ${applicationId};
  `,
  `
  -- The first version checks no version, and would add jobs whose state it does not set. It creates this index if it is
  -- missing, before it changes anything, and cannot start if something else has the name.
  DROP INDEX turnOfJob;
  CREATE INDEX turnByJob ON turn (job, id);
  CREATE VIEW turnOfJob AS SELECT 'a newer version of the service has written this store' AS reason;
  `,
  `
  -- Who runs a turn: whoever took it, until it ends or is put back.
  ALTER TABLE turn ADD COLUMN lease TEXT;
  -- The model that a job was created for. Jobs of earlier versions show that of the service.
  ALTER TABLE job ADD COLUMN model TEXT;
  `,
  `
  -- When a turn was first taken, why it ended as it did, and when somebody asked to stop it.
  ALTER TABLE turn ADD COLUMN startedAt INTEGER;
  ALTER TABLE turn ADD COLUMN reason TEXT;
  ALTER TABLE turn ADD COLUMN stopRequestedAt INTEGER;
  -- Lists of jobs, newest first: all, by project, and by status.
  CREATE INDEX jobByAge ON job (createdAt, id);
  CREATE INDEX jobOfProject ON job (project, createdAt, id);
  CREATE INDEX jobByStatus ON job ((CASE WHEN archivedAt IS NULL THEN state ELSE 'archived' END), createdAt, id);
  `,
  `
  -- The repository that the jobs of each project belong to.
  CREATE TABLE projectRepository (project TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;
  INSERT INTO projectRepository SELECT DISTINCT job.project, repository.name FROM job, repository;
  -- The repository whose clone is in the service's folder itself; NULL if that is the one of \`name\`.
  ALTER TABLE repository ADD COLUMN main TEXT;
  `,
];

/**
 * Brings a store to the schema of this version, or creates that in an empty file, in one transaction.
 *
 * @throws as `checkStore` does. The file is not changed then
 */
export function openSchema(db: Connection, file: string): void {
  const version = checkStore(db, file);
  if (version !== migrations.length)
    db.transaction(() => {
      if (version === undefined) db.execute(firstSchema);
      else if (version === 0 && !columnsOf(db).get("turn")?.has("answer"))
        db.execute("ALTER TABLE turn ADD COLUMN answer TEXT");
      migrate(db, version ?? 0);
    });
  db.execute("PRAGMA foreign_keys = ON");
}

/**
 * Checks a store without changing it.
 *
 * @returns the version of its schema; `undefined` if it is empty
 * @throws if it is damaged, incomplete, of another program or of a newer version of the service
 */
export function checkStore(db: Connection, file: string): number | undefined {
  checkPages(db, file);
  const version = pragma(db, "user_version");
  const tables = columnsOf(db);
  if (tables.size === 0 && version === 0 && pragma(db, "application_id") === 0) return undefined;
  checkOrigin(db, file, version, tables);
  return version;
}

function migrate(db: Connection, from: number): void {
  for (const migration of migrations.slice(from)) db.execute(migration);
  db.execute(`PRAGMA user_version = ${migrations.length}`);
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

function checkOrigin(db: Connection, file: string, version: number, tables: Tables): void {
  if (pragma(db, "application_id") !== (version === 0 ? 0 : applicationId))
    throw notOurs(file, "it belongs to another program");
  if (version > migrations.length)
    throw new Error(
      `${file} was written by a newer version of the service, with schema ${version}; this version knows schemas up to ` +
        `${migrations.length}. Start the newer version, or choose another --store.`,
    );
  const expected = expectedColumns(version);
  if (![...expected.keys()].some((table) => tables.has(table))) throw notOurs(file, "it belongs to another program");
  for (const [table, columns] of expected)
    for (const column of columns)
      if (!tables.get(table)?.has(column) && !(version === 0 && column === "answer"))
        throw new Error(
          `${file} is incomplete: its table ${table} ${tables.has(table) ? `has no column ${column}` : "is missing"}. ` +
            "Restore a backup, or choose another --store.",
        );
}

function notOurs(file: string, reason: string): Error {
  return new Error(`${file} is not a store of this service: ${reason}. It was not changed. Choose another --store.`);
}

/** Returns the columns of a store of a version. */
function expectedColumns(version: number): Tables {
  using db = new Connection(":memory:", () => {});
  db.execute(firstSchema);
  for (const migration of migrations.slice(0, version)) db.execute(migration);
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
