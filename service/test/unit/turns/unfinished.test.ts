import { expect, onTestFinished, test } from "vitest";
import type { AgentResult } from "../../../src/agents/run-agent.ts";
import type { StoredTurn, Turn } from "../../../src/model.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";
import type { Change } from "../../../src/pulls/pull-requests.ts";
import { namedTurns } from "../../../src/pulls/turn-trailers.ts";
import { type KeptCommits, MayNotBeKept } from "../../../src/store/kept-commits.ts";
import { includedIn } from "../../../src/store/made.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { findKeptTurn } from "../../../src/turns/kept-work.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import type { Failure, TurnPorts } from "../../../src/turns/turn-ports.ts";
import { unfinishedBefore } from "../../../src/turns/unfinished.ts";
import { memoryHost } from "../../support/memory-host.ts";
import type { Edits } from "../../support/memory-objects.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { MemoryRemote } from "../../support/memory-remote.ts";
import { MemoryRepository } from "../../support/memory-repository.ts";
import { memoryWorktrees } from "../../support/memory-worktrees.ts";
import { identityOf } from "../../support/turn-identity.ts";

const job = "job_00000000-0000-4000-8000-000000000001";
const branch = `agent/${job}`;

/** A job whose turns run in memory, with agents that do as they are told. */
async function setUp(more: Partial<TurnPorts> = {}) {
  const remote = new MemoryRemote({ "README.md": "Docs\n", "docs/guide.md": "# Guide\n", "package.json": "{}\n" });
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const repository = new MemoryRepository(remote);
  await repository.open();
  const log: string[] = [];
  let plan: { edits: Edits; result: Partial<AgentResult> } = { edits: {}, result: {} };
  /** What the last agent was told, and which of these files it found. */
  const seen = { told: "", found: {} as Record<string, string | undefined> };
  const watched = new Set<string>();
  const opened: Change[] = [];
  const host: TurnPorts["host"] = {
    ...memoryHost,
    appendLog: (_file, text) => void log.push(text),
    runAgent: async (agent, { prompt, logFile, directories: { tree } }) => {
      const completed = { end: "completed", message: undefined, error: undefined } as const;
      if (logFile === "/dev/null") {
        // Git, with the rights of the agent.
        const [, , , , source = "", ...paths] = agent.command({ isFollowUp: false, isSandboxed: false }).args;
        const files = remote.objects.files(source);
        for (const path of paths) {
          const id = files.get(path);
          repository.edit(tree, { [path]: id === undefined ? null : remote.objects.content(id) });
        }
        return { ...completed, message: "laid\n" };
      }
      seen.told = prompt;
      seen.found = Object.fromEntries([...watched].map((path) => [path, repository.read(tree, path)]));
      repository.edit(tree, plan.edits);
      if (plan.result.end === "stopped") await stopRunning();
      return { ...completed, ...plan.result };
    },
  };
  const ports: TurnPorts = {
    ...memoryPorts(),
    host,
    store,
    repository,
    worktrees: memoryWorktrees(repository),
    pullRequests: {
      open: async (change) => {
        opened.push(change);
        return change.existing ?? "https://example.com/pull/1";
      },
      read: async () => ({ state: "open", target: undefined }),
      findClosed: async () => new Set<string>(),
    },
    ...more,
  };
  let stop = new AbortController();
  const stopRunning = async (): Promise<void> => {
    const turn = (await store.turns.ofJob(job)).at(-1)?.id ?? 0;
    await store.turns.stop(job, turn, 0, "Stopped.");
    stop.abort("Stopped.");
  };
  const failed = { end: "failed", exitCode: 1 } as const;
  /** Runs a turn whose agent makes these edits, and completes or fails. */
  const run = async (prompt: string, edits: Edits, result: Partial<AgentResult> = failed) => {
    for (const path of Object.keys(edits)) watched.add(path);
    plan = { edits, result };
    stop = new AbortController();
    if (await store.jobs.find(job)) await store.turns.add(job, prompt, 0);
    else await store.jobs.add({ id: job, project: "docs", createdAt: 0 }, prompt);
    return end();
  };
  const end = async () => {
    const [turn, stored] = [await store.runningTurns.startNext(), await store.jobs.find(job)];
    if (turn === undefined || stored === undefined) throw new Error("no turn is waiting");
    let failure: Failure | undefined;
    const onFailure = (found: Failure): void => {
      failure = found;
    };
    const result = await runTurn(
      turn,
      stored,
      { ...ports, stop: stop.signal, onFailure },
      new AbortController().signal,
    );
    if (result === "completed" || result === "failed") await store.runningTurns.finish(turn, result, 0, failure);
    return (await store.turns.ofJob(job)).at(-1);
  };
  /** Runs a turn whose worker is lost in both of its attempts. */
  const interrupt = async (prompt: string) => {
    await store.turns.add(job, prompt, 0);
    for (const _ of [1, 2]) {
      const turn = await store.runningTurns.startNext();
      if (turn === undefined) throw new Error("no turn is waiting");
      await store.runningTurns.countAttempt(turn);
      await store.runningTurns.requeueInterrupted();
    }
    return end();
  };
  return { remote, repository, run, interrupt, seen, log: () => log.join(""), opened, ports };
}

