import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { GitError } from "../../../src/git/git.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { Worktrees } from "../../../src/git/worktrees.ts";
import { PerProject } from "../../../src/per-project.ts";
import { Committers } from "../../../src/pulls/committers.ts";
import { GitHubCommits } from "../../../src/pulls/github/github-commits.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { LeaseLost } from "../../../src/store-errors.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import { BranchCleaner } from "../../../src/upkeep/branch-cleaner.ts";
import { folderWithClone } from "../../support/agent-service.ts";
import { createGitDataApi, hasSignature } from "../../support/git-data-api.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

const job = "job_00000000-0000-0000-0000-000000000001";
const branch = `agent/${job}`;

/** A worker's clone, whose pushes a test can hold up. */
class HeldRepository extends GitRepository {
  /** Called before and after each push, except the one that creates the branch before the agent runs. */
  beforePush = async (..._args: Parameters<GitRepository["push"]>): Promise<void> => {};
  afterPush = async (): Promise<void> => {};

  override async push(...args: Parameters<GitRepository["push"]>): Promise<void> {
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

/** Creates workers with a clone each and a store that they share. Each agent adds its prompt to a file, or does what the plan says. */
async function setUp(committersOf?: (docs: DocsRepository, repository: GitRepository) => Committers) {
  const docs = new DocsRepository();
  const store = openSqliteStore(":memory:");
  onTestFinished(async () => {
    await store[Symbol.asyncDispose]();
    docs[Symbol.dispose]();
  });
  const plan = join(temporaryFolder(), "plan");
  const planNext = (command: string) => writeFileSync(plan, command);
  const change = 'cat "$AGENT_PROMPT_FILE" >> work.md; echo >> work.md';
  planNext(change);
  const runs: string[] = [];
  const createWorker = async (name: string) => {
    const folder = folderWithClone(docs);
    const repository = new HeldRepository({ url: docs.path, folder });
    await repository.open();
    const ports = {
      agent: shellAgent(`. ${plan}`),
      sandbox: unconfined,
      network: fullNetwork,
      limits: {},
      host,
      timeLimitMs: 60_000,
      store,
      repository,
      committers: committersOf?.(docs, repository),
      worktrees: new Worktrees({ repository, folder, kept: 0, slowCheckoutMs: 3000 }),
      pullRequests: new HeldPullRequests({
        store: store.pullRequests,
        repository,
        baseUrl: () => "https://example.com",
        signal: new AbortController().signal,
        log: () => {},
      }),
      folder,
      largestChangeBytes: 1_000_000,
      onAgentEnd: () => void runs.push(name),
    };
    /** Runs the next turn, and stores its end unless the lease is lost. */
    const run = async () => {
      const [turn, stored] = [await store.runningTurns.startNext(), await store.jobs.find(job)];
      if (turn === undefined || stored === undefined) throw new Error("no turn is waiting");
      const result = await runTurn(turn, stored, ports, new AbortController().signal);
      if (result !== "completed" && result !== "failed") return result;
      return store.runningTurns.finish(turn, result, 0).then(
        () => result,
        (error: unknown) => (error instanceof LeaseLost ? "lost" : Promise.reject(error)),
      );
    };
    return { repository, pullRequests: ports.pullRequests, run };
  };
  /** Lets the lease of the running turn expire. */
  const expire = () => store.runningTurns.requeueInterrupted();
  const lines = () => docs.git("show", `${branch}:work.md`).split("\n");
  const head = () => docs.git("for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`);
  await store.jobs.add({ id: job, project: "docs", createdAt: 0 }, "first");
  const [one, two] = [await createWorker("one"), await createWorker("two")];
  return { docs, store, one, two, runs, planNext, change, expire, lines, head };
}

const never = () => new Promise<never>(() => {});

test.each([
  ["fails", "exit 1", "failed"],
  ["changes nothing", "true", "completed"],
])("a worker that has lost its lease takes its push back when the next attempt %s", async (_, command, expected) => {
  const { store, one, two, planNext, change, expire, head, lines } = await setUp();
  one.repository.beforePush = async () => {
    one.repository.beforePush = async () => {};
    await expire();
    planNext(command);
    expect(await two.run()).toBe(expected);
  };
  expect(await one.run()).toBe("taken-over");
  expect(head()).toBe("");
  planNext(change);
  await store.turns.add(job, "second", 0);
  expect(await one.run()).toBe("completed");
  expect(lines()).toEqual(["second"]);
});

/** Returns committers whose commits GitHub signs. */
function signing(docs: DocsRepository, repository: GitRepository): Committers {
  const data = createGitDataApi(docs);
  data.ruled = () => true;
  const gitHub = new GitHubCommits(
    {
      repository: { apiUrl: "https://127.0.0.1/api/v3" },
      request: async (route, parameters) => {
        const path = route.replace("{owner}/{repo}", "acme/docs").replace("{branch}", String(parameters.branch));
        const { status = 404, body } = data.answer(path, JSON.stringify(parameters)) ?? {};
        if (status >= 300) throw new GitHubError(`GitHub answered ${status}`, status);
        return { data: body };
      },
    },
    async () => ({ login: "docs-bot[bot]", id: 7 }),
  );
  return new Committers({ repository, gitHub });
}

test.each([
  ["made here", undefined],
  ["signed by GitHub", signing],
])(
  "a worker that takes a turn over continues with its commit, %s, which the one that lost it cannot take back",
  async (_, committersOf) => {
    const { docs, store, one, two, runs, expire, head, lines } = await setUp(committersOf);
    let pushed = "";
    one.repository.afterPush = async () => {
      one.repository.afterPush = async () => {};
      pushed = head();
      await expire();
      expect(await two.run()).toBe("completed");
    };
    expect(await one.run()).toBe("taken-over");
    expect(pushed).not.toBe("");
    expect(head()).not.toBe(pushed);
    const [copied, copy] = docs.git("log", "--no-walk=unsorted", "-z", "--format=%B", pushed, head()).split("\0");
    expect(copy).toBe(copied);
    expect((await store.jobs.find(job))?.head).toBe(head());
    expect(lines()).toEqual(["first"]);
    for (const commit of [pushed, head()]) expect(hasSignature(docs, commit)).toBe(committersOf !== undefined);
    expect(runs).toEqual(["one"]);
  },
);

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
  const { store, one, two, planNext, change, expire, head, lines } = await setUp();
  expect(await one.run()).toBe("completed");
  const before = head();
  await store.turns.add(job, "late", 0);
  const landed = Promise.withResolvers<void>();
  one.repository.beforePush = async () => {
    await expire();
    planNext("true");
    expect(await two.run()).toBe("completed");
  };
  one.repository.afterPush = () => {
    landed.resolve();
    return never();
  };
  void one.run();
  await landed.promise;
  expect(head()).not.toBe(before);
  planNext(change);
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
    planNext("exit 1");
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
  const { docs, store, one, two, planNext, change, expire, head, lines } = await setUp();
  expect(await one.run()).toBe("completed");
  const before = head();
  await store.turns.add(job, "late", 0);
  const landed = Promise.withResolvers<void>();
  one.repository.beforePush = async () => {
    await expire();
    planNext("exit 1");
    expect(await two.run()).toBe("failed");
  };
  one.repository.afterPush = () => {
    landed.resolve();
    return never();
  };
  void one.run();
  await landed.promise;
  expect(head()).not.toBe(before);
  const own = docs.git("commit-tree", `${branch}^{tree}`, "-p", branch, "-m", "I like it");
  docs.setHead(branch, own);
  planNext(change);
  await store.turns.add(job, "second", 0);
  expect(await two.run()).toBe("completed");
  expect(lines()).toEqual(["first", "late", "second"]);
});

test.each([
  ["changed nothing", "true", "completed", "one"],
  ["changed nothing", "true", "completed", "two"],
  ["failed", "exit 1", "failed", "two"],
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
  const { store, one, two, planNext, change, expire, lines } = await setUp();
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
  planNext("exit 1");
  expect(await two.run()).toBe("failed");
  planNext(change);
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
    land = () => GitRepository.prototype.push.apply(one.repository, args);
    throw new GitError(["push"], "failed", "fatal: Could not resolve host", 128);
  };
  expect(await one.run()).toBe("postponed");
  await expire();
  planNext("exit 1");
  two.repository.findStart = async (...args) => {
    const start = await GitRepository.prototype.findStart.apply(two.repository, args);
    await land();
    expect(head()).not.toBe("");
    return start;
  };
  expect(await two.run()).toBe("failed");
  expect(head()).toBe("");
});
