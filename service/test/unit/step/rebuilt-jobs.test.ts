import { expect, test } from "vitest";
import type { DatedCommit } from "../../../src/git/history.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import type { OwnPullRequest } from "../../../src/pulls/github/own-pull-request.ts";
import { RebuiltJobs, type RebuiltJobsOptions } from "../../../step/memory/rebuilt-jobs.ts";
import { identityOf } from "../../support/turn-identity.ts";

const jobId = "job_00000000-0000-4000-8000-000000000000";
const account = { login: "docs-bot[bot]", id: 7 };
const pull: OwnPullRequest = {
  link: "https://github.com/acme/docs/pull/1",
  state: "open",
  createdAt: 15_000,
  closedAt: null,
  head: "e".repeat(40),
  body: "",
  target: "main",
};
const turn = {
  id: 5,
  identity: identityOf(5),
  job: jobId,
  prompt: "Go",
  attempts: 1,
  sections: "",
  covers: null,
  step: "s1",
  request: "r1",
};
const commit = { commit: "a".repeat(40), at: 10_000, message: commitMessage(turn, []) };

/** Jobs in a repository that somebody has pushed to since it was fetched. */
function setUp(
  options: {
    head?: string;
    pull?: OwnPullRequest;
    isCreator?: boolean;
    isKnown?: boolean;
    /** The branch that the job's was merged into. Default: none. */
    mergedInto?: string;
    now?: number;
    branchPrefix?: string;
    repository?: Partial<RebuiltJobsOptions["repository"]>;
    pullRequests?: Partial<RebuiltJobsOptions["pullRequests"]>;
    kept?: DatedCommit[];
  } = {},
) {
  const { isCreator = false, isKnown = true, now = commit.at + 60_000 } = options;
  let isFetched = false;
  const asked: string[] = [];
  const jobs = new RebuiltJobs({
    repository: {
      fetch: async (branches) => {
        isFetched = branches.includes("main");
      },
      targetBranch: async () => "main",
      branchHeads: async () => new Map(),
      isMerged: async (_commit, branch) => branch === options.mergedInto,
      branchHead: async () => (isFetched ? options.head : undefined),
      commitsOfBranch: async (head) => {
        asked.push(head);
        return [commit];
      },
      commitsOfJobs: async (text, days, target) => {
        asked.push(`${text} ${days} ${target}`);
        const other = { ...turn, id: 6, step: "s12" };
        return [commit, { ...commit, message: commitMessage(other, []) }, commit];
      },
      ...options.repository,
    },
    kept: {
      commitsOf: async () => options.kept ?? [],
      jobsOfStep: (step) => (options.kept && step === "s1" ? [jobId] : []),
      newestJobOf: async (session) => (options.kept && session === "nightly" ? { job: jobId, at: now } : undefined),
    },
    pullRequests: {
      ownAccount: async () => (isKnown ? account : undefined),
      findOwn: async (_branch, _account, target) =>
        options.pull?.isOthers && options.pull.target !== target ? undefined : options.pull,
      hasCreated: async () => isCreator,
      ...options.pullRequests,
    },
    targetBranch: "trunk",
    branchPrefix: options.branchPrefix,
    projectId: "docs",
    isWorkflowToken: true,
    machine: { wallTime: () => now },
  });
  return { jobs, asked };
}

test("a job is rebuilt from the branch as it is now", async () => {
  const { jobs, asked } = setUp({ head: "b".repeat(40), pull });
  expect((await jobs.rebuild(jobId))?.job).toMatchObject({ id: jobId, project: "docs", turns: [{ id: 5 }] });
  expect(asked).toEqual(["b".repeat(40)]);
});

