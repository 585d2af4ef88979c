import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/support/step.ts";
import { removeDirectory } from "../../src/remove-directory.ts";

// For root, no folder is read-only: then these tests show less.

/** Creates a folder that can be removed after a test that fails, too. */
function createTree(): string {
  const folder = join(temporaryFolder(), "tree");
  mkdirSync(folder);
  onTestFinished(() => void spawnSync("chmod", ["-R", "u+rwx", folder]));
  return folder;
}

test("removes folders that are read-only or unreadable", async () => {
  const folder = createTree();
  mkdirSync(join(folder, "a/b"), { recursive: true });
  mkdirSync(join(folder, "c"));
  for (const file of ["a/b/file", "a/file", "c/file"]) writeFileSync(join(folder, file), "");
  chmodSync(join(folder, "a/b"), 0o000);
  chmodSync(join(folder, "a"), 0o555);
  chmodSync(join(folder, "c"), 0o500);
  chmodSync(folder, 0o555);
  await removeDirectory(folder);
  expect(existsSync(folder)).toBe(false);
});

test("changes nothing behind a link", async () => {
  const outside = temporaryFolder();
  mkdirSync(join(outside, "folder"));
  chmodSync(join(outside, "folder"), 0o755);
  const folder = createTree();
  symlinkSync(join(outside, "folder"), join(folder, "link"));
  chmodSync(folder, 0o555);
  await removeDirectory(folder);
  expect(existsSync(folder)).toBe(false);
  expect(statSync(join(outside, "folder")).mode & 0o777).toBe(0o755);
});

test("does nothing if there is no directory", async () => {
  await expect(removeDirectory(join(temporaryFolder(), "missing"))).resolves.toBeUndefined();
});

test("removes folders so deep that the system accepts no path to them, and changes nothing behind their links", async () => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, "kept"), "");
  chmodSync(outside, 0o755);
  const folder = createTree();
  const script = `name=$(printf '%0200d' 0)
for level in $(seq 22); do
  mkdir $name other "$(printf '\\377')"; ln -s ${outside} link; : > file; : > "$(printf 'a\\377')"
  cd -P $name
done`;
  execFileSync("/bin/sh", ["-c", script], { cwd: folder });
  await removeDirectory(folder);
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(join(outside, "kept"))).toBe(true);
  expect(statSync(outside).mode & 0o777).toBe(0o755);
});
