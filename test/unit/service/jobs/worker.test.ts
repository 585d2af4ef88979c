import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { shellAgent } from "../../../../src/service/agents/agent.ts";
import { fullNetwork } from "../../../../src/service/agents/network/agent-network.ts";
import { unconfined } from "../../../../src/service/agents/sandbox/sandbox.ts";
import { Repository, type Start } from "../../../../src/service/git/repository.ts";
import { Worktrees } from "../../../../src/service/git/worktrees.ts";
import { StoreUnavailable } from "../../../../src/service/jobs/engine.ts";
import { Worker } from "../../../../src/service/jobs/worker.ts";
import type { ReadyTurn, ReadyTurns, TakenTurn } from "../../../../src/service/store/ready-turns.ts";
import type { Sql, Transaction } from "../../../../src/service/store/sql.ts";
import { Connection } from "../../../../src/service/store/sqlite/connection.ts";
import { SqliteDatabase } from "../../../../src/service/store/sqlite/database.ts";
import { openSqliteStore } from "../../../../src/service/store/sqlite/open-store.ts";
import { SqliteReadyTurns } from "../../../../src/service/store/sqlite/ready-turns.ts";
import { openSchema } from "../../../../src/service/store/sqlite/schema.ts";
import { countTurnIds, Store, type StoredJob } from "../../../../src/service/store/store.ts";
import { temporaryFolder } from "../../../support/step.ts";

interface WaitingCheckout {
  fail: (error: Error) => void;
  succeed: () => void;
}

/** A repository whose checkouts wait for the test. */
class WaitingRepository extends Repository {
  /** The last checkout of each branch. */
  readonly waiting = new Map<string, WaitingCheckout>();

  override findStart(branch: string): Promise<Start> {
    const start = { branch, head: "222", targetBranch: "main", base: "111", remoteHead: "222", notes: [] };
    return new Promise((resolve, fail) => {
      const succeed = () => resolve({ ...start, isContinued: true });
      this.waiting.set(branch, { fail, succeed });
    });
  }

  override async lastCommitOf(): Promise<undefined> {}

  /** Says that the turn's commit was pushed earlier, so that no agent runs. */
  override async commits(): Promise<{ commit: string; message: string }[]> {
    const trailers = (turn: number, job: string) => `Agent-Turn: ${turn}\nAgent-Job: ${job}`;
    return ["a", "b", "c"].map((job, index) => ({ commit: "222", message: `Fix\n\n${trailers(index + 1, job)}\n` }));
  }
}

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

/** Pauses of the worker, which end when the test says so. */
class Sleeps {
  readonly #waiting: { ms: number; end: () => void }[] = [];

  readonly sleep = (ms: number, { signal }: { signal: AbortSignal }): Promise<void> =>
    new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      this.#waiting.push({ ms, end: resolve });
    });

  /** Returns the times of the pauses that are going on and that no test has taken. */
  times(): number[] {
    return this.#waiting.map(({ ms }) => ms);
  }

  /** Waits until the worker pauses for each of these times, and returns what ends the pauses. */
  async nextOf(...times: number[]): Promise<(() => void)[]> {
    const ends: (() => void)[] = [];
    // One after another, so that those of the same length are in the order in which they began.
    for (const ms of times) ends.push(await this.next(ms));
    return ends;
  }

  async next(ms: number): Promise<() => void> {
    for (;;) {
      const index = this.#waiting.findIndex((one) => one.ms === ms);
      const [found] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (found) return found.end;
      await tick();
    }
  }
}

interface SetUpOptions {
  agents?: number;
  agentsPerProject?: number;
  store?: Store;
  log?: string[];
}

