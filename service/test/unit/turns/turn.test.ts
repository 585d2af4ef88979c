import { once } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { type Agent, builtInEditor } from "../../../src/agents/agent.ts";
import type { AgentOptions, AgentResult } from "../../../src/agents/run-agent.ts";
import { ChangeRefused } from "../../../src/git/commit-worktree.ts";
import { GitError } from "../../../src/git/git.ts";
import { noMetrics } from "../../../src/metrics/metrics.ts";
import type { Turn } from "../../../src/model.ts";
import { ResourceExhausted } from "../../../src/processes/resource-exhausted.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { GitHubError, RateLimitError } from "../../../src/pulls/github/github-error.ts";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";
import { SharedHomes } from "../../../src/store/shared-homes.ts";
import type { Store } from "../../../src/store/store.ts";
import { LeaseLost, StoreUnavailable } from "../../../src/store-errors.ts";
import type { Failure, TurnPorts } from "../../../src/turns/turn-ports.ts";
import { FakeMachine } from "../../support/fake-machine.ts";
import { setUpTurns } from "../../support/turn.ts";

const failing = (error: Error) => async (): Promise<never> => {
  throw error;
};

/** Lines of the service in a job's log. */
/** Returns the turn of the first job. */
async function firstTurn(store: Store): Promise<Turn> {
  const [turn] = await store.turns.ofJob("a");
  if (turn === undefined) throw new Error("the job has no turn");
  return turn;
}

const lines = (...texts: string[]): string => texts.map((text) => `[service] ${text}\n`).join("");

test("a turn commits what its agent changed, opens a pull request for it, and cleans up", async () => {
  const { run, branch, opened, steps, store, starts } = await setUpTurns();
  expect(await run()).toEqual({
    result: "completed",
    log: lines(
      "Turn 1 started.",
      "The agent completed.",
      "The agent's last words:",
      "Fixed it",
      "Pull request: https://example.com/pull/1",
    ),
    failures: [],
  });
  expect(branch.asked).toMatchObject([{ isMerged: false, lastPushed: null, bases: [] }]);
  expect(branch.commits).toEqual([{ commit: "c1", message: commitMessage(await firstTurn(store), []) }]);
  const place = { branch: "agent/a", targetBranch: "main", base: "base", head: "c1" };
  expect(opened).toEqual([
    {
      jobId: "a",
      title: "Fix it (2026-01-01)",
      prompt: "Fix it",
      answer: "Fixed it",
      asked: null,
      costUsd: -1,
      existing: null,
      isShared: false,
      protectedFiles: [],
      confirmOwner: expect.any(Function),
      ...place,
    },
  ]);
  expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "https://example.com/pull/1", head: "c1" });
  expect(steps).toEqual(["check out base", "take back", "release", "clean /service/jobs/a"]);
  expect(starts.map(({ options }) => options)).toMatchObject([
    {
      prompt: "Fix it",
      isFollowUp: false,
      history: [],
      jobId: "a",
      directories: { tree: "/service/jobs/a/tree" },
      objects: "/objects",
      logFile: "/service/logs/a.log",
      timeLimitMs: 90_000,
    },
  ]);
});

test("a later turn gets the earlier ones, continues the session and updates the pull request", async () => {
  const { run, runMessage, host, opened, starts, branch } = await setUpTurns();
  await run();
  host.prepare = async () => false;
  expect((await runMessage("Fix more")).result).toBe("completed");
  expect(starts[1]?.options).toMatchObject({
    isFollowUp: true,
    history: [{ prompt: "Fix it", answer: "Fixed it", state: "completed" }],
  });
  expect(branch.asked[1]).toMatchObject({ isMerged: false, lastPushed: "c1" });
  expect(opened[1]).toMatchObject({ prompt: "Fix more", head: "c2", existing: "https://example.com/pull/1" });
});

test("a later turn whose home directory is gone starts a new session, with the history", async () => {
  const { run, runMessage, starts } = await setUpTurns();
  await run();
  await runMessage("Fix more");
  expect(starts[1]?.options).toMatchObject({ isFollowUp: false, history: [{ prompt: "Fix it" }] });
});

test("the first turn starts a new session, also in a home directory that an interrupted attempt has left", async () => {
  const { run, host, starts } = await setUpTurns();
  host.prepare = async () => false;
  await run();
  expect(starts[0]?.options.isFollowUp).toBe(false);
});

test.each([
  ["the agent's last words", "Nothing to do", "No file was changed. The agent's last words:", ["Nothing to do"]],
  ["no words", undefined, "No file was changed.", []],
])("a turn without a change opens no pull request; its log has %s", async (_, message, line, words) => {
  const { run, branch, next, opened, store } = await setUpTurns();
  branch.isChanged = false;
  next.result = { end: "completed", message, error: undefined };
  const { result, log } = await run();
  expect(result).toBe("completed");
  expect(log).toBe(lines("Turn 1 started.", "The agent completed.", line, ...words));
  expect(opened).toEqual([]);
  expect(await store.turns.ofJob("a")).toMatchObject([{ answer: message ?? null }]);
});

test("the log of a turn whose agent says nothing has no last words", async () => {
  const { run, next } = await setUpTurns();
  next.result = { end: "completed", message: undefined, error: undefined };
  expect((await run()).log).toBe(
    lines("Turn 1 started.", "The agent completed.", "Pull request: https://example.com/pull/1"),
  );
});

/** What is told of an agent that changed something and did not complete, in the log and in the reason. */
const keptLine = "What the agent changed is kept, and not published:";
const keptReason = (reason: string) =>
  `${reason} What its agent changed is kept: the job's next request continues from there, unless three in a row did not complete.`;

test("an agent that fails fails its turn, and what it reported is logged", async () => {
  const { run, next, branch, steps, store } = await setUpTurns();
  next.result = { end: "failed", message: "I could not", error: "no model" };
  expect(await run()).toEqual({
    result: "failed",
    log: lines("Turn 1 started.", "The agent failed.", "The agent reported: no model", keptLine),
    failures: [keptReason("The agent failed. The agent reported: no model.")],
  });
  expect(branch.commits).toMatchObject([{ message: expect.stringContaining("\nAgent-Left: unfinished\n") }]);
  expect(steps).toEqual(["check out base", "take back", "release", "clean /service/jobs/a"]);
  expect(await store.turns.ofJob("a")).toMatchObject([{ answer: "I could not" }]);
});

test("patterns that match no file are told before the agent runs", async () => {
  const { run, ports, starts } = await setUpTurns();
  const only = readPathPatterns(["docs/*", "docs/api/*", "Docs/**", "!docs/old/**"]);
  Object.assign(ports, { only, moreProtected: ["PAGE.md", "*.sh"] });
  const { log } = await run();
  expect(starts).toHaveLength(1);
  expect(log.split("\n").slice(1, 4)).toEqual([
    "[service] These submodules are empty here, and what is written there is not published: docs/api. To change one, let an agent work on its repository, with --repository.",
    "[service] --only matches no file that exists: Docs/**, !docs/old/**. Check how it is written, unless the agent is to create such files.",
    "[service] --protect matches no file that exists: *.sh. Check how it is written, unless the agent is to create such files.",
  ]);
});

test("an agent that fails without a report only failed", async () => {
  const { run, next } = await setUpTurns();
  next.result = { end: "failed", message: undefined, error: undefined };
  const { log, failures } = await run();
  expect(log).toBe(lines("Turn 1 started.", "The agent failed.", keptLine));
  expect(failures).toEqual([keptReason("The agent failed.")]);
});

test("an agent that ends with an exit code fails its turn with its last output, without secrets of the service", async () => {
  const { run, runMessage, next, host, ports } = await setUpTurns();
  ports.secrets = [{ name: "KEY", value: "sk-secret-12345" }];
  host.lastOutput = async () => "three\nthe key sk-secret-12345 is wrong";
  next.result = { end: "failed", exitCode: 3, message: undefined, error: undefined };
  expect(await run()).toMatchObject({
    log: lines("Turn 1 started.", "The agent ended with exit code 3.", keptLine),
    failures: [keptReason("The agent ended with exit code 3. Its last output:\nthree\nthe key *** is wrong.")],
  });
  // It says itself what went wrong.
  next.result = { end: "failed", exitCode: 3, message: undefined, error: "no model" };
  expect((await runMessage("Again")).failures).toEqual([
    keptReason("The agent ended with exit code 3. The agent reported: no model."),
  ]);
});

