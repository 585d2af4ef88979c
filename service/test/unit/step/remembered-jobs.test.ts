import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { CacheReadOnlyError } from "../../../../src/runner-kit/cache.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { packMessage } from "../../../src/git/job-commits.ts";
import type { JobCopy, RunningTurn, TurnCopy } from "../../../src/model.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import type { JobCopies } from "../../../src/store/job-copies.ts";
import type { KeptCommits } from "../../../src/store/kept-commits.ts";
import type { RebuiltJob } from "../../../step/memory/rebuild-job.ts";
import { RememberedJobs, type RememberedJobsOptions } from "../../../step/memory/remembered-jobs.ts";
import { identityOf } from "../../support/turn-identity.ts";

const turn = (id: number): TurnCopy => ({
  id,
  identity: identityOf(id),
  prompt: `prompt ${id}`,
  state: "completed",
  attempts: 1,
  endedAt: 1000,
  answer: null,
});
const job: JobCopy = {
  id: "job_1",
  project: "docs",
  createdAt: 500,
  archivedAt: null,
  pullRequest: "https://github.com/acme/docs/pull/1",
  head: "a".repeat(40),
  base: null,
  turns: [turn(1)],
};
const unpushed: JobCopy = { ...job, pullRequest: null };
const published = { github: "published" } as const;
const facts = new Map([
  [1, published],
  [2, published],
]);
const rebuilt: RebuiltJob = { job: { ...job, turns: [turn(1), turn(2)] }, facts, unnamedTurn: turn(9) };
const denied = new CacheReadOnlyError(
  "Failed to save: Unable to reserve cache with key k. cache write denied: token has no writable scopes",
);

let into = "";
let saves: JobCopy[] = [];
let log: string[] = [];
beforeEach(() => {
  into = join(temporaryFolder(), "restored");
  saves = [];
  log = [];
});

/** A cache with a copy of the job and its session. */
function cacheOf(copy: JobCopy | Error | undefined, failure?: Error): JobCopies {
  return {
    save: async (saved) => {
      saves.push(saved);
      if (failure) throw failure;
    },
    restore: async (_id, _home, path) => {
      if (copy instanceof Error) throw copy;
      if (copy) mkdirSync(path);
      return copy;
    },
    jobsOfStep: async () => ["job_1", "job_3"],
  };
}

function remember(options: Partial<RememberedJobsOptions> = {}, found: RebuiltJob | Error | undefined = undefined) {
  return new RememberedJobs({
    keeps: ["unfinished"],
    cached: cacheOf(undefined),
    isCacheWritable: true,
    kept: { save: async () => {}, load: async () => undefined },
    rebuilt: {
      isPossible: async () => true,
      rebuild: async () => {
        if (found instanceof Error) throw found;
        return found;
      },
      jobsOfStep: async () => ["job_2", "job_1"],
      jobOfSession: async () => undefined,
    },
    isFirstAttempt: false,
    log: (line) => void log.push(line),
    ...options,
  });
}