function setUp({ agents = 2, agentsPerProject, store = openSqliteStore(":memory:"), log = [] }: SetUpOptions = {}) {
  const folder = temporaryFolder();
  const stop = new AbortController();
  const sleeps = new Sleeps();
  const repository = new WaitingRepository({ url: "/nowhere", folder });
  const worker = new Worker({
    store,
    repository,
    worktrees: new Worktrees({ repository, folder, kept: 0, slowCheckoutMs: 0 }),
    pullRequests: {
      open: async ({ branch }) => `https://example.com/${branch}`,
      stateOf: async () => "open",
      findClosed: async () => new Set(),
    },
    agent: { ...shellAgent(""), model: "large" },
    sandbox: unconfined,
    network: fullNetwork,
    limits: {},
    largestChangeBytes: 1_000_000,
    folder,
    timeLimitMs: 1000,
    agents,
    agentsPerProject,
    signal: stop.signal,
    log: (line) => void log.push(line),
    sleep: sleeps.sleep,
  });
  /** Waits until a job's branch is being checked out. */
  const checkoutOf = async (job: string): Promise<WaitingCheckout> => {
    for (;;) {
      const checkout = repository.waiting.get(`agent/${job}`);
      repository.waiting.delete(`agent/${job}`);
      if (checkout) return checkout;
      await tick();
    }
  };
  const addJobs = async (...ids: string[]) => {
    for (const id of ids) await store.addJob({ id, project: "docs", createdAt: 0 }, "Go on");
  };
  return { store, worker, repository, stop, log, sleeps, folder, checkoutOf, addJobs };
}

test("starts the turn of a new job and of a message at once", async () => {
  const { worker, store, log, checkoutOf, addJobs } = setUp();
  await worker.start();
  await addJobs("a");
  const checkout = await checkoutOf("a");
  expect(log.slice(1)).toEqual(["a: turn 1 started"]);
  checkout.succeed();
  await worker.drain();
  await store.addTurn("a", "More", 0);
  await checkoutOf("a");
});

test("runs as many turns at a time as it may, and the next one when one has ended", async () => {
  const { worker, store, log, folder, checkoutOf, addJobs } = setUp();
  await addJobs("a", "b", "c");
  await worker.start();
  const [a, b] = [await checkoutOf("a"), await checkoutOf("b")];
  expect(log.slice(1)).toEqual(["a: turn 1 started", "b: turn 2 started"]);
  a.fail(new Error("no route"));
  const c = await checkoutOf("c");
  expect((await store.job("a"))?.state).toBe("failed");
  expect((await store.job("a"))?.idleSince).toBeGreaterThan(Date.now() - 60_000);
  for (const { succeed } of [b, c]) succeed();
  await worker.drain();
  expect(log.slice(3).sort()).toEqual([
    "a: turn 1 failed: no route",
    "b: turn 2 completed",
    "c: turn 3 completed",
    "c: turn 3 started",
  ]);
  expect(readFileSync(join(folder, "logs/a.log"), "utf8")).toContain("[service] The turn failed: no route");
});

test("resumes what an earlier service left unfinished", async () => {
  const { worker, store, log, checkoutOf, addJobs } = setUp();
  await addJobs("a");
  await store.startNextTurn();
  await worker.start();
  await checkoutOf("a");
  expect(log).toEqual([
    "Jobs in the store: 1. Waiting turns: 1, interrupted earlier: 1.",
    "a: turn 1 was interrupted earlier, resuming",
    "a: turn 1 started",
  ]);
});

test("requeues the turns that the end of the service stops, and starts no other", async () => {
  const { worker, store, stop, log, checkoutOf, addJobs } = setUp({ agents: 1 });
  await addJobs("a", "b");
  await worker.start();
  const checkout = await checkoutOf("a");
  let isDrained = false;
  const drained = worker.drain().then(() => {
    isDrained = true;
  });
  stop.abort();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(isDrained).toBe(false);
  checkout.fail(new Error("aborted"));
  await drained;
  expect(log.slice(1)).toEqual(["a: turn 1 started", "a: turn 1 stopped"]);
  expect([await store.startNextTurn(), await store.startNextTurn()]).toMatchObject([{ job: "a" }, { job: "b" }]);
});

test("fails a turn whose directory cannot be used", async () => {
  const { worker, store, log } = setUp();
  await store.addJob({ id: "nul\0", project: "docs", createdAt: 0 }, "Go on");
  await worker.start();
  await worker.drain();
  expect(log).toContainEqual(expect.stringMatching(/^nul\0: turn 1 failed: \S/));
  expect((await store.job("nul\0"))?.state).toBe("failed");
});