/** What an agent could do with a key of several lines, of which the first one alone is none. */
const keyLines = [
  "-----BEGIN KEY-----",
  "MIIEvQIBADANBgkqhkiG9w0BAQ",
  "EFAASCBKcwggSjAgEAAoIBAQC7",
  "-----END KEY-----",
];
const shownKeys: [how: string, text: string][] = [
  ["with its line breaks", keyLines.join("\n")],
  ["in JSON", JSON.stringify({ key: keyLines.join("\n") })],
  ["quoted", keyLines.map((line) => `> ${line}`).join("\n")],
  ["indented", keyLines.map((line) => `    ${line}`).join("\n")],
  ["split over the lines of a heredoc", keyLines.join("").replace(/.{9}/g, "$&\n")],
];

test.each(shownKeys)("a secret %s is found wherever it would be published", async (_how, shown) => {
  const secrets = [{ name: "KEY", value: `${keyLines.join("\n")}\n` }];
  const withSecret = async (prompt = "Fix it") => {
    const turns = await setUpTurns();
    turns.ports.secrets = secrets;
    await turns.store.turns.add("a", prompt, 7);
    await turns.run();
    return turns;
  };
  const fails = async (place: string, plant: (turns: Awaited<ReturnType<typeof withSecret>>) => void) => {
    const turns = await withSecret();
    turns.opened.length = 0;
    plant(turns);
    const { result, failures, log } = await turns.run();
    expect([result, failures]).toEqual(["failed", [expect.stringContaining(`KEY in ${place}`)]]);
    expect(turns.opened).toEqual([]);
    expect(`${failures}${log}`).not.toMatch(/MIIE|EFAA/);
  };
  await fails("page.md, line ", ({ branch }) => {
    branch.changed = [{ path: "page.md", before: undefined, after: `\n${shown}` }];
  });
  await fails("the name of a file", ({ branch }) => {
    branch.changed = [{ path: shown, before: undefined, after: "x" }];
  });
  // What is published of it is cut off, and has invisible characters.
  await fails("the message of the commit", ({ host, next }) => {
    host.hasOwnCommits = async () => true;
    const { runAgent } = host;
    host.runAgent = (agent, options) =>
      options.logFile === "/dev/null"
        ? Promise.resolve({ ...next.result, message: `${"x".repeat(9990)} ${shown}` })
        : runAgent(agent, options);
  });
  await fails("the agent's last message", ({ next }) => {
    next.result = { ...next.result, message: `Done: ${shown}` };
  });
  // The prompt is the workflow's own: nothing of it is shown.
  const { run, opened, branch, store, next } = await withSecret(`${keyLines[1]} ${shown}`);
  await run();
  expect(opened).toMatchObject([{}, { prompt: expect.stringContaining("***") }]);
  next.result = { end: "failed", message: `See ${shown}`, error: `${"x".repeat(1940)} ${shown}` };
  await store.turns.add("a", "Again", 8);
  const { failures, log } = await run();
  const { answer, reason } = (await store.turns.ofJob("a")).at(-1) ?? {};
  expect([answer, reason]).toEqual([expect.stringContaining("***"), failures[0]]);
  expect(JSON.stringify([opened, branch.commits, failures, log, answer])).not.toMatch(/MIIE|EFAA|dBAQ/);
});

test("a turn fails without a secret in its reason, such as the name of a file that cannot be committed", async () => {
  const { run, ports } = await setUpTurns();
  ports.secrets = [{ name: "KEY", value: "sk-secret-12345" }];
  ports.repository.commit = failing(new Error("the agent created .git/sk-secret-12345"));
  const { failures, log } = await run();
  expect(failures).toEqual(["the agent created .git/***"]);
  expect(log).not.toContain("sk-secret");
});

test("an agent that times out fails its turn after the time that is named", async () => {
  const { run, next } = await setUpTurns();
  next.result = { end: "timed-out", message: undefined, error: undefined };
  const text = "The agent timed out after 90 s.";
  const log = lines("Turn 1 started.", text, keptLine);
  expect(await run()).toEqual({ result: "failed", log, failures: [keptReason(text)] });
});

test("a turn whose agent exceeds a limit fails because of that", async () => {
  const { run, host } = await setUpTurns();
  host.runAgent = async (_agent, { onLimitExceeded }) => {
    onLimitExceeded({ kind: "process-limit", what: "700 processes" });
    return { end: "failed", message: undefined, error: undefined };
  };
  const text = "The agent is killed, because it has 700 processes.";
  const { log, failures } = await run();
  expect(log).toBe(lines("Turn 1 started.", text, keptLine));
  expect(failures).toEqual([keptReason(text)]);
});

test.each<[exit: string, end: AgentResult["end"], error: string | undefined, exceeded: boolean]>([
  ["completed", "completed", undefined, false],
  ["exit-code", "failed", undefined, false],
  ["reported-failure", "failed", "no model", false],
  ["process-limit", "failed", "no model", true],
  ["time-limit", "timed-out", undefined, false],
  ["stopped", "stopped", undefined, false],
])("the end of an agent is counted once, as %s", async (exit, end, error, exceeded) => {
  const { run, ports, host } = await setUpTurns();
  const exits: string[] = [];
  ports.metrics = { ...noMetrics, agentExited: (one) => void exits.push(one) };
  host.runAgent = async (_agent, { onLimitExceeded }) => {
    if (exceeded) onLimitExceeded({ kind: "process-limit", what: "700 processes" });
    return { end, message: undefined, error };
  };
  await run();
  expect(exits).toEqual([exit]);
});

test("a turn that is stopped is neither failed nor completed, and stores no answer", async () => {
  const { run, next, store, steps } = await setUpTurns();
  next.result = { end: "stopped", message: "Half", error: undefined };
  expect((await run()).result).toBe("stopped");
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "waiting", answer: null }]);
  expect(steps).toEqual(["check out base", "release", "clean /service/jobs/a"]);
});

test.each([
  ["its change is kept for people", true],
  ["nothing is said to be kept without a change", false],
])("a turn whose agent somebody stops fails with the reason, and %s", async (_, isChanged) => {
  const { run, ports, host, store, branch, steps } = await setUpTurns();
  branch.isChanged = isChanged;
  const request = new AbortController();
  ports.stop = request.signal;
  const exits: string[] = [];
  ports.metrics = { ...noMetrics, agentExited: (exit) => void exits.push(exit) };
  host.runAgent = async (_agent, { signal }) => {
    request.abort("Stopped by ci.");
    expect(signal.aborted).toBe(true);
    return { end: "stopped", message: "Half", error: undefined };
  };
  const { log, ...end } = await run();
  expect(end).toEqual({ result: "failed", failures: ["Stopped by ci."] });
  for (const said of ["What the agent changed is kept, and not published:", "No agent goes on with it."])
    expect(log.includes(said)).toBe(isChanged);
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "failed", answer: "Half", attempts: 1, kept: null }]);
  const left = { message: expect.stringContaining("Agent-Left: stopped") };
  expect(branch.commits).toMatchObject(isChanged ? [left] : []);
  expect(steps).toContain("take back");
  expect(exits).toEqual(["stopped"]);
});

test("a turn that somebody stops before its agent runs fails without it", async () => {
  const { run, ports, starts, steps } = await setUpTurns();
  ports.stop = AbortSignal.abort("Stopped by ci.");
  expect(await run()).toMatchObject({ result: "failed", failures: ["Stopped by ci."] });
  expect(starts).toEqual([]);
  expect(steps).not.toContain("check out base");
});

test("a turn that somebody stops while its repository does not answer fails at once", async () => {
  const { run, ports, starts } = await setUpTurns();
  const request = new AbortController();
  ports.stop = request.signal;
  ports.repository.findStart = () => {
    setImmediate(() => request.abort("Stopped by ci."));
    return new Promise(() => {});
  };
  expect(await run()).toMatchObject({ result: "failed", failures: ["Stopped by ci."] });
  expect(starts).toEqual([]);
});

test("a turn whose commit is below a recorded one, as after a restored backup, leaves that one recorded", async () => {
  const { run, runMessage, store, branch, starts } = await setUpTurns();
  await run();
  await store.turns.add("a", "Two", 7);
  const [, second] = await store.turns.ofJob("a");
  if (second === undefined) throw new Error("the job has one turn");
  branch.commits.unshift({ commit: "early", message: commitMessage(second, []) });
  expect((await run()).result).toBe("completed");
  expect(starts).toHaveLength(1);
  expect(await store.jobs.find("a")).toMatchObject({ head: "c1", state: "completed" });
  expect((await runMessage("Three")).result).toBe("completed");
  expect(branch.commits.map(({ commit }) => commit)).toEqual(["early", "c1", "c2"]);
});