const complete = { end: "completed" } as const;

test("a turn that is interrupted leaves what is unfinished to the next one, and the third one in a row starts without it", async () => {
  const { run, seen, interrupt, ports } = await setUp();
  const kept = async () => (await ports.store.jobs.find(job))?.kept;
  await run("Write it", { "part.md": "begun\n" });
  const failure = { state: "failed", kept: null, failureClass: "transient" };
  expect([await interrupt("Write it"), await kept()]).toEqual([expect.objectContaining(failure), "unfinished"]);
  expect(await run("Write it", {}, complete)).toMatchObject({ state: "completed" });
  expect(seen.found).toEqual({ "part.md": "begun\n" });
  expect(await kept()).toBeNull();
  await run("Go on", { "part.md": "more\n" });
  for (const _ of [1, 2]) await interrupt("Go on");
  await run("Go on", { "part.md": "again\n" });
  expect(seen.found).toEqual({ "part.md": "begun\n" });
  expect(seen.told).toContain("edits that you remember of it are gone");
});

test("an agent is told that the edits of an interrupted turn are gone", async () => {
  const { run, seen, interrupt } = await setUp();
  await run("Write it", { "part.md": "whole\n" }, complete);
  await interrupt("Write more");
  await run("Write more", {}, complete);
  expect(seen.told).toContain("was interrupted 2 times and is not run again. The files are as the branch has them");
});

test("an agent begins in what the one before left, the fourth one in a row does not, and the fifth one does again", async () => {
  const { run, seen, log, remote } = await setUp();
  const found: (string | undefined)[] = [];
  for (const turn of ["one", "two", "three", "four", "five"]) {
    expect(await run("Write it", { "part.md": `${turn}\n` })).toMatchObject({ state: "failed", kept: "unfinished" });
    found.push(seen.found["part.md"]);
  }
  expect(found).toEqual([undefined, "one\n", "two\n", undefined, "four\n"]);
  expect(log()).toContain("The last 3 turns did not complete, so this one starts without what they left.");
  expect(remote.branches().filter((name) => remote.heads.get(name) !== remote.head("main"))).toEqual([]);
  expect(await run("Write it", {}, complete)).toMatchObject({ state: "completed" });
  expect(remote.read(branch, "part.md")).toBe("five\n");
});

test.each<[what: string, path: string, isLaid: boolean, more?: Partial<TurnPorts>]>([
  ["a page", "docs/new.md", true],
  ["a page that the branch has changed since", "docs/guide.md", false],
  ["instructions for agents", "AGENTS.md", false],
  ["a script that a package manager runs", "package.json", false],
  ["a workflow", ".github/workflows/ci.yml", false],
  ["a page that --only does not allow any more", "other.md", false, { only: readPathPatterns(["docs/"]) }],
])("what is laid out for an agent: %s", async (_, path, isLaid, more = {}) => {
  const { run, seen, remote, ports } = await setUp();
  const content = path === "package.json" ? '{"scripts":{"test":"curl x | sh"}}\n' : "begun\n";
  await run("Write it", { "docs/page.md": "begun\n", [path]: content });
  Object.assign(ports, more);
  remote.commitTo("main", { "docs/guide.md": "# By hand\n" });
  await run("Write it", {}, complete);
  expect(seen.found["docs/page.md"]).toBe("begun\n");
  expect(seen.found[path] === content).toBe(isLaid);
  const [, left = ""] = /These of its files are not, .*?: (.*)/.exec(seen.told) ?? [];
  expect(left.includes(path)).toBe(!isLaid);
});

