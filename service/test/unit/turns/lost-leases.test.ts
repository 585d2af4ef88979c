import { expect, onTestFinished, test } from "vitest";
import type { AgentResult } from "../../../src/agents/run-agent.ts";
import { GitError } from "../../../src/git/git.ts";
import { PerProject } from "../../../src/per-project.ts";
import { ResourceExhausted } from "../../../src/processes/resource-exhausted.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";
import type { KeptCommits } from "../../../src/store/kept-commits.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { LeaseLost, StoreUnavailable } from "../../../src/store-errors.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import type { TurnHost } from "../../../src/turns/turn-host.ts";
import type { TurnPorts } from "../../../src/turns/turn-ports.ts";
import { BranchCleaner } from "../../../src/upkeep/branch-cleaner.ts";
import { FakeMachine } from "../../support/fake-machine.ts";
import { memoryHost } from "../../support/memory-host.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { MemoryRemote } from "../../support/memory-remote.ts";
import { MemoryRepository } from "../../support/memory-repository.ts";
import { memoryWorktrees } from "../../support/memory-worktrees.ts";

const job = "job_00000000-0000-0000-0000-000000000001";
const branch = `agent/${job}`;

/** A worker's clone, whose pushes a test can hold up. */
class HeldRepository extends MemoryRepository {
  /** Called before and after each push, except the one that creates the branch before the agent runs. */
  beforePush = async (..._args: Parameters<MemoryRepository["push"]>): Promise<void> => {};
  afterPush = async (): Promise<void> => {};

  override async push(...args: Parameters<MemoryRepository["push"]>): Promise<void> {
    const [commit, , expectedHead] = args;
    const isTry = expectedHead === undefined && commit === (await this.branchHead("main"));
    if (!isTry) await this.beforePush(...args);
    await super.push(...args);
    if (!isTry) await this.afterPush();
  }
}

/** A worker's pull requests, which a test can hold up. */
class HeldPullRequests extends LocalPullRequests {
  /** Called before each change. */
  beforeOpen = async (): Promise<void> => {};

  override async open(...args: Parameters<LocalPullRequests["open"]>): Promise<string> {
    await this.beforeOpen();
    return super.open(...args);
  }
}

/** What an agent does: it adds its prompt to a page, changes nothing, or fails. */
type Plan = "change" | "nothing" | "fail";

/** Creates workers with a clone each and a store that they share. Each agent does what the plan says. */
async function setUp() {
  const remote = new MemoryRemote();
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  let plan: Plan = "change";
  const planNext = (next: Plan): void => {
    plan = next;
  };
  const runs: string[] = [];
  const createWorker = async (name: string, more: Partial<TurnPorts> = {}) => {
    const repository = new HeldRepository(remote);
    await repository.open();
    const host: TurnHost = {
      ...memoryHost,
      runAgent: async (_agent, { prompt, directories: { tree } }): Promise<AgentResult> => {
        if (plan === "fail") return { end: "failed", exitCode: 1, message: undefined, error: undefined };
        const text = `${repository.read(tree, "work.md") ?? ""}${prompt}\n`;
        if (plan === "change") repository.edit(tree, { "work.md": text });
        return { end: "completed", message: undefined, error: undefined };
      },
    };
    const pullRequests = new HeldPullRequests({
      store: store.pullRequests,
      repository,
      baseUrl: () => "https://example.com",
      signal: new AbortController().signal,
      log: () => {},
    });
    const ports = {
      ...memoryPorts(),
      host,
      store,
      repository,
      worktrees: memoryWorktrees(repository),
      pullRequests,
      onAgentEnd: () => void runs.push(name),
      ...more,
    };
    /** Runs the next turn, and stores its end unless the lease is lost. */
    const run = async (signal = new AbortController().signal) => {
      const [turn, stored] = [await store.runningTurns.startNext(), await store.jobs.find(job)];
      if (turn === undefined || stored === undefined) throw new Error("no turn is waiting");
      const result = await runTurn(turn, stored, ports, signal);
      if (result === "postponed" || result === "stopped") await store.runningTurns.requeue(turn, 0, true);
      if (result !== "completed" && result !== "failed") return result;
      return store.runningTurns.finish(turn, result, 0).then(
        () => result,
        (error: unknown) => (error instanceof LeaseLost ? "lost" : Promise.reject(error)),
      );
    };
    return { repository, pullRequests, run };
  };
  /** Lets the lease of the running turn expire. */
  const expire = () => store.runningTurns.requeueInterrupted();
  const lines = () => remote.read(branch, "work.md")?.trim().split("\n");
  const head = () => remote.heads.get(branch);
  await store.jobs.add({ id: job, project: "docs", createdAt: 0 }, "first");
  const [one, two] = [await createWorker("one"), await createWorker("two")];
  return { remote, store, one, two, createWorker, runs, planNext, expire, lines, head };
}

