import { copyFileSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { Connection } from "../../../../src/store/sqlite/connection.ts";
import { StoreUnavailable } from "../../../../src/store-errors.ts";

function setUp() {
  const file = join(temporaryFolder(), "data.sqlite");
  const log: string[] = [];
  const outages = { count: 0 };
  const db = new Connection(
    file,
    (line) => void log.push(line),
    () => outages.count++,
  );
  onTestFinished(() => db[Symbol.dispose]());
  db.execute("PRAGMA journal_mode = WAL; CREATE TABLE note (text TEXT NOT NULL UNIQUE) STRICT");
  const notes = () => db.row<{ count: number }>("SELECT count(*) AS count FROM note")?.count;
  return { file, db, log, outages, notes };
}

const page = "x".repeat(4096);

test("a full disk leaves no half of a transaction, is logged and counted once, and reads go on", () => {
  const { db, log, outages, notes } = setUp();
  db.run("INSERT INTO note (text) VALUES (?)", "first");
  db.execute("PRAGMA max_page_count = 8");
  const addMany = () =>
    db.transaction(() => {
      for (let index = 0; index < 20; index++) db.run("INSERT INTO note (text) VALUES (?)", index + page);
    });
  for (let round = 0; round < 3; round++) expect(addMany).toThrow(StoreUnavailable);
  expect(() => db.run("INSERT INTO note (text) VALUES (?)", page.repeat(20))).toThrow(StoreUnavailable);
  expect(notes()).toBe(1);
  expect(log).toEqual([expect.stringMatching(/cannot be written: database or disk is full\. .*503.*Free space/)]);

  db.execute("PRAGMA max_page_count = 1000");
  expect(log).toHaveLength(1);
  expect(outages.count).toBe(1);
  addMany();
  expect(notes()).toBe(21);
  expect(log.slice(1)).toEqual(["The store can be written again."]);
  db.execute("PRAGMA max_page_count = 8");
  expect(() => db.run("INSERT INTO note (text) VALUES (?)", page.repeat(2000))).toThrow(StoreUnavailable);
  expect(log).toHaveLength(3);
  expect(outages.count).toBe(2);
  db.execute("PRAGMA max_page_count = 1000");
  db.run("INSERT INTO note (text) VALUES (?)", "last");
  expect(log.slice(3)).toEqual(["The store can be written again."]);
});

test("an error in the middle of a transaction undoes it, and is not an outage", () => {
  const { db, log, notes } = setUp();
  const change = () =>
    db.transaction(() => {
      db.run("INSERT INTO note (text) VALUES (?)", "one");
      db.run("INSERT INTO note (text) VALUES (?)", "one");
    });
  expect(change).toThrow("UNIQUE");
  expect(change).not.toThrow(StoreUnavailable);
  db.run("INSERT INTO note (text) VALUES (?)", "two");
  expect(notes()).toBe(1);
  expect(log).toEqual([]);
});

test("a file that another process is writing is not available, until it has finished", () => {
  const { file, db, log, notes } = setUp();
  db.execute("PRAGMA busy_timeout = 1");
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  expect(() => db.transaction(() => {})).toThrow(StoreUnavailable);
  expect(() => db.probe()).toThrow(StoreUnavailable);
  expect(notes()).toBe(0);
  other.exec("COMMIT");
  other.close();
  db.probe();
  expect(log).toEqual([
    expect.stringContaining("cannot be written: database is locked"),
    "The store can be written again.",
  ]);
});

test("a probe that succeeds has written", () => {
  const { file, db } = setUp();
  db.execute("PRAGMA user_version = 7; PRAGMA max_page_count = 2; PRAGMA query_only = 1");
  expect(() => db.probe()).toThrow(StoreUnavailable);
  db.execute("PRAGMA query_only = 0");
  const { size } = statSync(`${file}-wal`);
  db.probe();
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(size);
  expect(db.row("PRAGMA user_version")).toEqual({ user_version: 7 });
});

test("damage is logged once, with what to do, and is not an outage", () => {
  const { file } = setUp();
  {
    using writer = new Connection(file, () => {});
    writer.run("INSERT INTO note (text) VALUES (?)", "one");
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const bytes = readFileSync(file);
  bytes.fill(0xff, 4096, 8192);
  writeFileSync(file, bytes);
  const log: string[] = [];
  using db = new Connection(file, (line) => void log.push(line));
  for (let round = 0; round < 2; round++) {
    const read = () => db.rows("SELECT * FROM note");
    expect(read).toThrow("malformed");
    expect(read).not.toThrow(StoreUnavailable);
  }
  expect(log).toEqual([
    expect.stringMatching(/^The store .*data\.sqlite is damaged: .*malformed.*restore a backup\.$/),
  ]);
});

test("nothing is written to a file that was removed or replaced, until it is back", () => {
  const { file, db, log, notes } = setUp();
  db.run("INSERT INTO note (text) VALUES (?)", "one");
  const changes = [
    () => db.run("INSERT INTO note (text) VALUES (?)", "two"),
    () => db.transaction(() => {}),
    () => db.probe(),
  ];
  renameSync(file, `${file}.away`);
  for (const change of changes) expect(change).toThrow(StoreUnavailable);
  expect(log).toEqual([expect.stringMatching(/was removed while .*503.* start it again\.$/)]);
  copyFileSync(`${file}.away`, file);
  for (const change of changes) expect(change).toThrow("the store was replaced");
  expect(notes()).toBe(1);
  expect(log).toHaveLength(1);
  renameSync(`${file}.away`, file);
  for (const change of changes) change();
  expect(notes()).toBe(2);
  expect(log.slice(1)).toEqual(["The store can be written again."]);
});

test("a transaction that changes nothing does not show that the file can be written", () => {
  const { db, log } = setUp();
  db.execute("PRAGMA max_page_count = 2");
  expect(() => db.run("INSERT INTO note (text) VALUES (?)", page.repeat(20))).toThrow(StoreUnavailable);
  db.transaction(() => {});
  db.transaction(() => db.run("DELETE FROM note WHERE text = ?", "unknown"));
  expect(log).toHaveLength(1);
  db.execute("PRAGMA max_page_count = 1000");
  db.transaction(() => db.run("INSERT INTO note (text) VALUES (?)", "one"));
  expect(log).toHaveLength(2);
  db.execute("PRAGMA max_page_count = 2");
  expect(() => db.run("INSERT INTO note (text) VALUES (?)", page.repeat(20))).toThrow(StoreUnavailable);
  db.transaction(() => {});
  expect(log).toHaveLength(3);
});

test("what makes a file unavailable has SQLite's error as its cause", () => {
  const { db } = setUp();
  db.execute("PRAGMA max_page_count = 2");
  const change = () => db.run("INSERT INTO note (text) VALUES (?)", page.repeat(20));
  expect(change).toThrow(expect.objectContaining({ cause: expect.objectContaining({ code: "ERR_SQLITE_ERROR" }) }));
});

test("a text with a NUL is stored without it, because SQLite would not read what follows", () => {
  const { db } = setUp();
  db.run("INSERT INTO note (text) VALUES (?)", "one\0two");
  expect(db.row("SELECT text FROM note WHERE text = ?", "one\0two")).toEqual({ text: "one\u{FFFD}two" });
  expect(db.rows("SELECT text FROM note WHERE text = ?", "one\0two")).toHaveLength(1);
});