test("a turn that somebody stops after its commit was recorded completes, because that is too late", async () => {
  const { run, take, store, branch, ports, starts, opened } = await setUpTurns();
  const turn = await take();
  await store.runningTurns.countAttempt(turn);
  branch.commits.push({ commit: "c1", message: commitMessage(turn, []) });
  await store.runningTurns.recordPush(turn, null, "c1");
  await store.runningTurns.requeueInterrupted();
  const request = new AbortController();
  ports.stop = request.signal;
  const { findStart } = ports.repository;
  ports.repository.findStart = (...args) => {
    request.abort("Stopped by ci.");
    return findStart(...args);
  };
  expect(await run()).toMatchObject({ result: "completed", failures: [] });
  expect([starts, opened.length]).toEqual([[], 1]);
  expect(await store.jobs.find("a")).toMatchObject({ state: "completed", pullRequest: "https://example.com/pull/1" });
});

/**
 * Makes commits of a turn take until they are stopped, as Git does with patterns that it cannot match in time.
 *
 * @param count - of how many. Default: all
 * @returns what waits for the next one
 */
function commitForever(ports: TurnPorts, count = Number.POSITIVE_INFINITY): () => Promise<void> {
  const { commit } = ports.repository;
  let begun = Promise.withResolvers<void>();
  ports.repository.commit = async (worktree, message, options) => {
    begun.resolve();
    if (count-- <= 0) return commit(worktree, message, options);
    if (options.signal?.aborted === false) await once(options.signal, "abort");
    throw new Error("git add was stopped");
  };
  return async () => {
    await begun.promise;
    begun = Promise.withResolvers();
  };
}

test.each([
  ["its change is kept for people if that takes less than three seconds", 1],
  ["nothing is kept if it takes longer", 2],
])("a turn that somebody stops while its change is committed fails, and %s", async (_, count) => {
  const { run, ports, branch } = await setUpTurns();
  const machine = new FakeMachine();
  ports.machine = machine;
  const request = new AbortController();
  ports.stop = request.signal;
  const committing = commitForever(ports, count);
  const running = run();
  await committing();
  request.abort("Stopped by ci.");
  await committing();
  machine.pass(3000);
  const { log, ...end } = await running;
  expect(end).toEqual({ result: "failed", failures: ["Stopped by ci."] });
  expect(log.includes("No agent goes on with it.")).toBe(count === 1);
  const left = { message: expect.stringContaining("Agent-Left: stopped") };
  expect(branch.commits).toMatchObject(count === 1 ? [left] : []);
});

test("a turn that somebody stops while its worktree is checked out fails", async () => {
  const { run, ports, starts } = await setUpTurns();
  const request = new AbortController();
  ports.stop = request.signal;
  ports.worktrees.checkOut = async (_place, _start, signal) => {
    request.abort("Stopped by ci.");
    throw new Error(`git read-tree was stopped: ${signal?.aborted}`);
  };
  expect(await run()).toMatchObject({ result: "failed", failures: ["Stopped by ci."] });
  expect(starts).toEqual([]);
});

test.each([
  ["the rest of the step's time", 20_000, "completed", [20_000]],
  ["its own limit, if that is less", 100_000, "completed", [90_000]],
  ["nothing, if less is left than its commit needs", 8000, "failed", []],
] as const)("an agent that begins late gets %s", async (_name, leftMs, result, limits) => {
  const { run, ports, starts } = await setUpTurns();
  const begun: unknown[] = [];
  const begin = async (_turn: unknown, message: string): Promise<undefined> => {
    begun.push(Date.parse(/ until (\S+Z)$/m.exec(message)?.[1] ?? ""));
  };
  ports.keptCommits = { save: async () => {}, load: async () => undefined, begin };
  // What it waited for is over when it begins.
  ports.leftMs = () => leftMs;
  ports.machine = new FakeMachine(1_000_000);
  const { failures, ...end } = await run();
  expect([end.result, starts.map(({ options }) => options.timeLimitMs)]).toEqual([result, limits]);
  expect(failures).toEqual(result === "failed" ? [expect.stringContaining("timeout-minutes")] : []);
  expect(begun).toEqual(limits.map((limit) => 1_000_000 + limit + 600_000));
});

test("an agent whose start takes long gets what is left of the step's time then", async () => {
  const { run, ports, starts } = await setUpTurns();
  const machine = new FakeMachine();
  const endsAt = machine.now() + 60_000;
  const begin = async (): Promise<undefined> => machine.pass(25_000) as undefined;
  Object.assign(ports, { machine, leftMs: () => endsAt - machine.now() });
  ports.keptCommits = { save: async () => {}, load: async () => undefined, begin };
  await run();
  expect(starts.map(({ options }) => options.timeLimitMs)).toEqual([35_000]);
});

test.each([
  ["the rest of its time", 80_000, 10_000],
  ["a tenth of it, if its agent took all", 90_000, 9000],
])("the commit of a change has %s, and the change has as long to be kept", async (_name, agentMs, commitMs) => {
  const { run, ports, host, next, branch } = await setUpTurns();
  const machine = new FakeMachine();
  ports.machine = machine;
  host.runAgent = async () => {
    machine.pass(agentMs);
    return next.result;
  };
  const committing = commitForever(ports, 1);
  const running = run();
  await committing();
  machine.pass(commitMs - 1);
  expect(await Promise.race([running, Promise.resolve("running")])).toBe("running");
  machine.pass(1);
  expect(await running).toMatchObject({
    result: "failed",
    failures: [
      expect.stringMatching(/^Git takes longer for the change than is left of --time-limit-minutes.* is kept: /),
    ],
  });
  expect(branch.commits).toMatchObject([{ message: expect.stringContaining("Agent-Left: unfinished") }]);
});

test("a turn that somebody stops when its change has been committed completes", async () => {
  const { run, ports, branch, opened } = await setUpTurns();
  const request = new AbortController();
  ports.stop = request.signal;
  const { commit } = branch.repository;
  ports.repository.commit = async (...args) => {
    const made = await commit(...args);
    request.abort("Stopped by ci.");
    return made;
  };
  expect(await run()).toMatchObject({ result: "completed", failures: [] });
  expect(opened).toHaveLength(1);
});

test("a turn that somebody stops while the service stops is run again", async () => {
  const { run, ports, host, stop } = await setUpTurns();
  const request = new AbortController();
  ports.stop = request.signal;
  host.runAgent = async () => {
    request.abort("Stopped by ci.");
    stop.abort();
    return { end: "stopped", message: undefined, error: undefined };
  };
  expect((await run()).result).toBe("stopped");
});

test("what fails because the service stops fails no turn", async () => {
  const { run, ports, stop } = await setUpTurns();
  ports.worktrees.checkOut = async () => {
    stop.abort();
    throw new Error("killed");
  };
  expect(await run()).toEqual({ result: "stopped", log: lines("Turn 1 started."), failures: [] });
});

test("a turn that another worker has taken over is stopped before it pushes", async () => {
  const { run, ports, store, opened } = await setUpTurns();
  store.runningTurns.confirmLease = failing(new LeaseLost(1));
  let pushes = 0;
  ports.repository.push = async () => void pushes++;
  const { result, failures } = await run();
  expect([result, failures, pushes, opened]).toEqual(["taken-over", [], 0, []]);
});

test("a turn that another worker takes over while its pull request is opened writes nothing there", async () => {
  const { run, ports, store } = await setUpTurns();
  let writes = 0;
  ports.pullRequests.open = async ({ confirmOwner }) => {
    store.runningTurns.confirmLease = failing(new LeaseLost(1));
    await confirmOwner?.();
    writes++;
    return "https://example.com/pull/1";
  };
  const { result, failures } = await run();
  expect([result, failures, writes]).toEqual(["taken-over", [], 0]);
});

test("a turn that another worker takes over after the push opens no pull request, and takes its commit back", async () => {
  const { run, ports, store, opened } = await setUpTurns();
  const pushed: (string | undefined)[] = [];
  ports.repository.push = async (commit) => {
    pushed.push(commit);
    if (commit === "c1") store.runningTurns.recordPush = failing(new LeaseLost(1));
  };
  const { result, failures } = await run();
  expect([result, failures, pushed, opened]).toEqual(["taken-over", [], ["base", "c1", undefined], []]);
  expect(await store.jobs.find("a")).toMatchObject({ pullRequest: null, head: null });
});

