import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { Git } from "../../../src/git/git.ts";
import { isWorktree, restoreWorktree } from "../../../src/git/worktree.ts";
import { ResourceExhausted } from "../../../src/processes/resource-exhausted.ts";

/** A clone with two commits, the second of which changes only README.md, and a place for a worktree. */
function setUp() {
  const folder = temporaryFolder();
  const source = join(folder, "source");
  const clone = join(source, ".git");
  mkdirSync(join(source, "docs"), { recursive: true });
  const run = (...args: string[]) => execFileSync("git", ["-C", source, ...args], { encoding: "utf8" }).trim();
  run("init", "--quiet");
  writeFileSync(join(source, "docs/page.md"), "Page\n");
  const [first, second] = ["One\n", "Two\n"].map((content) => {
    writeFileSync(join(source, "README.md"), content);
    run("add", ".");
    run(
      "-c",
      "commit.gpgSign=false",
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@localhost",
      "commit",
      "--quiet",
      "--message",
      "Change",
    );
    return run("rev-parse", "HEAD");
  });
  const git = new Git({ cwd: clone, environment: { GIT_DIR: clone }, settings: () => [], prepare: async () => {} });
  const place = { tree: join(folder, "jobs/a/tree"), index: join(folder, "jobs/a/index") };
  const restore = (commit = "") => restoreWorktree(git, clone, place, commit);
  const read = () => readFileSync(join(place.tree, "README.md"), "utf8");
  /** Changes whenever the file is written. */
  const changedAt = () => statSync(join(place.tree, "docs/page.md"), { bigint: true }).ctimeNs;
  return { clone, git, place, restore, read, changedAt, first, second };
}

test("a worktree is written from nothing", async () => {
  const { restore, place, read, first } = setUp();
  await restore(first);
  expect(readdirSync(place.tree).sort()).toEqual(["README.md", "docs"]);
  expect(read()).toBe("One\n");
  expect(await isWorktree(place)).toBe(true);
});

test("a worktree keeps the files that nobody touched, and nothing else", async () => {
  const { restore, place, read, changedAt, first, second } = setUp();
  await restore(first);
  const before = changedAt();
  writeFileSync(join(place.tree, "new.md"), "");
  writeFileSync(join(place.tree, "README.md"), "Changed by an agent\n");
  // Left by a Git process that was killed.
  writeFileSync(`${place.index}.lock`, "");
  await restore(second);
  expect(readdirSync(place.tree).sort()).toEqual(["README.md", "docs"]);
  expect(read()).toBe("Two\n");
  expect(changedAt()).toBe(before);
});

test("a worktree whose index is damaged is written from nothing", async () => {
  const { restore, place, read, first } = setUp();
  await restore(first);
  writeFileSync(place.index, "damaged");
  writeFileSync(join(place.tree, "new.md"), "");
  await restore(first);
  expect(readdirSync(place.tree).sort()).toEqual(["README.md", "docs"]);
  expect(read()).toBe("One\n");
});

test("a worktree stays as it is if the machine lacks something for now", async () => {
  const { restore, place, changedAt, git, clone, first, second = "" } = setUp();
  await restore(first);
  const before = changedAt();
  git.run = () => Promise.reject(new ResourceExhausted("no processes"));
  await expect(restoreWorktree(git, clone, place, second)).rejects.toThrow("no processes");
  expect(changedAt()).toBe(before);
  expect(await isWorktree(place)).toBe(true);
});

test("only a folder with an index that is a file is a worktree", async () => {
  const folder = temporaryFolder();
  const place = { tree: join(folder, "a/tree"), index: join(folder, "a/index") };
  expect(await isWorktree(place)).toBe(false);
  mkdirSync(dirname(place.tree));
  writeFileSync(place.index, "");
  expect(await isWorktree(place)).toBe(false);
  writeFileSync(place.tree, "");
  expect(await isWorktree(place)).toBe(false);
  const other = { tree: folder, index: join(folder, "a") };
  expect([existsSync(other.index), await isWorktree(other)]).toEqual([true, false]);
});
