import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { Connection } from "../../../../src/store/sqlite/connection.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open-store.ts";
import { checkStore, migrations, openSchema } from "../../../../src/store/sqlite/schema.ts";

/** Creates a SQLite file. */
function fileWith(sql: string): string {
  const file = join(temporaryFolder(), "jobs.sqlite");
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
  return file;
}

/** Returns the message of the error with which a file is rejected. */
function rejectionOf(file: string): string {
  try {
    openSqliteStore(file);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("the file was opened");
}

/** Creates a store of the current version with one job. */
async function createStore(): Promise<string> {
  const file = join(temporaryFolder(), "jobs.sqlite");
  await using store = openSqliteStore(file);
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "One");
  return file;
}

test("an empty file becomes a store", async () => {
  const file = join(temporaryFolder(), "jobs.sqlite");
  writeFileSync(file, "");
  await using store = openSqliteStore(file);
  expect(await store.counts.total()).toEqual({ jobs: 0, waitingTurns: 0 });
});

describe("a file that cannot be a store is rejected, and not changed", () => {
  test.each([
    ["text", () => ({ file: fileOf("# Notes, and a few more words\n".repeat(50)), says: "is not a SQLite database" })],
    [
      "another program's database",
      () => ({ file: fileWith("CREATE TABLE customer (id TEXT)"), says: "belongs to another program" }),
    ],
    [
      "another program's database with a version",
      () => ({
        file: fileWith("CREATE TABLE job (id TEXT); PRAGMA user_version = 1;"),
        says: "belongs to another program",
      }),
    ],
    [
      "another program's empty database",
      () => ({ file: fileWith("PRAGMA application_id = 7"), says: "belongs to another program" }),
    ],
    [
      "a store of a newer version",
      async () => ({
        file: change(await createStore(), "PRAGMA user_version = 99"),
        says: "written by a newer version",
      }),
    ],
    [
      "a store without a table",
      async () => ({
        file: change(await createStore(), "DROP TABLE project"),
        says: "is incomplete: its table project is missing",
      }),
    ],
    [
      "a store without a column",
      async () => ({
        file: change(await createStore(), "ALTER TABLE job DROP COLUMN head"),
        says: "is incomplete: its table job has no column head",
      }),
    ],
    ["a damaged store", async () => ({ file: damage(await createStore()), says: "is damaged" })],
    [
      "a store with a damaged index",
      async () => ({ file: damageIndex(await createStore()), says: "is damaged: row 1 missing" }),
    ],
  ])("%s", async (_, create) => {
    const { file, says } = await create();
    const before = readFileSync(file);
    const message = rejectionOf(file);
    expect(message).toContain(file);
    expect(message).toContain(says);
    expect(readFileSync(file).equals(before)).toBe(true);
    // Also the second time.
    expect(rejectionOf(file)).toBe(message);
  });

  function fileOf(text: string): string {
    const file = join(temporaryFolder(), "notes.md");
    writeFileSync(file, text);
    return file;
  }

  function change(file: string, sql: string): string {
    const db = new DatabaseSync(file);
    db.exec(sql);
    db.close();
    return file;
  }

  /** Changes the only entry of an index, which is still well-formed. */
  function damageIndex(file: string): string {
    const bytes = readFileSync(file);
    const index = new DatabaseSync(file);
    const { rootpage } = index.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'turnByJob'").get() ?? {};
    index.close();
    const end = Number(rootpage) * 4096;
    // An entry is at the end of its page: the ids of the job, "a", and of the turn, 1.
    const at = bytes.lastIndexOf("a", end - 1);
    expect(at).toBeGreaterThan(end - 8);
    bytes.write("b", at);
    writeFileSync(file, bytes);
    return file;
  }

  /** Overwrites a page of a table. */
  function damage(file: string): string {
    const bytes = readFileSync(file);
    bytes.fill(0xff, 4096, 8192);
    writeFileSync(file, bytes);
    return file;
  }
});

/** The migrations of an invented next version. */
const next = [...migrations, "ALTER TABLE job ADD COLUMN note TEXT; UPDATE job SET note = 'kept'"];

function migrate(file: string, all: readonly string[]): void {
  using db = new Connection(file, () => {});
  openSchema(db, file, all);
}

test("a store of the version before is migrated, and keeps its content", async () => {
  const file = await createStore();
  // The second time, it is of that version already.
  for (let round = 0; round < 2; round++) migrate(file, next);
  using db = new Connection(file, () => {});
  expect(db.row("PRAGMA user_version")).toEqual({ user_version: next.length });
  expect(db.row("SELECT id, note FROM job")).toEqual({ id: "a", note: "kept" });
  const versions = `with schema ${next.length}; this version knows schemas up to ${migrations.length}. `;
  expect(rejectionOf(file)).toContain(`was written by a newer version of the service, ${versions}`);
});

