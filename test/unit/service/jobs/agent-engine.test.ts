import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { shellAgent } from "../../../../src/service/agents/agent.ts";
import { fullNetwork } from "../../../../src/service/agents/network/agent-network.ts";
import { unconfined } from "../../../../src/service/agents/sandbox/sandbox.ts";
import { Repository, type Start } from "../../../../src/service/git/repository.ts";
import { Worktrees } from "../../../../src/service/git/worktrees.ts";
import { AgentEngine } from "../../../../src/service/jobs/agent-engine.ts";
import { type JobRecord, type RateLimited, StoreUnavailable } from "../../../../src/service/jobs/engine.ts";
import { Store } from "../../../../src/service/jobs/store.ts";
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

/** Pauses of the engine, which end when the test says so. */
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

  /** Waits until the engine pauses for each of these times, and returns what ends the pauses. */
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
  store?: Store;
  log?: string[];
}

function setUp({ agents = 2, store = new Store(":memory:"), log = [] }: SetUpOptions = {}) {
  const folder = temporaryFolder();
  const stop = new AbortController();
  const sleeps = new Sleeps();
  const repository = new WaitingRepository({ url: "/nowhere", folder });
  const engine = new AgentEngine({
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
    repositoryName: "https://example.com/docs",
    agents,
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
  const addJobs = (...ids: string[]) => {
    for (const id of ids) store.addJob({ id, project: "docs", createdAt: 0 }, "Go on");
  };
  return { store, engine, repository, stop, log, sleeps, folder, checkoutOf, addJobs };
}

function accepted(result: JobRecord | RateLimited): JobRecord {
  if ("retryAfterMs" in result) throw new Error("rate limited");
  return result;
}

test("shows a job by its state", async () => {
  const { engine, store, checkoutOf, addJobs } = setUp();
  addJobs("a");
  const record = {
    id: "a",
    status: "active",
    source: { repository: "https://example.com/docs", ref: "agent/a" },
    model: "large",
    prLink: null,
    createdAt: "1970-01-01T00:00:00.000Z",
    archivedAt: null,
  };
  expect(await engine.get("docs", "a")).toEqual(record);
  engine.start();
  const checkout = await checkoutOf("a");
  expect(await engine.get("docs", "a")).toEqual(record);
  checkout.succeed();
  await engine.drain();
  const completed = { ...record, status: "completed", prLink: "https://example.com/agent/a" };
  expect(await engine.get("docs", "a")).toEqual(completed);
  store.archiveJobs(store.jobsWithPullRequest(1), 1000);
  expect(await engine.get("docs", "a")).toEqual({
    ...completed,
    status: "archived",
    archivedAt: "1970-01-01T00:00:01.000Z",
  });
  expect(await engine.message("docs", "a", "More")).toEqual(record);
  expect(store.turns("a").map(({ prompt }) => prompt)).toEqual(["Go on", "More"]);
});

test("finds a job only in its project", async () => {
  const { engine, store, addJobs } = setUp();
  addJobs("a");
  for (const [project, id] of [
    ["other", "a"],
    ["docs", "b"],
  ] as const) {
    expect(await engine.get(project, id)).toBeUndefined();
    expect(await engine.message(project, id, "More")).toBeUndefined();
  }
  expect(store.turns("a").map(({ prompt }) => prompt)).toEqual(["Go on"]);
});

test("creates a job and starts it immediately", async () => {
  const { engine, store, log, checkoutOf } = setUp();
  const before = Date.now();
  const { id, status, createdAt } = accepted(await engine.create("docs", "Fix it"));
  expect(id).toMatch(/^job_[0-9a-f-]{36}$/);
  expect(status).toBe("active");
  expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
  expect(store.job(id)?.project).toBe("docs");
  expect(store.turns(id).map(({ prompt }) => prompt)).toEqual(["Fix it"]);
  expect(log).toEqual([`${id}: turn 1 started`]);
  await checkoutOf(id);
});

test("runs a message to an idle job immediately", async () => {
  const { engine, checkoutOf, addJobs } = setUp();
  addJobs("a");
  engine.start();
  (await checkoutOf("a")).succeed();
  await engine.drain();
  await engine.message("docs", "a", "More");
  await checkoutOf("a");
});

test("runs as many turns at a time as it may, and the next one when one has ended", async () => {
  const { engine, store, log, folder, checkoutOf, addJobs } = setUp();
  addJobs("a", "b", "c");
  engine.start();
  const [a, b] = [await checkoutOf("a"), await checkoutOf("b")];
  expect(log.slice(1)).toEqual(["a: turn 1 started", "b: turn 2 started"]);
  a.fail(new Error("no route"));
  const c = await checkoutOf("c");
  expect(store.job("a")?.state).toBe("failed");
  expect(store.job("a")?.idleSince).toBeGreaterThan(Date.now() - 60_000);
  for (const { succeed } of [b, c]) succeed();
  await engine.drain();
  expect(log.slice(3).sort()).toEqual([
    "a: turn 1 failed: no route",
    "b: turn 2 completed",
    "c: turn 3 completed",
    "c: turn 3 started",
  ]);
  expect(readFileSync(join(folder, "logs/a.log"), "utf8")).toContain("[service] The turn failed: no route");
});

test("resumes what an earlier service left unfinished", async () => {
  const { engine, store, log, checkoutOf, addJobs } = setUp();
  addJobs("a");
  store.startNextTurn();
  engine.start();
  await checkoutOf("a");
  expect(log).toEqual([
    "Jobs in the store: 1. Waiting turns: 1, interrupted earlier: 1.",
    "a: turn 1 was interrupted earlier, resuming",
    "a: turn 1 started",
  ]);
});

test("requeues the turns that the end of the service stops, and starts no other", async () => {
  const { engine, store, stop, log, checkoutOf, addJobs } = setUp({ agents: 1 });
  addJobs("a", "b");
  engine.start();
  const checkout = await checkoutOf("a");
  let isDrained = false;
  const drained = engine.drain().then(() => {
    isDrained = true;
  });
  stop.abort();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(isDrained).toBe(false);
  checkout.fail(new Error("aborted"));
  await drained;
  expect(log.slice(1)).toEqual(["a: turn 1 started", "a: turn 1 stopped"]);
  expect([store.startNextTurn(), store.startNextTurn()]).toMatchObject([{ job: "a" }, { job: "b" }]);
});

test("fails a turn whose directory cannot be used", async () => {
  const { engine, store, log } = setUp();
  store.addJob({ id: "nul\0", project: "docs", createdAt: 0 }, "Go on");
  engine.start();
  await engine.drain();
  expect(log).toContainEqual(expect.stringMatching(/^nul\0: turn 1 failed: \S/));
  expect(store.job("nul\0")?.state).toBe("failed");
});

/** Creates an engine whose store another connection can lock, as if the disk were full. Its pauses end when the test says so. */
function setUpOutage(agents = 1) {
  const file = join(temporaryFolder(), "jobs.sqlite");
  const log: string[] = [];
  const store = new Store(file, (line) => void log.push(line));
  const setup = setUp({ agents, store, log });
  const other = new DatabaseSync(file);
  onTestFinished(async () => {
    setup.stop.abort();
    for (const { fail } of setup.repository.waiting.values()) fail(new Error("the test is over"));
    await setup.engine.drain();
    other.close();
    store[Symbol.dispose]();
  });
  return {
    ...setup,
    file,
    fill: () => other.exec("BEGIN IMMEDIATE"),
    free: () => other.exec("COMMIT"),
  };
}

test("a store that cannot be written rejects creates and messages, and answers reads", async () => {
  const { engine, store, log, addJobs, fill, free, sleeps } = setUpOutage(0);
  addJobs("a");
  fill();
  await expect(engine.create("docs", "Fix it")).rejects.toThrow(StoreUnavailable);
  await expect(engine.message("docs", "a", "More")).rejects.toThrow(StoreUnavailable);
  expect(await engine.get("docs", "a")).toMatchObject({ status: "active" });
  expect(store.counts()).toEqual({ jobs: 1, waitingTurns: 1 });
  expect(log).toEqual([expect.stringMatching(/^The store .* cannot be written/)]);
  // The engine tries the store by itself, once however many requests were rejected, with growing pauses.
  expect(sleeps.times()).toEqual([1000]);
  for (const ms of [1000, 2000]) (await sleeps.next(ms))();
  const last = await sleeps.next(4000);
  free();
  last();
  while (log.length < 2) await tick();
  expect(log.slice(1)).toEqual(["The store can be written again."]);
  expect(accepted(await engine.create("docs", "Fix it")).status).toBe("active");
  // The next outage is outlasted as well.
  fill();
  await expect(engine.create("docs", "Fix it")).rejects.toThrow(StoreUnavailable);
  const retry = await sleeps.next(1000);
  free();
  retry();
  while (log.length < 4) await tick();
});

test("a store in which no turn can be started is tried again, and the log says why, once", async () => {
  const { file, log, checkoutOf, addJobs, engine, sleeps } = setUpOutage();
  engine.start();
  addJobs("a");
  const other = new DatabaseSync(file);
  other.exec("ALTER TABLE ready RENAME TO gone");
  await engine.message("docs", "a", "More");
  for (let attempt = 0; attempt < 2; attempt++) (await sleeps.next(1000))();
  const retry = await sleeps.next(1000);
  expect(log.slice(1)).toEqual([expect.stringMatching(/^No turn can be started, trying again: .*no such table/)]);
  other.exec("ALTER TABLE gone RENAME TO ready");
  other.close();
  retry();
  const checkout = await checkoutOf("a");
  expect(log.slice(2)).toEqual(["Turns can be started again.", "a: turn 1 started"]);
  checkout.succeed();
});

test("the end of a turn that cannot be recorded is recorded later, and the turn is not run twice", async () => {
  const { engine, store, log, checkoutOf, addJobs, fill, free, sleeps, repository } = setUpOutage();
  addJobs("a", "b");
  engine.start();
  const checkout = await checkoutOf("a");
  fill();
  checkout.fail(new Error("no route"));
  for (const ms of [1000, 2000]) (await sleeps.next(ms))();
  const retry = await sleeps.next(4000);
  expect(store.job("a")?.state).toBe("active");
  expect([...repository.waiting]).toEqual([]);
  free();
  retry();
  const other = await checkoutOf("b");
  expect(store.job("a")?.state).toBe("failed");
  expect(log.filter((line) => /^a: turn 1 (started|failed)/.test(line))).toHaveLength(2);
  expect(log.filter((line) => line.includes("its state"))).toEqual([
    "a: turn 1: its state cannot be stored yet, trying again",
  ]);
  other.succeed();
});

test("what a turn has reached while the store cannot be written is stored with its end", async () => {
  const { engine, store, checkoutOf, addJobs, fill, free, sleeps } = setUpOutage();
  addJobs("a");
  engine.start();
  const checkout = await checkoutOf("a");
  fill();
  checkout.succeed();
  const retry = await sleeps.next(1000);
  free();
  retry();
  await engine.drain();
  expect(await engine.get("docs", "a")).toMatchObject({
    status: "completed",
    prLink: "https://example.com/agent/a",
  });
  expect(store.job("a")?.head).toBe("222");
});

test("turns that wait are started when the store can be written again", async () => {
  const { engine, log, checkoutOf, addJobs, fill, free, sleeps } = setUpOutage();
  engine.start();
  addJobs("a");
  fill();
  await expect(engine.create("docs", "Fix it")).rejects.toThrow(StoreUnavailable);
  const retry = await sleeps.next(1000);
  free();
  retry();
  (await checkoutOf("a")).succeed();
  expect(log).toContain("a: turn 1 started");
});

test("a service that stops while the store cannot be written says so, and the next one resumes the turn", async () => {
  const { engine, store, log, stop, checkoutOf, addJobs, fill, free, sleeps } = setUpOutage();
  addJobs("a");
  engine.start();
  const checkout = await checkoutOf("a");
  fill();
  checkout.fail(new Error("no route"));
  await sleeps.next(1000);
  stop.abort();
  await engine.drain();
  expect(log.at(-1)).toBe(
    "a: turn 1: its state could not be stored before the service stopped, so the next service resumes the turn",
  );
  free();
  expect(store.requeueInterruptedTurns()).toEqual([{ id: 1, job: "a" }]);
});

describe("a turn that the machine cannot run now", () => {
  /** What `runTurn` returns for an error of the store, which stands for any shortage here. */
  const shortage = () => new StoreUnavailable("too many open files\nin the system");

  test("waits, is tried again with growing pauses, and counts no attempt", async () => {
    const { engine, store, log, checkoutOf, addJobs, sleeps } = setUp({ agents: 1 });
    addJobs("a");
    engine.start();
    for (const ms of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      (await checkoutOf("a")).fail(shortage());
      const [gap, pause] = await sleeps.nextOf(1000, ms);
      gap?.();
      expect(store.job("a")?.state).toBe("active");
      expect(store.turns("a")).toMatchObject([{ state: "waiting" }]);
      pause?.();
    }
    const checkout = await checkoutOf("a");
    expect(store.turns("a")).toMatchObject([{ attempts: 0, state: "running" }]);
    checkout.succeed();
    await engine.drain();
    expect(store.job("a")?.state).toBe("completed");
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
    const { engine, store, log, checkoutOf, addJobs, sleeps } = setUp({ agents: 1 });
    addJobs("a", "b");
    store.addTurn("a", "More", 0);
    engine.start();
    (await checkoutOf("a")).fail(shortage());
    const [gap, pause] = await sleeps.nextOf(1000, 1000);
    await tick();
    expect(log.filter((line) => line.endsWith("started"))).toEqual(["a: turn 1 started"]);
    gap?.();
    pause?.();
    (await checkoutOf("b")).succeed();
    (await checkoutOf("a")).succeed();
    await checkoutOf("a");
    expect(store.turns("a").map(({ state }) => state)).toEqual(["completed", "running"]);
  });

  test("goes on when a turn ends that was started before it", async () => {
    const { engine, store, log, checkoutOf, addJobs, sleeps } = setUp({ agents: 2 });
    addJobs("a", "b");
    engine.start();
    const [a, b] = [await checkoutOf("a"), await checkoutOf("b")];
    a.fail(shortage());
    const [gap, pause] = await sleeps.nextOf(1000, 1000);
    b.succeed();
    while (store.job("b")?.state === "active") await tick();
    const ends = () => log.filter((line) => line === "Turns can be run again.").length;
    expect(ends()).toBe(0);
    gap?.();
    pause?.();
    (await checkoutOf("a")).succeed();
    while (store.job("a")?.state === "active") await tick();
    expect(ends()).toBe(1);
  });

  test("is resumed by the next service", async () => {
    const { engine, store, stop, checkoutOf, addJobs, sleeps } = setUp({ agents: 1 });
    addJobs("a");
    engine.start();
    (await checkoutOf("a")).fail(shortage());
    await sleeps.nextOf(1000, 1000);
    stop.abort();
    await engine.drain();
    expect(store.startNextTurn()).toBeUndefined();
    store.requeueInterruptedTurns();
    expect(store.startNextTurn()).toMatchObject({ job: "a", attempts: 0 });
  });
});

test("logs why a turn failed, in one bounded line without control characters", async () => {
  const { engine, log, checkoutOf, addJobs } = setUp({ agents: 1 });
  addJobs("a");
  engine.start();
  (await checkoutOf("a")).fail(new Error(`first\n\u001b[2J\u202e${"x".repeat(1000)}`));
  await engine.drain();
  const line = log.find((one) => one.startsWith("a: turn 1 failed")) ?? "";
  expect(line).toContain("a: turn 1 failed: first\\n\\u001b[2J\\u202exxx");
  expect(line.length).toBeLessThan(600);
});

test("setting the clock neither escapes the hourly limit nor extends it", async () => {
  const { engine } = setUp({ agents: 0 });
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const start = Date.UTC(2026, 0, 10);
  vi.setSystemTime(start);
  for (let use = 0; use < 100; use++) accepted(await engine.create("docs", "Fix it"));
  for (const day of [-1, 1, 0]) {
    vi.setSystemTime(start + day * 86_400_000);
    const result = await engine.create("docs", "Fix it");
    expect(result).toEqual({ retryAfterMs: expect.any(Number) });
    expect("retryAfterMs" in result && result.retryAfterMs <= 3_600_000).toBe(true);
  }
});

test("a message over the hourly limit is not added to its job", async () => {
  const { engine, store, addJobs } = setUp({ agents: 0 });
  addJobs("a");
  for (let use = 0; use < 100; use++) accepted((await engine.message("docs", "a", "More")) ?? { retryAfterMs: 0 });
  expect(await engine.message("docs", "a", "More")).toEqual({ retryAfterMs: expect.any(Number) });
  expect(store.countTurns("a")).toBe(101);
});
