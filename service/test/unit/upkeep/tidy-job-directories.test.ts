import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { JobDirectory } from "../../../src/files/job-directory.ts";
import { tidyJobDirectories } from "../../../src/upkeep/tidy-job-directories.ts";

test("removes the directories of jobs that are not in the store, and finds the worktrees of the others", async () => {
  const folder = temporaryFolder();
  for (const id of ["kept", "gone"]) {
    mkdirSync(join(folder, "jobs", id, "tree/a/b"), { recursive: true });
    writeFileSync(join(folder, "jobs", id, "tree/a/b/c"), "");
  }
  mkdirSync(join(folder, "jobs/idle/home"), { recursive: true });
  for (const path of ["a/b", "a"]) chmodSync(join(folder, "jobs/gone/tree", path), 0o500);
  const isJob = async (id: string) => id !== "gone";
  expect(await tidyJobDirectories(folder, isJob, new AbortController().signal)).toEqual({
    removed: 1,
    withWorktree: [new JobDirectory(folder, "kept")],
  });
  expect(readdirSync(join(folder, "jobs")).sort()).toEqual(["idle", "kept"]);
  expect(existsSync(join(folder, "jobs/kept/tree/a/b/c"))).toBe(true);
  expect(await tidyJobDirectories(folder, async () => false, AbortSignal.abort())).toEqual({
    removed: 0,
    withWorktree: [],
  });
  expect(readdirSync(join(folder, "jobs")).sort()).toEqual(["idle", "kept"]);
});
