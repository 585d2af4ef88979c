import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { GitError } from "../../../src/git/git.ts";
import type { JobCommit } from "../../../src/git/job-commits.ts";
import type { KeptWork, StoredTurn } from "../../../src/model.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { findKeptTurn, keptOnGitHub } from "../../../src/turns/kept-work.ts";
import type { Work } from "../../../src/turns/work.ts";
import { setUpTurns } from "../../support/turn.ts";

test.each<
  [name: string, turns: [attempts: number, kept: KeptWork | null][], found: [id: number, kept: KeptWork] | undefined]
>([
  ["the turn that made it", [[1, "push"]], [1, "push"]],
  [
    "with what a turn that could not publish it has achieved",
    [
      [1, "push"],
      [0, "pull-request"],
    ],
    [1, "pull-request"],
  ],
  [
    "the last one whose agent ran, which had to do it again",
    [
      [1, "push"],
      [0, "push"],
      [1, "push"],
    ],
    [3, "push"],
  ],
  [
    "past a turn before which nothing was done",
    [
      [1, "push"],
      [0, null],
    ],
    [1, "push"],
  ],
  [
    "without a count of attempts, the first one",
    [
      [0, "push"],
      [0, "push"],
    ],
    [1, "push"],
  ],
  [
    "nothing once a turn has ended without it",
    [
      [1, "push"],
      [1, null],
    ],
    undefined,
  ],
])("of kept work is found: %s", (_name, rows, found) => {
  const turns = rows.map(
    ([attempts, kept], index) => ({ id: index + 1, state: "failed", attempts, kept, stage: "made" }) as StoredTurn,
  );
  const kept = findKeptTurn({ id: turns.length + 1 }, turns);
  expect(kept && [kept.id, kept.kept]).toEqual(found);
});

test("of kept work is found although a later turn, whose runner or service was lost, could not publish it", () => {
  const of = (id: number, more: Partial<StoredTurn>) =>
    ({ id, state: "failed", attempts: 1, kept: "push", stage: null, made: null, ...more }) as StoredTurn;
  const maker = of(1, { stage: "made", made: '{"commit":"c1"}' });
  expect(findKeptTurn({ id: 3 }, [maker, of(2, {})])?.id).toBe(1);
  expect(findKeptTurn({ id: 3 }, [maker, of(2, { attempts: 2 })])?.id).toBe(1);
  expect(findKeptTurn({ id: 3 }, [maker, of(2, { stage: "begun" })])?.id).toBe(1);
  // Whose commit GitHub, or a ref, names.
  expect(findKeptTurn({ id: 3 }, [maker, of(2, { stage: "made", attempts: 2 })])?.id).toBe(2);
});

test.each<[string, Partial<Work["start"]>, string | null, boolean, string]>([
  ["whose commit is on the target branch is merged", {}, "c1", false, "merged"],
  ["whose pull request is merged is", {}, null, true, "merged"],
  ["whose branch is gone, as GitHub says, is not", {}, null, false, "gone"],
  ["whose commit is nowhere is not", { isLost: true }, "c1", false, "gone"],
])("a turn that starts over after one %s", async (_name, start, head, isMerged, expected) => {
  const work = {
    turn: { attempts: 0 },
    maker: { kept: "pull-request", head: "c1", endedAt: 1 },
    start: { isContinued: false, ...start },
    pullRequest: { isMerged },
    context: { job: { head } },
  } as Work;
  expect(await keptOnGitHub(work)).toEqual({ github: expected });
});

