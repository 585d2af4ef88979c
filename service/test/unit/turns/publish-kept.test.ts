import { expect, test } from "vitest";
import { noNetwork } from "../../../src/agents/network/agent-network.ts";
import type { JobCommit } from "../../../src/git/job-commits.ts";
import type { KeptWork, StoredTurn } from "../../../src/model.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { KeptOutcomes } from "../../../src/turns/kept-outcomes.ts";
import { findKeptTurn } from "../../../src/turns/publish-kept.ts";
import type { ProjectCommands } from "../../../src/turns/turn-ports.ts";
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
    ([attempts, kept], index) => ({ id: index + 1, state: "failed", attempts, kept }) as StoredTurn,
  );
  const kept = findKeptTurn({ id: turns.length + 1 }, turns);
  expect(kept && [kept.id, kept.kept]).toEqual(found);
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
  ports.repository.unbundle = async () => other("stored");
  ports.repository.keep = async (commit) => void kept.push(commit);
  expect((await run()).result).toBe("completed");
  expect([asked, kept]).toEqual([[], ["c1"]]);
  await store.turns.add("a", "Fix more", 7);
  await store.runningTurns.countAttempt(await take());
  await store.runningTurns.requeueInterrupted();
  expect((await run()).result).toBe("completed");
  expect([asked, kept]).toEqual([["a"], ["c1", "last", "c2"]]);
});

test.each([
  ["where only that outlives a runner, which could be lost in a check", true, "check", 0],
  ["not without a check", true, undefined, 1],
  ["not where the clone is kept", false, "check", 1],
])(
  "a stored commit of a turn whose attempt nobody has counted is used: %s",
  async (_where, isOnlyPlace, check, goes) => {
    const { run, ports, starts, branch, opened } = await setUpTurns();
    const worktrees = { lend: async () => {} };
    const [repository, reads] = [{} as ProjectCommands["repository"], []];
    if (check !== undefined) ports.commands = { check, reads, setupNetwork: noNetwork, repository, worktrees };
    ports.keptCommits = { isOnlyPlace, save: async () => {}, load: async () => new Uint8Array() };
    ports.repository.unbundle = async () => {
      const [turn] = await ports.store.turns.ofJob("a");
      const message = turn === undefined ? "" : commitMessage(turn, []);
      return { commit: "stored", parent: "base", message };
    };
    expect((await run()).result).toBe("completed");
    expect([starts.length, opened.length]).toEqual([goes, 1]);
    expect(opened[0]?.head).toBe(goes === 0 ? "stored" : branch.commits[0]?.commit);
  },
);

test("the clone keeps a commit before it is made the one that is pushed, and that one before the push", async () => {
  const { run, ports } = await setUpTurns();
  const steps: string[] = [];
  const make = async (commit: string): Promise<string> => `signed ${commit}`;
  ports.committers = { of: () => ({ prepare: async () => {}, make }) };
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
  ports.outcomes = new KeptOutcomes();
  ports.committers = {
    of: () => ({ prepare: async () => {}, make: () => Promise.reject(new GitHubError("bad gateway", 502)) }),
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
