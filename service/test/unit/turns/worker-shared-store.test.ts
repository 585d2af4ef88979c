import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { builtInEditor } from "../../../src/agents/agent.ts";
import { GitError } from "../../../src/git/git.ts";
import { noMetrics } from "../../../src/metrics/metrics.ts";
import { PerProject } from "../../../src/per-project.ts";
import { ReadyTurns } from "../../../src/store/ready-turns.ts";
import type { Sql } from "../../../src/store/sql.ts";
import { Connection } from "../../../src/store/sqlite/connection.ts";
import { SqliteDatabase } from "../../../src/store/sqlite/database.ts";
import { machineClock } from "../../../src/store/sqlite/open-store.ts";
import { openSchema } from "../../../src/store/sqlite/schema.ts";
import { Store, type StoreOptions } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { StoreUnavailable } from "../../../src/store-errors.ts";
import type { TurnHost } from "../../../src/turns/turn-host.ts";
import type { ProjectPorts } from "../../../src/turns/turn-ports.ts";
import { MemoryCopies } from "../../support/memory-copies.ts";
import { MemoryLogs } from "../../support/memory-logs.ts";
import { setUpWorker, tick, type WorkerSetup } from "../../support/worker.ts";

/** The turns of a store that several workers use. Leases expire, and looks wait or fail, when the test says so. */
class SharedTurns extends ReadyTurns {
  override readonly renewEveryMs = 1;
  /** Whether no lease can be renewed. */
  isLost = false;
  /** What a look waits for when it has seen which turns there are. */
  look = async (): Promise<void> => {};
  /** How many looks there were. */
  looks = 0;

  override async mayHaveTurns(sql: Sql): Promise<boolean> {
    this.looks++;
    const mayHaveTurns = await super.mayHaveTurns(sql);
    await this.look();
    return mayHaveTurns;
  }
  override async renew(): Promise<boolean> {
    return !this.isLost;
  }
  /** Other workers are running. */
  override async recover(): Promise<{ id: number; job: string }[]> {
    return [];
  }
}

/** A store whose jobs cannot be read while the test says so. */
class FailingStore extends Store {
  failure: Error | undefined;

  constructor(options: StoreOptions) {
    super(options);
    const find = this.jobs.find.bind(this.jobs);
    this.jobs.find = async (id) => {
      if (this.failure) throw this.failure;
      return find(id);
    };
  }
}

function setUp({ agents = 1, ...options }: WorkerSetup = {}) {
  const connection = new Connection(":memory:", () => {});
  openSchema(connection, ":memory:");
  const ready = new SharedTurns({ clock: machineClock });
  const logs = new MemoryLogs();
  const database = new SqliteDatabase(connection);
  /** Lets the lease of the first turn expire. */
  const expire = () => database.run('UPDATE turn SET "readyAt" = 1 WHERE id = 1');
  const store = new FailingStore({ database, ready, nextTurnId: countTurnIds, logs });
  /** How runs of turns ended, as they are counted. */
  const runs: string[] = [];
  const metrics = { ...noMetrics, turnStarted: () => (result: string) => void runs.push(result) };
  return { ...setUpWorker({ agents, store, metrics, ...options }), store, ready, expire, logs, runs };
}

test("starts a turn that becomes ready while the worker has seen none and still looks", async () => {
  const { worker, ready, checkoutOf, addJobs } = setUp();
  let endLook = (): void => {};
  const look = new Promise<void>((resolve) => {
    endLook = resolve;
  });
  ready.look = () => look;
  await worker.start();
  await waitUntil(() => ready.looks > 0);
  await addJobs("a");
  expect(ready.looks).toBe(1);
  endLook();
  await checkoutOf("a");
});

test("drains what becomes ready while it drains", async () => {
  const { worker, store, ready, checkoutOf, addJobs } = setUp();
  let endLook = (): void => {};
  const look = new Promise<void>((resolve) => {
    endLook = resolve;
  });
  ready.look = () => look;
  await worker.start();
  const drained = worker.drain();
  await addJobs("a");
  endLook();
  (await checkoutOf("a")).succeed();
  await drained;
  expect((await store.jobs.find("a"))?.state).toBe("completed");
});