/** Creates a worker whose store another connection can lock, as if the disk were full. Its pauses end when the test says so. */
function setUpOutage(agents = 1) {
  const file = join(temporaryFolder(), "jobs.sqlite");
  const log: string[] = [];
  const store = openSqliteStore(file, (line) => void log.push(line));
  const setup = setUp({ agents, store, log });
  const other = new DatabaseSync(file);
  onTestFinished(async () => {
    setup.stop.abort();
    for (const { fail } of setup.repository.waiting.values()) fail(new Error("the test is over"));
    await setup.worker.drain();
    other.close();
    await store[Symbol.asyncDispose]();
  });
  return {
    ...setup,
    file,
    fill: () => other.exec("BEGIN IMMEDIATE"),
    free: () => other.exec("COMMIT"),
  };
}

test("a store that cannot be written is tried with growing pauses until it can, however many ask for that", async () => {
  const { worker, store, log, addJobs, fill, free, sleeps } = setUpOutage(0);
  await addJobs("a");
  fill();
  for (let request = 0; request < 3; request++) {
    await expect(store.addTurn("a", "More", 0)).rejects.toThrow(StoreUnavailable);
    void worker.waitForStore();
  }
  expect(log).toEqual([expect.stringMatching(/^The store .* cannot be written/)]);
  expect(sleeps.times()).toEqual([1000]);
  for (const ms of [1000, 2000]) (await sleeps.next(ms))();
  const last = await sleeps.next(4000);
  free();
  last();
  while (log.length < 2) await tick();
  expect(log.slice(1)).toEqual(["The store can be written again."]);
  // The next outage is outlasted as well.
  fill();
  await expect(store.addTurn("a", "More", 0)).rejects.toThrow(StoreUnavailable);
  void worker.waitForStore();
  const retry = await sleeps.next(1000);
  free();
  retry();
  while (log.length < 4) await tick();
});

test("a store in which no turn can be started is tried again, and the log says why, once", async () => {
  const { file, log, checkoutOf, addJobs, worker, sleeps } = setUpOutage();
  await addJobs("a", "b");
  await worker.start();
  const first = await checkoutOf("a");
  const other = new DatabaseSync(file);
  other.exec("ALTER TABLE ready RENAME TO gone");
  first.fail(new Error("no route"));
  for (let attempt = 0; attempt < 2; attempt++) (await sleeps.next(1000))();
  const retry = await sleeps.next(1000);
  expect(log.slice(3)).toEqual([expect.stringMatching(/^No turn can be started, trying again: .*no such table/)]);
  other.exec("ALTER TABLE gone RENAME TO ready");
  other.close();
  retry();
  const checkout = await checkoutOf("b");
  expect(log.slice(4)).toEqual(["Turns can be started again.", "b: turn 2 started"]);
  checkout.succeed();
});

test("the end of a turn that cannot be recorded is recorded later, and the turn is not run twice", async () => {
  const { worker, store, log, checkoutOf, addJobs, fill, free, sleeps, repository } = setUpOutage();
  await addJobs("a", "b");
  await worker.start();
  const checkout = await checkoutOf("a");
  fill();
  checkout.fail(new Error("no route"));
  for (const ms of [1000, 2000]) (await sleeps.next(ms))();
  const retry = await sleeps.next(4000);
  expect((await store.job("a"))?.state).toBe("active");
  expect([...repository.waiting]).toEqual([]);
  free();
  retry();
  const other = await checkoutOf("b");
  expect((await store.job("a"))?.state).toBe("failed");
  expect(log.filter((line) => /^a: turn 1 (started|failed)/.test(line))).toHaveLength(2);
  expect(log.filter((line) => line.includes("its state"))).toEqual([
    "a: turn 1: its state cannot be stored yet, trying again",
  ]);
  other.succeed();
});

test("what a turn has reached while the store cannot be written is stored with its end", async () => {
  const { worker, store, checkoutOf, addJobs, fill, free, sleeps } = setUpOutage();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  fill();
  checkout.succeed();
  const retry = await sleeps.next(1000);
  free();
  retry();
  await worker.drain();
  expect(await store.job("a")).toMatchObject({
    state: "completed",
    pullRequest: "https://example.com/agent/a",
    head: "222",
  });
});