/** Rebuilds the job where there are some branches. Returns its branch, its pull request, and the branches whose own ones were asked for. */
async function rebuildAmong(
  names: readonly string[],
  pulls: Record<string, OwnPullRequest>,
  options: Parameters<typeof setUp>[0] & { created?: string } = {},
) {
  const heads = new Map(names.map((name) => [name, "b".repeat(40)]));
  const asked: string[] = [];
  const { jobs } = setUp({
    repository: { branchHeads: async () => heads, branchHead: async (branch) => heads.get(branch) },
    pullRequests: {
      findOwn: async (branch) => {
        asked.push(branch);
        return pulls[branch];
      },
      hasCreated: async (branch) => branch === options.created,
    },
    ...options,
  });
  const { job } = (await jobs.rebuild(jobId)) ?? {};
  return { found: job && [job.branch, job.pullRequest], asked };
}

test("a job is found on the branch that has its id, with today's prefix or an earlier one", async () => {
  const [own, earlier, backup] = [`agent/${jobId}`, `docs/agent-${jobId}`, `backup/${jobId}`];
  expect(await rebuildAmong(["main", backup, own, `${jobId}-2`], { [own]: pull })).toEqual({
    found: [own, pull.link],
    asked: [own],
  });
  expect(await rebuildAmong(["main"], { [own]: pull })).toEqual({ found: [own, pull.link], asked: [own] });
  for (const names of [[earlier], [backup, earlier]]) {
    expect((await rebuildAmong(names, { [earlier]: pull })).found).toEqual([earlier, pull.link]);
    expect((await rebuildAmong(names, {}, { created: earlier })).found).toEqual([earlier, null]);
  }
});

const merged = { ...pull, state: "merged", closedAt: 20_000 } as const;
const second = { ...pull, link: "https://github.com/acme/docs/pull/2" };
test.each([
  ["the revert of its pull request", "revert-1-agent/", { ...second, isOthers: true }],
  ["a revert by the own account", "revert-1-agent/", second],
  ["a copy", "backup/", { ...second, isOthers: true }],
  ["a copy by the own account", "backup/", second],
])("a job whose branch is deleted does not go on with %s, which ends with its id", async (_what, prefix, other) => {
  const [own, copy] = [`agent/${jobId}`, `${prefix}${jobId}`];
  expect((await rebuildAmong(["main", copy], { [own]: merged, [copy]: other })).found).toEqual([own, pull.link]);
});

test("a job whose branch is deleted is asked for by all of its own names before a copy is taken for it", async () => {
  const [own, copy] = [`agent/${jobId}`, `backup/${jobId}`];
  const options = { branchPrefix: "docs/agent-" };
  expect(await rebuildAmong([copy], { [own]: merged, [copy]: second }, options)).toEqual({
    found: [own, pull.link],
    asked: [`docs/agent-${jobId}`, own, own],
  });
});

test("a job does not go on with a branch that is a revert or a person's, also without a pull request of its own", async () => {
  const [revert, backup] = [`revert-1-docs/agent-${jobId}`, `backup/${jobId}`];
  expect((await rebuildAmong([revert], { [revert]: second }, { created: revert })).found).toBeUndefined();
  expect((await rebuildAmong([backup], { [backup]: { ...second, isOthers: true } })).found).toBeUndefined();
  const now = commit.at + 120_000;
  expect((await rebuildAmong([backup], {}, { kept: [commit], now })).found).toEqual([`agent/${jobId}`, null]);
});

test("a job whose branch is deleted is rebuilt from the last commit of its pull request", async () => {
  const { jobs, asked } = setUp({ pull });
  expect((await jobs.rebuild(jobId))?.job.pullRequest).toBe(pull.link);
  expect(asked).toEqual([pull.head]);
});

test("a branch without a pull request is a job if the own account created it", async () => {
  const head = "b".repeat(40);
  expect((await setUp({ head, isCreator: true }).jobs.rebuild(jobId))?.job.pullRequest).toBeNull();
  expect(await setUp({ head }).jobs.rebuild(jobId)).toBeUndefined();
  expect(await setUp({ isCreator: true }).jobs.rebuild(jobId)).toBeUndefined();
});

