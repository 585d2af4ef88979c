import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { noNetwork } from "../../../src/agents/network/agent-network.ts";
import type { AgentResult } from "../../../src/agents/run-agent.ts";
import type { Start } from "../../../src/git/find-start.ts";
import { GitError } from "../../../src/git/git.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { FakeMachine } from "../../support/fake-machine.ts";
import { setUpTurns } from "../../support/turn.ts";

/** What a check does: how it ends, and the time that it takes. `stops`: somebody stops the turn meanwhile. */
interface Check extends Partial<AgentResult> {
  tookMs?: number;
  stops?: boolean;
}

/** Sets up turns of 90 s with a check that does this whenever it runs. An agent takes `agentMs`, and is stopped in its go `stopsIn`. */
async function setUpCheck(
  checks: Check[],
  { agentMs = 0, stopsIn = 0, isOnlyPlace = false, key = "sk-secret-12345" } = {},
) {
  const { run, ports, host, next, store, opened, branch } = await setUpTurns();
  const machine = new FakeMachine();
  const stop = new AbortController();
  const [folder, secrets] = [temporaryFolder(), [{ name: "KEY", value: key }]];
  const seen = { goes: [] as { isFollowUp: boolean; costUsd: number | null | undefined }[], limits: [] as number[] };
  const homes: string[][] = [];
  /** The commits that were checked. */
  const checked: string[] = [];
  const stored: (string | undefined)[] = [];
  let bundle: string | undefined;
  ports.repository.packCommit = async () => Buffer.from(branch.commits.at(-1)?.commit ?? "");
  ports.keptCommits = {
    isOnlyPlace,
    save: async (_turn, saved) => {
      bundle = String(saved);
    },
    load: async () => undefined,
  };
  host.runAgent = async (_agent, { directories: { tree, home }, timeLimitMs }) => {
    if (!tree.includes("/check/")) {
      machine.pass(agentMs);
      const [turn] = await store.turns.ofJob("a");
      if (seen.goes.length + 1 === stopsIn) stop.abort("Stopped by ci.");
      seen.goes.push({ isFollowUp: seen.goes.length > 0, costUsd: turn?.costUsd });
      return { ...next.result, costUsd: 0.5, ...(stop.signal.aborted && { end: "stopped" }) };
    }
    homes.push(readdirSync(home));
    stored.push(bundle);
    writeFileSync(join(home, "left"), "");
    seen.limits.push(timeLimitMs);
    const { tookMs = 0, stops = false, ...result } = checks.shift() ?? {};
    machine.pass(tookMs);
    if (stops) stop.abort("Stopped by ci.");
    return { end: "completed", message: undefined, error: undefined, ...result };
  };
  const repository = {
    ownStart: ports.repository.findStart,
    keepIgnored: async () => [],
    checkOut: async ({ head }: Start) => {
      checked.push(head);
      return { tree: "", index: "", head, identity: undefined };
    },
  };
  const worktrees = { lend: async () => {} };
  const commands = { check: "check", reads: [], setupNetwork: noNetwork, repository, worktrees };
  Object.assign(ports, { machine, folder, secrets, commands, stop: stop.signal });
  /** What is stored of the check whenever others are told of it. */
  const told: unknown[] = [];
  ports.onChecked = async () => told.push((await store.turns.ofJob("a"))[0]?.checkResult);
  const turn = async () => {
    expect((await run()).result).toBe("completed");
    const [{ checkResult, checkOutput } = {}] = await store.turns.ofJob("a");
    return { checkResult, checkOutput };
  };
  return { turn, run, ports, seen, homes, checked, stored, opened, branch, told, store };
}

const failed = { end: "failed", exitCode: 1, tookMs: 10_000 } as const;

test("a commit whose check cannot run is published with the reason, and without a result", async () => {
  const { turn, ports, opened, seen } = await setUpCheck([]);
  const checkOut = () => Promise.reject(new Error("cp: no space for sk-secret-12345"));
  Object.assign(ports.commands ?? {}, { repository: { ...ports.commands?.repository, checkOut } });
  const output = "cp: no space for ***";
  expect(await turn()).toEqual({ checkResult: null, checkOutput: output });
  expect(opened).toMatchObject([{ check: { result: "not-run", command: "check", output } }]);
  expect(seen.goes).toHaveLength(1);
});