test("a push that was recorded counts, even if that was reported as failed and the lease is lost since", async () => {
  const { run, ports, store } = await setUpTurns();
  const pushed: (string | undefined)[] = [];
  ports.repository.push = async (commit) => void pushed.push(commit);
  const record = store.runningTurns.recordPush.bind(store.runningTurns);
  store.runningTurns.recordPush = async (...args) => {
    await record(...args);
    throw new LeaseLost(1);
  };
  expect((await run()).result).toBe("taken-over");
  expect(pushed).toEqual(["base", "c1"]);
});

test("a push waits while it cannot be known who owns the turn", async () => {
  const { run, host, machine, store } = await setUpTurns();
  const confirm = store.runningTurns.confirmLease.bind(store.runningTurns);
  const pauses: number[] = [];
  const { runAgent } = host;
  host.runAgent = (...args) => {
    store.runningTurns.confirmLease = failing(new StoreUnavailable("no connection"));
    return runAgent(...args);
  };
  machine.sleep = async (ms) => {
    pauses.push(ms);
    store.runningTurns.confirmLease = confirm;
  };
  expect((await run()).result).toBe("completed");
  expect(pauses).toHaveLength(1);
});

test("an error fails the turn, is logged, and the directory is cleaned up", async () => {
  const { run, ports, steps } = await setUpTurns();
  ports.worktrees.checkOut = failing(new Error("no such commit"));
  expect(await run()).toEqual({
    result: "failed",
    log: lines("Turn 1 started.", "The turn failed: no such commit"),
    failures: ["no such commit"],
  });
  expect(steps).toEqual(["release", "clean /service/jobs/a"]);
});

test("a turn that cannot use the store is postponed without a word in the job's log", async () => {
  const { run, store, starts } = await setUpTurns();
  store.runningTurns.countAttempt = failing(new StoreUnavailable("no connection"));
  expect(await run()).toEqual({ result: "postponed", log: lines("Turn 1 started."), failures: ["no connection"] });
  expect(starts).toEqual([]);
});

test("a directory that cannot be cleaned does not change how a turn ends", async () => {
  const { run, host } = await setUpTurns();
  host.clean = failing(new Error("busy"));
  const { result, log } = await run();
  expect(result).toBe("completed");
  expect(log.endsWith(lines("Cannot clean the job's directory: busy"))).toBe(true);
});

test("a log that cannot be written fails no turn", async () => {
  const { run, host } = await setUpTurns();
  host.appendLog = () => {
    throw new Error("no space");
  };
  expect((await run()).result).toBe("completed");
});

test("the agent's words cannot control a terminal, and each line of them is marked as the service's", async () => {
  const { run, next, branch } = await setUpTurns();
  branch.isChanged = false;
  next.result = { end: "completed", message: "\u001b[2Jone\r\n\ttwo\u0007 \n\n", error: undefined };
  expect((await run()).log).toContain(`words:\n${lines("one", "\ttwo")}`);
});

test("no agent is started with less than 100 MB of free space, and its turn waits", async () => {
  const { run, machine, starts, steps } = await setUpTurns();
  const asked: string[] = [];
  machine.freeBytes = async (folder) => {
    asked.push(folder);
    return 99_999_999;
  };
  const reason = "less than 100 MB are free in /service";
  expect(await run()).toEqual({
    result: "postponed",
    log: lines(
      "Turn 1 started.",
      `The machine lacks something that the turn needs, so it waits and is started again: ${reason}`,
    ),
    failures: [reason],
  });
  expect([asked, starts, steps]).toEqual([["/service"], [], ["release", "clean /service/jobs/a"]]);
});

test("a change that cannot be committed now waits in its worktree, and its agent is run again after an hour", async () => {
  const { run, ports, starts, steps } = await setUpTurns();
  const machine = new FakeMachine();
  ports.machine = machine;
  const { commit } = ports.repository;
  let full = 60;
  ports.repository.commit = async (...args) => {
    if (full-- > 0) throw new ResourceExhausted("disk full");
    return commit(...args);
  };
  const { result, log } = await machine.passUntil(run());
  expect([result, starts.length, full]).toEqual(["completed", 1, -1]);
  expect(steps).toEqual(["check out base", "take back", "release", "clean /service/jobs/a"]);
  const now = "The agent has run, but its change cannot be committed now.";
  const again = `${now} That is tried again for an hour: disk full`;
  expect(log.split("\n").filter((line) => line.includes(now))).toEqual([`[service] ${again}`]);
});

test("a turn whose change cannot be committed for an hour waits, and its agent is run again", async () => {
  const { run, ports, starts } = await setUpTurns();
  const machine = new FakeMachine();
  ports.machine = machine;
  const { commit } = ports.repository;
  ports.repository.commit = failing(new ResourceExhausted("disk full"));
  const { result, log } = await machine.passUntil(run());
  expect(result).toBe("postponed");
  expect(log).toContain(lines("The agent has run, but its change cannot be committed now. It is run again."));
  ports.repository.commit = commit;
  expect([(await run()).result, starts.length]).toEqual(["completed", 2]);
});

test("a turn that somebody stops while its change waits for space fails", async () => {
  const { run, ports } = await setUpTurns();
  const request = new AbortController();
  ports.stop = request.signal;
  ports.repository.commit = async () => {
    setImmediate(() => request.abort("Stopped by ci."));
    throw new ResourceExhausted("disk full");
  };
  expect(await run()).toMatchObject({ result: "failed", failures: ["Stopped by ci."] });
});

test("a service that stops waits for no space", async () => {
  const { run, ports, stop } = await setUpTurns();
  let tries = 0;
  ports.repository.commit = async () => {
    tries++;
    setImmediate(() => stop.abort());
    throw new ResourceExhausted("disk full");
  };
  expect([(await run()).result, tries]).toEqual(["stopped", 2]);
});

const ends = ["failed", "timed-out"] as const;

test.each(ends)("what an agent that %s has changed waits for space, too", async (end) => {
  const { run, ports, next, store } = await setUpTurns();
  const machine = new FakeMachine();
  ports.machine = machine;
  next.result = { end, message: undefined, error: undefined };
  ports.repository.changedFiles = async () => [{ path: "part.md", before: undefined, after: "a", mode: "100644" }];
  const { commit } = ports.repository;
  let full = 60;
  ports.repository.commit = async (...args) => {
    if (full-- > 0) throw new ResourceExhausted("disk full");
    return commit(...args);
  };
  const { result, log } = await machine.passUntil(run());
  expect([result, full]).toEqual(["failed", -1]);
  expect(log).toContain("That is tried again for an hour: disk full");
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "failed", kept: "unfinished" }]);
});

test.each(ends)(
  "a service that stops before what an agent that %s has changed is kept runs its turn again",
  async (end) => {
    const { run, ports, next, stop, store } = await setUpTurns();
    next.result = { end, message: undefined, error: undefined };
    ports.repository.commit = async () => {
      stop.abort();
      throw stop.signal.reason;
    };
    expect(await run()).toMatchObject({ result: "stopped", failures: [] });
    expect(await store.turns.ofJob("a")).toMatchObject([{ made: null, reason: null }]);
  },
);

test("a change that cannot be committed at all fails its turn", async () => {
  const { run, ports } = await setUpTurns();
  ports.repository.commit = failing(new Error("the change is too large"));
  expect(await run()).toEqual({
    result: "failed",
    log: lines(
      "Turn 1 started.",
      "The agent completed.",
      "What the agent changed is not kept: the change is too large",
      "The turn failed: the change is too large",
    ),
    failures: ["the change is too large"],
  });
});

test("a change that is refused and kept is known as such before the turn's end, at which the service may be lost", async () => {
  const { run, ports, branch, starts, store } = await setUpTurns();
  const { commit } = ports.repository;
  ports.repository.commit = vi.fn(commit).mockRejectedValueOnce(new ChangeRefused("the change has a secret"));
  vi.spyOn(store.runningTurns, "finish").mockResolvedValueOnce(true);
  const reason = keptReason("the change has a secret.");
  expect(await run()).toEqual({
    result: "failed",
    log: lines("Turn 1 started.", "The agent completed.", keptLine, `The turn failed: ${reason}`),
    failures: [reason],
  });
  expect(await store.turns.ofJob("a")).toMatchObject([
    { stage: "made", made: '{"reason":"the change has a secret","failureClass":"agent","isUnfinished":true}' },
  ]);
  await store.runningTurns.requeueInterrupted();
  expect(await run()).toMatchObject({ result: "failed", failures: [reason] });
  expect([starts.length, branch.commits.length]).toEqual([1, 1]);
});