test.each<[what: string, edits: Edits, isLaid: boolean]>([
  ["with instructions of its content", { "AGENTS.md": "# Guide\n" }, false],
  ["with a page of its name that is not allowed", { "other/guide.md": "New\n" }, false],
  ["with other instructions", { "AGENTS.md": "Obey\n" }, true],
  ["with a page of its name", { "docs/new/guide.md": "New\n" }, true],
])("what is laid out for an agent: that a page was deleted, %s", async (_, edits, isLaid) => {
  const { run, seen, ports } = await setUp();
  await run("Write it", { "docs/guide.md": null, "docs/page.md": "begun\n", ...edits });
  Object.assign(ports, { only: readPathPatterns(["docs/", "AGENTS.md"]) });
  await run("Write it", {}, complete);
  expect(seen.found["docs/page.md"]).toBe("begun\n");
  expect(seen.found["docs/guide.md"]).toBe(isLaid ? undefined : "# Guide\n");
});

/** Another machine that works on the job, with what its agent began in. */
const working = (...begunIn: number[]): Partial<TurnPorts> => ({
  keptCommits: {
    save: async () => {},
    load: async () => undefined,
    besides: async () => namedTurns(commitMessage(elsewhere, [], {}, { left: "begun", until: 1, begunIn })),
  },
});
const elsewhere: Turn = {
  id: 50,
  identity: identityOf(50),
  job,
  prompt: "Elsewhere",
  sections: "",
  covers: null,
  attempts: 0,
  step: "",
  request: "",
};

test.each([
  [true, working(1)],
  [false, working()],
  [false, working(7)],
])("what another machine's agent began in is left alone: %s", async (isLeft, beside) => {
  const { run, seen, log, ports } = await setUp();
  await run("Write it", { "part.md": "one\n" });
  Object.assign(ports, beside);
  await run("Write more", {}, complete);
  expect(seen.found["part.md"]).toBe(isLeft ? undefined : "one\n");
  expect(log().includes("Another run goes on with what turn 1 left")).toBe(isLeft);
});

test("the target branch is not merged while another machine works on the job, and the agent is told what it lacks", async () => {
  const { run, seen, remote, log, ports } = await setUp();
  await run("Write it", { "docs/guide.md": "# Ours\n" }, complete);
  remote.commitTo("main", { "README.md": "New\n" });
  Object.assign(ports, working());
  await run("Write more", { "more.md": "two\n" }, complete);
  expect(remote.read(branch, "README.md")).toBe("Docs\n");
  const why = `Another run of this job works on ${branch}, so main is not merged into it now.`;
  expect(seen.told).toContain(`${why} The branch main has changed since`);
  expect(log()).toContain(why);
  Object.assign(ports, { keptCommits: undefined });
  await run("Write on", { "more.md": "three\n" }, complete);
  expect(remote.read(branch, "README.md")).toBe("New\n");
});

test("why the last turn ended is told, without what has become a secret of the service since", async () => {
  const { run, seen, ports } = await setUp();
  const failed = { end: "failed", exitCode: 1, error: "the key sk-secret-0123456789 is bad" } as const;
  await run("Write it", { "part.md": "one\n" }, failed);
  Object.assign(ports, { secrets: [{ name: "KEY", value: "sk-secret-0123456789" }] });
  await run("Write it", {}, complete);
  expect(seen.told).toMatch(/^The last request of this job did not complete\. .*the key \*\*\* is bad/);
  expect(seen.told).not.toContain("sk-secret");
});

test("what a turn left and cannot be read now is laid out for the turn after the one that could not", async () => {
  const stored = new Map<string, Uint8Array>();
  let isOut = false;
  const { run, seen, repository } = await setUp({
    keptCommits: {
      save: async (turn, packed) => void stored.set(turn.job, packed),
      load: async (of) => (isOut ? Promise.reject(new Error("answered with 403")) : stored.get(of)),
    },
  });
  await run("Write it", { "part.md": "one\n" });
  repository.jobs.delete(job);
  isOut = true;
  expect(await run("Write it", {}, complete)).toMatchObject({ state: "failed", kept: null, attempts: 0 });
  isOut = false;
  await run("Write it", {}, complete);
  expect(seen.found["part.md"]).toBe("one\n");
});