test("a check has a new home each time, the time that is left, and no secret in its output", async () => {
  const { turn, seen, homes } = await setUpCheck([{ ...failed, message: "sk-secret-12345 is bad" }, failed]);
  expect(await turn()).toEqual({ checkResult: "failed-before", checkOutput: "*** is bad" });
  expect(homes).toEqual([[], []]);
  expect(seen.limits).toEqual([90_000, 80_000]);
  // It shows nothing, so the agent gets no second go.
  expect(seen.goes).toHaveLength(1);
});

test("no part of a secret is left where the output of a check is cut off", async () => {
  const key = Array.from({ length: 1000 }, (_, index) => String(index).padStart(4, "k")).join("");
  const { turn } = await setUpCheck([{ ...failed, message: `${key.slice(-900)} ${`${key} `.repeat(262)}` }, failed], {
    key,
  });
  expect((await turn()).checkOutput).toBe("");
  const cut = key.slice(0, 3997);
  const { turn: other } = await setUpCheck(
    [{ ...failed, message: `\u001b[31m${cut}\u001b[0m${key.slice(3997)}` }, failed],
    { key },
  );
  expect((await other()).checkOutput).toBe("***");
});

test.each([true, false])(
  "what is checked is stored before that, whether or not this is its only place: %s",
  async (isOnlyPlace) => {
    const { turn, stored } = await setUpCheck([failed, {}], { isOnlyPlace });
    await turn();
    expect(stored).toEqual(["c1", "c1"]);
  },
);

test.each([
  ["lines", Array.from({ length: 300 }, (_, index) => `line ${index}`).join("\n"), /^line 100\n[\s\S]*\nline 299$/],
  ["characters", `first ${"x".repeat(12_000)} last`, /^x{9995} last$/],
])(
  "of an output with too many %s, the last ones are told, where programs say what failed",
  async (_, message, told) => {
    const { turn } = await setUpCheck([{ ...failed, message }, failed]);
    expect((await turn()).checkOutput).toMatch(told);
  },
);

test("a check that does not end in time has failed", async () => {
  const { turn, seen } = await setUpCheck([{ end: "timed-out", tookMs: 90_000 }]);
  expect(await turn()).toEqual({ checkResult: "failed", checkOutput: "It did not end in time, and was ended." });
  expect(seen.goes).toHaveLength(1);
});

test("a stop in the check ends that, and what is paid for is published without a result", async () => {
  const { turn, opened } = await setUpCheck([{ end: "stopped", stops: true }]);
  expect(await turn()).toMatchObject({ checkResult: null });
  expect(opened).toMatchObject([{ head: "c1" }]);
});

test("a stop in the second go leaves the first commit", async () => {
  const { turn, opened, seen, branch } = await setUpCheck([failed], { stopsIn: 2 });
  expect(await turn()).toMatchObject({ checkResult: "failed" });
  expect([seen.goes.length, branch.commits.length, opened]).toMatchObject([2, 1, [{ head: "c1" }]]);
});

test("a second go that ends without a word is not run again: its session is the one of the first go", async () => {
  const { turn, seen, ports, branch } = await setUpCheck([failed]);
  const { host } = ports;
  if (host === undefined) throw new Error("the turn has no host");
  const { runAgent } = host;
  host.runAgent = async (agent, options) => {
    const result = await runAgent(agent, options);
    const isSecond = seen.goes.length > 1 && !options.directories.tree.includes("/check/");
    return isSecond ? { ...result, end: "failed", hasEnded: false, hasWorked: false, exitCode: 1 } : result;
  };
  expect(await turn()).toMatchObject({ checkResult: "failed" });
  expect([seen.goes.length, branch.commits.length]).toEqual([2, 1]);
});

test("a check that does not end at the start of the turn says nothing about it", async () => {
  const { turn } = await setUpCheck([failed, { end: "timed-out" }], { agentMs: 80_000 });
  expect(await turn()).toMatchObject({ checkResult: "failed" });
});

test.each([
  ["the time is left for it, which costs as much again", 0, 2],
  ["too little time is left", 60_000, 1],
])(
  "an agent whose change breaks the check gets one more go, unless too little time is left: %s",
  async (_name, agentMs, goes) => {
    const { turn, seen } = await setUpCheck([failed, {}, {}], { agentMs });
    expect(await turn()).toMatchObject({ checkResult: "failed" });
    expect(seen.goes).toHaveLength(goes);
    // A service that is killed now does not know what it costs.
    expect(seen.goes.map(({ costUsd }) => costUsd)).toEqual(Array(goes).fill(-1));
  },
);