test("an agent that was interrupted twice is not run again", async () => {
  const { run, take, store, starts } = await setUpTurns();
  for (let attempt = 1; attempt <= 2; attempt++) {
    await store.runningTurns.countAttempt(await take());
    await store.runningTurns.requeueInterrupted();
  }
  const reason = "The agent was interrupted 2 times and is not run again.";
  expect(await run()).toEqual({ result: "failed", log: lines("Turn 1 started.", reason), failures: [reason] });
  expect(starts).toEqual([]);
  expect(await store.jobs.find("a")).toMatchObject({ state: "failed" });
});

test("a job's log has the notes about its start and the submodules that were left out", async () => {
  const { run, branch } = await setUpTurns();
  branch.notes = ["The branch was deleted."];
  branch.leftOut = [{ path: "themes/book", why: "it is a submodule" }];
  const { log } = await run();
  expect(log).toContain(lines("Turn 1 started.", "The branch was deleted.", "The agent completed."));
  expect(log).toContain("[service] Left out: themes/book, because it is a submodule.");
  expect(branch.commits[0]?.message).toContain("    Left out: themes/book, because it is a submodule.");
});

test.each([
  ["confined", { isConfining: true, isTrusted: false }, "/service/compile-cache"],
  ["trusted", { isConfining: false, isTrusted: true }, "/service/compile-cache"],
  ["neither confined nor trusted", { isConfining: false, isTrusted: false }, undefined],
])("an agent that is %s gets the right compile cache", async (_, { isConfining, isTrusted }, expected) => {
  const { run, ports, starts } = await setUpTurns();
  ports.agent = { ...builtInEditor, isTrusted };
  ports.sandbox = { ...ports.sandbox, isConfining };
  await run();
  expect(starts[0]?.options.compileCache).toBe(expected);
});

test("the messages of the agent's own commits are read with its permissions and become part of the commit", async () => {
  const { store, run, host, branch, starts, ports } = await setUpTurns();
  const asked: unknown[] = [];
  host.hasOwnCommits = async (tree, { head }) => {
    asked.push([tree, head]);
    return true;
  };
  const { runAgent } = host;
  host.runAgent = async (agent, options) => {
    const result = await runAgent(agent, options);
    if (starts.length === 1) return result;
    return { end: "completed", ...agent.readReport("First\n\nWhy\n\0Second\n\0") };
  };
  await run();
  expect(asked).toEqual([["/service/jobs/a/tree", "base"]]);
  const [first, second] = starts;
  const onLimitExceeded = expect.any(Function);
  expect(second?.options).toEqual({ ...first?.options, logFile: "/dev/null", timeLimitMs: 20_000, onLimitExceeded });
  const programs = [...ports.agent.programs, "git"];
  expect({ ...second?.agent, command: 0, readReport: 0 }).toEqual({
    ...ports.agent,
    programs,
    command: 0,
    readReport: 0,
  });
  expect(second?.agent.command({ isFollowUp: false, isSandboxed: false })).toMatchObject({
    file: "git",
    args: expect.arrayContaining(["log", "-z", "--reverse", "base..HEAD"]),
  });
  expect(branch.commits[0]?.message).toBe(commitMessage(await firstTurn(store), ["First\n\nWhy", "Second"]));
});

test("an agent that was interrupted once is run again", async () => {
  const { run, take, store, starts } = await setUpTurns();
  await store.runningTurns.countAttempt(await take());
  await store.runningTurns.requeueInterrupted();
  expect((await run()).result).toBe("completed");
  expect(starts).toHaveLength(1);
});

test.each([
  ["says nothing", async () => ({ end: "failed", message: undefined, error: undefined }) as const],
  ["cannot be started now", failing(new ResourceExhausted("no processes"))],
  ["breaks, such as its sandbox", failing(new Error("broken"))],
])("a turn completes if the program that reads the agent's own messages %s", async (_, read) => {
  const { store, run, host, branch, starts } = await setUpTurns();
  host.hasOwnCommits = async () => true;
  const { runAgent } = host;
  host.runAgent = (agent, options) => (starts.length === 0 ? runAgent(agent, options) : read());
  expect((await run()).result).toBe("completed");
  expect(branch.commits.map(({ message }) => message)).toEqual([commitMessage(await firstTurn(store), [])]);
});

test("the commits of an agent that failed are not looked for", async () => {
  const { run, host, next, starts } = await setUpTurns();
  host.hasOwnCommits = async () => true;
  next.result = { end: "failed", message: undefined, error: undefined };
  await run();
  expect(starts).toHaveLength(1);
});

test("a turn after the merge of the pull request opens a new one", async () => {
  const { run, runMessage, next, branch, opened, store } = await setUpTurns();
  await run();
  next.state = "merged";
  expect((await runMessage("Fix more")).result).toBe("completed");
  expect(branch.asked[1]).toMatchObject({ isMerged: true, lastPushed: "c1" });
  expect(opened[1]).toMatchObject({ existing: null });
  expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "https://example.com/pull/2", head: "c2" });
});

test("a turn that starts over forgets the earlier pull request before it opens a new one", async () => {
  const { run, runMessage, branch, ports, store } = await setUpTurns();
  await run();
  branch.isOver = true;
  ports.pullRequests.open = failing(new Error("no permission"));
  expect((await runMessage("Fix more")).result).toBe("failed");
  expect(await store.jobs.find("a")).toMatchObject({ pullRequest: null, head: "c2" });
});

test("a pull request whose state cannot be read counts as open", async () => {
  const { host, run, runMessage, ports, branch, opened } = await setUpTurns();
  host.prepare = async () => false;
  await run();
  ports.pullRequests.read = failing(new Error("not found"));
  const { log } = await runMessage("Fix more");
  expect(log).toContain(
    lines("Cannot read the state of https://example.com/pull/1, treated as open: not found", "The agent completed."),
  );
  expect(branch.asked[1]).toMatchObject({ isMerged: false });
  expect(opened[1]).toMatchObject({ existing: "https://example.com/pull/1" });
});

test("a turn waits while GitHub cannot be asked for its pull request", async () => {
  const { run, runMessage, ports, starts } = await setUpTurns();
  await run();
  ports.pullRequests.read = failing(new GitHubError("bad gateway", 502));
  expect((await runMessage("Fix more")).result).toBe("postponed");
  expect(starts).toHaveLength(1);
});

test("a follow-up targets what its pull request does, otherwise the job's base", async () => {
  const { run, runMessage, ports, branch, next, opened } = await setUpTurns();
  await run();
  const read = async (target: string | undefined) => {
    ports.pullRequests.read = async () => ({ state: next.state, target });
    await runMessage("Fix more");
    return branch.asked.at(-1)?.bases;
  };
  expect(await read("main")).toEqual(["main"]);
  expect(opened.at(-1)).toMatchObject({ existing: "https://example.com/pull/1" });
  // Somebody has changed it, and it is gone.
  expect(await read("gone")).toEqual(["gone"]);
  expect(opened.at(-1)).toMatchObject({ targetBranch: "main", existing: null });
  expect(await read(undefined)).toEqual([]);
  next.state = "merged";
  expect(await read("other")).toEqual([]);
});

test("the state is asked for the branch and the last commit of the job's pull request", async () => {
  const { run, runMessage, ports } = await setUpTurns();
  const asked: unknown[] = [];
  ports.pullRequests.read = async (pull) => {
    asked.push(pull);
    return { state: "open", target: undefined };
  };
  await run();
  expect(asked).toEqual([]);
  await runMessage("Fix more");
  const pull = { link: "https://example.com/pull/1", branch: "agent/a", head: "c1" };
  // Before the agent, and after it.
  expect(asked).toEqual([pull, pull]);
});