test("a turn that is run again looks for a stored commit, and leaves the clone's own if it finds another turn's", async () => {
  const { take, run, ports, store } = await setUpTurns();
  const asked: string[] = [];
  const kept: string[] = [];
  const other = (commit: string): JobCommit => ({ commit, parent: "base", message: "Of another turn" });
  const load = async (job: string): Promise<Uint8Array> => {
    asked.push(job);
    return new Uint8Array();
  };
  ports.keptCommits = { save: async () => {}, load };
  ports.repository.lastCommitOf = async () => other("last");
  ports.repository.unpackCommit = async () => other("stored");
  ports.repository.keep = async (commit) => void kept.push(commit);
  expect((await run()).result).toBe("completed");
  expect([asked, kept]).toEqual([[], ["c1"]]);
  await store.turns.add("a", "Fix more", 7);
  await store.runningTurns.countAttempt(await take());
  await store.runningTurns.requeueInterrupted();
  expect((await run()).result).toBe("completed");
  expect([asked, kept]).toEqual([["a"], ["c1", "last", "c2"]]);
});

/** Counts an attempt of the next turn, as for one that was lost. */
async function countAttempt({ take, store }: Awaited<ReturnType<typeof setUpTurns>>): Promise<void> {
  await store.runningTurns.countAttempt(await take());
  await store.runningTurns.requeueInterrupted();
}

const storedOf = ([turn]: readonly StoredTurn[]): JobCommit => {
  return { commit: "stored", parent: "base", message: turn === undefined ? "" : commitMessage(turn, []) };
};

test("a stored commit is that of a turn whose attempt was counted, and not looked for otherwise", async () => {
  for (const attempts of [0, 1, 2]) {
    const turns = await setUpTurns();
    const { run, ports, starts, branch, opened, store } = turns;
    ports.keptCommits = { save: async () => {}, load: async () => new Uint8Array() };
    ports.repository.unpackCommit = async () => storedOf(await store.turns.ofJob("a"));
    for (let count = 0; count < attempts; count++) await countAttempt(turns);
    expect((await run()).result).toBe("completed");
    expect([starts.length, opened.length]).toEqual([attempts === 0 ? 1 : 0, 1]);
    expect(opened[0]?.head).toBe(attempts === 0 ? branch.commits[0]?.commit : "stored");
  }
});

test.each([
  ["its store cannot be asked", "the look-up was answered with 503"],
  ["its start cannot be fetched", "git fetch exited with 128: fatal: returned error: 403"],
])(
  "a commit that cannot be read, because %s, is not made again: its turn fails in words, and a later one with the prompt publishes it",
  async (what, why) => {
    const turns = await setUpTurns();
    const { run, ports, store, starts, opened } = turns;
    let isOut = true;
    const saves: unknown[] = [];
    const isStoreOut = (): boolean => isOut && what.includes("store");
    ports.keptCommits = {
      isOnlyPlace: true,
      save: async (...saved) => void saves.push(saved),
      load: async () => (isStoreOut() ? Promise.reject(new Error(why)) : new Uint8Array()),
    };
    await countAttempt(turns);
    ports.repository.unpackCommit = async () => {
      if (isOut) throw new GitError(["fetch"], "exited with 128", "fatal: returned error: 403", 128);
      return storedOf(await store.turns.ofJob("a"));
    };
    for (const _outage of [1, 2]) {
      const failures: unknown[] = [];
      const { result } = await run((failure) => failures.push(failure));
      const reason = `What is kept of an earlier attempt cannot be read now: ${why}. So no agent was run.`;
      expect([result, failures]).toEqual(["failed", [{ reason, failureClass: "transient", kept: "push" }]]);
      await store.turns.add("a", "Fix it", 7);
    }
    isOut = false;
    expect((await run()).result).toBe("completed");
    expect(opened[0]?.head).toBe("stored");
    expect([starts, saves]).toEqual([[], []]);
  },
);

test("a stored commit that is damaged is named, and passed over", async () => {
  const turns = await setUpTurns();
  const { run, ports, starts } = turns;
  await countAttempt(turns);
  ports.keptCommits = { save: async () => {}, load: async () => new Uint8Array() };
  ports.repository.unpackCommit = async () => undefined;
  const { result, log } = await run();
  expect([result, starts.length]).toEqual(["completed", 1]);
  expect(log).toContain("The commit that is stored for a is damaged, or its start is gone: it is passed over.");
});