test("others are told of a check once it is stored", async () => {
  const { turn, told } = await setUpCheck([{}]);
  await turn();
  expect(told).toEqual(["passed"]);
});

test.each<[name: string, again: Check[], found: string | null, told: (string | null)[]]>([
  ["and fails", [failed, {}], "failed", ["passed", null, "failed"]],
  ["and says nothing if that is stopped", [{ end: "stopped", stops: true }], null, ["passed", null, null]],
])("a commit that others' push has moved since its check is checked again %s", async (_name, again, found, all) => {
  const { turn, run, ports, branch, told, store, opened } = await setUpCheck([{}, ...again]);
  const lost = new GitHubError("bad gateway", 502);
  ports.committers = {
    of: () => ({
      prepare: async () => {},
      author: async () => undefined,
      trial: async () => undefined,
      make: () => Promise.reject(lost),
    }),
  };
  expect((await run()).result).toBe("postponed");
  const [own] = await store.turns.ofJob("a");
  const message = own === undefined ? "" : commitMessage(own, []);
  branch.commits.splice(0, 1, { commit: "other", message: "Other" });
  ports.committers = undefined;
  ports.repository.lastCommitOf = async () => ({ commit: "c1", parent: "base", message });
  ports.repository.rebase = async () => "moved";
  expect(await turn()).toMatchObject({ checkResult: found });
  expect(opened).toMatchObject([{ head: "moved", check: found === null ? undefined : { result: found } }]);
  // A runner that is lost while it is checked again leaves nothing of the first check.
  expect(told).toEqual(all);
});

test("a check that could not run runs when the turn goes on, within the step's time", async () => {
  const { turn, run, ports, branch, store, opened, checked, seen } = await setUpCheck([{}]);
  const commands = ports.commands;
  const checkOut = () => Promise.reject(new Error("no space"));
  Object.assign(ports, { commands: { ...commands, repository: { ...commands?.repository, checkOut } } });
  const committer = { prepare: async () => {}, author: async () => undefined, trial: async () => undefined };
  ports.committers = { of: () => ({ ...committer, make: () => Promise.reject(new GitHubError("bad gateway", 502)) }) };
  expect((await run()).result).toBe("postponed");
  expect(await store.turns.ofJob("a")).toMatchObject([{ stage: "checked", checkOutput: "no space" }]);
  Object.assign(ports, { commands, committers: undefined, leftMs: () => 30_000 });
  const [own] = branch.commits.splice(0);
  ports.repository.lastCommitOf = async () => own && { ...own, parent: "base" };
  expect(await turn()).toEqual({ checkResult: "passed", checkOutput: "" });
  expect([checked, opened]).toMatchObject([["c1"], [{ check: { result: "passed" } }]]);
  expect(seen.limits).toEqual([30_000]);
});

test.each([
  ["again, if its result was lost with the machine", true, null, "failed", [90_000, 80_000]],
  ["not again, if its result is known", true, "passed", "passed", []],
  ["again, if the store has lost its result", false, null, "failed", [90_000, 80_000]],
] as const)("what an earlier attempt pushed is checked %s", async (_name, isOnlyPlace, known, checkResult, limits) => {
  const { turn, seen, opened, branch, store } = await setUpCheck([failed], { isOnlyPlace });
  const [own] = await store.turns.ofJob("a");
  if (own === undefined) throw new Error("the job has no turn");
  branch.commits.push({ commit: "c1", message: commitMessage(own, []) });
  if (known !== null) {
    const { ofJob } = store.turns;
    const checked = { checkResult: known, stage: "checked", made: '{"commit":"c1"}' } as const;
    store.turns.ofJob = async (job) => (await ofJob.call(store.turns, job)).map((one) => ({ ...one, ...checked }));
  }
  expect(await turn()).toMatchObject({ checkResult });
  expect(seen).toEqual({ goes: [], limits });
  expect(opened).toMatchObject([{ head: "c1", ...(checkResult && { check: { result: checkResult } }) }]);
});

const isLast = { isOnlyPlace: true };

test("what an earlier attempt pushed is checked against the commit before it", async () => {
  const { turn, checked, branch, store } = await setUpCheck([failed, failed], isLast);
  const [own] = await store.turns.ofJob("a");
  if (own === undefined) throw new Error("the job has no turn");
  branch.commits.push({ commit: "c0", message: "Of a person" }, { commit: "c1", message: commitMessage(own, []) });
  expect(await turn()).toMatchObject({ checkResult: "failed-before" });
  expect(checked).toEqual(["c1", "c0"]);
});

