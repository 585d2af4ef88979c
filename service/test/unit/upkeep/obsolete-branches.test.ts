import { expect, onTestFinished, test } from "vitest";
import type { DatedCommit } from "../../../src/git/history.ts";
import { jobBranch } from "../../../src/model.ts";
import { PerProject } from "../../../src/per-project.ts";
import type { PullRequestRef } from "../../../src/pulls/pull-requests.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { BranchCleaner } from "../../../src/upkeep/branch-cleaner.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = Date.UTC(2026, 0, 10);
const idOf = (number: number): string => `job_00000000-0000-0000-0000-${String(number).padStart(12, "0")}`;
const one = idOf(1);
const linkOf = (id: string): string => `https://example.com/${id}`;

/** Creates archived jobs with a pull request, whose branches are at the commits that the store has recorded. */
async function setUp({ jobs = 1, ownProjects = ["docs"] }: { jobs?: number; ownProjects?: string[] } = {}) {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const heads = new Map<string, string>();
  const ids = Array.from({ length: jobs }, (_, index) => idOf(index + 1));
  const runTurn = async (pullRequest?: string) => {
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    const head = `head of ${turn.job}`;
    if (pullRequest !== undefined) heads.set(jobBranch(turn.job), head);
    if (pullRequest !== undefined) await store.runningTurns.setPullRequest(turn, pullRequest, head);
    await store.runningTurns.finish(turn, "completed", now - 2 * dayMs);
  };
  for (const [index, id] of ids.entries()) {
    await store.jobs.add({ id, project: "docs", createdAt: index * hourMs }, "Go on");
    await runTurn(linkOf(id));
  }
  const archive = () => store.idleJobs.archiveOldest(now, now, jobs);
  await archive();
  const asked: PullRequestRef[] = [];
  const pushes: number[] = [];
  const platform = { from: now as number | undefined, error: undefined as Error | undefined };
  const repository = {
    list: async () => {},
    branchHead: async (branch: string) => heads.get(branch),
    targetBranch: async () => "main",
    fetch: async () => {},
    commitsOfBranch: async (): Promise<DatedCommit[]> => [],
    isCleanMerge: async () => false,
    findStart: () => Promise.reject(new Error("no turn has ended within a day")),
    commits: async () => [],
    push: async () => {},
    deleteBranches: async (obsolete: ReadonlyMap<string, string>) => {
      pushes.push(obsolete.size);
      const gone = [...obsolete].filter(([branch, head]) => heads.get(branch) === head).map(([branch]) => branch);
      for (const branch of gone) heads.delete(branch);
      return gone;
    },
  };
  const pullRequests = {
    obsoleteFrom: async (pull: PullRequestRef) => {
      asked.push(pull);
      if (platform.error !== undefined) throw platform.error;
      return platform.from;
    },
  };
  const log: string[] = [];
  const stop = new AbortController();
  /** Another process of the service. */
  const createCleaner = () =>
    new BranchCleaner({
      store,
      projects: PerProject.same({ repository, pullRequests }),
      ownProjects: async () => ownProjects,
      signal: stop.signal,
      log: (line) => void log.push(line),
    });
  return { store, heads, asked, pushes, platform, repository, log, stop, archive, runTurn, createCleaner };
}

test("deletes the branches of archived jobs that are obsolete, with one push, and looks at none again", async () => {
  const { heads, asked, pushes, log, createCleaner } = await setUp({ jobs: 3 });
  const cleaner = createCleaner();
  await cleaner.run(now);
  expect(heads).toEqual(new Map());
  expect(asked[0]).toEqual({ link: linkOf(one), branch: jobBranch(one), head: `head of ${one}` });
  expect(pushes).toEqual([3]);
  expect(log).toEqual([
    `Deleted, pull request merged or closed for 30 days: ${[1, 2, 3].map((number) => jobBranch(idOf(number))).join(", ")}`,
  ]);
  await cleaner.run(now + 400 * dayMs);
  expect(asked).toHaveLength(3);
});

test("keeps a branch until it is obsolete, and asks only then again", async () => {
  const { heads, asked, platform, createCleaner } = await setUp();
  const cleaner = createCleaner();
  platform.from = now + 30 * dayMs;
  for (const day of [0, 7, 29]) await cleaner.run(now + day * dayMs);
  expect([heads.size, asked.length]).toEqual([1, 1]);
  platform.from = now + 31 * dayMs;
  await cleaner.run(now + 30 * dayMs);
  expect([heads.size, asked.length]).toEqual([1, 2]);
  await cleaner.run(now + 31 * dayMs);
  expect(heads.size).toBe(0);
});

type SetUp = Awaited<ReturnType<typeof setUp>>;

