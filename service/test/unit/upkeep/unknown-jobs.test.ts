import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { Repository } from "../../../src/git/repository.ts";
import type { StoredJob } from "../../../src/model.ts";
import { JobDirectory } from "../../../src/service-folder.ts";
import { hourMs } from "../../../src/time.ts";
import { removeUnknownDirectories, UnknownJobs } from "../../../src/upkeep/unknown-jobs.ts";

/** A repository whose clone has commits of jobs. */
class FakeRepository extends Repository {
  ids = ["kept", "gone"];
  readonly forgotten: string[] = [];

  override async jobIds(): Promise<string[]> {
    return this.ids;
  }

  override async forgetJobs(ids: readonly string[]): Promise<void> {
    this.forgotten.push(...ids);
    this.ids = this.ids.filter((id) => !ids.includes(id));
  }
}

function setUp() {
  const folder = temporaryFolder();
  const addFiles = (id: string) => {
    mkdirSync(join(folder, "jobs", id, "home"), { recursive: true });
    mkdirSync(join(folder, "logs"), { recursive: true });
    writeFileSync(join(folder, "logs", `${id}.log`), "");
  };
  const repository = new FakeRepository({ url: "/nowhere", folder });
  const stop = new AbortController();
  const asked: string[] = [];
  const job = async (id: string) => {
    asked.push(id);
    return id === "kept" ? ({ id } as StoredJob) : undefined;
  };
  const other = new FakeRepository({ url: "/nowhere", folder });
  const round = new UnknownJobs({
    jobs: { find: job },
    folder,
    repositories: [repository, other],
    signal: stop.signal,
  });
  const left = () => ({
    jobs: readdirSync(join(folder, "jobs")),
    logs: readdirSync(join(folder, "logs")),
    commits: repository.ids,
  });
  return { folder, asked, addFiles, repository, other, round, left, stop };
}

const all = { jobs: ["gone", "kept"], logs: ["gone.log", "kept.log"], commits: ["kept", "gone"] };
const onlyKept = { jobs: ["kept"], logs: ["kept.log"], commits: ["kept"] };

test("a machine removes what it has of jobs that the store does not have, once an hour", async () => {
  const { addFiles, repository, other, round, left } = setUp();
  for (const id of ["kept", "gone"]) addFiles(id);
  await round.run(1_000_000);
  expect(left()).toEqual(onlyKept);
  expect([repository.forgotten, other.forgotten]).toEqual([["gone"], ["gone"]]);
  addFiles("gone");
  repository.ids.push("gone");
  await round.run(1_000_000 + hourMs - 1);
  expect(left()).toEqual(all);
  await round.run(1_000_000 + hourMs);
  expect(left()).toEqual(onlyKept);
});

test("a machine without any job has nothing to remove", async () => {
  const { round, repository, other, asked } = setUp();
  for (const each of [repository, other]) each.ids = [];
  await round.run(1_000_000);
  expect([asked, repository.forgotten]).toEqual([[], []]);
});

test("a log that somebody else removes meanwhile is no error", async () => {
  const { addFiles, folder, repository } = setUp();
  addFiles("gone");
  rmSync(join(folder, "jobs/gone"), { recursive: true });
  const job = async (): Promise<undefined> => void rmSync(join(folder, "logs/gone.log"), { force: true });
  const { signal } = new AbortController();
  await new UnknownJobs({ jobs: { find: job }, folder, repositories: [repository], signal }).run(1_000_000);
  expect(readdirSync(join(folder, "logs"))).toEqual([]);
});

test("nothing is removed any more when the service stops", async () => {
  const { addFiles, repository, round, left, stop } = setUp();
  for (const id of ["kept", "gone"]) addFiles(id);
  stop.abort();
  await round.run(1_000_000);
  expect(left()).toEqual(all);
  expect(repository.forgotten).toEqual([]);
});

test("removes the directories of jobs that are not in the store, and finds the worktrees of the others", async () => {
  const folder = temporaryFolder();
  for (const id of ["kept", "gone"]) {
    mkdirSync(join(folder, "jobs", id, "tree/a/b"), { recursive: true });
    writeFileSync(join(folder, "jobs", id, "tree/a/b/c"), "");
  }
  mkdirSync(join(folder, "jobs/idle/home"), { recursive: true });
  for (const path of ["a/b", "a"]) chmodSync(join(folder, "jobs/gone/tree", path), 0o500);
  const isJob = async (id: string) => id !== "gone";
  expect(await removeUnknownDirectories(folder, isJob, new AbortController().signal)).toEqual({
    removed: 1,
    withWorktree: [new JobDirectory(folder, "kept")],
  });
  expect(readdirSync(join(folder, "jobs")).sort()).toEqual(["idle", "kept"]);
  expect(existsSync(join(folder, "jobs/kept/tree/a/b/c"))).toBe(true);
  expect(await removeUnknownDirectories(folder, async () => false, AbortSignal.abort())).toEqual({
    removed: 0,
    withWorktree: [],
  });
  expect(readdirSync(join(folder, "jobs")).sort()).toEqual(["idle", "kept"]);
});
