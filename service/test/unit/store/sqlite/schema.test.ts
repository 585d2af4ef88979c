import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open-store.ts";

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
      "a store of an older version",
      async () => ({
        file: change(await createStore(), "DROP TABLE project; PRAGMA user_version = 1"),
        says: "has schema 1 of a version before the first release",
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

test("a store that another program has locked is rejected", async () => {
  const file = await createStore();
  const other = new DatabaseSync(file);
  other.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; BEGIN EXCLUSIVE; COMMIT");
  expect(rejectionOf(file)).toMatch(/^cannot open .*: .*locked/);
  other.close();
  await using store = openSqliteStore(file);
  expect((await store.counts.total()).jobs).toBe(1);
});