test("a change with a secret of the service is not kept", async () => {
  const { run, seen, log } = await setUp({ secrets: [{ name: "KEY", value: "sk-secret-0123456789" }] });
  expect(await run("Write it", { "part.md": "sk-secret-0123456789\n" })).toMatchObject({ state: "failed", kept: null });
  expect(log()).toContain("What the agent changed is not kept: the change has secrets of the service");
  await run("Write it", {}, complete);
  expect(seen.found["part.md"]).toBeUndefined();
});

test("what a turn left on another machine is not what an earlier one left on this one", async () => {
  const { run, seen, repository } = await setUp();
  await run("Write it", { "one.md": "1\n" });
  const here = repository.jobs.get(job) ?? "";
  await run("Write it", { "two.md": "2\n" });
  repository.jobs.set(job, here);
  await run("Write it", {}, complete);
  expect(seen.found).toMatchObject({ "one.md": undefined, "two.md": undefined });
  expect(seen.told).toContain("The files are as the branch has them: edits that you remember of it are gone.");
});

test.each([
  ["Write it", false],
  ["Write something else", true],
])("a change that an earlier request began says so if that was another one: %s", async (prompt, isNamed) => {
  const { run, remote, opened } = await setUp();
  await run("Write it", { "part.md": "one\n" });
  expect(await run(prompt, { "more.md": "two\n" }, complete)).toMatchObject({ state: "completed" });
  expect(remote.read(branch, "part.md")).toBe("one\n");
  const note = "Begun for an earlier request that did not complete (turn 1): part.md";
  expect(opened).toMatchObject([isNamed ? { notes: [note] } : { prompt }]);
  expect(opened[0]?.notes !== undefined).toBe(isNamed);
});

const reserveMs = 600_000;
test.each<[what: string, edits: Edits, result: Partial<AgentResult>, told: string[]]>([
  ["publishes its change", { "part.md": "1\n" }, complete, ["begun", "saved", "pushed"]],
  ["changes nothing", {}, complete, ["begun", "nothing", "nothing"]],
  ["fails without a change", {}, { end: "failed", exitCode: 1 }, ["begun", "failed"]],
  ["fails with a change", { "part.md": "1\n" }, { end: "failed", exitCode: 1 }, ["begun", "saved"]],
])("what other machines are told of a turn whose agent %s", async (_, edits, result, told) => {
  for (const isRefused of [false, true]) {
    const all: [kind: string, until?: number | undefined][] = [];
    const tell = async (_turn: unknown, message = ""): Promise<undefined> => {
      const [{ left = "", until = undefined } = {}] = namedTurns(message);
      all.push([left, until]);
      if (isRefused) throw new Error("refs cannot be pushed");
    };
    const keptCommits: KeptCommits = {
      isOnlyPlace: true,
      save: async () => void all.push(["saved"]),
      load: async () => undefined,
      begin: tell,
      end: tell,
      // In its place, where nothing else remembers it.
      forget: async (_turn, message = "") => void all.push([namedTurns(message)[0]?.left ?? "forgotten"]),
    };
    const { run, log, ports } = await setUp({ keptCommits });
    const now = ports.machine?.wallTime() ?? 0;
    expect(await run("Write it", edits, result)).toMatchObject({ state: complete === result ? "completed" : "failed" });
    // Without the word that it begins, nobody waits for it, and there is nothing to end.
    expect(all.map(([kind]) => kind)).toEqual(told.filter((kind) => !isRefused || kind !== "failed"));
    expect(all[0]).toEqual(["begun", now + ports.timeLimitMs + reserveMs]);
    expect(log().includes("refs cannot be pushed")).toBe(isRefused);
    const isUntold = isRefused && told.includes("nothing");
    expect(log().includes("How the turn ended is only known on this machine: ")).toBe(isUntold);
  }
});