test("work whose pull request was refused is published by the next turn, before its agent runs", async () => {
  const { run, runMessage, ports, branch, opened, starts, store } = await setUpTurns();
  const { open } = ports.pullRequests;
  ports.pullRequests.open = failing(new Error("no permission"));
  const { result, failures } = await run();
  expect(result).toBe("failed");
  expect(failures).toEqual([
    "The pull request of agent/a was refused: no permission. The work is on the branch agent/a. Check the token's permissions: a re-run of a workflow run keeps the ones of its workflow file. Then send the prompt again: the pull request is opened, and no agent runs for that work again.",
  ]);
  expect(await store.jobs.find("a")).toMatchObject({ state: "failed", kept: "pull-request", head: "c1" });
  ports.pullRequests.open = open;
  branch.isChanged = false;
  const { log } = await runMessage("Go on");
  expect(opened).toMatchObject([
    { prompt: "Fix it", title: "Fix it (2026-01-01)", answer: "Fixed it", head: "c1", existing: null },
  ]);
  expect(log).toContain(lines("The turn completed, but earlier turns of the job failed: turn 1 (Fix it)."));
  expect(starts).toHaveLength(2);
});

test("work that is refused again costs no agent again, and the same prompt none at all", async () => {
  const { host, run, runMessage, ports, opened, starts, store } = await setUpTurns();
  host.prepare = async () => false;
  const { open } = ports.pullRequests;
  ports.pullRequests.open = failing(new Error("no permission"));
  await run();
  const again = await runMessage("Fix more");
  expect([again.result, again.failures]).toEqual([
    "failed",
    [expect.stringContaining("agent/a was refused: no permission")],
  ]);
  expect((await runMessage("Fix it")).result).toBe("failed");
  expect([starts.length, (await store.jobs.find("a"))?.kept]).toEqual([1, "pull-request"]);
  ports.pullRequests.open = open;
  expect((await runMessage("Fix it")).result).toBe("completed");
  expect(starts).toHaveLength(1);
  expect(opened).toMatchObject([{ prompt: "Fix it", answer: "Fixed it", head: "c1", existing: null }]);
  expect((await store.turns.ofJob("a")).at(-1)).toMatchObject({ answer: "Fixed it", kept: null });
  await runMessage("Fix it");
  expect(starts).toHaveLength(2);
});

test("work that a failed turn has added to a pull request is announced by the next turn without a change", async () => {
  const { run, runMessage, ports, branch, opened } = await setUpTurns();
  await run();
  const { open } = ports.pullRequests;
  ports.pullRequests.open = failing(new Error("no permission"));
  await runMessage("Fix more");
  ports.pullRequests.open = open;
  branch.isChanged = false;
  await runMessage("Go on");
  expect(opened[1]).toMatchObject({ prompt: "Fix more", head: "c2", existing: "https://example.com/pull/1" });
  await runMessage("Go on");
  expect(opened).toHaveLength(2);
});

test("a turn without a change does not update a pull request that has all work", async () => {
  const { run, runMessage, branch, opened, ports } = await setUpTurns();
  await run();
  await runMessage("Fix more");
  ports.repository.commit = failing(new Error("broken"));
  await runMessage("Fail");
  ports.repository.commit = async () => ({ commit: undefined, leftOut: [] });
  branch.isChanged = false;
  expect((await runMessage("Go on")).log).toContain("earlier turns of the job failed: turn 3 (Fail).");
  expect(opened).toHaveLength(2);
});

test("a turn without a change ends when only others have pushed to the branch of the pull request", async () => {
  const { run, runMessage, branch, opened } = await setUpTurns();
  await run();
  branch.commits.splice(0, 1, { commit: "other", message: "Not of a turn" });
  branch.isChanged = false;
  expect((await runMessage("Go on")).result).toBe("completed");
  expect(opened).toHaveLength(1);
});

test("a branch with commits of others only is opened for the message that found it", async () => {
  const { run, branch, opened } = await setUpTurns();
  branch.commits.push({ commit: "other", message: "Not of a turn" });
  branch.isChanged = false;
  await run();
  expect(opened).toMatchObject([{ prompt: "Fix it", answer: null, head: "other", existing: null }]);
});

test("a branch without work that starts over is not opened", async () => {
  const { run, branch, opened } = await setUpTurns();
  branch.commits.push({ commit: "other", message: "Not of a turn" });
  branch.isOver = true;
  branch.isChanged = false;
  expect((await run()).result).toBe("completed");
  expect(opened).toEqual([]);
});