test("turns that wait are started when the store can be written again", async () => {
  const { worker, log, checkoutOf, addJobs, fill, free, sleeps } = setUpOutage();
  await addJobs("a", "b");
  await worker.start();
  (await checkoutOf("a")).fail(new StoreUnavailable("too many open files"));
  const [gap] = await sleeps.nextOf(1000, 1000);
  fill();
  gap?.();
  const retry = await sleeps.next(1000);
  expect(log).not.toContain("b: turn 2 started");
  free();
  retry();
  (await checkoutOf("b")).succeed();
  expect(log).toContain("b: turn 2 started");
});

test("a service that stops while the store cannot be written says so, and the next one resumes the turn", async () => {
  const { worker, store, log, stop, checkoutOf, addJobs, fill, free, sleeps } = setUpOutage();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  fill();
  checkout.fail(new Error("no route"));
  await sleeps.next(1000);
  stop.abort();
  await worker.drain();
  expect(log.at(-1)).toBe(
    "a: turn 1: its state could not be stored before the service stopped, so the next service resumes the turn",
  );
  free();
  expect(await store.requeueInterruptedTurns()).toEqual([{ id: 1, job: "a" }]);
});

describe("a turn that the machine cannot run now", () => {
  /** What `runTurn` returns for an error of the store, which stands for any shortage here. */
  const shortage = () => new StoreUnavailable("too many open files\nin the system");

  test("waits, is tried again with growing pauses, and counts no attempt", async () => {
    const { worker, store, log, checkoutOf, addJobs, sleeps } = setUp({ agents: 1 });
    await addJobs("a");
    await worker.start();
    for (const ms of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      (await checkoutOf("a")).fail(shortage());
      const [gap, pause] = await sleeps.nextOf(1000, ms);
      gap?.();
      expect((await store.job("a"))?.state).toBe("active");
      expect(await store.turns("a")).toMatchObject([{ state: "waiting" }]);
      pause?.();
    }
    const checkout = await checkoutOf("a");
    expect(await store.turns("a")).toMatchObject([{ attempts: 0, state: "running" }]);
    checkout.succeed();
    await worker.drain();
    expect((await store.job("a"))?.state).toBe("completed");
    expect(log.filter((line) => line.startsWith("Turns can"))).toEqual([
      "Turns cannot be run now: too many open files\\nin the system. They wait and are tried again every minute or more " +
        "often, without counting an attempt. If this lasts, check the machine's file descriptors, processes, memory and disk.",
      "Turns can be run again.",
    ]);
    expect(log.filter((line) => line.startsWith("a: "))).toEqual([
      "a: turn 1 started",
      "a: turn 1 postponed: too many open files\\nin the system",
      "a: turn 1 completed",
    ]);
  });

  test("does not hold up the turns of other jobs, and none is started for a second", async () => {
    const { worker, store, log, checkoutOf, addJobs, sleeps } = setUp({ agents: 1 });
    await addJobs("a", "b");
    await store.addTurn("a", "More", 0);
    await worker.start();
    (await checkoutOf("a")).fail(shortage());
    const [gap, pause] = await sleeps.nextOf(1000, 1000);
    await tick();
    expect(log.filter((line) => line.endsWith("started"))).toEqual(["a: turn 1 started"]);
    gap?.();
    const checkout = await checkoutOf("b");
    pause?.();
    checkout.succeed();
    (await checkoutOf("a")).succeed();
    await checkoutOf("a");
    expect((await store.turns("a")).map(({ state }) => state)).toEqual(["completed", "running"]);
  });

  test("goes on when a turn ends that was started before it", async () => {
    const { worker, store, log, checkoutOf, addJobs, sleeps } = setUp({ agents: 2 });
    await addJobs("a", "b");
    await worker.start();
    const [a, b] = [await checkoutOf("a"), await checkoutOf("b")];
    a.fail(shortage());
    const [gap, pause] = await sleeps.nextOf(1000, 1000);
    b.succeed();
    while ((await store.job("b"))?.state === "active") await tick();
    const ends = () => log.filter((line) => line === "Turns can be run again.").length;
    expect(ends()).toBe(0);
    gap?.();
    pause?.();
    (await checkoutOf("a")).succeed();
    while ((await store.job("a"))?.state === "active") await tick();
    expect(ends()).toBe(1);
  });

  test("is resumed by the next service", async () => {
    const { worker, store, stop, checkoutOf, addJobs, sleeps } = setUp({ agents: 1 });
    await addJobs("a");
    await worker.start();
    (await checkoutOf("a")).fail(shortage());
    await sleeps.nextOf(1000, 1000);
    stop.abort();
    await worker.drain();
    expect(await store.startNextTurn()).toBeUndefined();
    await store.requeueInterruptedTurns();
    expect(await store.startNextTurn()).toMatchObject({ job: "a", attempts: 0 });
  });
});