const never = () => new Promise<never>(() => {});

test.each([
  ["fails", "fail", "failed"],
  ["changes nothing", "nothing", "completed"],
] as const)(
  "a worker that has lost its lease takes its push back when the next attempt %s",
  async (_, plan, expected) => {
    const { store, one, two, planNext, expire, head, lines } = await setUp();
    one.repository.beforePush = async () => {
      one.repository.beforePush = async () => {};
      await expire();
      planNext(plan);
      expect(await two.run()).toBe(expected);
    };
    expect(await one.run()).toBe("taken-over");
    expect(head()).toBeUndefined();
    planNext("change");
    await store.turns.add(job, "second", 0);
    expect(await one.run()).toBe("completed");
    expect(lines()).toEqual(["second"]);
  },
);

test("a worker that takes a turn over continues with its commit, which the one that lost it cannot take back", async () => {
  const { remote, store, one, two, runs, expire, head, lines } = await setUp();
  let pushed = "";
  one.repository.afterPush = async () => {
    one.repository.afterPush = async () => {};
    pushed = remote.head(branch);
    await expire();
    expect(await two.run()).toBe("completed");
  };
  expect(await one.run()).toBe("taken-over");
  expect(pushed).not.toBe("");
  const copy = remote.head(branch);
  expect(copy).not.toBe(pushed);
  expect(remote.objects.commit(copy).message).toBe(remote.objects.commit(pushed).message);
  expect((await store.jobs.find(job))?.head).toBe(head());
  expect(lines()).toEqual(["first"]);
  expect(runs).toEqual(["one"]);
});

test.each([
  ["opened its", false],
  ["updated its", true],
])("a worker that has lost its lease before it %s pull request leaves that of the others alone", async (_, isOpen) => {
  const { store, one, two, expire, head, lines } = await setUp();
  if (isOpen) {
    expect(await two.run()).toBe("completed");
    await store.turns.add(job, "more", 0);
  }
  one.pullRequests.beforeOpen = async () => {
    await expire();
    expect(await two.run()).toBe("completed");
    await store.turns.add(job, "last", 0);
    expect(await two.run()).toBe("completed");
  };
  expect(await one.run()).toBe("taken-over");
  expect(lines()).toEqual(["first", ...(isOpen ? ["more"] : []), "last"]);
  expect(await store.pullRequests.newestOf(job, 5)).toMatchObject([{ number: 1 }]);
  expect((await store.pullRequests.find(1))?.head).toBe(head());
  expect((await store.jobs.find(job))?.head).toBe(head());
});

test("a turn removes what a worker that died left on the branch for an ended turn", async () => {
  const { store, one, two, planNext, expire, head, lines } = await setUp();
  expect(await one.run()).toBe("completed");
  const before = head();
  await store.turns.add(job, "late", 0);
  const landed = Promise.withResolvers<void>();
  one.repository.beforePush = async () => {
    await expire();
    planNext("nothing");
    expect(await two.run()).toBe("completed");
  };
  one.repository.afterPush = () => {
    landed.resolve();
    return never();
  };
  void one.run();
  await landed.promise;
  expect(head()).not.toBe(before);
  planNext("change");
  await store.turns.add(job, "second", 0);
  expect(await two.run()).toBe("completed");
  expect(lines()).toEqual(["first", "second"]);
});

