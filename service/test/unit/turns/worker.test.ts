import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { noNetwork } from "../../../src/agents/network/agent-network.ts";
import { GitError } from "../../../src/git/git.ts";
import { logContext, withLogContext } from "../../../src/log/log-context.ts";
import { noMetrics } from "../../../src/metrics/metrics.ts";
import { PerProject } from "../../../src/per-project.ts";
import { ResourceExhausted } from "../../../src/processes/resource-exhausted.ts";
import { RateLimitError } from "../../../src/pulls/github/github-error.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { KeptUnreadable, StoreUnavailable } from "../../../src/store-errors.ts";
import { turnHost } from "../../../src/turns/turn-host.ts";
import type { ProjectPorts } from "../../../src/turns/turn-ports.ts";
import { MemoryCopies } from "../../support/memory-copies.ts";
import { setUpWorker, tick } from "../../support/worker.ts";

test("starts the turn of a new job and of a message at once", async () => {
  const { worker, store, log, checkoutOf, addJobs } = setUpWorker();
  await worker.start();
  await addJobs("a");
  const checkout = await checkoutOf("a");
  expect(log.slice(1)).toEqual(["a: turn 1 started"]);
  checkout.succeed();
  await worker.drain();
  await store.turns.add("a", "More", 0);
  await checkoutOf("a");
});