test("logs why a turn failed, in one bounded line without control characters", async () => {
  const { worker, log, checkoutOf, addJobs } = setUp({ agents: 1 });
  await addJobs("a");
  await worker.start();
  (await checkoutOf("a")).fail(new Error(`first\n\u001b[2J\u202e${"x".repeat(1000)}`));
  await worker.drain();
  const line = log.find((one) => one.startsWith("a: turn 1 failed")) ?? "";
  expect(line).toContain("a: turn 1 failed: first\\n\\u001b[2J\\u202exxx");
  expect(line.length).toBeLessThan(600);
});

test("starts no more turns once it is closed, and finishes those that are running", async () => {
  const { worker, store, log, checkoutOf, addJobs } = setUp({ agents: 1 });
  await addJobs("a", "b");
  await worker.start();
  const checkout = await checkoutOf("a");
  worker.close();
  checkout.succeed();
  await worker.drain();
  await addJobs("c");
  await worker.drain();
  expect(log.slice(1)).toEqual(["a: turn 1 started", "a: turn 1 completed"]);
  expect(await store.counts()).toEqual({ jobs: 3, waitingTurns: 2 });
});

test("runs no more turns of a project at a time than it may, and those of other projects meanwhile", async () => {
  const { worker, store, log, checkoutOf, addJobs } = setUp({ agents: 3, agentsPerProject: 1 });
  await addJobs("a", "b");
  await store.addJob({ id: "c", project: "blog", createdAt: 0 }, "Go on");
  await worker.start();
  const [a, c] = [await checkoutOf("a"), await checkoutOf("c")];
  c.succeed();
  while (!log.includes("c: turn 3 completed")) await tick();
  expect(log).not.toContain("b: turn 2 started");
  a.succeed();
  await checkoutOf("b");
});

/** The queue of a store that several workers use. Leases expire, and looks wait or fail, when the test says so. */
class SharedTurns implements ReadyTurns {
  readonly renewEveryMs = 1;
  readonly #queue = new SqliteReadyTurns();
  /** A running turn whose lease has expired. */
  expired: number | undefined;
  /** Whether no lease can be renewed. */
  isLost = false;
  /** What a look waits for when it has seen which turns there are. */
  look = async (): Promise<void> => {};
  /** How many looks there were. */
  looks = 0;

  async mayHaveTurns(sql: Sql): Promise<boolean> {
    this.looks++;
    const mayHaveTurns = await this.#queue.mayHaveTurns(sql);
    await this.look();
    return mayHaveTurns || this.expired !== undefined;
  }
  async take(transaction: Transaction, perProject: number | undefined): Promise<TakenTurn | undefined> {
    const turn = this.expired;
    this.expired = undefined;
    return turn === undefined ? this.#queue.take(transaction, perProject) : { turn, lease: "of another worker" };
  }
  async renew(): Promise<boolean> {
    return !this.isLost;
  }
  /** Other workers are running. */
  async recover(): Promise<{ id: number; job: string }[]> {
    return [];
  }
  add(transaction: Transaction, turn: ReadyTurn): Promise<void> {
    return this.#queue.add(transaction, turn);
  }
  async remove(): Promise<void> {}
  putBack(transaction: Transaction, taken: TakenTurn, pauseMs: number): Promise<void> {
    return this.#queue.putBack(transaction, taken, pauseMs);
  }
  endPause(transaction: Transaction, turn: ReadyTurn): Promise<void> {
    return this.#queue.endPause(transaction, turn);
  }
  onReady(): void {}
}

