import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Store } from "../../../../src/service/jobs/store.ts";
import { temporaryFolder } from "../../../support/step.ts";

test("a store is locked under all its symbolic links, also before it exists", () => {
  const folder = temporaryFolder();
  const file = join(folder, "jobs.sqlite");
  const link = join(folder, "link.sqlite");
  symlinkSync("jobs.sqlite", link);
  using store = new Store(link);
  expect(store.counts().jobs).toBe(0);
  expect(existsSync(`${file}.lock`)).toBe(true);
  for (const path of [file, link]) expect(() => new Store(path)).toThrow(`${file} is locked`);
});

test("a store with a hard link is rejected under all its names, and not changed", () => {
  const folder = temporaryFolder();
  const file = join(folder, "jobs.sqlite");
  const other = join(folder, "other.sqlite");
  {
    using store = new Store(file);
    linkSync(file, other);
    expect(() => new Store(other)).toThrow("has 2 names");
    expect(store.counts().jobs).toBe(0);
  }
  const before = readFileSync(file);
  for (const path of [file, other]) expect(() => new Store(path)).toThrow(`${path} has 2 names`);
  expect(readFileSync(file).equals(before)).toBe(true);
  rmSync(other);
  using store = new Store(file);
  expect(store.counts().jobs).toBe(0);
});

test("a store that cannot be created is an error that names it", () => {
  const file = join(temporaryFolder(), "missing", "jobs.sqlite");
  expect(() => new Store(file)).toThrow(`cannot create ${file}: ENOENT`);
});

test("a store that is a folder is rejected", () => {
  const folder = join(temporaryFolder(), "jobs.sqlite");
  mkdirSync(folder);
  expect(() => new Store(folder)).toThrow(`cannot open ${folder}`);
});