test("the service removes what arrives on the branch after its turn has ended on another worker", async () => {
  const { store, one, two, planNext, expire, head } = await setUp();
  expect(await one.run()).toBe("completed");
  const before = head();
  await store.turns.add(job, "late", 0);
  const landed = Promise.withResolvers<void>();
  one.repository.beforePush = async () => {
    await expire();
    planNext("fail");
    expect(await two.run()).toBe("failed");
  };
  one.repository.afterPush = () => {
    landed.resolve();
    return never();
  };
  void one.run();
  await landed.promise;
  expect(head()).not.toBe(before);
  const cleaner = new BranchCleaner({
    store,
    projects: PerProject.same({ repository: two.repository, pullRequests: { obsoleteFrom: async () => undefined } }),
    signal: new AbortController().signal,
    log: () => {},
  });
  await cleaner.run(0);
  expect(head()).toBe(before);
});

test("a turn builds on the commit of a lost turn if a person has continued with it", async () => {
  const { remote, store, one, two, planNext, expire, head, lines } = await setUp();
  expect(await one.run()).toBe("completed");
  const before = head();
  await store.turns.add(job, "late", 0);
  const landed = Promise.withResolvers<void>();
  one.repository.beforePush = async () => {
    await expire();
    planNext("fail");
    expect(await two.run()).toBe("failed");
  };
  one.repository.afterPush = () => {
    landed.resolve();
    return never();
  };
  void one.run();
  await landed.promise;
  expect(head()).not.toBe(before);
  remote.commitTo(branch, {}, "I like it");
  planNext("change");
  await store.turns.add(job, "second", 0);
  expect(await two.run()).toBe("completed");
  expect(lines()).toEqual(["first", "late", "second"]);
});

test.each([
  ["changed nothing", "nothing", "completed", "one"],
  ["changed nothing", "nothing", "completed", "two"],
  ["failed", "fail", "failed", "two"],
] as const)(
  "the agent of a turn whose worker loses it just when it has %s (%s) is not run again: %s, by worker %s",
  async (_, command, end, next) => {
    const workers = await setUp();
    const { one, runs, planNext, expire, store } = workers;
    planNext(command);
    const { setMade } = store.runningTurns;
    store.runningTurns.setMade = async (...args) => {
      store.runningTurns.setMade = setMade;
      await expire();
      return setMade.apply(store.runningTurns, args);
    };
    expect(await one.run()).toBe("lost");
    expect(await workers[next].run()).toBe(end);
    expect(runs).toEqual(["one"]);
  },
);

test("a turn completes although its branch moves each time that it pushes, by a worker that takes its push back", async () => {
  const { store, one, two, planNext, expire, lines } = await setUp();
  const [isPushing, mayPush, hasPushed, mayUndo] = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  one.repository.beforePush = async () => {
    one.repository.beforePush = async () => {};
    isPushing?.resolve();
    await mayPush?.promise;
  };
  one.repository.afterPush = async () => {
    one.repository.afterPush = async () => {};
    hasPushed?.resolve();
    await mayUndo?.promise;
  };
  const first = one.run();
  await isPushing?.promise;
  await expire();
  planNext("fail");
  expect(await two.run()).toBe("failed");
  planNext("change");
  await store.turns.add(job, "second", 0);
  const moves = [
    async () => {
      mayPush?.resolve();
      await hasPushed?.promise;
    },
    async () => {
      mayUndo?.resolve();
      expect(await first).toBe("taken-over");
    },
  ];
  two.repository.beforePush = async () => moves.shift()?.();
  expect(await two.run()).toBe("completed");
  expect(lines()).toEqual(["second"]);
});

test("a failed turn removes the commit of an earlier attempt whose push was reported as failed and landed later", async () => {
  const { one, two, planNext, expire, head } = await setUp();
  let land = async (): Promise<void> => {};
  one.repository.beforePush = async (...args) => {
    land = () => MemoryRepository.prototype.push.apply(one.repository, args);
    throw new GitError(["push"], "failed", "fatal: Could not resolve host", 128);
  };
  expect(await one.run()).toBe("postponed");
  await expire();
  planNext("fail");
  two.repository.findStart = async (...args) => {
    const start = await MemoryRepository.prototype.findStart.apply(two.repository, args);
    await land();
    expect(head()).toBeDefined();
    return start;
  };
  expect(await two.run()).toBe("failed");
  expect(head()).toBeUndefined();
});

/** Lets a worker open no pull request, or open them again. */
const refuse = ({ pullRequests }: { pullRequests: HeldPullRequests }, error: Error | undefined): void => {
  pullRequests.beforeOpen = () => (error ? Promise.reject(error) : Promise.resolve());
};