/** A store whose jobs cannot be read while the test says so. */
class FailingStore extends Store {
  failure: Error | undefined;

  override async job(id: string): Promise<StoredJob | undefined> {
    if (this.failure) throw this.failure;
    return super.job(id);
  }
}

function setUpShared({ agents = 1 } = {}) {
  const connection = new Connection(":memory:", () => {});
  openSchema(connection, ":memory:");
  const ready = new SharedTurns();
  const store = new FailingStore({ database: new SqliteDatabase(connection), ready, nextTurnId: countTurnIds });
  return { ...setUp({ agents, store }), store, ready };
}

test("starts a turn that becomes ready while the worker has seen none and still looks", async () => {
  const { worker, ready, checkoutOf, addJobs } = setUpShared();
  let endLook = (): void => {};
  const look = new Promise<void>((resolve) => {
    endLook = resolve;
  });
  ready.look = () => look;
  await worker.start();
  while (ready.looks === 0) await tick();
  await addJobs("a");
  expect(ready.looks).toBe(1);
  endLook();
  await checkoutOf("a");
});

test("drains what becomes ready while it drains", async () => {
  const { worker, store, ready, checkoutOf, addJobs } = setUpShared();
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
  expect((await store.job("a"))?.state).toBe("completed");
});

test("tries again if the store cannot be read while turns are taken", async () => {
  const { worker, ready, log, checkoutOf, addJobs, sleeps } = setUpShared();
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
  const { worker, store, log, checkoutOf, addJobs, sleeps } = setUpShared();
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

test("a turn whose job cannot be read for another reason fails", async () => {
  const { worker, store, log, addJobs } = setUpShared();
  await addJobs("a");
  store.failure = new Error("no such table");
  await worker.start();
  while (!log.includes("a: turn 1 failed: no such table")) await tick();
  store.failure = undefined;
  await worker.drain();
  expect((await store.job("a"))?.state).toBe("failed");
});

test("stops a turn that another worker has taken over, and stores nothing of it", async () => {
  const { worker, store, ready, log, checkoutOf, addJobs } = setUpShared();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  worker.close();
  ready.expired = 1;
  const turn = await store.startNextTurn();
  expect(turn).toMatchObject({ id: 1, isResumed: true });
  ready.isLost = true;
  // Until the next renewal.
  for (let wait = 0; wait < 20; wait++) await tick();
  checkout.succeed();
  await worker.drain();
  expect(log.slice(1)).toEqual([
    "a: turn 1 started",
    "a: turn 1 was taken over by another worker, because its lease had expired; nothing more is done",
  ]);
  expect(await store.turns("a")).toMatchObject([{ state: "running", lease: turn?.lease }]);
  expect(await store.job("a")).toMatchObject({ state: "active", pullRequest: null });
});

test("stores no end of a turn that another worker has taken over a moment ago", async () => {
  const { worker, store, ready, log, checkoutOf, addJobs } = setUpShared();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  worker.close();
  ready.expired = 1;
  const turn = await store.startNextTurn();
  checkout.fail(new Error("no route"));
  await worker.drain();
  expect(log.at(-1)).toBe(
    "a: turn 1: turn 1 was taken over, because its lease had expired; what it did here is not stored",
  );
  expect(await store.turns("a")).toMatchObject([{ state: "running", lease: turn?.lease }]);
});

test("resumes a turn whose worker has not renewed its lease", async () => {
  const { worker, store, ready, log, checkoutOf, addJobs } = setUpShared();
  await addJobs("a");
  await store.startNextTurn();
  ready.expired = 1;
  await worker.start();
  (await checkoutOf("a")).succeed();
  await worker.drain();
  expect(log.slice(1)).toEqual([
    "a: turn 1 was interrupted on another worker, resuming",
    "a: turn 1 started",
    "a: turn 1 completed",
  ]);
});