describe("a job is restored", () => {
  const restore = (memory: RememberedJobs) => memory.restore("job_1", "/home", into);

  test("from its branch if the cache has none", async () => {
    expect(await restore(remember({}, rebuilt))).toEqual(rebuilt.job);
    expect(await restore(remember({ cached: undefined }, rebuilt))).toEqual(rebuilt.job);
    expect(log[0]).toBe(`job_1: rebuilt from its branch and ${job.pullRequest}, so the agent starts a new session.`);
  });

  test("with a turn that stands for those that nobody can tell", async () => {
    const unnamed = { ...rebuilt, job: { ...rebuilt.job, turns: [] } };
    expect((await restore(remember({}, unnamed)))?.turns).toEqual([turn(9)]);
    expect((await restore(remember({ cached: cacheOf(job) }, unnamed)))?.turns).toEqual([turn(1)]);
  });

  test("from the cache if it has no branch, with its session", async () => {
    expect(await restore(remember({ cached: cacheOf(unpushed) }))).toEqual(unpushed);
    expect(existsSync(into)).toBe(true);
    expect(await restore(remember())).toBeUndefined();
  });

  test("from both, without a session that is older than the branch", async () => {
    expect((await restore(remember({ cached: cacheOf(job) }, rebuilt)))?.turns).toHaveLength(2);
    expect(existsSync(into)).toBe(false);
    expect(log).toEqual(["job_1: the agent starts a new session: the last one is older than the branch."]);
    await restore(remember({ cached: cacheOf(rebuilt.job) }, rebuilt));
    expect(existsSync(into)).toBe(true);
  });

  test("only once the cache can be read: it may have a turn that pushed nothing yet", async () => {
    await expect(restore(remember({ cached: cacheOf(new Error("down")) }, rebuilt))).rejects.toThrow("down");
    await expect(restore(remember({ cached: cacheOf(new Error("down")) }))).rejects.toThrow("down");
  });

  test.each<[name: string, open: Partial<TurnCopy>, step: string, found: Partial<TurnCopy>]>([
    ["its own step asks again", { state: "waiting", attempts: 0 }, "s2", { state: "waiting", attempts: 1 }],
    ["its own step asks again, and an attempt was counted", { attempts: 2 }, "s2", { attempts: 2 }],
    [
      "another step asks",
      { state: "waiting", attempts: 0 },
      "s3",
      { state: "waiting", attempts: 2, reason: expect.stringContaining("Its runner was lost, or works still.") },
    ],
    ["it was to be stopped", { reason: "Stopped.", stopRequestedAt: 5 }, "s3", { attempts: 2, reason: "Stopped." }],
    [
      "it was to be stopped, and its own step asks again",
      { reason: "Stopped.", stopRequestedAt: 5 },
      "s2",
      { attempts: 1, reason: null, stopRequestedAt: null },
    ],
    [
      "it was to be stopped after its agent's end, and its commit is to be checked",
      { reason: "Stopped.", stopRequestedAt: 5, made: '{"commit":"c1"}' },
      "s3",
      { attempts: 2, reason: "Stopped.", stopRequestedAt: null },
    ],
  ])("with a lost turn, whose agent runs again only for its own step: %s", async (_name, open, step, found) => {
    const lost: TurnCopy = { ...turn(2), state: "running", endedAt: null, step: "s2", ...open };
    const memory = remember({ cached: cacheOf({ ...job, turns: [turn(1), lost] }) });
    await memory.jobsOfStep({ project: "docs", caller: "API key", step });
    expect((await restore(memory))?.turns).toEqual([turn(1), { ...lost, ...found }]);
  });

  test("only once GitHub can be asked: a copy may be older than the branch", async () => {
    await expect(restore(remember({ cached: cacheOf(job) }, new Error("502")))).rejects.toThrow("502");
  });
});

describe("a job is saved", () => {
  const impossible = {
    isPossible: async () => false,
    rebuild: async () => undefined,
    jobsOfStep: async () => [],
    jobOfSession: async () => undefined,
  };

  test("in the cache", async () => {
    await remember().save(job, "/home");
    expect(saves).toEqual([job]);
  });

  test("nowhere else if its branch remembers it, and the cache is closed to this run", async () => {
    await remember({ isCacheWritable: false }).save(unpushed, undefined);
    await remember({ cached: undefined, isCacheWritable: false }).save(job, undefined);
    expect(saves).toEqual([]);
  });

  test("once at most in a cache that turns out to be closed, and that is no failure", async () => {
    const memory = remember({ cached: cacheOf(undefined, denied) });
    await memory.save(unpushed, undefined);
    await memory.save(job, undefined);
    expect(saves).toHaveLength(1);
    expect(log).toEqual([`job_1: not saved in the Actions cache: ${denied.message}`]);
  });

  test("in a cache that fails, unless its branch remembers it, or refs have its work", async () => {
    const cached = cacheOf(undefined, new Error("the cache is full"));
    const memory = remember({ cached });
    await expect(memory.save(unpushed, undefined)).rejects.toThrow("the cache is full");
    await memory.save(job, undefined);
    const commandFor: KeptCommits["commandFor"] = (_turn, what) => (what === "unfinished" ? "git fetch" : undefined);
    const kept = { save: async () => {}, load: async () => undefined, commandFor };
    await remember({ cached, kept }).save(unpushed, undefined);
    expect(saves).toHaveLength(3);
  });

  test("nowhere, which is a failure, if its branch cannot be trusted and the cache is closed", async () => {
    const cached = cacheOf(undefined, denied);
    await expect(remember({ cached, rebuilt: impossible }).save(job, undefined)).rejects.toThrow("cache write denied");
    const closed = remember({ isCacheWritable: false, rebuilt: impossible });
    await expect(closed.save(job, undefined)).rejects.toThrow("the Actions cache cannot be written");
    const unknown = { ...impossible, isPossible: () => Promise.reject(new Error("502")) };
    await expect(remember({ isCacheWritable: false, rebuilt: unknown }).save(job, undefined)).rejects.toThrow();
  });
});