test("runs as many turns at a time as it may, and the next one when one has ended", async () => {
  const { worker, store, log, folder, checkoutOf, addJobs } = setUpWorker();
  await addJobs("a", "b", "c");
  await worker.start();
  const [a, b] = [await checkoutOf("a"), await checkoutOf("b")];
  expect(log.slice(1)).toEqual(["a: turn 1 started", "b: turn 2 started"]);
  a.fail(new Error("no route"));
  const c = await checkoutOf("c");
  expect((await store.jobs.find("a"))?.state).toBe("failed");
  expect((await store.jobs.find("a"))?.idleSince).toBeGreaterThan(Date.now() - 60_000);
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

test("counts each run of a turn, by how it ended", async () => {
  const runs: string[] = [];
  const turnStarted = () => {
    runs.push("started");
    return (result: string) => void runs.push(result);
  };
  const { worker, checkoutOf, addJobs } = setUpWorker({ agents: 1, metrics: { ...noMetrics, turnStarted } });
  await worker.start();
  await addJobs("a");
  (await checkoutOf("a")).succeed();
  await worker.drain();
  await addJobs("b");
  (await checkoutOf("b")).fail(new Error("no route"));
  await worker.drain();
  expect(runs).toEqual(["started", "completed", "started", "failed"]);
});

test("the lines of a turn are about its job, itself and the request it was sent with, not about the one that made it ready", async () => {
  const contexts = new Map<string, object>();
  const { worker, store, log, checkoutOf, addJobs } = setUpWorker({
    onLine: (line) => void contexts.set(line, logContext()),
  });
  await worker.start();
  await withLogContext({ request: "r1" }, () => addJobs("a"));
  (await checkoutOf("a")).succeed();
  await worker.drain();
  const own = { request: (await store.turns.ofJob("a"))[0]?.request, job: "a", turn: 1 };
  expect(contexts.get("a: turn 1 started")).toEqual(own);
  expect(contexts.get("a: turn 1 completed")).toEqual(own);

  store.runningTurns.startNext = async () => {
    throw new Error("no such table");
  };
  await withLogContext({ request: "r2" }, () => addJobs("b"));
  await waitUntil(() => log.length >= 4);
  expect(log[3]).toMatch(/^No turn can be started, trying again: Error: no such table/);
  expect(contexts.get(log[3] ?? "")).toEqual({});
});

test("warns of failed turns", async () => {
  const levels = new Map<string, string | undefined>();
  const { worker, checkoutOf, addJobs } = setUpWorker({ onLine: (line, level) => void levels.set(line, level) });
  await worker.start();
  await addJobs("a", "b");
  (await checkoutOf("a")).fail(new Error("no route"));
  (await checkoutOf("b")).succeed();
  await worker.drain();
  expect(levels.get("a: turn 1 failed: no route")).toBe("warn");
  expect(levels.get("b: turn 2 completed")).toBe("info");
});

test("is stuck while the store gives no answer for two minutes, and not while it is only out of order", async () => {
  const clock = { now: 8000 };
  const { worker, store, addJobs } = setUpWorker({ now: () => clock.now });
  await worker.start();
  const { promise, reject } = Promise.withResolvers<undefined>();
  store.runningTurns.startNext = () => promise;
  await addJobs("a");
  clock.now += 120_000;
  expect(worker.isStuck).toBe(false);
  clock.now += 1;
  expect(worker.isStuck).toBe(true);
  reject(new StoreUnavailable());
  await tick();
  expect(worker.isStuck).toBe(false);
});

test("resumes what an earlier service left unfinished", async () => {
  const { worker, store, log, checkoutOf, addJobs } = setUpWorker();
  await addJobs("a");
  await store.runningTurns.startNext();
  await worker.start();
  await checkoutOf("a");
  expect(log).toEqual([
    "Jobs in the store: 1. Waiting turns: 1, interrupted earlier: 1.",
    "a: turn 1 was interrupted earlier, resuming",
    "a: turn 1 started",
  ]);
});

test("leaves the turns of projects that it does not know to others", async () => {
  const projects = (ports: ProjectPorts) => PerProject.of(new Map([["docs", ports]]));
  const { worker, store, log, checkoutOf, addJobs } = setUpWorker({ agents: 1, projects });
  await store.jobs.add({ id: "other", project: "blog", createdAt: 0 }, "Go on");
  await addJobs("a");
  await worker.start();
  (await checkoutOf("a")).succeed();
  await worker.drain();
  expect(log.filter((line) => line.includes("started"))).toEqual(["a: turn 2 started"]);
  expect(await store.turns.ofJob("other")).toMatchObject([{ state: "waiting", attempts: 0 }]);
});

test("leaves the turns of a project that belongs to another repository by now", async () => {
  let own: string[] | undefined;
  const { worker, store, log, checkoutOf } = setUpWorker({ agents: 1, ownProjects: async () => own });
  await store.jobs.add({ id: "a", project: "site", createdAt: 0 }, "Go on");
  await worker.start();
  const checkout = await checkoutOf("a");
  own = ["docs"];
  await store.turns.add("a", "More", 0);
  await store.jobs.add({ id: "b", project: "docs", createdAt: 0 }, "Go on");
  checkout.succeed();
  (await checkoutOf("b")).succeed();
  await worker.drain();
  expect(log.filter((line) => line.includes("started"))).toEqual(["a: turn 1 started", "b: turn 3 started"]);
  expect((await store.turns.ofJob("a")).map(({ state }) => state)).toEqual(["completed", "waiting"]);
});

test("runs the turns of each project with its own ports, as many at a time as it may have", async () => {
  const opened: string[] = [];
  const projects = (ports: ProjectPorts) => {
    const project = (name: string, agentsPerProject?: number) => {
      const open = async () => {
        opened.push(name);
        return `https://example.com/${name}`;
      };
      return [name, { ...ports, agentsPerProject, pullRequests: { ...ports.pullRequests, open } }] as const;
    };
    return PerProject.of(new Map([project("docs", 1), project("blog")]));
  };
  const { worker, store, log, checkoutOf } = setUpWorker({ agents: 4, projects });
  for (const [id, project] of Object.entries({ a: "docs", b: "docs", c: "blog" }))
    await store.jobs.add({ id, project, createdAt: 0 }, "Go on");
  await worker.start();
  const first = [await checkoutOf("a"), await checkoutOf("c")];
  expect(log.slice(1).sort()).toEqual(["a: turn 1 started", "c: turn 3 started"]);
  for (const { succeed } of first) succeed();
  (await checkoutOf("b")).succeed();
  await worker.drain();
  expect(opened.sort()).toEqual(["blog", "docs", "docs"]);
  expect((await store.jobs.find("c"))?.pullRequest).toBe("https://example.com/blog");
});

test("requeues the turns that the end of the service stops, and starts no other", async () => {
  const { worker, store, stop, log, checkoutOf, addJobs } = setUpWorker({ agents: 1 });
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
  expect([await store.runningTurns.startNext(), await store.runningTurns.startNext()]).toMatchObject([
    { job: "a" },
    { job: "b" },
  ]);
});

test("fails a turn whose directory cannot be used", async () => {
  const { worker, store, log } = setUpWorker();
  // No file system has so long a name.
  const id = "a".repeat(300);
  await store.jobs.add({ id, project: "docs", createdAt: 0 }, "Go on");
  await worker.start();
  await worker.drain();
  expect(log).toContainEqual(expect.stringMatching(/^a+: turn 1 failed: ENAMETOOLONG/));
  expect((await store.jobs.find(id))?.state).toBe("failed");
});

/** Creates a worker whose store can become unavailable. Its pauses end when the test says so. */
function setUpOutage(agents = 1) {
  const file = join(temporaryFolder(), "jobs.sqlite");
  const log: string[] = [];
  const store = openSqliteStore(file, (line) => void log.push(line));
  const setup = setUpWorker({ agents, store, log });
  onTestFinished(async () => {
    setup.stop.abort();
    for (const { fail } of setup.repository.waiting.values()) fail(new Error("the test is over"));
    await setup.worker.drain();
    await store[Symbol.asyncDispose]();
  });
  return {
    ...setup,
    file,
    // Without its file, the store is unavailable at once; with one that another process writes, only after half a second.
    fill: () => renameSync(file, `${file}.away`),
    free: () => renameSync(`${file}.away`, file),
  };
}

test("a store that cannot be written is tried with growing pauses until it can, however many ask for that", async () => {
  const { worker, store, log, addJobs, fill, free, sleeps } = setUpOutage(0);
  await addJobs("a");
  fill();
  for (let request = 0; request < 3; request++) {
    await expect(store.turns.add("a", "More", 0)).rejects.toThrow(StoreUnavailable);
    void worker.waitForStore();
  }
  expect(log).toEqual([expect.stringMatching(/^The store .* was removed/)]);
  expect(sleeps.times()).toEqual([1000]);
  for (const ms of [1000, 2000]) (await sleeps.next(ms))();
  const last = await sleeps.next(4000);
  free();
  last();
  await waitUntil(() => log.length >= 2);
  expect(log.slice(1)).toEqual(["The store can be written again."]);
  // The next outage is outlasted as well.
  fill();
  await expect(store.turns.add("a", "More", 0)).rejects.toThrow(StoreUnavailable);
  void worker.waitForStore();
  const retry = await sleeps.next(1000);
  free();
  retry();
  await waitUntil(() => log.length >= 4);
});

test("a store in which no turn can be started is tried again, and the log says why, once", async () => {
  const { file, log, checkoutOf, addJobs, worker, sleeps } = setUpOutage();
  await addJobs("a", "b");
  await worker.start();
  const first = await checkoutOf("a");
  const other = new DatabaseSync(file);
  other.exec("ALTER TABLE lastStart RENAME TO gone");
  first.fail(new Error("no route"));
  for (let attempt = 0; attempt < 2; attempt++) (await sleeps.next(1000))();
  const retry = await sleeps.next(1000);
  expect(log.slice(3)).toEqual([expect.stringMatching(/^No turn can be started, trying again: .*no such table/)]);
  expect(worker.isFailing).toBe(true);
  other.exec("ALTER TABLE gone RENAME TO lastStart");
  other.close();
  retry();
  const checkout = await checkoutOf("b");
  expect(log.slice(4)).toEqual(["Turns can be started again.", "b: turn 2 started"]);
  expect(worker.isFailing).toBe(false);
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
  expect((await store.jobs.find("a"))?.state).toBe("active");
  expect([...repository.waiting]).toEqual([]);
  free();
  retry();
  const other = await checkoutOf("b");
  expect((await store.jobs.find("a"))?.state).toBe("failed");
  expect(log.filter((line) => /^a: turn 1 (started|failed)/.test(line))).toHaveLength(2);
  expect(log.filter((line) => line.includes("its state"))).toEqual([
    "a: turn 1: its state cannot be stored yet, trying again",
  ]);
  other.succeed();
});

test("a turn whose push cannot be recorded waits for the store", async () => {
  const { worker, store, checkoutOf, addJobs, fill, free, sleeps } = setUpOutage();
  await addJobs("a");
  await worker.start();
  const checkout = await checkoutOf("a");
  fill();
  checkout.succeed();
  const retry = await sleeps.next(2000);
  free();
  retry();
  await worker.drain();
  expect(await store.jobs.find("a")).toMatchObject({
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
  expect(await store.runningTurns.requeueInterrupted()).toEqual([{ id: 1, job: "a" }]);
});

describe("a turn that the machine cannot run now", () => {
  /** What `runTurn` returns for an error of the store, which stands for any shortage here. */
  const shortage = () => new StoreUnavailable("too many open files\nin the system");

  test("waits, is tried again with growing pauses, and counts no attempt", async () => {
    const { worker, store, log, checkoutOf, addJobs, sleeps } = setUpWorker({ agents: 1 });
    await addJobs("a");
    await worker.start();
    for (const ms of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      (await checkoutOf("a")).fail(shortage());
      const [gap, pause] = await sleeps.nextOf(1000, ms);
      gap?.();
      expect((await store.jobs.find("a"))?.state).toBe("active");
      expect(await store.turns.ofJob("a")).toMatchObject([{ state: "waiting" }]);
      expect(worker.isFailing).toBe(true);
      pause?.();
    }
    const checkout = await checkoutOf("a");
    expect(await store.turns.ofJob("a")).toMatchObject([{ attempts: 0, state: "running" }]);
    checkout.succeed();
    await worker.drain();
    expect(worker.isFailing).toBe(false);
    expect((await store.jobs.find("a"))?.state).toBe("completed");
    expect(log.filter((line) => line.startsWith("Turns can"))).toEqual([
      "Turns cannot be run now: too many open files\\nin the system. They wait and are tried again every minute or more " +
        "often, without counting an attempt. If this lasts, check the machine's file descriptors, processes, memory and disk, " +
        "and that the service's programs are installed.",
      "Turns can be run again.",
    ]);
    expect(log.filter((line) => line.startsWith("a: "))).toEqual([
      "a: turn 1 started",
      "a: turn 1 postponed: too many open files\\nin the system",
      "a: turn 1 completed",
    ]);
  });

  test("does not hold up the turns of other jobs, and none is started for a second", async () => {
    const { worker, store, log, checkoutOf, addJobs, sleeps } = setUpWorker({ agents: 1 });
    await addJobs("a", "b");
    await store.turns.add("a", "More", 0);
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
    expect((await store.turns.ofJob("a")).map(({ state }) => state)).toEqual(["completed", "running"]);
  });

  test("goes on when a turn ends that was started before it", async () => {
    const { worker, store, log, checkoutOf, addJobs, sleeps } = setUpWorker({ agents: 2 });
    await addJobs("a", "b");
    await worker.start();
    const [a, b] = [await checkoutOf("a"), await checkoutOf("b")];
    a.fail(shortage());
    const [gap, pause] = await sleeps.nextOf(1000, 1000);
    b.succeed();
    await waitUntil(async () => (await store.jobs.find("b"))?.state !== "active");
    const ends = () => log.filter((line) => line === "Turns can be run again.").length;
    expect(ends()).toBe(0);
    gap?.();
    pause?.();
    (await checkoutOf("a")).succeed();
    await waitUntil(async () => (await store.jobs.find("a"))?.state !== "active");
    expect(ends()).toBe(1);
  });

  test("is resumed by the next service", async () => {
    const { worker, store, stop, checkoutOf, addJobs, sleeps } = setUpWorker({ agents: 1 });
    await addJobs("a");
    await worker.start();
    (await checkoutOf("a")).fail(shortage());
    await sleeps.nextOf(1000, 1000);
    stop.abort();
    await worker.drain();
    expect(await store.runningTurns.startNext()).toBeUndefined();
    await store.runningTurns.requeueInterrupted();
    expect(await store.runningTurns.startNext()).toMatchObject({ job: "a", attempts: 0 });
  });
});

test("logs why a turn failed, in one bounded line without control characters", async () => {
  const { worker, log, checkoutOf, addJobs } = setUpWorker({ agents: 1 });
  await addJobs("a");
  await worker.start();
  (await checkoutOf("a")).fail(new Error(`first\n\u001b[2J\u202e${"x".repeat(1000)}`));
  await worker.drain();
  const line = log.find((one) => one.startsWith("a: turn 1 failed")) ?? "";
  expect(line).toContain("a: turn 1 failed: first\\n\\u001b[2J\\u202exxx");
  expect(line.length).toBeLessThan(600);
});

test("starts no more turns once it is closed, and finishes those that are running", async () => {
  const { worker, store, log, checkoutOf, addJobs } = setUpWorker({ agents: 1 });
  await addJobs("a", "b");
  await worker.start();
  const checkout = await checkoutOf("a");
  worker.close();
  checkout.succeed();
  await worker.drain();
  await addJobs("c");
  await worker.drain();
  expect(log.slice(1)).toEqual(["a: turn 1 started", "a: turn 1 completed"]);
  expect(await store.counts.total()).toEqual({ jobs: 3, waitingTurns: 2 });
});

test("runs no more turns of a project at a time than it may, and those of other projects meanwhile", async () => {
  const { worker, store, log, checkoutOf, addJobs } = setUpWorker({ agents: 3, agentsPerProject: 1 });
  await addJobs("a", "b");
  await store.jobs.add({ id: "c", project: "blog", createdAt: 0 }, "Go on");
  await worker.start();
  const [a, c] = [await checkoutOf("a"), await checkoutOf("c")];
  c.succeed();
  await waitUntil(() => log.includes("c: turn 3 completed"));
  expect(log).not.toContain("b: turn 2 started");
  a.succeed();
  await checkoutOf("b");
});

test("saves a job with its home directory when its turn has ended, and not when that is postponed", async () => {
  const copies = new MemoryCopies(temporaryFolder());
  const { worker, sleeps, checkoutOf, addJobs } = setUpWorker({ copies });
  await addJobs("a");
  await worker.start();
  (await checkoutOf("a")).fail(new ResourceExhausted("no space"));
  const ends = await sleeps.nextOf(1000, 1000);
  expect(copies.saves).toEqual([]);
  for (const end of ends) end();
  (await checkoutOf("a")).succeed();
  await worker.drain();
  expect(copies.saves).toEqual([{ states: ["completed"], hasHome: true }]);
});

test("saves what the check of a job showed before its turn ends", async () => {
  const copies = new MemoryCopies(temporaryFolder());
  const checked = (): Promise<unknown> => waitUntil(() => copies.jobs.get("a")?.turns[0]?.checkResult);
  const { worker, checkoutOf, addJobs } = setUpWorker({
    copies,
    host: { ...turnHost, runAgent: async () => ({ end: "completed", message: undefined, error: undefined }) },
    projects: (ports) => {
      const repository = {
        checkOut: async () => ({}),
        ownStart: ports.repository.findStart,
        keepIgnored: async () => [],
      };
      const commands = { check: "check", reads: [], setupNetwork: noNetwork, repository, worktrees: ports.worktrees };
      const keptCommits = { isOnlyPlace: true, load: async () => undefined };
      const open = async () => `https://example.com/${await checked()}`;
      return PerProject.same(
        Object.assign(ports, { commands, keptCommits, pullRequests: { ...ports.pullRequests, open } }),
      );
    },
  });
  await addJobs("a");
  await worker.start();
  (await checkoutOf("a")).succeed();
  await worker.drain();
  expect(copies.jobs.get("a")).toMatchObject({ pullRequest: "https://example.com/passed" });
});

test("says how people get what is kept, if only this process knows that, and counts it", async () => {
  const counted: string[] = [];
  const { worker, store, checkoutOf, addJobs } = setUpWorker({
    metrics: { ...noMetrics, workKept: (what) => void counted.push(what) },
    keptCommits: {
      save: async () => {},
      load: async () => undefined,
      commandFor: ({ job }, kept) => `fetch ${job} ${kept}`,
    },
  });
  await addJobs("a", "b");
  await worker.start();
  (await checkoutOf("a")).fail(new KeptUnreadable("it is damaged"));
  (await checkoutOf("b")).fail(new Error("It failed."));
  await worker.drain();
  expect((await store.turns.ofJob("a"))[0]?.reason).toMatch(/So no agent was run\. To get it: fetch a push$/);
  expect((await store.turns.ofJob("b"))[0]?.reason).toBe("It failed.");
  expect(counted).toEqual(["push"]);
});

describe("a turn whose repository cannot be reached now", () => {
  const away = () => new GitError(["ls-remote"], "exited with 128", "Could not resolve host: github.com", 128);

  test("waits, while the turns of other jobs start at once and the worker does not count as failing", async () => {
    const { worker, store, log, checkoutOf, addJobs, sleeps } = setUpWorker({ agents: 1 });
    await addJobs("a", "b");
    await worker.start();
    (await checkoutOf("a")).fail(away());
    const other = await checkoutOf("b");
    expect(worker.isFailing).toBe(false);
    other.succeed();
    for (const ms of [1000, 2000, 4000]) {
      (await sleeps.next(ms))();
      const again = await checkoutOf("a");
      if (ms < 4000) again.fail(away());
      else again.succeed();
    }
    await worker.drain();
    expect((await store.jobs.find("a"))?.state).toBe("completed");
    expect(log.filter((line) => line.includes("postponed"))).toEqual([
      expect.stringMatching(/^a: turn 1 postponed: .*github/),
    ]);
  });

  const setUpClock = async () => {
    const clock = { now: 0 };
    const set = setUpWorker({ agents: 1, now: () => clock.now });
    await set.addJobs("a");
    await set.worker.start();
    const failAndPause = async (error: Error, pauseMs: number): Promise<void> => {
      (await set.checkoutOf("a")).fail(error);
      const end = await set.sleeps.next(pauseMs);
      clock.now += pauseMs;
      end();
    };
    return { ...set, clock, failAndPause };
  };

  test("waits as long as GitHub's rate limit lasts, and then for an hour at most", async () => {
    const { worker, store, checkoutOf, failAndPause } = await setUpClock();
    await failAndPause(new RateLimitError("wait", 403, 5_400_000), 5_400_000);
    await failAndPause(away(), 2000);
    (await checkoutOf("a")).succeed();
    await worker.drain();
    expect((await store.jobs.find("a"))?.state).toBe("completed");
  });

  test("fails when its limit has lasted for a day", async () => {
    const { worker, store, checkoutOf, failAndPause } = await setUpClock();
    for (let hours = 0; hours < 24; hours++) await failAndPause(new RateLimitError("wait", 403, 3_600_000), 3_600_000);
    (await checkoutOf("a")).fail(new RateLimitError("wait", 403, 3_600_000));
    await worker.drain();
    expect((await store.jobs.find("a"))?.state).toBe("failed");
  });

  test("fails when that has lasted for an hour, however often it was tried", async () => {
    const { worker, store, clock, checkoutOf, failAndPause } = await setUpClock();
    await failAndPause(away(), 1000);
    clock.now += 3_590_000;
    await failAndPause(away(), 2000);
    clock.now += 7000;
    (await checkoutOf("a")).fail(away());
    await worker.drain();
    expect((await store.jobs.find("a"))?.state).toBe("failed");
    expect((await store.turns.ofJob("a"))[0]).toMatchObject({ state: "failed" });
  });
});