test("other machines are not told that a turn failed which had nothing of what earlier ones left", async () => {
  const told: (string | undefined)[] = [];
  const end = async (_turn: unknown, message: string | undefined) => void told.push(message);
  const { run } = await setUp({
    keptCommits: { save: async () => {}, load: async () => undefined, begin: async () => undefined, end },
  });
  const failure = { end: "failed", exitCode: 1 } as const;
  for (const part of ["1", "2", "3"]) await run("Write it", { "part.md": part }, failure);
  expect(told).toEqual([]);
  // The fourth one starts clean.
  await run("Write it", {}, failure);
  expect(told).toEqual([undefined]);
});

test.each<[what: string, edits: Edits, mayBeKept: boolean, isLeft: boolean, result?: Partial<AgentResult>]>([
  ["at once", {}, true, true],
  ["having taken back a part of it", { "docs/page.md": null }, true, true],
  ["after edits that may not be kept", { "own.md": "2\n" }, false, true],
  ["after edits that are refused", { "own.md": "sk-secret-0123456789\n" }, true, true, complete],
  ["after edits of its own", { "own.md": "2\n" }, true, false],
  ["because somebody stops it", { "own.md": "2\n" }, true, true, { end: "stopped" }],
])("a completed change that conflicts with the branch is left by an agent that fails %s", async (_, ...row) => {
  const [edits, mayBeKept, isLeft, result] = row;
  const stored = new Map<string, Uint8Array>();
  const told: (string | undefined)[] = [];
  const keptCommits: KeptCommits = {
    isOnlyPlace: true,
    save: async ({ identity }, packed) => {
      if (stored.size > 0 && !stored.has(identity) && !mayBeKept) throw new MayNotBeKept("the repository is public");
      stored.set(identity, packed);
    },
    load: async (_job, { identity }) => stored.get(identity),
    begin: async () => undefined,
    end: async (_turn, message) => void told.push(message),
  };
  const { run, remote, opened, seen, ports } = await setUp({
    keptCommits,
    secrets: [{ name: "KEY", value: "sk-secret-0123456789" }],
  });
  remote.refuses = () => "GH013: Repository rule violations found";
  remote.setHead(branch, remote.head("main"));
  const change = { "docs/guide.md": "# Ours\n", "docs/page.md": "1\n", "docs/other.md": "1\n" };
  expect(await run("Write it", change, complete)).toMatchObject({ kept: "push" });
  remote.refuses = () => undefined;
  remote.commitTo("main", { "docs/guide.md": "# By hand\n" });
  const failed = await run("Write it", edits, result);
  expect(seen.found).toMatchObject({ "docs/guide.md": "# By hand\n", "docs/page.md": "1\n" });
  expect(failed).toMatchObject({ state: "failed", kept: isLeft ? null : "unfinished" });
  expect(await ports.store.jobs.find(job)).toMatchObject({ kept: isLeft ? "push" : "unfinished" });
  // Other machines are not told either that it decides on what was kept.
  expect(told).toEqual(isLeft ? [undefined] : []);
  remote.commitTo("main", { "docs/guide.md": "# Guide\n" }, "Revert");
  seen.told = "";
  expect(await run("Write it", { "more.md": "3\n" }, complete)).toMatchObject({ state: "completed" });
  expect(seen.told === "").toBe(isLeft);
  expect(remote.read(branch, "docs/guide.md")).toBe(isLeft ? "# Ours\n" : "# Guide\n");
  expect(opened.length).toBe(1);
});

test("what the target branch brought into the branch of kept work is no change that an option could refuse", async () => {
  const { run, remote, ports, seen, opened } = await setUp({ only: readPathPatterns(["docs/**"]) });
  expect(await run("One", { "docs/one.md": "1\n" }, complete)).toMatchObject({ state: "completed" });
  remote.commitTo("main", { "src/code.js": "x\n" });
  const { open } = ports.pullRequests;
  ports.pullRequests.open = () => Promise.reject(new GitHubError("not permitted to create pull requests", 403));
  expect(await run("Two", { "docs/two.md": "2\n" }, complete)).toMatchObject({ state: "failed", kept: "pull-request" });
  ports.pullRequests.open = open;
  seen.told = "";
  expect(await run("Two", {}, complete)).toMatchObject({ state: "completed", reason: null });
  expect([seen.told, opened.length]).toEqual(["", 2]);
});

