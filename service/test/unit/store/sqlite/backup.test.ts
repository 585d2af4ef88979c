import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { backUpStore } from "../../../../src/store/sqlite/backup.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open-store.ts";

test("copies a store that a service is using, and the copy is a store", async () => {
  const folder = temporaryFolder();
  const [file, copy] = [join(folder, "jobs.sqlite"), join(folder, "copy.sqlite")];
  await using store = openSqliteStore(file);
  await store.jobs.add({ id: "a", project: "docs", createdAt: 5 }, "One");
  await backUpStore(file, copy);
  await store.jobs.add({ id: "b", project: "docs", createdAt: 5 }, "One");
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(existsSync(`${copy}.partial`)).toBe(false);
  await using restored = openSqliteStore(copy);
  expect(await restored.counts.total()).toEqual({ jobs: 1, waitingTurns: 1 });
  expect(await restored.runningTurns.startNext()).toMatchObject({ job: "a", prompt: "One" });
});

test("replaces no file, and leaves none if it fails", async () => {
  const folder = temporaryFolder();
  const [file, copy] = [join(folder, "jobs.sqlite"), join(folder, "copy.sqlite")];
  await expect(backUpStore(file, copy)).rejects.toThrow("there is no store");
  expect(readdirSync(folder)).toEqual([]);
  await openSqliteStore(file)[Symbol.asyncDispose]();
  await expect(backUpStore(file, file)).rejects.toThrow("exists already");
  writeFileSync(file, "no store");
  await expect(backUpStore(file, copy)).rejects.toThrow("is not a store");
  expect(readdirSync(folder).sort()).toEqual(["jobs.sqlite", "jobs.sqlite.lock"]);
});

test("a program of another process can read a store that a service is using, and no service can open it", async () => {
  const file = join(temporaryFolder(), "jobs.sqlite");
  await using store = openSqliteStore(file);
  await store.jobs.add({ id: "a", project: "docs", createdAt: 5 }, "One");
  const other = new DatabaseSync(file, { readOnly: true });
  expect(other.prepare("SELECT id FROM job").all()).toEqual([{ id: "a" }]);
  expect(() => openSqliteStore(file)).toThrow("another service is running on it");
  other.close();
  await store.turns.add("a", "Two", 6);
});