const person = { commit: "p1", message: "Of a person" };

test.each([
  ["is checked without what others have pushed on top", null, [], [person], "failed", ["c1", "base"]],
  ["is checked against the commit before it", null, [person], [], "failed", ["c1", "p1"]],
  ["is not checked again if its result is known", "passed", [], [person], "passed", []],
  ["is checked again if others have made another commit of it", "passed", [], "c2", "failed", ["c2", "base"]],
] as const)("what is on a branch without a pull request %s", async (_name, known, before, after, result, commits) => {
  const { run, ports, checked, opened, branch, store, seen } = await setUpCheck(known ? [{}, failed] : [failed]);
  const { commands } = ports;
  const { open } = ports.pullRequests;
  ports.pullRequests.open = () => Promise.reject(new GitHubError("not permitted to create pull requests", 403));
  if (known === null) delete ports.commands;
  expect((await run()).result).toBe("failed");
  ports.pullRequests.open = open;
  Object.assign(ports, { commands });
  const [own] = branch.commits;
  if (typeof after === "string" && own !== undefined) branch.commits.splice(0, 1, { ...own, commit: after });
  else branch.commits.push(...(typeof after === "string" ? [] : after));
  branch.commits.unshift(...before);
  checked.length = 0;
  await store.turns.add("a", "Fix it", 7);
  expect((await run()).result).toBe("completed");
  expect(checked).toEqual(commits);
  expect(opened.map(({ check }) => check?.result)).toEqual([result]);
  const results = (await store.turns.ofJob("a")).map(({ checkResult }) => checkResult ?? undefined);
  expect([seen.goes.length, results]).toEqual([1, [result, result]]);
});

test("what the check showed of a kept commit that was moved is not what it showed of the one that was pushed", async () => {
  const { run, ports, opened, branch, store } = await setUpCheck([{}, failed]);
  const { open } = ports.pullRequests;
  ports.pullRequests.open = () => Promise.reject(new GitHubError("not permitted to create pull requests", 403));
  ports.repository.push = async (commit) => {
    if (commit === "c1")
      throw new GitError(["push"], "exited with 1", "remote: error: GH013: Repository rule violations", 1);
  };
  // One that was not pushed is in the clone alone.
  const { commit } = ports.repository;
  ports.repository.commit = async (...args) => {
    const made = await commit(...args);
    const own = branch.commits.pop();
    ports.repository.lastCommitOf = async () => own && { ...own, parent: "earlier" };
    ports.repository.rebase = async () => {
      if (own) branch.commits.push({ ...own, commit: "c2" });
      return "c2";
    };
    return made;
  };
  for (const kept of ["push", "pull-request"]) {
    expect((await run()).result).toBe("failed");
    expect((await store.turns.ofJob("a")).at(-1)).toMatchObject({ kept });
    await store.turns.add("a", "Fix it", 7);
  }
  ports.pullRequests.open = open;
  expect((await run()).result).toBe("completed");
  expect(opened).toMatchObject([{ head: "c2", check: { result: "failed" } }]);
  expect((await store.turns.ofJob("a")).map(({ checkResult }) => checkResult)).toEqual(["failed", "failed", "failed"]);
});

test.each([
  ["a program that is missing", { exitCode: 127, message: "sh: 1: docusaurus: not found" }],
  ["a package that is missing", { exitCode: 1, message: "Error: Cannot find module 'remark'" }],
])("a check without setup names %s, and a setup that installs it makes the check pass", async (_, result) => {
  const { turn, ports } = await setUpCheck([
    { ...failed, ...result },
    { ...failed, ...result },
  ]);
  const { checkResult, checkOutput } = await turn();
  expect(checkResult).toBe("failed-before");
  expect(checkOutput).toMatch(/\nNo setup installs what the check lacks: .*`setup`, such as npm ci/);
  expect(ports.commands?.setup).toBeUndefined();
  expect((await (await setUpCheck([{}])).turn()).checkResult).toBe("passed");
});

test("a check that only finds something says nothing of setup", async () => {
  const { turn } = await setUpCheck([{ ...failed, message: "broken link: page not found here" }, failed]);
  expect((await turn()).checkOutput).toBe("broken link: page not found here");
});