test("work that is kept and was not pushed is the job's, also without a branch", async () => {
  const head = "b".repeat(40);
  const own = {
    ...commit,
    commit: "c".repeat(40),
    message: commitMessage({ ...turn, id: 7, identity: identityOf(7) }, []),
  };
  const turnsOf = async (options: Parameters<typeof setUp>[0]) =>
    (await setUp({ kept: [own], ...options }).jobs.rebuild(jobId))?.job.turns.map(({ id, state, kept }) => [
      id,
      state,
      kept,
    ]);
  expect(await turnsOf({})).toEqual([[7, "failed", "push"]]);
  expect(await turnsOf({ head, pull })).toEqual([
    [5, "completed", undefined],
    [7, "failed", "push"],
  ]);
  // A branch of somebody else's is none of the job's.
  expect(await turnsOf({ head })).toBeUndefined();
  // What is on the branch was pushed since.
  expect(await turnsOf({ head, pull, kept: [commit] })).toEqual([[5, "completed", undefined]]);
  const { jobs } = setUp({ kept: [own] });
  expect([await jobs.jobsOfStep("s1"), await jobs.jobOfSession("nightly")]).toEqual([[jobId], jobId]);
});

test("the pull request that somebody opened, or a merge by hand, publishes the work of a branch of the own account", async () => {
  const head = "b".repeat(40);
  const others = { ...pull, isOthers: true };
  const stateOf = async (options: Parameters<typeof setUp>[0]) => {
    const { job } = (await setUp({ head, ...options }).jobs.rebuild(jobId)) ?? {};
    return job && [job.pullRequest, job.turns[0]?.state];
  };
  expect(await stateOf({ isCreator: true })).toEqual([null, "failed"]);
  expect(await stateOf({ isCreator: true, pull: others })).toEqual([pull.link, "completed"]);
  expect(await stateOf({ isCreator: true, mergedInto: "main" })).toEqual([null, "completed"]);
  // Whoever can read the repository can open one from a branch that somebody has pushed.
  expect(await stateOf({ pull: others })).toBeUndefined();
});

test("so does one into the base of the job, as long as that exists, and none into the project's own branch", async () => {
  const head = "b".repeat(40);
  const based = { ...commit, message: commitMessage(turn, [], { base: "feature" }) };
  const stateOf = async (options: Parameters<typeof setUp>[0], branches = ["feature"]) => {
    const repository = {
      branchHead: async (name: string) => (name === "feature" && !branches.includes(name) ? undefined : head),
      commitsOfBranch: async () => [based],
    };
    const { job } = (await setUp({ head, isCreator: true, repository, ...options }).jobs.rebuild(jobId)) ?? {};
    return [job?.base, job?.pullRequest, job?.turns[0]?.state];
  };
  const others = { ...pull, isOthers: true };
  const open = ["feature", null, "failed"];
  expect(await stateOf({})).toEqual(open);
  expect(await stateOf({ pull: others })).toEqual(open);
  expect(await stateOf({ pull: { ...others, target: "feature" } })).toEqual(["feature", pull.link, "completed"]);
  expect(await stateOf({ mergedInto: "main" })).toEqual(open);
  expect(await stateOf({ mergedInto: "feature" })).toEqual(["feature", null, "completed"]);
  // GitHub makes a pull request into a branch that is deleted one into the branch that this was merged into.
  expect(await stateOf({ pull: others }, [])).toEqual(["main", pull.link, "completed"]);
  expect(await stateOf({ mergedInto: "main" }, [])).toEqual(["feature", null, "completed"]);
});

