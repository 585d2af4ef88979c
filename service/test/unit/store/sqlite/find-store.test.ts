import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { checkStorePlace } from "../../../../src/store/sqlite/find-store.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open-store.ts";

test("a store is locked under all its symbolic links, also before it exists", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "jobs.sqlite");
  const link = join(folder, "link.sqlite");
  symlinkSync("jobs.sqlite", link);
  await using store = openSqliteStore(link);
  expect((await store.counts.total()).jobs).toBe(0);
  expect(existsSync(`${file}.lock`)).toBe(true);
  for (const path of [file, link]) expect(() => openSqliteStore(path)).toThrow(`${file} is locked`);
});

test("a store with a hard link is rejected under all its names, and not changed", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "jobs.sqlite");
  const other = join(folder, "other.sqlite");
  {
    await using store = openSqliteStore(file);
    linkSync(file, other);
    expect(() => openSqliteStore(other)).toThrow("has 2 names");
    expect((await store.counts.total()).jobs).toBe(0);
  }
  const before = readFileSync(file);
  for (const path of [file, other]) expect(() => openSqliteStore(path)).toThrow(`${path} has 2 names`);
  expect(readFileSync(file).equals(before)).toBe(true);
  rmSync(other);
  await using store = openSqliteStore(file);
  expect((await store.counts.total()).jobs).toBe(0);
});

test("a store that cannot be created is an error that names it", () => {
  const file = join(temporaryFolder(), "missing", "jobs.sqlite");
  expect(() => openSqliteStore(file)).toThrow(`cannot create ${file}: ENOENT`);
});

test("a store that is a folder is rejected", () => {
  const folder = join(temporaryFolder(), "jobs.sqlite");
  mkdirSync(folder);
  expect(() => openSqliteStore(folder)).toThrow(`cannot open ${folder}`);
});

const nobody = { uid: 65_534, gid: 65_534 };

/** Opens a store in a process that is not root's, because root can write everything. Throws what that prints as an error. */
function openAsNobody(file: string): void {
  const module = resolve(import.meta.dirname, "../../../../src/store/sqlite/open-store.ts");
  const script = `const { openSqliteStore } = await import(${JSON.stringify(module)}); openSqliteStore(${JSON.stringify(file)});`;
  const args = ["--input-type=module", "--eval", script];
  const { stderr } = spawnSync(process.execPath, args, { ...nobody, encoding: "utf8" });
  throw new Error(stderr);
}

test.each([
  ["jobs.sqlite", "jobs.sqlite", 0o400],
  ["its folder", "", 0o500],
])("a store is rejected and nothing is left next to it if the service cannot write %s", async (_, name, mode) => {
  const outer = temporaryFolder();
  const folder = join(outer, "store");
  const file = join(folder, "jobs.sqlite");
  mkdirSync(folder);
  {
    await using store = openSqliteStore(file);
    expect((await store.counts.total()).jobs).toBe(0);
  }
  rmSync(`${file}.lock`);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const path of [outer, folder, file]) chownSync(path, nobody.uid, nobody.gid);
  chmodSync(join(folder, name), mode);
  const open = isRoot ? openAsNobody : openSqliteStore;
  expect(() => open(file)).toThrow(`the service cannot write ${join(folder, name)}`);
  chmodSync(folder, 0o700);
  expect(readdirSync(folder)).toEqual(["jobs.sqlite"]);
});

test("a place where there can be no store is an error that says what to do, before anything is created", () => {
  const folder = temporaryFolder();
  expect(() => checkStorePlace(join(folder, "jobs.sqlite"))).not.toThrow();
  expect(() => checkStorePlace(folder)).toThrow(
    `--store ${folder} is a directory: name a file in it, such as ${join(folder, "jobs.sqlite")}`,
  );
  expect(() => checkStorePlace(join(folder, "missing/jobs.sqlite"))).toThrow(
    `the folder ${folder}/missing does not exist`,
  );
  expect(readdirSync(folder)).toEqual([]);
});

// Part of Linux, and read-only even for root.
test.skipIf(!existsSync("/proc/sys/kernel"))("a folder that cannot be written is named", () => {
  expect(() => checkStorePlace("/proc/sys/kernel/jobs.sqlite")).toThrow(
    /--store .*: (the disk|the service cannot write)/,
  );
});