test.each<[string, (ports: TurnPorts) => void]>([
  [
    "when it is pushed",
    ({ repository }) => {
      const away = failing(new GitError(["push"], "exited with 128", "The requested URL returned error: 503", 128));
      Object.assign(repository, { push: away, fetch: away });
    },
  ],
  [
    "when its pull request is opened",
    ({ pullRequests }) => {
      pullRequests.open = failing(new GitHubError("GitHub cannot be reached", undefined));
    },
  ],
  [
    "when its pull request is opened, by its rate limit",
    ({ pullRequests }) => {
      pullRequests.open = failing(new RateLimitError("wait", 429, 1000));
    },
  ],
  [
    "when it starts",
    ({ repository }) => {
      repository.findStart = failing(new GitError(["ls-remote"], "exited with 128", "Could not resolve host", 128));
    },
  ],
])("a turn waits if the repository's host cannot be reached %s", async (_name, breakPorts) => {
  const { run, ports } = await setUpTurns();
  const failures: Failure[] = [];
  breakPorts(ports);
  const { result, log } = await run((failure) => void failures.push(failure));
  expect(result).toBe("postponed");
  expect(failures).toMatchObject([{ isRemote: true }]);
  expect(log).toMatch(
    /(?:repository's host cannot be reached now|rate limit is reached)\. The turn waits and continues later: /,
  );
});

test.each([
  ["an outage", "Could not resolve host", "postponed"],
  ["a refusal", "Authentication failed", "failed"],
])("what an earlier attempt has made stays kept if the next one meets %s at its start", async (_, said, ending) => {
  const { run, ports } = await setUpTurns();
  ports.repository.push = async (commit) => {
    if (commit !== "base") throw new GitError(["push"], "exited with 128", "Could not resolve host", 128);
  };
  ports.repository.branchHead = async () => "base";
  const failures: Failure[] = [];
  const onFailure = (failure: Failure): void => void failures.push(failure);
  await run(onFailure);
  ports.repository.findStart = failing(new GitError(["ls-remote"], "exited with 128", said, 128));
  expect((await run(onFailure)).result).toBe(ending);
  expect(failures.map(({ kept }) => kept)).toEqual(["push", "push"]);
});

test("what another machine has stored of a turn is not replaced by what this one has of another turn", async () => {
  const { run, ports } = await setUpTurns();
  const saved: string[] = [];
  ports.keptCommits = { save: async ({ job }) => void saved.push(job), load: async () => undefined };
  ports.repository.push = async (commit) => {
    if (commit !== "base") throw new GitError(["push"], "exited with 128", "Could not resolve host", 128);
  };
  ports.repository.branchHead = async () => "base";
  await run();
  const before = saved.length;
  ports.repository.findStart = failing(new GitError(["ls-remote"], "exited with 128", "Authentication failed", 128));
  ports.repository.lastCommitOf = async () => ({ commit: "c0", parent: "base", message: "Of another turn\n" });
  const failures: Failure[] = [];
  expect((await run((failure) => void failures.push(failure))).result).toBe("failed");
  expect(failures).toMatchObject([{ kept: "push" }]);
  expect(saved).toHaveLength(before);
});

test("a turn fails if GitHub rejects its pull request", async () => {
  const { run, ports } = await setUpTurns();
  ports.pullRequests.open = failing(new GitHubError("Resource not accessible", 403));
  expect((await run()).result).toBe("failed");
});

test.each([
  ["completes without one if its commit is merged already", [], "completed"],
  ["fails if its commit is not merged", [{ commit: "c1", message: "Change" }], "failed"],
] as const)("a turn whose pull request would have no commits %s", async (_, missing, result) => {
  const { run, ports } = await setUpTurns();
  const { repository } = ports;
  ports.pullRequests.open = failing(
    new GitHubError(
      'GitHub answered 422 to POST /repos/acme/docs/pulls: Validation Failed: {"message":"No commits between main and agent/job_1"}',
      422,
    ),
  );
  const { commits } = repository;
  const fetched: string[] = [];
  repository.fetch = async (branches) => void fetched.push(...branches);
  repository.branchHead = async (name) => (name === "main" ? "target" : "c1");
  repository.commits = async (base, head) => (base === "target" ? [...missing] : commits(base, head));
  expect((await run()).result).toBe(result);
  expect(fetched).toEqual(["main", ...(result === "failed" ? ["agent/a"] : [])]);
});

test("a turn whose branch a person deletes before its pull request is opened says so, and keeps nothing", async () => {
  const { run, ports, store } = await setUpTurns();
  ports.pullRequests.open = failing(new GitHubError("Validation Failed: invalid head", 422));
  ports.repository.branchHead = async () => undefined;
  const { result, failures } = await run();
  expect(result).toBe("failed");
  expect(failures[0]).toMatch(
    /^The turn's commit c1 was pushed to agent\/a, and somebody has deleted that branch since/,
  );
  expect((await store.jobs.find("a"))?.kept).toBeNull();
});

test("a turn whose commit was pushed earlier opens its pull request without running the agent again", async () => {
  const { run, ports, opened, starts } = await setUpTurns();
  const { open } = ports.pullRequests;
  ports.pullRequests.open = failing(new GitHubError("bad gateway", 502));
  expect((await run()).failures).toEqual(["bad gateway"]);
  ports.pullRequests.open = open;
  expect((await run()).log).toBe(lines("Turn 1 started.", "Pull request: https://example.com/pull/1"));
  expect(opened).toMatchObject([{ prompt: "Fix it", answer: "Fixed it" }]);
  expect(starts).toHaveLength(1);
});

test("homes are brought before a turn and kept after its agent, unless it was stopped", async () => {
  const { run, ports, next, steps } = await setUpTurns();
  const homes = new SharedHomes({
    lastAttemptedBefore: async () => undefined,
    loadHome: async () => undefined,
    saveHome: async () => {},
  });
  homes.bring = async () => void steps.push("bring");
  homes.begin = async () => void steps.push("begin");
  homes.keep = async () => void steps.push("keep");
  ports.homes = homes;
  next.result = { end: "stopped", message: undefined, error: undefined };
  await run();
  const end = ["release", "clean /service/jobs/a"];
  expect(steps.splice(0)).toEqual(["bring", "check out base", "begin", ...end]);
  next.result = { end: "failed", message: undefined, error: undefined };
  await run();
  expect(steps).toEqual(["bring", "check out base", "begin", "take back", "keep", ...end]);
});

test.each<[what: string, fail: (turns: Awaited<ReturnType<typeof setUpTurns>>, error: Error) => void, told?: string]>([
  [
    "its home cannot be kept",
    ({ ports }, error) => {
      ports.homes = { bring: async () => {}, keep: () => Promise.reject(error) };
    },
    "The agent's session may not continue: no space",
  ],
  [
    "the names in its clone cannot be read",
    ({ host }, error) => {
      host.mayHaveLeftWork = () => Promise.reject(error);
    },
  ],
  [
    "its commits cannot be read",
    ({ host }, error) => {
      host.hasOwnCommits = () => Promise.reject(error);
    },
  ],
  [
    "its worktree cannot be taken back yet",
    ({ ports }, error) => {
      ports.worktrees.takeBack = vi.fn(async () => {}).mockRejectedValueOnce(error);
    },
    "That is tried again for an hour: no space",
  ],
  [
    "the clone cannot keep its commit yet",
    ({ ports }, error) => {
      ports.repository.keep = vi.fn(async () => {}).mockRejectedValueOnce(error);
    },
    "That is tried again for an hour: no space",
  ],
])("what an agent made is published without another run of it, although %s", async (_what, fail, told = "") => {
  const turns = await setUpTurns();
  fail(turns, Object.assign(new Error("no space"), { code: "ENOSPC" }));
  turns.next.result = { ...turns.next.result, hasEnded: true };
  const machine = new FakeMachine();
  turns.ports.machine = machine;
  const { result, log } = await machine.passUntil(turns.run());
  expect([result, turns.opened.length]).toEqual(["completed", 1]);
  expect(turns.starts.filter(({ options }) => options.logFile !== "/dev/null")).toHaveLength(1);
  expect(log).toContain(told);
});

test("the log says if a follow-up has no session, and how its agent knows of the earlier turns", async () => {
  const { run, runMessage, ports } = await setUpTurns();
  expect((await run()).log).not.toContain("session");
  expect((await runMessage("More")).log).toContain(
    "The session of the earlier turns is gone, so the agent begins a new one. They are in the file named by AGENT_HISTORY_FILE.\n",
  );
  ports.agent = { ...ports.agent, isToldHistory: true };
  expect((await runMessage("More")).log).toContain("begins a new one. Its prompt tells of them.\n");
  ports.host = { ...ports.host, prepare: async () => false } as TurnPorts["host"] & object;
  expect((await runMessage("More")).log).not.toContain("session");
});

test("the agent and the job's log have the request that a turn was sent with", async () => {
  const { run, store, starts } = await setUpTurns();
  await run();
  await store.turns.add("a", "More", 7, undefined, { caller: "ci", step: "nightly", request: "r-1" });
  expect((await run()).log).toContain(lines("Turn 2 started. Its request is r-1."));
  expect(starts[1]?.options.requestId).toBe("r-1");
});

test("a turn whose branch moves before each of five pushes fails", async () => {
  const { run, ports } = await setUpTurns();
  let pushes = 0;
  ports.repository.push = async (commit) => {
    if (commit === "base") return;
    pushes++;
    throw new GitError(["push"], "failed", "! [rejected] agent/a (stale info)", 1);
  };
  ports.repository.branchHead = async () => `other ${pushes}`;
  ports.repository.rebase = async () => `rebased ${pushes}`;
  const { result, failures } = await run();
  expect([result, failures, pushes]).toEqual(["failed", [expect.stringContaining("rejected")], 5]);
});

test("a commit that cannot be pushed for an outage is stored for other machines", async () => {
  const { run, ports } = await setUpTurns();
  const saved: string[] = [];
  ports.keptCommits = { save: async ({ job }) => void saved.push(job), load: async () => undefined };
  const { push } = ports.repository;
  ports.repository.push = async (commit, ...rest) => {
    if (commit !== "base") throw new GitError(["push"], "exited with 128", "Could not resolve host", 128);
    await push(commit, ...rest);
  };
  ports.repository.branchHead = async () => "base";
  const failures: Failure[] = [];
  expect((await run((failure) => void failures.push(failure))).result).toBe("postponed");
  expect(failures).toMatchObject([{ isRemote: true, kept: "push" }]);
  expect(saved).toEqual(["a"]);
});

describe("a follow-up whose session cannot be continued", () => {
  const refused = {
    end: "failed",
    hasEnded: true,
    hasWorked: true,
    message: undefined,
    error: "API Error: 400 messages.3: `tool_use` ids were found without `tool_result` blocks",
  } as const;
  const unknown = {
    end: "failed",
    hasEnded: false,
    hasWorked: false,
    exitCode: 1,
    message: undefined,
    error: undefined,
  } as const;

  const setUp = (...results: AgentResult[]) => setUpWith({}, ...results);

  /** @param agent - what the agent has besides. `found`: the sessions in its home. `isFull`: homes cannot be moved any more */
  async function setUpWith(
    { found = [], isFull = false, ...agent }: Pick<Agent, "sessions"> & { found?: string[]; isFull?: boolean },
    ...results: AgentResult[]
  ) {
    const turns = await setUpTurns();
    await turns.run();
    const { host, ports } = turns;
    const homes: string[] = [];
    host.findSessions = async () => (homes.includes("new") ? [] : found);
    // The first turn has left a session.
    host.prepare = async () => false;
    host.lastOutput = async () => "No conversation found to continue";
    host.replaceHome = async () => {
      homes.push("new");
      let isOld = false;
      return {
        drop: async () => {
          isOld = true;
          if (isFull) throw new Error("no space");
        },
        [Symbol.asyncDispose]: async () => {
          homes.push(isOld ? "dropped" : "back");
          if (isFull) throw new Error("no space");
        },
      };
    };
    const goes: { isFollowUp: boolean; told: number }[] = [];
    const isEarlier: AgentOptions["isEarlierSession"][] = [];
    host.runAgent = async (_agent, { isFollowUp, history, isEarlierSession }) => {
      goes.push({ isFollowUp, told: history.length });
      isEarlier.push(isEarlierSession);
      return results[goes.length - 1] ?? refused;
    };
    ports.agent = { ...ports.agent, isToldHistory: true, ...agent };
    const ran = await turns.runMessage("More");
    const stored = await turns.store.turns.ofJob("a");
    return { ...ran, homes, goes, isEarlier, costUsd: stored.at(-1)?.costUsd };
  }

  const done: AgentResult = { end: "completed", hasEnded: true, hasWorked: true, message: "Done", error: undefined };

  test.each<[why: string, first: AgentResult]>([
    ["because its API refuses the messages", refused],
    ["because its program has no such session", unknown],
    [
      "because its API refuses the messages, says aider",
      {
        end: "failed",
        message: undefined,
        error: "litellm.BadRequestError: OpenAIException - messages.1: `tool_use` ids",
      },
    ],
    [
      "because its API refuses the messages, whose status only the proxy knows",
      { ...refused, error: "`tool_use` ids were found", model: { lastStatus: 400, lastDenied: undefined } },
    ],
  ])("is run once more, told the earlier turns, with a new home: %s", async (_why, first) => {
    const { result, log, goes, homes } = await setUp(first, done);
    expect(result).toBe("completed");
    expect(goes).toEqual([
      { isFollowUp: true, told: 1 },
      { isFollowUp: false, told: 1 },
    ]);
    expect(homes).toEqual(["new", "dropped"]);
    expect(log).toContain("The session of the earlier turns cannot be continued, so the agent is run once more.");
  });

  test("has its change published although its homes cannot be moved after its second run", async () => {
    const { result, log } = await setUpWith({ isFull: true }, refused, done);
    expect(result).toBe("completed");
    expect(log.match(/The agent's session may not continue: no space/g)).toHaveLength(2);
  });

  test("is run once, with a new session, if its home has none", async () => {
    const sessions = { files: ".cli/*" };
    const { result, log, goes, homes } = await setUpWith({ sessions }, done);
    expect([result, goes, homes]).toEqual(["completed", [{ isFollowUp: false, told: 1 }], []]);
    expect(log).toContain("The session of the earlier turns is gone, so the agent begins a new one. Its prompt tells");
  });

  test.each([
    [undefined, ["ab-1", "cd-2"], ["ab-2"]],
    [2, ["ab-1", "ab-3"], ["ef-1"]],
    [0, ["ef"], []],
  ])("knows sessions by the first %s characters of their ids", async (idLength, earlier, others) => {
    const sessions = { files: ".cli/*", ...(idLength !== undefined && { idLength }) };
    const { goes, isEarlier } = await setUpWith({ sessions, found: [".cli/x-ab-1.json", ".cli/x-cd-2.json"] }, done);
    expect(goes).toEqual([{ isFollowUp: true, told: 1 }]);
    const known = [...earlier, ...others].filter((id) => isEarlier[0]?.(id));
    expect(known).toEqual(earlier);
  });

  test("is run once more if it begins another session, and costs what both runs did", async () => {
    const other: AgentResult = { ...unknown, endedBy: "other-session", costUsd: 0.25 };
    const sessions = { files: ".cli/*" };
    const { result, goes, log, costUsd, isEarlier } = await setUpWith({ sessions, found: ["a"] }, other, {
      ...done,
      costUsd: 1,
    });
    expect([result, goes.map(({ isFollowUp }) => isFollowUp), costUsd]).toEqual(["completed", [true, false], 1.25]);
    expect(isEarlier.map((one) => one === undefined)).toEqual([false, true]);
    expect(log).toContain("The agent did not find the session of the earlier turns, and began another one.");
  });

  test.each<[what: string, first: AgentResult, costUsd: number]>([
    ["nothing, if it has not worked and says nothing of it", unknown, 1],
    ["an unknown amount, if it has worked and says nothing of it", refused, -1],
  ])("costs %s", async (_what, first, costUsd) => {
    expect(await setUp(first, { ...done, costUsd: 1 })).toMatchObject({ costUsd });
  });

  test("is run no third time, and has its old home and both reasons if the new session says no word either", async () => {
    const { result, failures, goes, homes } = await setUp(unknown, unknown);
    expect([result, goes.length, homes]).toEqual(["failed", 2, ["new", "back"]]);
    expect(failures.at(-1)).toMatch(
      /exit code 1.*No conversation found.*could not be continued: The agent ended without/s,
    );
  });

  test.each<[what: string, first: AgentResult]>([
    ["has worked", { ...unknown, hasWorked: true }],
    ["has no credit", { ...refused, hasWorked: false, error: "Your credit balance is too low" }],
    ["has no key that is accepted", { ...refused, hasWorked: false, error: "401 invalid x-api-key" }],
    ["finds its API overloaded", { ...refused, hasWorked: false, error: "529 Overloaded" }],
    [
      "is a command, of whose words nothing is known",
      { end: "failed", exitCode: 1, message: undefined, error: undefined },
    ],
    ["is out of time", { ...unknown, end: "timed-out", endedBy: "time-limit" }],
  ])("is not run again if it %s", async (_what, first) => {
    const { result, goes } = await setUp(first, done);
    expect([result, goes.length]).toEqual(["failed", 1]);
  });
});

test.each<[name: string, closedAt: number | undefined, expected: object]>([
  [
    "a pull request that a person closes while the turn runs is not followed by another one",
    2000,
    { result: "failed" },
  ],
  ["one that was closed before is", undefined, { result: "completed", failures: [] }],
])("%s", async (_name, closedAt, expected) => {
  const { run, runMessage, ports, opened, next, store } = await setUpTurns();
  await run();
  const { open } = ports.pullRequests;
  next.state = closedAt === undefined ? "closed" : "open";
  ports.pullRequests.read = async () => ({
    state: next.state,
    target: undefined,
    ...(next.state === "closed" && { closedAt: 5 }),
  });
  ports.pullRequests.open = async (change) => {
    next.state = "closed";
    await change.confirmNew?.();
    return open({ ...change, existing: null });
  };
  const done = await runMessage("Go on");
  expect(done).toMatchObject(expected);
  expect(opened).toHaveLength(closedAt === undefined ? 2 : 1);
  if (closedAt === undefined) return;
  expect(done.failures[0]).toMatch(/pull\/1 was closed while the turn ran, so its commit is on agent\/a, and in no/);
  expect((await store.jobs.find("a"))?.kept).toBe("pull-request");
  expect(await runMessage("Go on")).toMatchObject({ result: "completed" });
  expect(opened).toHaveLength(2);
});

test.each([
  ["was deleted", undefined, "deleted that branch"],
  ["has only what others pushed", "other", "taken it from there"],
])("a recorded commit whose branch %s since is not pushed again", async (_name, remoteHead, what) => {
  const { store, ports, take, run, starts, opened } = await setUpTurns();
  const turn = await take();
  await store.runningTurns.countAttempt(turn);
  await store.runningTurns.recordPush(turn, null, "c1", turn.id);
  await store.runningTurns.requeue(turn, 0, true);
  const [own] = await store.turns.ofJob("a");
  const start = { targetBranch: "main", base: "base", isContinued: true, notes: [] };
  ports.repository.findStart = async (branch) => ({ ...start, branch, remoteHead, head: remoteHead ?? "c1" });
  ports.repository.commits = async () => (remoteHead === undefined ? [] : [{ commit: "other", message: "Mine" }]);
  const message = own === undefined ? "" : commitMessage(own, []);
  ports.repository.lastCommitOf = async () => ({ commit: "c1", parent: "base", message });
  const pushed: unknown[] = [];
  ports.repository.push = async (...push) => void pushed.push(push);
  const { result, failures } = await run();
  expect([result, starts, opened, pushed]).toEqual(["failed", [], [], []]);
  expect(failures[0]).toContain(`was pushed to agent/a, and somebody has ${what} since, so nothing is pushed again.`);
});

const [product, own] = ["product", "docs"].map((name) => `https://github.com/acme/${name}/issues/12`);

test.each([
  [product, false],
  [own, true],
  [undefined, true],
])("what a thread of another repository says is not published: asked in %s", async (place, isPublished) => {
  const { store, run, ports, branch, opened, starts } = await setUpTurns();
  Object.assign(ports.pullRequests, {
    repository: { apiUrl: "https://api.github.com", owner: "acme", name: "docs" },
  });
  await run();
  const asked = JSON.stringify({ in: place, run: "https://github.com/acme/product/actions/runs/1" });
  await store.turns.add("a", "Project Falcon slips", 7, undefined, undefined, { sections: "", asked, covers: null });
  await run();
  const published = JSON.stringify([branch.commits[1], opened[1]]);
  expect(published.includes("Falcon")).toBe(isPublished);
  expect(published.includes("Change what was asked for in another repository")).toBe(!isPublished);
  const told = starts[1]?.options.prompt ?? "";
  expect(told).toContain("Project Falcon slips");
  expect(told.includes("neither quote nor link")).toBe(!isPublished);
});
