import { chmodSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { distinctTurnIds, openSqliteStore } from "../../../../src/store/sqlite/open-store.ts";
import { memoryDatabase } from "../../../support/memory-database.ts";

test("the log says that a store cannot be written any more, and when it can again", async () => {
  const file = join(temporaryFolder(), "jobs.sqlite");
  const log: string[] = [];
  await using store = openSqliteStore(file, (line) => void log.push(line));
  await store.repositories.setMain("docs");
  expect(log).toEqual([]);
  renameSync(file, `${file}.away`);
  await expect(store.repositories.setMain("blog")).rejects.toThrow("the store was removed");
  expect(log).toEqual([expect.stringContaining(`The store ${file} was removed`)]);
  renameSync(`${file}.away`, file);
  await store.repositories.setMain("blog");
  expect(log.slice(1)).toEqual(["The store can be written again."]);
});

test("a store that cannot be opened is an error and not an outage, and can be opened later", async () => {
  const file = join(temporaryFolder(), "jobs.sqlite");
  const other = new DatabaseSync(file);
  other.exec("BEGIN EXCLUSIVE");
  const log: string[] = [];
  const open = () => openSqliteStore(file, (line) => void log.push(line));
  expect(open).toThrow(`cannot open ${file}: the store cannot be written: database is locked`);
  other.exec("COMMIT");
  other.close();
  await using store = open();
  expect(await store.counts.total()).toEqual({ jobs: 0, waitingTurns: 0 });
  expect(log).toEqual([]);
});

test("a file that others could read can only be read by its owner", async () => {
  const file = join(temporaryFolder(), "jobs.sqlite");
  writeFileSync(file, "");
  chmodSync(file, 0o644);
  await using store = openSqliteStore(file);
  await store.repositories.setMain("docs");
  for (const path of [file, `${file}-wal`]) expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("stores in memory have nothing in common, and no files", async () => {
  const files = [":memory:", ":memory:.lock"];
  const removeFiles = () => {
    for (const file of files) rmSync(file, { force: true });
  };
  removeFiles();
  onTestFinished(removeFiles);
  await using one = openSqliteStore(":memory:");
  await using other = openSqliteStore(":memory:");
  await one.repositories.setMain("docs");
  expect(await other.repositories.main()).toBeUndefined();
  expect(files.filter((file) => existsSync(file))).toEqual([]);
});

test("ids of turns that another service could not give are the time, and greater than those that are stored", async () => {
  await using database = memoryDatabase();
  const nextId = () => database.transaction(distinctTurnIds);
  const ids = new Set<number>();
  for (let count = 0; count < 100; count++) {
    const before = Date.now();
    const id = await nextId();
    expect(id).toBeGreaterThanOrEqual(before * 1000);
    expect(id).toBeLessThan((Date.now() + 1) * 1000);
    ids.add(id);
  }
  expect(ids.size).toBeGreaterThan(50);
  const future = (Date.now() + 86_400_000) * 1000;
  await database.run("INSERT INTO job (id, project, createdAt, branch) VALUES ('a', 'docs', 5, 'agent/a')");
  const insert =
    "INSERT INTO turn (id, identity, job, prompt, project, caller, step, request) VALUES (?, '', 'a', 'One', 'docs', '', '', 'r')";
  await database.run(insert, future);
  expect(await nextId()).toBe(future + 1);
});