test.each<[string, number, (setup: SetUp) => unknown]>([
  ["that somebody else has pushed to", 0, ({ heads }) => heads.set(jobBranch(one), "of a person")],
  [
    "that somebody else has pushed a commit of their own to, without the job's",
    0,
    ({ heads, repository }) => {
      heads.set(jobBranch(one), "of a person");
      repository.branchHead = async (branch) => heads.get(branch) ?? "of main";
      repository.commitsOfBranch = async () => [{ commit: "of a person", at: 0, message: "Own" }];
    },
  ],
  ["whose pull request is open, or has not all of its work", 1, ({ platform }) => (platform.from = undefined)],
  [
    "that another job starts from",
    1,
    ({ store }) => store.jobs.add({ id: "other", project: "docs", createdAt: 0, base: jobBranch(one) }, "Go on"),
  ],
  ["of a job that has got another turn", 0, ({ store }) => store.turns.add(one, "More", 0)],
  [
    "of a job that gets another turn meanwhile",
    1,
    ({ store, platform }) =>
      Object.defineProperty(platform, "from", {
        get: () => {
          void store.turns.add(one, "More", 0);
          return now;
        },
      }),
  ],
  ["while its pull request cannot be read", 1, ({ platform }) => (platform.error = new Error("no route to host"))],
  ["if the branches cannot be listed", 0, ({ repository }) => (repository.list = () => Promise.reject(new Error("x")))],
  ["once the service stops", 0, ({ stop }) => stop.abort()],
])("never deletes a branch %s", async (_, requests, prepare) => {
  const setup = await setUp();
  await prepare(setup);
  await setup.createCleaner().run(now);
  expect([setup.pushes, setup.heads.size, setup.asked.length]).toEqual([[], 1, requests]);
});

test("never deletes the branch of a job without a pull request, or of another service's project", async () => {
  const { store, runTurn, archive, heads, asked, createCleaner } = await setUp({ ownProjects: ["blog"] });
  await store.jobs.add({ id: idOf(9), project: "blog", createdAt: 0 }, "Go on");
  await runTurn();
  heads.set(jobBranch(idOf(9)), "work");
  await archive();
  await createCleaner().run(now);
  expect([heads.size, asked.length]).toEqual([2, 0]);
});

test("looks at a branch again a week later, or a day after an error", async () => {
  const { heads, asked, platform, log, createCleaner } = await setUp();
  const cleaner = createCleaner();
  platform.from = undefined;
  await cleaner.run(now);
  await cleaner.run(now + 7 * dayMs - 1);
  expect(asked).toHaveLength(1);
  platform.error = new Error("no route to host");
  await cleaner.run(now + 8 * dayMs);
  expect(asked).toHaveLength(2);
  expect(log).toEqual(["Cannot delete the branches of jobs that have ended, trying again later: no route to host"]);
  [platform.error, platform.from] = [undefined, now];
  await cleaner.run(now + 8 * dayMs + 2 * hourMs);
  await cleaner.run(now + 9 * dayMs);
  expect([asked.length, heads.size]).toEqual([3, 0]);
});

test("looks at one again that was not deleted, and at all again after another turn", async () => {
  const { store, heads, asked, platform, repository, runTurn, archive, createCleaner } = await setUp();
  const cleaner = createCleaner();
  const { deleteBranches } = repository;
  repository.deleteBranches = async () => [];
  await cleaner.run(now);
  expect(heads.size).toBe(1);
  repository.deleteBranches = deleteBranches;
  await cleaner.run(now + 7 * dayMs);
  expect([heads.size, asked.length]).toEqual([0, 2]);
  await store.turns.add(one, "More", 0);
  await runTurn(linkOf(one));
  await archive();
  platform.from = now;
  await cleaner.run(now + 8 * dayMs);
  expect([heads.size, asked.length]).toEqual([0, 3]);
});

test("asks for at most 200 branches of a project in an hour, however many processes there are", async () => {
  const { heads, asked, createCleaner } = await setUp({ jobs: 250 });
  await createCleaner().run(now);
  await createCleaner().run(now + hourMs - 1);
  expect([asked.length, heads.size]).toEqual([200, 50]);
  await createCleaner().run(now + hourMs);
  expect(heads.size).toBe(0);
});

test("forgets a branch that others have deleted, without a request", async () => {
  const { heads, asked, createCleaner } = await setUp();
  heads.clear();
  const cleaner = createCleaner();
  await cleaner.run(now);
  heads.set(jobBranch(one), `head of ${one}`);
  await cleaner.run(now + 30 * dayMs);
  expect([asked.length, heads.size]).toEqual([0, 1]);
});
