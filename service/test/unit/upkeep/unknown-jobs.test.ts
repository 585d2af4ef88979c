import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import type { StoredJob } from "../../../src/model.ts";
import type { Store } from "../../../src/store/store.ts";
import { dayMs, hourMs } from "../../../src/time.ts";
import { UnknownJobs } from "../../../src/upkeep/unknown-jobs.ts";

/** A repository whose clone has commits of jobs. */
class FakeRepository extends GitRepository {
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
  const known = new Set(["kept"]);
  const find = async (id: string) => {
    asked.push(id);
    return known.has(id) ? ({ id } as StoredJob) : undefined;
  };
  const log: string[] = [];
  const total = async () => ({ jobs: known.size, waitingTurns: 0 });
  const other = new FakeRepository({ url: "/nowhere", folder });
  /** Returns the round of a service that has just started. */
  const start = () =>
    new UnknownJobs({
      store: { jobs: { find }, counts: { total } } as unknown as Store,
      folder,
      repositories: [repository, other],
      signal: stop.signal,
      log: (line) => void log.push(line),
    });
  const left = () => ({
    jobs: readdirSync(join(folder, "jobs")),
    logs: readdirSync(join(folder, "logs")),
    commits: repository.ids,
  });
  return { folder, known, asked, addFiles, repository, other, start, log, left, stop };
}

const all = { jobs: ["gone", "kept"], logs: ["gone.log", "kept.log"], commits: ["kept", "gone"] };
const onlyKept = { jobs: ["kept"], logs: ["kept.log"], commits: ["kept"] };

test("what a machine has of jobs that are not in the store is removed a week after that was seen, however often it starts", async () => {
  const { addFiles, repository, other, start, log, left } = setUp();
  for (const id of ["kept", "gone"]) addFiles(id);
  const round = start();
  for (const at of [0, hourMs - 1, hourMs]) await round.run(at);
  await start().run(7 * dayMs - 1);
  expect([left(), repository.forgotten]).toEqual([all, []]);
  addFiles("late");
  await start().run(7 * dayMs);
  expect([repository.forgotten, other.forgotten]).toEqual([["gone"], ["gone"]]);
  expect(left()).toEqual({ ...onlyKept, jobs: ["kept", "late"], logs: ["kept.log", "late.log"] });
  expect(log).toEqual([
    "Jobs that are not in the store: 1. What this machine has of them is removed in a week.",
    "Jobs that are not in the store: 1. What this machine has of them is removed in a week.",
    "Removed what this machine had of jobs that are not in the store: 1.",
  ]);
});

test("a job that is in the store again, because the right backup was restored, has its week again", async () => {
  const { addFiles, known, start, left } = setUp();
  for (const id of ["kept", "gone"]) addFiles(id);
  await start().run(0);
  known.add("gone");
  await start().run(6 * dayMs);
  known.delete("gone");
  for (const days of [8, 14]) await start().run(days * dayMs);
  expect(left()).toEqual(all);
  await start().run(15 * dayMs);
  expect(left()).toEqual(onlyKept);
});

test.each([
  ["the store has no jobs, because it is another one", ({ known }: ReturnType<typeof setUp>) => known.clear()],
  ["the service stops", ({ stop }: ReturnType<typeof setUp>) => stop.abort()],
])("nothing is removed if %s", async (_, change) => {
  const setup = setUp();
  for (const id of ["kept", "gone"]) setup.addFiles(id);
  change(setup);
  for (const days of [0, 8]) await setup.start().run(days * dayMs);
  expect([setup.left(), setup.repository.forgotten]).toEqual([all, []]);
});

test("a machine without any job has nothing to remove", async () => {
  const { start, repository, other, asked } = setUp();
  for (const each of [repository, other]) each.ids = [];
  await start().run(1_000_000);
  expect([asked, repository.forgotten]).toEqual([[], []]);
});