test("the clone keeps a commit before it is made the one that is pushed, and that one before the push", async () => {
  const { run, ports } = await setUpTurns();
  const steps: string[] = [];
  const make = async (commit: string): Promise<string> => `signed ${commit}`;
  ports.committers = {
    of: () => ({ prepare: async () => {}, author: async () => undefined, trial: async () => undefined, make }),
  };
  ports.repository.keep = async (commit) => void steps.push(`keep ${commit}`);
  ports.repository.push = async (commit, _branch, expected) => {
    steps.push(`push ${commit}`);
    if (expected === undefined && commit !== "base") throw new Error(`${commit} is not on the branch`);
  };
  await run();
  expect(steps).toEqual(["push base", "keep c1", "keep signed c1", "push signed c1"]);
});

test("a commit that cannot be pushed in an outage is stored once, however often its turn is tried", async () => {
  const { run, ports } = await setUpTurns();
  let saves = 0;
  ports.keptCommits = { save: async () => void saves++, load: async () => undefined };
  ports.committers = {
    of: () => ({
      prepare: async () => {},
      author: async () => undefined,
      trial: async () => undefined,
      make: () => Promise.reject(new GitHubError("bad gateway", 502)),
    }),
  };
  for (let tries = 0; tries < 2; tries++) expect((await run()).result).toBe("postponed");
  expect(saves).toBe(1);
});

test("a change of nothing but files that the project lent its agent is none", async () => {
  const { run, ports, opened } = await setUpTurns();
  const { findStart } = ports.repository;
  ports.repository.findStart = async (...args) => ({ ...(await findStart(...args)), instructed: "lent" });
  ports.repository.withOwnFiles = async (_commit, { head }) => ({ commit: head, leftOut: [] });
  expect(await run()).toMatchObject({ result: "completed", log: expect.stringContaining("No file was changed.") });
  expect(opened).toEqual([]);
});

test("the log of a turn whose commit is lost with its runner does not say that it is kept", async () => {
  const { run, ports } = await setUpTurns();
  const save = () => Promise.reject(new Error("the cache is closed"));
  ports.keptCommits = { isOnlyPlace: true, save, load: async () => undefined };
  ports.repository.branchHead = async () => "base";
  ports.repository.push = async (commit) => {
    if (commit === "c1")
      throw new GitError(["push"], "exited with 1", "remote: error: GH013: Repository rule violations", 1);
  };
  const { result, log } = await run();
  expect(result).toBe("failed");
  expect(log).toMatch(/The turn failed: .* The commit is lost with this runner: the cache is closed\./);
  expect(log).not.toContain("is kept");
});

test("a turn that is stopped once it has published earlier work has kept nothing, and is run when it is sent again", async () => {
  const { run, ports, store, starts, opened } = await setUpTurns();
  const { open } = ports.pullRequests;
  ports.pullRequests.open = async () => {
    throw new Error("GitHub Actions is not permitted to create pull requests");
  };
  expect((await run()).result).toBe("failed");
  ports.pullRequests.open = open;
  const before = opened.length;
  const stop = new AbortController();
  const { findStart } = ports.repository;
  ports.repository.findStart = async (...start) => {
    if (opened.length > before && !stop.signal.aborted) {
      await setImmediate();
      stop.abort("Stopped by ci.");
      await setImmediate();
    }
    return findStart(...start);
  };
  await store.turns.add("a", "Fix more", 7);
  ports.stop = stop.signal;
  const failures: unknown[] = [];
  const stopped = await run((failure) => failures.push(failure));
  expect(failures, stopped.log).toEqual([{ reason: "Stopped by ci.", failureClass: "transient", kept: undefined }]);
  delete ports.stop;
  await store.turns.add("a", "Fix more", 8);
  expect((await run()).result).toBe("completed");
  expect([starts.length, opened.length]).toEqual([2, 2]);
});