/** Keeps what is told of turns in the place of what was kept of them. */
function recordEnds() {
  const told: [identity: string, left: string | undefined][] = [];
  const tell = async ({ identity }: Pick<Turn, "identity">, message = ""): Promise<void> =>
    void told.push([identity, namedTurns(message)[0]?.left]);
  const keptCommits: KeptCommits = { save: async () => {}, load: async () => undefined, forget: tell };
  const endsOf = (turns: readonly StoredTurn[]) =>
    told.map(([identity, left]) => [turns.find((turn) => turn.identity === identity)?.id, left]);
  return { endsOf, keptCommits, tell };
}

test("a turn that has published what was kept for the same prompt stays known as completed, for a re-run of its step", async () => {
  const { endsOf, keptCommits, tell } = recordEnds();
  const { run, remote, seen, ports } = await setUp({ keptCommits: { ...keptCommits, end: tell } });
  remote.refuses = () => "GH013: Repository rule violations found";
  remote.setHead(branch, remote.head("main"));
  expect(await run("Write it", { "docs/page.md": "1\n" }, complete)).toMatchObject({ kept: "push" });
  remote.refuses = () => undefined;
  seen.told = "";
  expect(await run("Write it", {}, complete)).toMatchObject({ state: "completed" });
  expect(seen.told).toBe("");
  expect(endsOf(await ports.store.turns.ofJob(job))).toEqual([
    [1, "pushed"],
    [2, "pushed"],
  ]);
});

test("a turn whose unfinished work was published stays known as failed, for a re-run of its step", async () => {
  const { endsOf, keptCommits } = recordEnds();
  const { run, ports } = await setUp({ keptCommits });
  await run("Write it", { "part.md": "1\n" }, { end: "failed", exitCode: 1 });
  expect(await run("Go on", { "other.md": "2\n" }, complete)).toMatchObject({ state: "completed" });
  expect(endsOf(await ports.store.turns.ofJob(job))).toEqual([
    [1, "failed"],
    [2, "pushed"],
  ]);
});

test.each<[what: string, edits: Edits, forgotten: [id: number, left: string][]]>([
  [
    "publishes its change",
    { "docs/guide.md": "# Both\n" },
    [
      [1, "failed"],
      [2, "pushed"],
    ],
  ],
  ["changes nothing", { "docs/page.md": null }, [[2, "nothing"]]],
])("a commit that conflicts is kept until a turn that had it %s", async (_, edits, expected) => {
  const { endsOf, keptCommits } = recordEnds();
  const { run, remote, ports } = await setUp({ keptCommits });
  remote.refuses = () => "GH013: Repository rule violations found";
  remote.setHead(branch, remote.head("main"));
  await run("Write it", { "docs/guide.md": "# Ours\n", "docs/page.md": "1\n" }, complete);
  remote.refuses = () => undefined;
  remote.commitTo("main", { "docs/guide.md": "# By hand\n" });
  expect(await run("Write it", edits, complete)).toMatchObject({ state: "completed" });
  expect(endsOf(await ports.store.turns.ofJob(job))).toEqual(expected);
});

const ended = (id: number, kept: StoredTurn["kept"], attempts = 1, state: StoredTurn["state"] = "failed") =>
  ({ id, kept, attempts, state, endedAt: id * 10, stage: "made" }) as StoredTurn;
