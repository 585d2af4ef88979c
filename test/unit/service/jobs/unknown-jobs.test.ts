import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeUnknownJobs } from "../../../../src/service/jobs/unknown-jobs.ts";
import { temporaryFolder } from "../../../support/step.ts";

test("removes the directories of jobs that are not in the store, and no others", async () => {
  const folder = temporaryFolder();
  for (const id of ["kept", "gone"]) {
    mkdirSync(join(folder, "jobs", id, "tree/a/b"), { recursive: true });
    writeFileSync(join(folder, "jobs", id, "tree/a/b/c"), "");
  }
  for (const path of ["a/b", "a"]) chmodSync(join(folder, "jobs/gone/tree", path), 0o500);
  expect(await removeUnknownJobs(folder, (id) => id === "kept", new AbortController().signal)).toBe(1);
  expect(readdirSync(join(folder, "jobs"))).toEqual(["kept"]);
  expect(existsSync(join(folder, "jobs/kept/tree/a/b/c"))).toBe(true);
  expect(await removeUnknownJobs(folder, () => false, AbortSignal.abort())).toBe(0);
  expect(readdirSync(join(folder, "jobs"))).toEqual(["kept"]);
});