test("turns of the first schema get keys that no request has, and go on", async () => {
  const file = fileWith("");
  migrate(file, migrations.slice(0, 1));
  const db = new DatabaseSync(file);
  db.exec(`
    INSERT INTO job (id, project, createdAt) VALUES ('a', 'docs', 5), ('b', 'blog', 5);
    INSERT INTO turn (id, job, prompt, state, attempts, startedAt, endedAt, answer, reason, stopRequestedAt, lease)
      VALUES (7, 'a', 'One', 'failed', 2, 6, 9, 'No.', 'Stopped.', 8, 'x');
    INSERT INTO turn (id, job, prompt) VALUES (8, 'a', 'Two'), (9, 'b', 'Three');
    INSERT INTO project (name) VALUES ('docs'), ('blog');
    INSERT INTO ready VALUES (8, 'docs'), (9, 'blog');
  `);
  db.close();
  await using store = openSqliteStore(file);
  const times = { startedAt: 6, endedAt: 9, stopRequestedAt: 8 };
  const texts = { prompt: "One", answer: "No.", reason: "Stopped.", lease: "x" };
  const none = { caller: "", step: "" };
  const ended = {
    id: 7,
    job: "a",
    state: "failed",
    attempts: 2,
    ...texts,
    ...times,
    ...none,
    project: "docs",
    request: "7",
    costUsd: null,
    sessionCost: null,
    knowsBase: null,
    acceptedAs: null,
    acceptedAt: null,
  };
  expect(await store.turns.ofJob("a")).toEqual([ended, expect.objectContaining({ ...none, id: 8, request: "8" })]);
  expect(await store.turns.ofJob("b")).toMatchObject([{ ...none, project: "blog", request: "9" }]);
  expect([await store.runningTurns.startNext(), await store.runningTurns.startNext()]).toMatchObject([
    { id: 8, job: "a" },
    { id: 9, job: "b" },
  ]);
  using migrated = new Connection(file, () => {});
  expect(migrated.rows("PRAGMA foreign_key_check")).toEqual([]);
  expect(() => migrated.run("INSERT INTO turn (id, job, prompt) VALUES (10, 'a', 'Four')")).toThrow("NOT NULL");
});

test("the creates and messages of the last hour count still when their table is gone", async () => {
  const file = fileWith("");
  migrate(file, migrations.slice(0, 4));
  const db = new DatabaseSync(file);
  const at = 1_800_000_000_000;
  // The second job is the newest, and its first turn the oldest use of its kind.
  db.exec(`
    INSERT INTO job (id, project, createdAt) VALUES ('a', 'docs', 5), ('b', 'docs', 5), ('other', 'blog', 5);
    INSERT INTO turn (id, job, project, prompt, caller, step, request) VALUES
      (1, 'a', 'docs', 'One', '', '', '1'), (2, 'a', 'docs', 'Two', '', '', '2'), (3, 'other', 'blog', 'One', '', '', '3'),
      (4, 'b', 'docs', 'One', '', '', '4'), (5, 'a', 'docs', 'Three', '', '', '5');
    INSERT INTO use (kind, project, at) VALUES
      ('create', 'docs', ${at + 3}), ('message', 'docs', ${at + 4}), ('message', 'docs', ${at + 1}), ('create', 'blog', ${at + 2});
  `);
  db.close();
  migrate(file, migrations);
  using migrated = new Connection(file, () => {});
  expect(migrated.rows("SELECT id, acceptedAs, acceptedAt - ? AS at FROM turn ORDER BY id", at)).toEqual([
    { id: 1, acceptedAs: null, at: null },
    { id: 2, acceptedAs: "message", at: 1 },
    { id: 3, acceptedAs: "create", at: 2 },
    { id: 4, acceptedAs: "create", at: 3 },
    { id: 5, acceptedAs: "message", at: 4 },
  ]);
});

test("an empty file gets the schema of all versions", () => {
  const file = fileWith("");
  migrate(file, next);
  using db = new Connection(file, () => {});
  expect(db.rows("SELECT id, note FROM job")).toEqual([]);
});

test("a store is only checked for what its own version has", async () => {
  const file = await createStore();
  using db = new Connection(file, () => {});
  expect(checkStore(db, file, next)).toBe(migrations.length);
  openSchema(db, file, next);
  expect(checkStore(db, file, next)).toBe(next.length);
  db.execute("ALTER TABLE job DROP COLUMN note");
  expect(() => checkStore(db, file, next)).toThrow("its table job has no column note");
});

test("a migration that fails changes nothing", async () => {
  const file = await createStore();
  const before = readFileSync(file);
  // The first statement succeeds.
  expect(() => migrate(file, [...migrations, "DROP TABLE deletedJob; CREATE TABLE job (id TEXT)"])).toThrow(
    "job already exists",
  );
  expect(readFileSync(file).equals(before)).toBe(true);
  await using store = openSqliteStore(file);
  expect((await store.jobs.find("a"))?.state).toBe("active");
});

test("a store that another program has locked is rejected", async () => {
  const file = await createStore();
  const other = new DatabaseSync(file);
  other.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; BEGIN EXCLUSIVE; COMMIT");
  expect(rejectionOf(file)).toMatch(/^cannot open .*: .*locked/);
  other.close();
  await using store = openSqliteStore(file);
  expect((await store.counts.total()).jobs).toBe(1);
});