const done = ended(1, null, 1, "completed");
const lost = (id: number): StoredTurn => ({ ...ended(id, null), stage: "begun", stopRequestedAt: null });
const untouched = (id: number): StoredTurn => ({ ...lost(id), stage: "made", made: '{"isUntouched":true}' });
test.each<[name: string, turns: StoredTurn[], kept: number | undefined, inRow: number[]]>([
  ["nothing before", [], undefined, []],
  ["one that completed", [done], undefined, []],
  ["work that was refused", [ended(1, "push")], 1, []],
  ["unfinished work", [ended(1, "unfinished")], undefined, [1]],
  ["unfinished work, twice", [ended(1, "unfinished"), ended(2, "unfinished")], undefined, [1, 2]],
  // What was refused is older than what was begun on top of the branch.
  ["unfinished work after what was refused", [ended(1, "push"), ended(2, "unfinished")], undefined, [2]],
  ["what was refused after unfinished work", [ended(1, "unfinished"), ended(2, "push")], 2, []],
  ["a turn that failed before anything was done", [ended(1, "unfinished"), ended(2, null, 0)], undefined, [1]],
  ["one that failed without a change", [ended(1, "unfinished"), ended(2, null)], undefined, []],
  ["one that was interrupted", [ended(1, "unfinished"), lost(2)], undefined, [1, 2]],
  ["one whose copy counts an attempt that did not begin", [ended(1, "push"), { ...lost(2), stage: null }], 1, []],
  ["one that had nothing of what was refused", [ended(1, "push"), untouched(2)], 1, []],
  ["one that had nothing of it", [ended(1, "unfinished"), untouched(2), ended(3, "unfinished")], undefined, [1, 2, 3]],
  ["only turns that left nothing", [lost(1), untouched(2)], undefined, []],
  ["one that somebody stopped", [ended(1, "unfinished"), { ...lost(2), stopRequestedAt: 1 }], undefined, []],
  ["one that somebody stopped, and that left it", [ended(1, "push"), { ...untouched(2), stopRequestedAt: 1 }], 1, []],
  ["one that completed since", [ended(1, "push"), { ...done, id: 2 }], undefined, []],
  ["two that could not publish it", [ended(1, "push"), ended(2, "push", 0), ended(3, "push", 0)], 1, []],
])("after %s", (_, turns, kept, inRow) => {
  expect(findKeptTurn({ id: 9 }, turns)?.id).toBe(kept);
  expect(unfinishedBefore({ id: 9 }, turns).inRow.map(({ id }) => id)).toEqual(inRow);
  // Later ones do not count.
  expect(findKeptTurn({ id: 1 }, turns)).toBeUndefined();
  expect(unfinishedBefore({ id: 1 }, turns).inRow).toEqual([]);
});

// Where turns of a job can run side by side, ids are times.
const now = Date.parse("2026-01-01T00:00:00Z");
const timed = (began: number, ends: number, kept: StoredTurn["kept"], state: StoredTurn["state"] = "failed") => ({
  ...ended(1, kept, 1, state),
  ...{ id: (now + began) * 1000, startedAt: null, endedAt: now + ends },
});
const beside = timed(10, 20, null, "completed");
test.each<[name: string, turns: StoredTurn[], kept: number | undefined, inRow: number[]]>([
  ["refused work, by one that began before that was made", [timed(0, 30, "push"), beside], 0, []],
  ["refused work, by one that began since", [timed(0, 5, "push"), beside], undefined, []],
  [
    "refused work, by one that waited until then",
    [timed(0, 30, "push"), { ...beside, startedAt: now + 31 }],
    undefined,
    [],
  ],
  ["refused work, by any that began before", [timed(0, 30, "push"), beside, timed(25, 40, null)], 0, []],
  ["refused work, by one of several", [timed(0, 30, "push"), beside, timed(35, 40, null)], undefined, []],
  ["its own, by one beside it", [beside, timed(15, 30, "push")], 15, []],
  ["unfinished work, by one that began before", [timed(0, 30, "unfinished"), beside], undefined, [0]],
  ["unfinished work, by one that began since", [timed(0, 5, "unfinished"), beside], undefined, []],
  [
    "unfinished work of two beside each other",
    [timed(0, 30, "unfinished"), timed(10, 20, "unfinished")],
    undefined,
    [0, 10],
  ],
])("what is decided on: %s", (_, turns, kept, inRow) => {
  const next = { id: (now + 100) * 1000 };
  const began = (id: number) => id / 1000 - now;
  const found = findKeptTurn(next, turns);
  expect(found && began(found.id)).toBe(kept);
  expect(unfinishedBefore(next, turns).inRow.map(({ id }) => began(id))).toEqual(inRow);
  const taken = inRow.length > 0 ? turns.findLast(({ kept: left }) => left === "unfinished") : undefined;
  // What was left beside it stays.
  if (taken)
    expect(
      includedIn(
        taken,
        turns.filter(({ kept: left }) => left === "unfinished"),
      ),
    ).toEqual([taken]);
  // A store that counts its turns lets no two run, whatever the clocks of its machines say.
  const counted = turns.map((one, index) => ({ ...one, id: index + 1 }));
  const last = turns.at(-1)?.kept;
  expect(findKeptTurn({ id: 9 }, counted)?.id).toBe(last === "push" ? turns.length : undefined);
  expect(unfinishedBefore({ id: 9 }, counted).inRow).toHaveLength(last === "unfinished" ? turns.length : 0);
});