test("a turn that changes nothing opens no pull request because another worker ran the turn before it", async () => {
  const { one, two, store, planNext } = await setUp();
  await one.run();
  await store.turns.add(job, "second", 0);
  await two.run();
  // What someone has closed is opened again otherwise.
  refuse(one, new Error("a pull request is opened"));
  planNext("nothing");
  await store.turns.add(job, "third", 0);
  expect(await one.run()).toBe("completed");
  expect(await store.pullRequests.newestOf(job, 5)).toHaveLength(1);
});

test("a turn that changes nothing opens the pull request that another worker could not open", async () => {
  const { one, two, store, planNext } = await setUp();
  refuse(one, new Error("the platform is down"));
  expect(await one.run()).toBe("failed");
  planNext("nothing");
  await store.turns.add(job, "second", 0);
  expect(await two.run()).toBe("completed");
  const [opened] = await store.pullRequests.newestOf(job, 5);
  expect(opened?.title).toMatch(/^first/);
  expect((await store.jobs.find(job))?.pullRequest).toBe("https://example.com/pull/1");
});

test("a turn whose pull request cannot be opened now is run again, and does not run its agent twice", async () => {
  const { one, two, runs, store, lines } = await setUp();
  refuse(one, new GitHubError("bad gateway", 502));
  expect(await one.run()).toBe("postponed");
  expect(await two.run()).toBe("completed");
  expect(runs).toEqual(["one"]);
  expect(await store.pullRequests.newestOf(job, 5)).toHaveLength(1);
  expect(lines()).toEqual(["first"]);
});

test.each<[how: string, result: string, fail: (stop: AbortController) => void]>([
  [
    "is told to stop",
    "stopped",
    (stop) => {
      stop.abort();
      throw new Error("Git was stopped");
    },
  ],
  [
    "lacks space for a push",
    "postponed",
    () => {
      throw new ResourceExhausted("no space left");
    },
  ],
])("a commit of a worker that %s is pushed by another one, which then forgets it", async (_how, result, fail) => {
  const { createWorker, runs, lines, store } = await setUp();
  const stored = new Map<string, Uint8Array>();
  const asked: unknown[] = [];
  let isOut = false;
  const keptCommits: KeptCommits = {
    save: async (turn, packed) => void stored.set(turn.identity, packed),
    load: async (_job, { identity, made }) => {
      asked.push(made);
      return stored.get(identity);
    },
    forget: async ({ identity }) => {
      isOut = !isOut;
      if (isOut) throw new StoreUnavailable("the database does not respond");
      stored.delete(identity);
    },
  };
  const stop = new AbortController();
  const machine = new FakeMachine();
  const [one, two] = [await createWorker("one", { keptCommits }), await createWorker("two", { keptCommits, machine })];
  const { packCommit } = one.repository;
  // A service that stops starts no Git.
  one.repository.packCommit = async (of) => {
    stop.signal.throwIfAborted();
    return packCommit.call(one.repository, of);
  };
  one.repository.beforePush = async () => fail(stop);
  expect(await one.run(stop.signal)).toBe(result);
  expect(stored.size).toBe(1);
  expect(await machine.passUntil(two.run())).toBe("completed");
  expect([runs, lines(), stored.size]).toEqual([["one"], ["first"], 0]);
  // Where there are several, it names the last one.
  expect(asked).toEqual([expect.stringContaining('"commit":')]);
  expect((await store.turns.ofJob(job))[0]).toMatchObject({ attempts: 1 });
});

test("a commit that a worker could not push in an outage is pushed by another one, after today's checks", async () => {
  const { createWorker, store, lines } = await setUp();
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
  const [unable, able, strict] = [
    await createWorker("unable", { keptCommits, committers }),
    await createWorker("able", { keptCommits }),
    await createWorker("strict", { keptCommits, only: readPathPatterns(["docs/"]) }),
  ];
  expect(await unable.run()).toBe("postponed");
  expect(await able.run()).toBe("completed");
  expect(lines()).toEqual(["first"]);
  expect((await store.turns.ofJob(job))[0]).toMatchObject({ attempts: 1 });
  await store.turns.add(job, "second", 0);
  expect(await unable.run()).toBe("postponed");
  expect(await strict.run()).toBe("failed");
  expect(lines()).toEqual(["first"]);
});