test("tries again if the store cannot be read while turns are taken", async () => {
  const { worker, ready, log, checkoutOf, addJobs, sleeps } = setUp();
  await addJobs("a");
  ready.look = () => Promise.reject(new StoreUnavailable("the database does not respond"));
  await worker.start();
  const retry = await sleeps.next(1000);
  ready.look = async () => {};
  retry();
  await checkoutOf("a");
  // The store logs its outages itself.
  expect(log.slice(1)).toEqual(["a: turn 1 started"]);
});

test("a turn whose job cannot be read waits, and is tried again", async () => {
  const { worker, store, log, checkoutOf, addJobs, sleeps } = setUp();
  await addJobs("a");
  store.failure = new StoreUnavailable("the database does not respond");
  await worker.start();
  const ends = await sleeps.nextOf(1000, 1000);
  store.failure = undefined;
  for (const end of ends) end();
  (await checkoutOf("a")).succeed();
  await worker.drain();
  expect(log.filter((line) => line.startsWith("a: "))).toEqual([
    "a: turn 1 started",
    "a: turn 1 postponed: the database does not respond",
    "a: turn 1 completed",
  ]);
});

test("a turn that is postponed after its agent has run does not run it again, and other machines can know that", async () => {
  const copies = new MemoryCopies(temporaryFolder());
  let agentRuns = 0;
  const host: TurnHost = {
    prepare: async () => true,
    clean: async () => {},
    appendLog: () => {},
    runAgent: async () => {
      agentRuns++;
      return { end: "completed", message: "Nothing to do", error: undefined };
    },
    lastOutput: async () => "",
    hideSecrets: async () => {},
    findSessions: async () => [],
    replaceHome: async () => ({ drop: async () => {}, [Symbol.asyncDispose]: async () => {} }),
    hasOwnCommits: async () => false,
    mayHaveLeftWork: async () => false,
  };
  let isAway = true;
  const projects = (ports: ProjectPorts) =>
    PerProject.same<ProjectPorts>({
      ...ports,
      agent: builtInEditor,
      worktrees: {
        checkOut: async (place, { head }) => ({ ...place, head, identity: undefined }),
        takeBack: async () => {},
        release: async () => {},
      },
      pullRequests: {
        ...ports.pullRequests,
        open: async () => {
          if (isAway) throw new GitError(["push"], "exited with 128", "Could not resolve host: github.com", 128);
          return "https://example.com/pull/1";
        },
      },
    });
  const { worker, repository, log, checkoutOf, addJobs, sleeps } = setUp({ host, projects, copies });
  repository.branchHead = async () => undefined;
  repository.commits = async () => [];
  repository.commit = async () => ({ commit: undefined, leftOut: [] });
  await addJobs("a");
  await worker.start();
  (await checkoutOf("a")).succeed();
  const resume = await sleeps.next(1000);
  // This one may be lost before it goes on.
  await waitUntil(() => copies.saves.length > 0);
  expect(copies.jobs.get("a")?.turns).toMatchObject([{ state: "waiting", stage: "made" }]);
  isAway = false;
  resume();
  (await checkoutOf("a")).succeed();
  await worker.drain();
  expect(agentRuns).toBe(1);
  expect(log.filter((line) => line.startsWith("a: "))).toEqual([
    "a: turn 1 started",
    expect.stringMatching(/^a: turn 1 postponed: .*github/),
    "a: turn 1 completed",
  ]);
});

test("a turn whose job cannot be read for another reason fails", async () => {
  const { worker, store, log, addJobs } = setUp();
  await addJobs("a");
  store.failure = new Error("no such table");
  await worker.start();
  await waitUntil(() => log.includes("a: turn 1 failed: no such table"));
  store.failure = undefined;
  await worker.drain();
  expect((await store.jobs.find("a"))?.state).toBe("failed");
});