describe("the jobs of a step", () => {
  const sent = { project: "docs", caller: "API key", step: "s1" };

  test("are those of the branches and of the cache", async () => {
    expect(await remember({ cached: cacheOf(undefined) }).jobsOfStep(sent)).toEqual(["job_2", "job_1", "job_3"]);
    expect(await remember({ cached: undefined }).jobsOfStep(sent)).toEqual(["job_2", "job_1"]);
  });

  test("are not looked for in the first attempt, which can have none", async () => {
    expect(await remember({ isFirstAttempt: true }).jobsOfStep(sent)).toEqual([]);
  });
});

describe("a commit that is kept", () => {
  const kept: RunningTurn = {
    ...{ id: 1, identity: identityOf(1), job: "job_1", prompt: "Go", sections: "", covers: null },
    ...{ attempts: 0, step: "s", request: "r", lease: "l", isResumed: false },
  };
  const places = () => {
    const [refs, cache] = [new Map<string, Uint8Array>(), new Map<string, Uint8Array>()];
    const in_ = (place: Map<string, Uint8Array>, failure?: Error): KeptCommits => ({
      save: async ({ job }, packed) => {
        if (failure) throw failure;
        place.set(job, packed);
      },
      load: async (job) => {
        if (failure?.message === "down") throw failure;
        return place.get(job);
      },
      forget: async ({ job }) => void place.delete(job),
    });
    return { refs, cache, in_ };
  };
  const refused = new Error("GH013: restricted");
  const secret = new Error("GH013: push protection: secret");
  const away = new GitHubError("bad gateway", 502);

  test.each<[refs: string, cache: string, refsFail: Error | undefined, isWritable: boolean, kept: string | Error]>([
    ["can be written", "too", undefined, true, "refs"],
    ["can be written", "not", undefined, false, "refs"],
    ["are refused", "can be written", refused, true, "cache"],
    ["are refused", "is read-only", refused, false, refused],
    // Nothing may have it.
    ["are refused for a secret", "can be written", secret, true, secret],
    ["are away", "can be written", away, true, "cache"],
    ["are away", "is read-only", away, false, away],
  ])("refs %s, the cache %s", async (_refs, _cache, refsFail, isCacheWritable, expected) => {
    const { refs, cache, in_ } = places();
    const { keptCommits } = remember({
      kept: in_(refs, refsFail),
      cached: { ...cacheOf(undefined), keptCommits: in_(cache) },
      isCacheWritable,
    });
    const save = keptCommits.save(kept, Buffer.from("packed"));
    if (expected instanceof Error) await expect(save).rejects.toBe(expected);
    else await save;
    expect([refs.size, cache.size]).toEqual([Number(expected === "refs"), Number(expected === "cache")]);
    const found = await keptCommits.load("job_1", kept);
    expect(found && Buffer.from(found).toString()).toBe(expected instanceof Error ? undefined : "packed");
  });

  test("in the cache already is not lost because GitHub, or the cache, is away when it is to be kept again", async () => {
    const { cache, in_ } = places();
    const failures = [refused, away, refused, away];
    const save = () => Promise.reject(failures.shift());
    const ofCache = in_(cache);
    const { keptCommits } = remember({
      kept: { save, load: async () => undefined },
      cached: { ...cacheOf(undefined), keptCommits: ofCache },
      isCacheWritable: true,
    });
    await keptCommits.save(kept, Buffer.from("packed"));
    await keptCommits.save(kept, Buffer.from("packed"));
    ofCache.save = () => Promise.reject(new Error("the cache service does not respond"));
    await keptCommits.save(kept, Buffer.from("packed"));
    await expect(keptCommits.save(kept, Buffer.from("another"))).rejects.toThrow("does not respond");
    expect([...cache.values()].map(String)).toEqual(["packed"]);
  });

  test.each([
    ["unfinished", ["unfinished"], undefined],
    ["unfinished", [], "its agent has a network"],
    ["stopped", ["unfinished"], "nothing of an agent that was stopped"],
    ["stopped", ["unfinished", "stopped"], undefined],
  ] as const)("that is %s, where %j may be kept", async (left, keeps, why) => {
    const { refs, cache, in_ } = places();
    const cached = { ...cacheOf(undefined), keptCommits: in_(cache) };
    const { keptCommits } = remember({ kept: in_(refs), cached, keeps });
    const message = commitMessage(
      { ...kept, job: "job_00000000-0000-4000-8000-000000000000" },
      [],
      {},
      {
        left,
      },
    );
    const save = keptCommits.save(kept, packMessage(message, 0));
    if (why) await expect(save).rejects.toThrow(why);
    else await save;
    expect([refs.size, cache.size]).toEqual([why ? 0 : 1, 0]);
  });

  test.each([true, false])(
    "that a turn made none is known on a ref, also with a cache: %s",
    async (isCacheWritable) => {
      let ended = 0;
      const end = async (_turn: unknown, message: string | undefined) => {
        if (message !== undefined) ended++;
      };
      const one = { save: async () => {}, load: async () => undefined, end };
      await remember({ kept: one, isCacheWritable }).keptCommits.end?.(kept, "No change\n");
      expect(ended).toBe(1);
    },
  );

  test.each([
    ["are refused, and the cache has it", refused, true, undefined],
    ["are refused, as is the cache", refused, false, refused],
    // Others take it for one that works.
    ["are away, and the cache has it", away, true, away],
  ])("that a turn made none is told: refs %s", async (_, failure, isCacheWritable, expected) => {
    const one = { save: async () => {}, load: async () => undefined, end: () => Promise.reject(failure) };
    const { end } = remember({ kept: one, isCacheWritable }).keptCommits;
    expect(await end?.(kept, "No change\n").catch((error: unknown) => error)).toBe(expected);
  });

  test.each([
    [
      "can be written",
      true,
      "What it makes is kept in the Actions cache if it cannot be published, but not if its runner",
    ],
    ["is read-only", false, "What it makes is lost, and has to be paid again, if it cannot be published, because"],
  ])("is told before its agent of a turn whose refs are refused, if the cache %s", async (_, isCacheWritable, told) => {
    const one = { save: async () => {}, load: async () => undefined, begin: () => Promise.reject(refused) };
    const { begin } = remember({ kept: one, isCacheWritable }).keptCommits;
    await expect(begin?.(kept, "Begun\n")).rejects.toThrow(told);
  });

  /** The commit of a turn of one job, as of a second. */
  const inJob = "job_00000000-0000-4000-8000-000000000001";
  const packedAt = (second: number, of: RunningTurn = kept): { id: string; packed: Buffer } => {
    const id = String(second).repeat(40);
    const text = `tree ${id}\ncommitter a <a@b> ${second} +0000\n\n${commitMessage({ ...of, job: inJob }, [], {})}`;
    return { id, packed: Buffer.from(`agent-work ${id} ${text.length}\n${text}`) };
  };
  const turnOf2: RunningTurn = { ...kept, id: 2, identity: identityOf(2) };

  test.each<
    [what: string, ref: number, cache: number | Buffer, made: number | undefined, expected: number, asked: 0 | 1]
  >([
    ["a second go's, whose ref could not be pushed", 1, 2, 2, 2, 1],
    ["a second go's, which nothing names", 1, 2, undefined, 2, 1],
    ["a second go's, by a clock that went back", 2, 1, 1, 1, 1],
    ["the ref's, which the turn names", 2, 3, 2, 2, 0],
    ["the ref's, which is newer", 2, 1, undefined, 2, 1],
    ["the ref's, because the cache's is of another turn", 1, packedAt(2, turnOf2).packed, undefined, 1, 1],
    ["the ref's, because the cache's is damaged", 1, Buffer.of(), 2, 1, 1],
  ])("in a ref and in the cache is %s", async (_what, ref, inCache, made, expected, asked) => {
    const { refs, cache, in_ } = places();
    refs.set(inJob, packedAt(ref).packed);
    cache.set(inJob, typeof inCache === "number" ? packedAt(inCache).packed : inCache);
    let loads = 0;
    const { load, ...ofCache } = in_(cache);
    const counted: KeptCommits = { ...ofCache, load: (...given) => load(...given).finally(() => loads++) };
    const { keptCommits } = remember({
      kept: in_(refs),
      cached: { ...cacheOf(undefined), keptCommits: counted },
    });
    const known = made === undefined ? {} : { made: JSON.stringify({ commit: packedAt(made).id }) };
    expect(await keptCommits.load(inJob, { ...kept, ...known })).toEqual(packedAt(expected).packed);
    expect(loads).toBe(asked);
  });

  test("is not taken for none while its ref cannot be read", async () => {
    const { refs, cache, in_ } = places();
    cache.set("job_1", Buffer.from("old"));
    const { keptCommits } = remember({
      kept: in_(refs, new Error("down")),
      cached: { ...cacheOf(undefined), keptCommits: in_(cache) },
    });
    await expect(keptCommits.load("job_1", kept)).rejects.toThrow("down");
  });
});