test("work is kept for a re-run of its step, whatever somebody opened: the check of its commit is unknown", async () => {
  const { jobs } = setUp({ head: "b".repeat(40), isCreator: true, pull: { ...pull, isOthers: true } });
  await jobs.jobsOfStep("s2");
  expect((await jobs.rebuild(jobId))?.job.turns).toMatchObject([{ state: "completed" }]);
  await jobs.jobsOfStep("s1");
  expect((await jobs.rebuild(jobId))?.job).toMatchObject({ pullRequest: null, turns: [{ kept: "pull-request" }] });
});

test("the job of a session is the one with the newest commit on its own branch, whatever was merged", async () => {
  const [old, current, missing] = ["1", "2", "3"].map((end) => jobId.replace(/0$/, end));
  const of = (job = "", at = 0) => ({
    commit: "c".repeat(40),
    at,
    message: commitMessage({ ...turn, job }, [], { session: "n" }),
  });
  const branches: Record<string, DatedCommit[]> = {
    [`agent/${old}`]: [of(old, 10_000)],
    [`agent/${current}`]: [{ ...commit, at: 30_000 }, of(current, 20_000)],
  };
  const jobOf = async (...merged: DatedCommit[]) => {
    const { jobs } = setUp({
      repository: {
        branchHead: async (branch) => (branch in branches ? branch : undefined),
        commitsOfBranch: async (head) => branches[head] ?? [],
        commitsOfJobs: async () => [...merged, ...Object.values(branches).flat()].sort((a, b) => b.at - a.at),
      },
    });
    return jobs.jobOfSession("n");
  };
  expect(await jobOf()).toBe(current);
  expect(await jobOf(of(missing, 99_000), of(old, 98_000))).toBe(current);
  branches[`agent/${current}`] = [];
  delete branches[`agent/${old}`];
  expect(await jobOf(of(missing, 99_000))).toBe(missing);
});

test.each([
  ["another run has started a job", undefined, "one", true],
  ["its job's branch has moved", "one", "two", true],
  ["nothing has happened", "one", "one", false],
  ["it has no job", undefined, undefined, false],
])("a session counts as busy once more if %s since it was asked for", async (_which, before, after, hasChanged) => {
  let head: string | undefined = before;
  const { jobs } = setUp({
    now: 5,
    repository: {
      branchHead: async () => head,
      commitsOfJobs: async () =>
        head === undefined ? [] : [{ ...commit, message: commitMessage(turn, [], { session: "n" }) }],
    },
  });
  // Nothing was told before.
  expect(await jobs.changedJobOf("n")).toBeUndefined();
  head = after;
  expect(await jobs.changedJobOf("n")).toEqual(hasChanged ? { job: jobId, until: 60_005 } : undefined);
  expect(await jobs.changedJobOf("n")).toBeUndefined();
  head = "three";
  jobs.forgetSession("n");
  expect(await jobs.changedJobOf("n")).toBeUndefined();
});

test("it is unknown whose a new branch is, as long as GitHub's lists may not show that", async () => {
  const [head, now] = ["b".repeat(40), commit.at + 59_999];
  await expect(setUp({ head, now }).jobs.rebuild(jobId)).rejects.toThrow("does not show yet");
  expect(await setUp({ head, now, pull }).jobs.rebuild(jobId)).toBeDefined();
  // A branch that names another job.
  expect(await setUp({ head, now }).jobs.rebuild(jobId.replace(/0$/, "1"))).toBeUndefined();
});

test("nothing is rebuilt if the own account is unknown", async () => {
  const { jobs, asked } = setUp({ head: "b".repeat(40), pull, isCreator: true, isKnown: false });
  expect(await jobs.isPossible()).toBe(false);
  expect(await jobs.rebuild(jobId)).toBeUndefined();
  expect(asked).toEqual([]);
});

test("the jobs of a step are those whose commits name it", async () => {
  const { jobs, asked } = setUp();
  expect(await jobs.jobsOfStep("s1")).toEqual([jobId]);
  expect(asked).toEqual(["Agent-Request: s1. 31 trunk"]);
  expect(await jobs.jobsOfStep("no step\n")).toEqual([]);
});
