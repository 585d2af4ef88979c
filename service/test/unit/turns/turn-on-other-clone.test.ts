import { expect, onTestFinished, test } from "vitest";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";
import type { Change } from "../../../src/pulls/pull-requests.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import type { TurnHost } from "../../../src/turns/turn-host.ts";
import type { TurnPorts } from "../../../src/turns/turn-ports.ts";
import { memoryHost } from "../../support/memory-host.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { MemoryRemote } from "../../support/memory-remote.ts";
import { MemoryRepository } from "../../support/memory-repository.ts";
import { memoryWorktrees } from "../../support/memory-worktrees.ts";

/** Creates workers with a clone each, a store that they share, and pull requests that can fail to open. */
function setUp() {
  const remote = new MemoryRemote();
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const platform: { opened: Change[]; error: Error | undefined } = { opened: [], error: undefined };
  const pullRequests = {
    open: async (change: Change) => {
      if (platform.error) throw platform.error;
      return change.existing ?? `https://example.com/pull/${platform.opened.push(change)}`;
    },
    read: async () => ({ state: "open" as const, target: undefined }),
    findClosed: async () => new Set<string>(),
  };
  const createWorker = async (more: Partial<TurnPorts> = {}) => {
    const repository = new MemoryRepository(remote);
    await repository.open();
    const host: TurnHost = {
      ...memoryHost,
      runAgent: async (_agent, { prompt, directories: { tree } }) => {
        if (prompt !== "nothing")
          repository.edit(tree, { "work.md": `${repository.read(tree, "work.md") ?? ""}${prompt}\n` });
        return { end: "completed", message: undefined, error: undefined };
      },
    };
    const ports: TurnPorts = {
      ...memoryPorts(),
      host,
      store,
      repository,
      worktrees: memoryWorktrees(repository),
      pullRequests,
      ...more,
    };
    /** Runs the next turn, after adding it if there is a prompt. */
    return async (prompt?: string) => {
      if (prompt !== undefined && (await store.jobs.find("job_1"))) await store.turns.add("job_1", prompt, 0);
      else if (prompt !== undefined) await store.jobs.add({ id: "job_1", project: "docs", createdAt: 0 }, prompt);
      const [turn, job] = [await store.runningTurns.startNext(), await store.jobs.find("job_1")];
      if (turn === undefined || job === undefined) throw new Error("no turn is waiting");
      const result = await runTurn(turn, job, ports, new AbortController().signal);
      if (result === "completed" || result === "failed") await store.runningTurns.finish(turn, result, 0);
      else await store.runningTurns.requeue(turn, 0, true);
      return result;
    };
  };
  const countCommits = () => remote.objects.log([remote.head("agent/job_1")], [remote.head("main")]).length;
  return { remote, store, platform, createWorker, countCommits };
}

test("a turn that changes nothing opens no pull request because another worker ran the turn before it", async () => {
  const { platform, createWorker } = setUp();
  const [one, two] = [await createWorker(), await createWorker()];
  await one("first");
  await two("second");
  // What someone has closed is opened again otherwise.
  platform.error = new Error("a pull request is opened");
  expect(await one("nothing")).toBe("completed");
  expect(platform.opened).toHaveLength(1);
});

test("a turn that changes nothing opens the pull request that another worker could not open", async () => {
  const { platform, createWorker, store } = setUp();
  const [one, two] = [await createWorker(), await createWorker()];
  platform.error = new Error("the platform is down");
  expect(await one("first")).toBe("failed");
  platform.error = undefined;
  expect(await two("nothing")).toBe("completed");
  expect(platform.opened).toMatchObject([{ prompt: "first" }]);
  expect((await store.jobs.find("job_1"))?.pullRequest).toBe("https://example.com/pull/1");
});

test("a turn whose pull request cannot be opened now is run again, and does not run its agent twice", async () => {
  const { platform, createWorker, countCommits } = setUp();
  const [one, two] = [await createWorker(), await createWorker()];
  platform.error = new GitHubError("bad gateway", 502);
  expect(await one("first")).toBe("postponed");
  platform.error = undefined;
  expect(await two()).toBe("completed");
  expect(platform.opened).toHaveLength(1);
  expect(countCommits()).toBe(1);
});

test("a commit that a worker could not push in an outage is pushed by another one, after today's checks", async () => {
  const { createWorker, countCommits, store, remote } = setUp();
  let stored: Uint8Array | undefined;
  const keptCommits = {
    save: async (_turn: unknown, bundle: Uint8Array) => {
      stored = bundle;
    },
    load: async () => stored,
  };
  const make = () => Promise.reject(new GitHubError("bad gateway", 502));
  const committers = {
    of: () => ({ prepare: async () => {}, author: async () => undefined, trial: async () => undefined, make }),
  };
  const [one, two, strict] = [
    await createWorker({ keptCommits, committers }),
    await createWorker({ keptCommits }),
    await createWorker({ keptCommits, only: readPathPatterns(["docs/"]) }),
  ];
  expect(await one("first")).toBe("postponed");
  expect(await two()).toBe("completed");
  expect([countCommits(), remote.read("agent/job_1", "work.md")]).toEqual([1, "first\n"]);
  expect((await store.turns.ofJob("job_1"))[0]).toMatchObject({ attempts: 1 });
  expect(await one("second")).toBe("postponed");
  expect(await strict()).toBe("failed");
  expect(countCommits()).toBe(1);
});
