import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shellAgent } from "../../../../src/service/agents/agent.ts";
import { fullNetwork } from "../../../../src/service/agents/network/agent-network.ts";
import { unconfined } from "../../../../src/service/agents/sandbox/sandbox.ts";
import { type Checkout, Repository } from "../../../../src/service/git/repository.ts";
import { AgentEngine } from "../../../../src/service/jobs/agent-engine.ts";
import type { JobRecord, RateLimited } from "../../../../src/service/jobs/engine.ts";
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

  override checkOut(branch: string, worktree: string): Promise<Checkout> {
    const checkout = { worktree, inode: 0n, branch, head: "222", targetBranch: "main", base: "111" };
    return new Promise((resolve, fail) => {
      const succeed = () => resolve({ ...checkout, remoteHead: "222", isContinued: true });
      this.waiting.set(branch, { fail, succeed });
    });
  }

  /** Says that the turn's commit was pushed earlier, so that no agent runs. */
  override async commits(): Promise<{ commit: string; message: string }[]> {
    const trailers = (turn: number, job: string) => `Agent-Turn: ${turn}\nAgent-Job: ${job}`;
    return ["a", "b", "c"].map((job, index) => ({ commit: "222", message: `Fix\n\n${trailers(index + 1, job)}\n` }));
  }
}

function setUp(agents = 2) {
  // Not closed, because the turns that still wait at the end of a test belong to it.
  const store = new Store(":memory:");
  const folder = temporaryFolder();
  const stop = new AbortController();
  const log: string[] = [];
  const repository = new WaitingRepository({ url: "/nowhere", folder });
  const engine = new AgentEngine({
    store,
    repository,
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
  });
  /** Waits until a job's branch is being checked out. */
  const checkoutOf = async (job: string): Promise<WaitingCheckout> => {
    for (;;) {
      const checkout = repository.waiting.get(`agent/${job}`);
      repository.waiting.delete(`agent/${job}`);
      if (checkout) return checkout;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const addJobs = (...ids: string[]) => {
    for (const id of ids) store.addJob({ id, project: "docs", createdAt: 0 }, "Go on");
  };
  return { store, engine, repository, stop, log, folder, checkoutOf, addJobs };
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
  const job = store.job("a");
  if (!job) throw new Error("no job");
  store.archiveJob(job, 1000);
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
  const { engine, store, log, folder, checkoutOf, addJobs } = setUp(2);
  addJobs("a", "b", "c");
  engine.start();
  const [a, b] = [await checkoutOf("a"), await checkoutOf("b")];
  expect(log).toEqual(["a: turn 1 started", "b: turn 2 started"]);
  a.fail(new Error("no route"));
  const c = await checkoutOf("c");
  expect(store.stateOf("a")).toBe("failed");
  expect(store.idleJobs()[0]?.idleSince).toBeGreaterThan(Date.now() - 60_000);
  for (const { succeed } of [b, c]) succeed();
  await engine.drain();
  expect(log.slice(2).sort()).toEqual([
    "a: turn 1 failed",
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
  expect(log).toEqual(["a: interrupted earlier, resuming", "a: turn 1 started"]);
});

test("requeues the turns that the end of the service stops, and starts no other", async () => {
  const { engine, store, stop, log, checkoutOf, addJobs } = setUp(1);
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
  expect(log).toEqual(["a: turn 1 started", "a: turn 1 stopped"]);
  expect([store.startNextTurn(), store.startNextTurn()]).toMatchObject([{ job: "a" }, { job: "b" }]);
});

test("fails a turn whose directory cannot be used", async () => {
  const { engine, store, log } = setUp();
  store.addJob({ id: "nul\0", project: "docs", createdAt: 0 }, "Go on");
  engine.start();
  await engine.drain();
  expect(log).toContain("nul\0: turn 1 failed");
  expect(store.stateOf("nul\0")).toBe("failed");
});