test("stops a turn that another worker has taken over, and stores nothing of it", async () => {
  const { worker, store, expire, ready, log, runs, sleeps, checkoutOf, addJobs } = setUp();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  worker.close();
  await expire();
  const turn = await store.runningTurns.startNext();
  expect(turn).toMatchObject({ id: 1, isResumed: true });
  ready.isLost = true;
  const renew = await sleeps.next(ready.renewEveryMs);
  renew();
  await tick();
  checkout.succeed();
  await worker.drain();
  expect(log.slice(1)).toEqual([
    "a: turn 1 started",
    "a: turn 1 was taken over by another worker, because its lease had expired; nothing more is stored of it here",
  ]);
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "running", lease: turn?.lease }]);
  expect(await store.jobs.find("a")).toMatchObject({ state: "active", pullRequest: null });
  expect(runs).toEqual(["taken-over"]);
});

test("counts a run that ends because its turn was taken over as that", async () => {
  const { worker, ready, runs, sleeps, checkoutOf, addJobs } = setUp();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  worker.close();
  ready.isLost = true;
  (await sleeps.next(ready.renewEveryMs))();
  await tick();
  checkout.fail(new Error("aborted"));
  await worker.drain();
  expect(runs).toEqual(["taken-over"]);
});

test("stores no end of a turn that another worker has taken over a moment ago", async () => {
  const { worker, store, expire, log, checkoutOf, addJobs } = setUp();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  worker.close();
  await expire();
  const turn = await store.runningTurns.startNext();
  checkout.fail(new Error("no route"));
  await worker.drain();
  expect(log.at(-1)).toBe(
    "a: turn 1 was taken over by another worker, because its lease had expired; nothing more is stored of it here",
  );
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "running", lease: turn?.lease }]);
});

test("resumes a turn whose worker has not renewed its lease", async () => {
  const { worker, store, expire, log, checkoutOf, addJobs } = setUp();
  await addJobs("a");
  await store.runningTurns.startNext();
  await expire();
  await worker.start();
  (await checkoutOf("a")).succeed();
  await worker.drain();
  expect(log.slice(1)).toEqual([
    "a: turn 1 was interrupted on another worker, resuming",
    "a: turn 1 started",
    "a: turn 1 completed",
  ]);
});

test("stores the whole log of a turn before its end", async () => {
  const { worker, store, logs, checkoutOf, addJobs } = setUp();
  await addJobs("a");
  await worker.start();
  const finish = store.runningTurns.finish.bind(store.runningTurns);
  let atEnd = "";
  store.runningTurns.finish = async (...values) => {
    atEnd = logs.text("a");
    return finish(...values);
  };
  (await checkoutOf("a")).succeed();
  await worker.drain();
  expect(atEnd).toBe("[service] Turn 1 started.\n[service] Pull request: https://example.com/agent/a\n");
});

test("stores the end of a turn only after its log, if the store is back just between the two", async () => {
  const { worker, store, logs, sleeps, checkoutOf, addJobs } = setUp();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  logs.gate = () => Promise.reject(new StoreUnavailable("no connection"));
  checkout.succeed();
  const retry = await sleeps.next(1000);
  expect((await store.jobs.find("a"))?.state).toBe("active");
  logs.gate = () => Promise.resolve();
  retry();
  await worker.drain();
  expect(logs.text("a")).toContain("Pull request: ");
  expect((await store.jobs.find("a"))?.state).toBe("completed");
});

test("a log that cannot be stored for minutes keeps no turn open", async () => {
  const { worker, store, logs, sleeps, checkoutOf, addJobs } = setUp();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  logs.gate = () => Promise.reject(new StoreUnavailable("no space for it"));
  checkout.succeed();
  for (const ms of [1000, 2000, 4000, 8000, 16_000, ...Array<number>(5).fill(30_000)]) (await sleeps.next(ms))();
  await worker.drain();
  expect((await store.jobs.find("a"))?.state).toBe("completed");
});
