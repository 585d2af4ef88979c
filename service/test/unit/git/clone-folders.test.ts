import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { cloneFolder, moveCloneFolder } from "../../../src/git/clone-folders.ts";

test("one clone is in the service's folder itself, and each other one in a folder of its own", () => {
  const main = "https://example.com/docs";
  const folderOf = (identity: string) => cloneFolder("/service", identity, main);
  expect(folderOf(main)).toBe("/service");
  const others = ["https://example.com/site", "https://example.com/other/site", "git@example.com:site", "a/.."];
  const folders = others.map(folderOf);
  expect(folders[0]).toMatch(/^\/service\/clones\/site-[0-9a-f]{16}$/);
  expect(folders[3]).toMatch(/^\/service\/clones\/__-[0-9a-f]{16}$/);
  expect(new Set(folders).size).toBe(others.length);
  expect(others.map(folderOf)).toEqual(folders);
  expect(cloneFolder("/service", main, undefined)).toMatch(/^\/service\/clones\/docs-/);
  expect(folderOf(`https://example.com/${"é".repeat(300)}`)).toMatch(/^\/service\/clones\/_{40}-[0-9a-f]{16}$/);
});

test("a clone is moved unless there is one already", () => {
  const folder = temporaryFolder();
  const [from, to] = [join(folder, "clones/from"), join(folder, "clones/to")];
  moveCloneFolder(from, to);
  expect(existsSync(to)).toBe(false);
  mkdirSync(from, { recursive: true });
  writeFileSync(join(from, "file"), "");
  moveCloneFolder(from, to);
  expect([existsSync(from), existsSync(join(to, "file"))]).toEqual([false, true]);
  mkdirSync(from);
  moveCloneFolder(from, to);
  expect([existsSync(from), existsSync(join(to, "file"))]).toEqual([true, true]);
});
