import { expect, onTestFinished, test } from "vitest";
import { jobBranch, type Turn } from "../../../src/model.ts";
import { PerProject } from "../../../src/per-project.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { BranchCleaner, type BranchCleanerOptions } from "../../../src/upkeep/branch-cleaner.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = Date.UTC(2026, 0, 10);
const ids = [1, 2, 3].map((number) => `job_00000000-0000-0000-0000-00000000000${number}`);
const [one = "", two = "", three = ""] = ids;
const lateCommit = (id: string): string => `${id} late`;

const noneArchived = () => Promise.reject(new Error("no job is archived"));

/** A repository with a branch of each job, whose only commit is one of the job's first turn. */
class Branches {
  readonly heads = new Map(ids.map((id) => [jobBranch(id), lateCommit(id)]));
  lists = 0;
  /** Which branches were judged, and from where. */
  readonly starts: string[] = [];
  readonly turns: ReadonlyMap<string, Turn>;

  constructor(turns: ReadonlyMap<string, Turn>) {
    this.turns = turns;
  }

  async list(): Promise<void> {
    this.lists++;
  }

  async branchHead(branch: string): Promise<string | undefined> {
    return this.heads.get(branch);
  }

  findStart: BranchRepository["findStart"] = async (branch, { targetBranch = "main", bases = [] }) => {
    this.starts.push(`${branch} from ${bases[0] ?? targetBranch}`);
    const remoteHead = this.heads.get(branch);
    return { branch, targetBranch, head: remoteHead ?? "", base: "base", remoteHead, isContinued: true, notes: [] };
  };

  async commits(_base: string, head: string): Promise<{ commit: string; message: string }[]> {
    const turn = this.turns.get(head.split(" ")[0] ?? "");
    if (turn === undefined) throw new Error(`no commit ${head}`);
    return [{ commit: head, message: commitMessage(turn, []) }];
  }

  async push(commit: string | undefined, branch: string, expected: string | undefined): Promise<void> {
    if (this.heads.get(branch) !== expected) throw new Error(`${branch} has moved`);
    if (commit === undefined) this.heads.delete(branch);
    else this.heads.set(branch, commit);
  }

  deleteBranches = noneArchived;
  targetBranch = noneArchived;
  fetch = noneArchived;
  commitsOfBranch = noneArchived;
  isCleanMerge = noneArchived;
}

type BranchRepository = NonNullable<ReturnType<BranchCleanerOptions["projects"]["get"]>>["repository"];

/** Creates three jobs of the project `docs` whose turns failed without a commit, at `endedAt`. */
async function setUp(options: Partial<BranchCleanerOptions> & { endedAt?: number; base?: string } = {}) {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const turns = new Map<string, Turn>();
  for (const id of ids) {
    await store.jobs.add({ id, project: "docs", createdAt: 0, base: options.base ?? null }, "Go on");
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    turns.set(id, turn);
    await store.runningTurns.finish(turn, "failed", options.endedAt ?? now - hourMs);
  }
  const repository = new Branches(turns);
  const log: string[] = [];
  const pullRequests = { obsoleteFrom: async () => undefined };
  const cleaner = new BranchCleaner({
    store,
    projects: PerProject.of(new Map([["docs", { repository, pullRequests, targetBranch: "trunk" }]])),
    signal: new AbortController().signal,
    log: (line) => void log.push(line),
    ...options,
  });
  const left = () => [...repository.heads.keys()].map((branch) => branch.replace("agent/", ""));
  return { store, repository, cleaner, log, left, turns };
}

test("removes the commits of turns that ended without them, archived or not", async () => {
  const { store, repository, cleaner, log, left, turns } = await setUp();
  await store.idleJobs.archiveOldest(now, now, 1);
  await cleaner.run(now);
  expect(left()).toEqual([]);
  expect(repository.lists).toBe(1);
  expect(repository.starts).toEqual(ids.map((id) => `agent/${id} from trunk`));
  expect(log).toEqual(
    ids.map(
      (id) =>
        `agent/${id} was at ${lateCommit(id)}: the commit of turn ${turns.get(id)?.id}, which ended without it. Removed.`,
    ),
  );
});

test("looks once an hour", async () => {
  const { repository, cleaner, left } = await setUp();
  repository.heads.delete(jobBranch(one));
  await cleaner.run(now);
  repository.heads.set(jobBranch(one), lateCommit(one));
  await cleaner.run(now + hourMs - 1);
  expect(left()).toEqual([one]);
  await cleaner.run(now + hourMs);
  expect(left()).toEqual([]);
});

test("judges a branch against the base of its job", async () => {
  const { repository, cleaner } = await setUp({ base: "next" });
  await cleaner.run(now);
  expect(repository.starts).toContain(`${jobBranch(one)} from next`);
});

test.each([
  ["of jobs that have been idle for longer than a day", { endedAt: now - dayMs - 1 }, 0],
  ["of projects that it does not know", { projects: PerProject.of(new Map()) }, 0],
  ["of projects that another service has", { ownProjects: async () => ["blog"] }, 0],
  ["once the service stops", { signal: AbortSignal.abort() }, 1],
])("leaves branches alone %s", async (_, options, lists) => {
  const { repository, cleaner, left, log } = await setUp(options);
  await cleaner.run(now);
  expect(left()).toEqual(ids);
  expect(repository.lists).toBe(lists);
  expect(log).toEqual([]);
});

test("cleans branches of its own projects, until a day after their turns have ended", async () => {
  const { cleaner, left } = await setUp({ endedAt: now - dayMs, ownProjects: async () => ["docs"] });
  await cleaner.run(now);
  expect(left()).toEqual([]);
});

test("does not judge a branch whose head is recorded", async () => {
  const { store, repository, cleaner } = await setUp();
  await store.turns.add(one, "More", 0);
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  await store.runningTurns.setPullRequest(turn, "https://example.com/pull/1", lateCommit(one));
  await store.runningTurns.finish(turn, "completed", now);
  await cleaner.run(now);
  expect(repository.starts).toEqual([two, three].map((id) => `${jobBranch(id)} from trunk`));
});

test("leaves the commit of a turn that ended without ever running, from before the store was restored", async () => {
  const { store, repository, cleaner, log, turns } = await setUp();
  await store.turns.add(one, "More", 0);
  const [, added] = await store.turns.ofJob(one);
  if (added === undefined) throw new Error("no turn was added");
  turns.set(one, added);
  await store.turns.stop(one, added.id, now - hourMs, "Stopped by an operator.");
  expect((await store.turns.ofJob(one))[1]?.state).toBe("failed");
  await cleaner.run(now);
  expect(repository.heads.get(jobBranch(one))).toBe(lateCommit(one));
  expect(log.join("\n")).not.toContain(one);
});

test("leaves a branch alone that has moved, and goes on with the others", async () => {
  const { repository, cleaner, log, left } = await setUp();
  const { commits } = repository;
  repository.commits = async (base, head) => {
    if (head === lateCommit(one)) repository.heads.set(jobBranch(one), "of a person");
    return commits.call(repository, base, head);
  };
  await cleaner.run(now);
  expect(left()).toEqual([one]);
  expect(log[0]).toBe(
    `A commit that does not count may be on agent/${one}. It is looked at again within an hour: agent/${one} has moved`,
  );
});

test("says that a repository cannot be fetched, once in a round", async () => {
  const { repository, cleaner, log, left } = await setUp();
  repository.list = async () => {
    throw new Error("no route to host");
  };
  await cleaner.run(now);
  expect(left()).toEqual(ids);
  expect(log).toEqual(["Cannot look for commits that do not count, trying again in an hour: no route to host"]);
});
