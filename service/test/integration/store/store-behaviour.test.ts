import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import {
  type EndedState,
  type JobCopy,
  type JobQuery,
  noContext,
  type RunningTurn,
  type StoredTurn,
  type TurnWait,
} from "../../../src/model.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import type { StoredFailure } from "../../../src/store/running-turns.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { LeaseLost } from "../../../src/store-errors.ts";
import { historyOf } from "../../../src/turns/run-attempt.ts";
import { emptyDatabasesOfFile } from "../../support/empty-stores.ts";
import { patient, postgresOfFile } from "../../support/postgres.ts";
import { identityOf } from "../../support/turn-identity.ts";

const server = postgresOfFile();

/** Milliseconds since 1970. */
const now = Date.UTC(2026, 0, 1);
const minute = 60_000;
const hour = 3_600_000;

/** By which hourly limits count on Postgres, where the caller's time does not. */
let clock = () => now;

afterEach(() => {
  clock = () => now;
});

const options = { clock: () => String(clock()) };
const emptyDatabase = emptyDatabasesOfFile(server, options);

const databases = [
  { database: "SQLite", open: openSqlite, empty: openSqlite },
  { database: "Postgres", open: openPostgres, empty: async () => (await emptyDatabase()).store() },
];

async function openSqlite(): Promise<Store> {
  return closedLater(openSqliteStore(":memory:"));
}

async function openPostgres(): Promise<Store> {
  return closedLater(
    await openPostgresStore({ url: await server().createStoreDatabase(), log: () => {}, times: patient, ...options }),
  );
}

function closedLater(store: Store): Store {
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

/** Adds a job, whose prompt is "One". */
async function addJob(store: Store, id: string, project = "docs", createdAt = now): Promise<void> {
  expect(await store.jobs.add({ id, project, createdAt }, "One")).toBeUndefined();
}

async function startNext(store: Store, perProject?: number): Promise<RunningTurn> {
  const turn = await store.runningTurns.startNext(perProject);
  if (turn === undefined) throw new Error("no turn is ready");
  return turn;
}

/** Ends the next turn. */
async function endNext(store: Store, state: EndedState = "completed", at = now): Promise<RunningTurn> {
  const turn = await startNext(store);
  await store.runningTurns.finish(turn, state, at);
  return turn;
}

/** Starts the next turns. Returns their jobs. */
async function startJobs(store: Store, count: number): Promise<string[]> {
  const jobs: string[] = [];
  while (jobs.length < count) jobs.push((await startNext(store)).job);
  return jobs;
}

const pullRequestOf = (job: string) => ({
  job,
  title: "Fix",
  branch: `agent/${job}`,
  target: "main",
  base: "000",
  head: "111",
});

describe.each(databases)("a store in $database", ({ open, empty }) => {
  /** Returns an empty store, which other tests may use later. */
  function newStore(clockOfTest = () => now): Promise<Store> {
    clock = clockOfTest;
    return empty();
  }

  test("lists jobs by project and status, newest first, and goes on after any of them", async () => {
    const store = await newStore();
    // Two are of the same moment.
    for (const [id, project, at] of [
      ["d1", "docs", 1],
      ["b1", "blog", 2],
      ["d2", "docs", 3],
      ["d3", "docs", 3],
      ["x1", "other", 4],
      ["b2", "blog", 5],
    ] as const)
      await addJob(store, id, project, now + at);
    const ids = async (query: Partial<JobQuery>) =>
      (await store.lists.jobs({ projects: ["docs", "blog"], limit: 10, ...query })).map(({ id }) => id);
    const all = ["b2", "d3", "d2", "b1", "d1"];
    expect(await ids({})).toEqual(all);
    expect(await ids({ limit: 2 })).toEqual(["b2", "d3"]);
    expect(await ids({ projects: ["docs"] })).toEqual(["d3", "d2", "d1"]);
    expect(await ids({ projects: [] })).toEqual([]);
    for (const [index, id] of all.entries()) {
      const { createdAt = 0 } = (await store.jobs.find(id)) ?? {};
      expect(await ids({ after: { createdAt, id } })).toEqual(all.slice(index + 1));
      expect(await ids({ after: { createdAt, id }, status: "active", limit: 2 })).toEqual(
        all.slice(index + 1, index + 3),
      );
    }
    for (const state of ["completed", "failed", "completed", "failed"] as const) await endNext(store, state);
    const states = await Promise.all(all.map(async (id) => [id, (await store.jobs.find(id))?.state]));
    for (const status of ["active", "completed", "failed"] as const)
      expect(await ids({ status })).toEqual(states.filter(([, state]) => state === status).map(([id]) => id));
    const [archived = ""] = await store.idleJobs.archiveOldest(now, now, 1);
    expect(await ids({ status: "archived" })).toEqual([archived]);
    expect([...(await ids({ status: "completed" })), ...(await ids({ status: "failed" }))]).not.toContain(archived);
  });

  test("lists jobs of any number of projects, newest first", async () => {
    const store = await newStore();
    for (const [id, project, age] of [
      ["a", "project_7", 3],
      ["b", "project_650", 1],
      ["c", "other", 2],
    ] as const)
      await addJob(store, id, project, now - age);
    const projects = Array.from({ length: 700 }, (_, index) => `project_${index}`);
    const ids = async (query: Partial<JobQuery>) =>
      (await store.lists.jobs({ projects, limit: 10, ...query })).map(({ id }) => id);
    expect(await ids({})).toEqual(["b", "a"]);
    expect(await ids({ after: { createdAt: now - 1, id: "b" } })).toEqual(["a"]);
    expect(await ids({ status: "active", limit: 1 })).toEqual(["b"]);
  });

  test("lists a job with its turns, and with its last page", async () => {
    const store = await newStore();
    await addJob(store, "a");
    await addJob(store, "b", "docs", now - 1);
    await store.turns.add("a", "Two", now);
    const turn = await store.runningTurns.startNext(undefined, now);
    if (turn === undefined) throw new Error("no turn is ready");
    await store.runningTurns.setReport(turn, { costUsd: 0.25 });
    await store.runningTurns.finish(turn, "completed", now + 3000);
    await store.pullRequests.add(pullRequestOf("a"));
    await store.pullRequests.add({ ...pullRequestOf("a"), head: "222" });
    const [second] = await store.lists.latestTurns("b", 1);
    const common = { project: "docs", state: "active", archivedAt: null, pullRequest: null };
    const spent = (tookMs: number, costUsd: number) => ({ tookMs, costUsd, unknownCosts: 0 });
    expect(await store.lists.jobs({ projects: ["docs"], limit: 5 })).toEqual([
      {
        ...common,
        id: "a",
        createdAt: now,
        turns: 2,
        firstTurn: turn.id,
        lastTurn: expect.any(Number),
        lastPage: 2,
        ...spent(3000, 0.25),
      },
      {
        ...common,
        id: "b",
        createdAt: now - 1,
        turns: 1,
        firstTurn: second,
        lastTurn: second,
        lastPage: null,
        ...spent(0, 0),
      },
    ]);
    expect(await store.lists.spentBy("a")).toEqual(spent(3000, 0.25));
    expect(await store.lists.spentBy("unknown")).toEqual(spent(0, 0));
  });

  describe("finds jobs", () => {
    const hostile = `<img src=x onerror="1"> \u202e'; DROP TABLE turn; -- ${"x".repeat(1000)}`;

    async function listed() {
      const store = await newStore();
      const add = async (id: string, project: string, at: number, prompt: string, asker: string) =>
        expect(
          await store.jobs.add({ id, project, createdAt: now + at }, prompt, now, undefined, undefined, {
            ...noContext,
            asker,
          }),
        ).toBeUndefined();
      await add("a", "docs", 1, "Fix the links of docs/guide.md in foo_bar", "ada");
      await add("b", "docs", 2, `Übersetze the guide: ${"word ".repeat(2001)}unreachable`, "bob");
      await add("c", "blog", 3, hostile, "ada");
      await add("x", "other", 4, "Fix the guide", "eve");
      await store.turns.add("b", "A second prompt, with Zebra", now, undefined, undefined, {
        ...noContext,
        asker: "ada",
      });
      const ids = async (query: Partial<JobQuery>) =>
        (await store.lists.jobs({ projects: ["docs", "blog"], limit: 10, ...query })).map(({ id }) => id);
      return { store, ids };
    }

    test.each([
      ["guide", ["b", "a"]],
      ["GUI lin", ["a"]],
      ["docs/guide.md", ["a"]],
      ["foo", ["a"]],
      ["bar", ["a"]],
      ["Übersetze", ["b"]],
      ["zebra", ["b"]],
      ["unreachable", []],
      ["uide", []],
      ["onerror img", ["c"]],
      ["'; DROP TABLE", ["c"]],
      ['" OR NOT guide* (', []],
      ["& | ! :*", []],
      ["x".repeat(200), ["c"]],
      ["", []],
    ])("by their words: %j", async (text, found) => {
      const { ids } = await listed();
      expect(await ids({ text })).toEqual(found);
    });

    test("by why they failed, until another turn fails for another reason", async () => {
      const { store, ids } = await listed();
      const turn = await startNext(store);
      await store.runningTurns.finish(turn, "failed", now, { reason: "The remote refused the push." });
      expect(await ids({ text: "refused" })).toEqual(["a"]);
      expect(await ids({ text: "refused links" })).toEqual(["a"]);
      await store.turns.stop("b", (await store.lists.firstTurn("b")) ?? 0, now, "Stopped by me.");
      expect(await ids({ text: "stopped" })).toEqual(["b"]);
      expect(await ids({ text: "refused", projects: ["blog"] })).toEqual([]);
    });

    test("no longer after they were deleted", async () => {
      const { store, ids } = await listed();
      await endNext(store);
      expect(await ids({ text: "links" })).toEqual(["a"]);
      await store.idleJobs.deleteOldest(now + 1, 10);
      expect(await store.jobs.find("a")).toBeUndefined();
      expect(await ids({ text: "links" })).toEqual([]);
    });

    test("by who asked for any of their turns, in the projects of the reader only", async () => {
      const { store, ids } = await listed();
      expect(await ids({ asker: "ada" })).toEqual(["c", "b", "a"]);
      expect(await ids({ asker: "bob" })).toEqual(["b"]);
      expect(await ids({ asker: "eve" })).toEqual([]);
      expect(await ids({ asker: "ada", text: "guide", status: "active" })).toEqual(["b", "a"]);
      expect(await store.lists.askers(["docs", "blog"], 10)).toEqual(["ada", "bob"]);
      expect(await store.lists.askers(["docs", "blog"], 1)).toEqual(["ada"]);
      expect(await store.lists.askers(["other"], 10)).toEqual(["eve"]);
      expect(await store.lists.askers([], 10)).toEqual([]);
    });

    test("by when they were created", async () => {
      const { ids } = await listed();
      expect(await ids({ from: now + 2 })).toEqual(["c", "b"]);
      expect(await ids({ before: now + 2 })).toEqual(["a"]);
      expect(await ids({ from: now + 2, before: now + 3, asker: "ada" })).toEqual(["b"]);
    });
  });

  test("tells what a job waits for, until it is taken again", async () => {
    const store = await newStore();
    await addJob(store, "a");
    await addJob(store, "b");
    await addJob(store, "c");
    const turn = await startNext(store);
    const open = async () => Object.fromEntries(await store.lists.openTurnsOf(["a", "b", "c"]));
    expect(await open()).toEqual({ a: "running" });
    await store.runningTurns.requeue(turn, 60_000, false, `GitHub limits the rate${" for long".repeat(100)}`);
    const { waitReason, waitUntil } = (await open()).a as TurnWait;
    expect(waitReason).toMatch(/^GitHub limits the rate.{278}$/);
    expect(Math.abs((waitUntil ?? 0) - Date.now() - 60_000)).toBeLessThan(30_000);
    expect(await store.lists.turnExcerpt(turn.id, 10)).toMatchObject({ waitReason, waitUntil });
    expect(await store.lists.turnsAhead("c")).toBe(2);
    await store.turns.stop("a", turn.id, now, "Stopped by me.");
    expect(await open()).toEqual({});
    const next = await startNext(store);
    await store.runningTurns.requeue(next, 0, false, "It is away");
    expect(await open()).toMatchObject({ b: { waitReason: "It is away" } });
    await startNext(store);
    expect(await open()).toEqual({ b: "running" });
    expect(await store.lists.openTurnsOf([])).toEqual(new Map());
  });

  test("adds up what turns took and cost, by project and time", async () => {
    const store = await newStore();
    await addJob(store, "a");
    await addJob(store, "b");
    await addJob(store, "x", "other");
    await addJob(store, "never");
    for (const [costUsd, at] of [
      [0.5, 0],
      [undefined, 10],
      [3, 20],
    ] as const) {
      const turn = await store.runningTurns.startNext(undefined, now);
      if (turn === undefined) throw new Error("no turn is ready");
      await store.runningTurns.setReport(turn, { costUsd });
      await store.runningTurns.finish(turn, "completed", now + at);
    }
    await store.turns.stop("never", (await store.lists.firstTurn("never")) ?? 0, now, "Stopped by me.");
    const spentIn = (projects: string[], from = now, before = now + 100) => store.lists.spentIn(projects, from, before);
    const all = await spentIn(["docs", "other"]);
    expect(all.map(({ project, turns }) => [project, turns])).toEqual([
      ["docs", 2],
      ["other", 1],
    ]);
    expect(all.reduce((sum, { costUsd }) => sum + costUsd, 0)).toBe(3.5);
    expect(all.reduce((sum, { tookMs }) => sum + tookMs, 0)).toBe(30);
    expect(all.reduce((sum, { unknownCosts }) => sum + unknownCosts, 0)).toBe(1);
    expect(await spentIn(["docs"])).toEqual(all.slice(0, 1));
    expect(await spentIn(["docs", "other"], now + 100, now + 200)).toEqual([]);
    expect(await spentIn([])).toEqual([]);
  });

  test("tells how far a job is", async () => {
    const store = await newStore();
    expect(await store.jobs.progress("a")).toBeUndefined();
    await addJob(store, "a");
    await addJob(store, "b");
    await store.turns.add("a", "Two", now);
    expect(await store.jobs.progress("a")).toEqual({ state: "active", turns: 2, running: null });
    const turn = await startNext(store);
    await startNext(store);
    expect(await store.jobs.progress("a")).toEqual({ state: "active", turns: 2, running: turn.id });
    await store.runningTurns.finish(turn, "failed", now);
    expect(await store.jobs.progress("a")).toEqual({ state: "active", turns: 2, running: null });
    await endNext(store);
    expect(await store.jobs.progress("a")).toEqual({ state: "completed", turns: 2, running: null });
    expect((await store.jobs.progress("b"))?.running).not.toBeNull();
  });

  test("keeps when a turn was first taken, when it ended and why it failed", async () => {
    const store = await newStore();
    await addJob(store, "a");
    expect(await store.turns.ofJob("a")).toMatchObject([{ startedAt: null, endedAt: null, reason: null }]);
    const first = await store.runningTurns.startNext(undefined, now + 1);
    if (first === undefined) throw new Error("no turn is ready");
    await store.runningTurns.requeue(first);
    const second = await store.runningTurns.startNext(undefined, now + 2);
    if (second === undefined) throw new Error("no turn is ready");
    await store.runningTurns.finish(second, "failed", now + 3, { reason: "no commit" });
    expect(await store.turns.ofJob("a")).toMatchObject([{ startedAt: now + 1, endedAt: now + 3, reason: "no commit" }]);
  });

  test("a failure has its kind, until a later turn publishes what was kept of it", async () => {
    const store = await newStore();
    await addJob(store, "a");
    const first = await startNext(store);
    await store.runningTurns.finish(first, "failed", now, { reason: "no rule", failureClass: "refused", kept: "push" });
    const [kept] = await store.turns.ofJob("a");
    expect(kept).toMatchObject({ state: "failed", reason: "no rule", failureClass: "refused", kept: "push" });
    await store.turns.add("a", "Two", now + 1);
    const second = await startNext(store);
    if (kept !== undefined) store.runningTurns.endEarlier(second, kept);
    await store.runningTurns.finish(second, "completed", now + 2);
    const completed = { state: "completed", reason: null, failureClass: null, kept: null };
    expect(await store.turns.ofJob("a")).toMatchObject([completed, completed]);
  });

  test("what asked again for what was kept, and failed before it did anything, has completed once that is published", async () => {
    const store = await newStore();
    await addJob(store, "a");
    const end = async (failure?: StoredFailure, kept?: StoredTurn) => {
      const turn = await startNext(store);
      if (kept !== undefined) store.runningTurns.endEarlier(turn, kept);
      await store.runningTurns.finish(turn, failure ? "failed" : "completed", now, failure);
    };
    await end({ reason: "no rule", kept: "push" });
    const [first] = await store.turns.ofJob("a");
    const prompt = first?.prompt ?? "";
    await store.turns.add("a", prompt, now);
    await end({ reason: "GitHub answered 403" });
    await store.turns.add("a", prompt, now, undefined, undefined, { ...noContext, covers: "c".repeat(40) });
    await end({ reason: "GitHub answered 403" });
    await store.turns.add("a", "Another", now);
    await end(undefined, first);
    const states = (await store.turns.ofJob("a")).map(({ state }) => state);
    // The third one asked for more.
    expect(states).toEqual(["completed", "completed", "failed", "completed"]);
  });

  test("so has a re-run of its step, although its range begins elsewhere", async () => {
    const store = await newStore();
    const key = (request: string, step = "s") => ({ caller: "ci", step, request });
    await addJob(store, "a");
    await store.runningTurns.finish(await startNext(store), "completed", now);
    const context = { ...noContext, covers: "c".repeat(40) };
    for (const [request, step, covers] of [["1"], ["2", "s", "+"], ["3", "other", "+"]] as const) {
      const sent = { ...context, covers: `${covers ?? ""}${context.covers}` };
      await store.turns.add("a", "Go", now, undefined, key(request, step), sent);
      const failure = { reason: "refused", ...(request === "1" && { kept: "push" as const }) };
      await store.runningTurns.finish(await startNext(store), "failed", now, failure);
    }
    const kept = (await store.turns.ofJob("a"))[1];
    await store.turns.add("a", "Another", now);
    const turn = await startNext(store);
    if (kept !== undefined) store.runningTurns.endEarlier(turn, kept);
    await store.runningTurns.finish(turn, "completed", now);
    const states = (await store.turns.ofJob("a")).map(({ state }) => state);
    expect(states).toEqual(["completed", "completed", "completed", "failed", "completed"]);
  });

  test("a turn ends only while the page of its pull request is stored, and waits again if that was lost", async () => {
    const store = await newStore();
    await addJob(store, "a");
    const run = async (): Promise<boolean> => {
      const turn = await startNext(store);
      if (turn.attempts === 0) await store.runningTurns.countAttempt(turn);
      await store.runningTurns.recordPush(turn, null, "111", turn.id);
      const page = { job: "a", title: "One", branch: "agent/a", target: "main", base: "000", head: "111" };
      const number = turn.attempts === 0 ? 1 : await store.pullRequests.add(page);
      await store.runningTurns.setPullRequest(turn, `https://agents.example.com/pull/${number}`, "111", true);
      return store.runningTurns.finish(turn, "completed", now);
    };
    expect(await run()).toBe(false);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "waiting", attempts: 1 }]);
    expect(await store.jobs.find("a")).toMatchObject({ state: "active" });
    expect(await run()).toBe(true);
    expect(await store.jobs.find("a")).toMatchObject({ state: "completed", head: "111" });
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", head: "111" }]);
  });

  describe("a turn that is stopped", () => {
    /** Returns a store with a job, `a`, that has as many turns as there are prompts, and their ids. */
    async function withTurns(...prompts: string[]) {
      const store = await newStore();
      await addJob(store, "a");
      for (const prompt of prompts) await store.turns.add("a", prompt, now);
      return { store, ids: (await store.turns.ofJob("a")).map(({ id }) => id) };
    }
    const states = async (store: Store) => (await store.turns.ofJob("a")).map(({ state }) => state);

    test("fails at once if it waits, and is never taken", async () => {
      const { store, ids } = await withTurns();
      expect(await store.turns.stop("a", ids[0] ?? 0, now + 1, "Stopped by me.")).toBe(true);
      expect(await store.turns.ofJob("a")).toMatchObject([
        { state: "failed", reason: "Stopped by me.", endedAt: now + 1 },
      ]);
      expect(await store.jobs.find("a")).toMatchObject({ state: "failed", idleSince: now + 1 });
      expect(await store.runningTurns.startNext()).toBeUndefined();
    });

    test("lets the next one of its job be taken", async () => {
      const { store, ids } = await withTurns("Two");
      await store.turns.stop("a", ids[0] ?? 0, now, "Stopped.");
      expect(await store.jobs.find("a")).toMatchObject({ state: "active", idleSince: null });
      expect(await startNext(store)).toMatchObject({ id: ids[1] });
      expect(await store.runningTurns.startNext()).toBeUndefined();
    });

    test("leaves the ones before it as they are, but not the result of its job", async () => {
      const { store, ids } = await withTurns("Two", "Three");
      const turn = await startNext(store);
      await store.turns.stop("a", ids[2] ?? 0, now, "Stopped.");
      expect(await states(store)).toEqual(["running", "waiting", "failed"]);
      expect(await store.jobs.find("a")).toMatchObject({ state: "active" });
      await store.runningTurns.finish(turn, "completed", now);
      await store.runningTurns.finish(await startNext(store), "completed", now + 5);
      expect(await store.jobs.find("a")).toMatchObject({ state: "failed", idleSince: now + 5 });
    });

    test("ends its job only if none of its turns is open", async () => {
      const { store, ids } = await withTurns("Two");
      const turn = await startNext(store);
      await store.turns.stop("a", ids[1] ?? 0, now, "Stopped.");
      expect(await store.jobs.find("a")).toMatchObject({ state: "active", idleSince: null });
      await store.runningTurns.finish(turn, "failed", now);
      expect(await store.jobs.find("a")).toMatchObject({ state: "failed", idleSince: now });
    });

    test("is told so while it is running, and ends as its worker says", async () => {
      const { store } = await withTurns();
      const turn = await startNext(store);
      expect(await store.runningTurns.stopRequest(turn)).toBeUndefined();
      expect(await store.turns.stop("a", turn.id, now, "Stopped by me.")).toBe(true);
      expect(await states(store)).toEqual(["running"]);
      expect(await store.runningTurns.stopRequest(turn)).toBe("Stopped by me.");
      await store.runningTurns.finish(turn, "completed", now);
      expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", reason: null }]);
    });

    test("does so after a pause, too", async () => {
      const { store, ids } = await withTurns("Two");
      await store.runningTurns.requeue(await startNext(store), 600_000);
      expect(await store.turns.stop("a", ids[0] ?? 0, now, "Stopped.")).toBe(true);
      expect(await startNext(store)).toMatchObject({ id: ids[1] });
    });

    test("is told so when it is taken again if its agent has run before, because its commit may count", async () => {
      const { store, ids } = await withTurns();
      const turn = await startNext(store);
      await store.runningTurns.countAttempt(turn);
      await store.runningTurns.requeue(turn, 0, true);
      expect(await store.turns.stop("a", ids[0] ?? 0, now, "Stopped.")).toBe(true);
      expect(await states(store)).toEqual(["waiting"]);
      const again = await startNext(store);
      expect(await store.runningTurns.stopRequest(again)).toBe("Stopped.");
    });

    test("is not stopped if it has ended, or is of another job", async () => {
      const { store } = await withTurns();
      await addJob(store, "b");
      const [other] = await store.turns.ofJob("b");
      expect(await store.turns.stop("a", other?.id ?? 0, now, "Stopped.")).toBe(false);
      const turn = await endNext(store);
      expect(await store.turns.stop("a", turn.id, now + 1, "Stopped.")).toBe(false);
      expect(await store.turns.stop("a", 999_999, now, "Stopped.")).toBe(false);
      expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", endedAt: now, reason: null }]);
      expect(await store.runningTurns.startNext()).toMatchObject({ job: "b" });
    });

    test("is either taken or fails if both happen at the same time", async () => {
      const store = await newStore();
      for (let round = 0; round < 20; round++) {
        const id = `job_${round}`;
        await addJob(store, id);
        const [{ id: turn } = { id: 0 }] = await store.turns.ofJob(id);
        const [taken, isStopped] = await Promise.all([
          store.runningTurns.startNext(),
          store.turns.stop(id, turn, now, "Stopped."),
        ]);
        expect(isStopped).toBe(true);
        const stored = await store.turns.ofJob(id);
        if (taken === undefined) expect(stored).toMatchObject([{ state: "failed" }]);
        else {
          expect(stored).toMatchObject([{ state: "running" }]);
          expect(await store.runningTurns.stopRequest(taken)).toBe("Stopped.");
          await store.runningTurns.finish(taken, "failed", now);
        }
      }
    });
  });

  describe("a failed turn that is run again", () => {
    test("is a new one with its prompt", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const { id } = await endNext(store, "failed");
      expect(await store.turns.retry("a", id, now)).toBe(true);
      expect(await store.turns.ofJob("a")).toMatchObject([
        { state: "failed", prompt: "One" },
        { state: "waiting", prompt: "One" },
      ]);
      expect(await store.jobs.find("a")).toMatchObject({ state: "active", idleSince: null });
      expect((await startNext(store)).id).toBeGreaterThan(id);
    });

    test("is run once, however often that is asked for", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const { id } = await endNext(store, "failed");
      const results = await Promise.all([1, 2, 3].map(() => store.turns.retry("a", id, now)));
      expect(results.sort()).toEqual([false, false, true]);
      expect(await store.lists.countTurns("a")).toBe(2);
    });

    test("is not if it has not failed, is not the last one, or is of another job", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const failed = await endNext(store, "failed");
      expect(await store.turns.retry("b", failed.id, now)).toBe(false);
      await store.turns.add("a", "Two", now);
      expect(await store.turns.retry("a", failed.id, now)).toBe(false);
      const completed = await endNext(store);
      expect(await store.turns.retry("a", completed.id, now)).toBe(false);
      expect(await store.lists.countTurns("a")).toBe(2);
    });

    test("is not if a later one has failed too", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const earlier = await endNext(store, "failed");
      await store.turns.add("a", "Two", now);
      const last = await endNext(store, "failed");
      expect(await store.turns.retry("a", earlier.id, now)).toBe(false);
      expect(await store.lists.countTurns("a")).toBe(2);
      expect(await store.turns.retry("a", last.id, now)).toBe(true);
    });

    test("counts as a message", async () => {
      const store = await newStore();
      await addJob(store, "a");
      for (let message = 0; message < 100; message++) await store.turns.add("a", "More", now);
      for (let turn = 0; turn < 100; turn++) await endNext(store);
      const { id } = await endNext(store, "failed");
      expect(await store.turns.retry("a", id, now)).toMatchObject({ retryAfterMs: hour });
      expect(await store.lists.countTurns("a")).toBe(101);
    });
  });

  test("tells who follows a job of its turns, until that ends", async () => {
    const store = await newStore();
    await addJob(store, "a");
    await addJob(store, "b");
    let calls = 0;
    const unfollow = store.followJob("a", () => calls++);
    /** Returns whether there were calls during a change. On Postgres, more may follow. */
    const isTold = async (change: () => Promise<unknown>) => {
      const before = calls;
      await change();
      return calls > before;
    };
    let turn = await startNext(store);
    expect(turn.job).toBe("a");
    expect(calls).toBeGreaterThan(0);
    expect(await isTold(() => store.runningTurns.requeue(turn))).toBe(true);
    turn = await startNext(store);
    while (turn.job !== "a") turn = await startNext(store);
    expect(await isTold(() => store.turns.add("a", "Two", now))).toBe(true);
    expect(await isTold(() => store.runningTurns.finish(turn, "completed", now))).toBe(true);
    unfollow();
    expect(await isTold(() => store.turns.add("a", "Three", now))).toBe(false);
  });

  test("keeps a job with its turn", async () => {
    const store = await newStore();
    await store.jobs.add({ id: "a", project: "docs", createdAt: now + 1, model: "opus" }, "One", now + 2);
    expect(await store.jobs.find("a")).toEqual({
      id: "a",
      project: "docs",
      createdAt: now + 1,
      branch: "agent/a",
      base: null,
      session: null,
      state: "active",
      idleSince: null,
      kept: null,
      archivedAt: null,
      pullRequest: null,
      head: null,
      branchDueAt: null,
      model: "opus",
    });
    expect(await store.turns.ofJob("a")).toMatchObject([
      { job: "a", prompt: "One", state: "waiting", attempts: 0, answer: null },
    ]);
    expect(await store.counts.total()).toEqual({ jobs: 1, waitingTurns: 1 });
    await addJob(store, "b");
    expect((await store.jobs.find("b"))?.model).toBeNull();
    expect(await store.counts.total()).toEqual({ jobs: 2, waitingTurns: 2 });
  });

  test("counts jobs by the status that is shown, turns by state, and knows since when the oldest waits", async () => {
    const store = await newStore();
    expect(await store.counts.census()).toEqual({
      jobs: { active: 0, completed: 0, failed: 0, archived: 0 },
      turns: { waiting: 0, running: 0 },
      expiredLeases: 0,
      takeableTurns: 0,
      oldestWaitingSeconds: 0,
    });
    for (const [id, state] of [
      ["a", "completed"],
      ["b", "completed"],
      ["c", "failed"],
      ["d", "failed"],
    ] as const) {
      await addJob(store, id);
      await endNext(store, state, id === "a" || id === "d" ? now - hour : now);
    }
    await store.idleJobs.archiveOldest(now - hour, now, 10);
    for (const id of ["e", "f"]) await addJob(store, id);
    await store.turns.add("e", "Two", now);
    await startNext(store);
    await setTimeout(30);
    const { oldestWaitingSeconds, ...counts } = await store.counts.census();
    expect(counts).toEqual({
      jobs: { active: 2, completed: 1, failed: 1, archived: 2 },
      turns: { waiting: 2, running: 1 },
      expiredLeases: 0,
      takeableTurns: 1,
    });
    // A timer may be early by a millisecond.
    expect(oldestWaitingSeconds).toBeGreaterThanOrEqual(0.029);
    expect(oldestWaitingSeconds).toBeLessThan(60);
    await startNext(store);
    expect(await store.counts.census()).toMatchObject({
      turns: { waiting: 1, running: 2 },
      takeableTurns: 0,
      oldestWaitingSeconds: 0,
    });
  });

  test("counts as takeable only turns of projects that workers know, up to their limits", async () => {
    const store = await newStore();
    for (const id of ["a", "b", "c"]) await addJob(store, id, "docs");
    await addJob(store, "d", "removed");
    const takeable = async (limits?: number | ReadonlyMap<string, number>) => {
      const { takeableTurns, oldestWaitingSeconds } = await store.counts.census(limits);
      return [takeableTurns, oldestWaitingSeconds > 0];
    };
    await setTimeout(30);
    const anyNumber = Number.POSITIVE_INFINITY;
    expect(await takeable()).toEqual([4, true]);
    expect(await takeable(new Map([["docs", anyNumber]]))).toEqual([3, true]);
    expect(await takeable(new Map([["docs", 2]]))).toEqual([2, true]);
    expect(await takeable(1)).toEqual([2, true]);
    expect(await takeable(new Map([["other", anyNumber]]))).toEqual([0, false]);
    await startNext(store);
    expect(await takeable(new Map([["docs", 2]]))).toEqual([1, true]);
    expect(await takeable(new Map([["docs", 1]]))).toEqual([0, false]);
  });

  test("knows nothing of other ids", async () => {
    const store = await newStore();
    await addJob(store, "a");
    const turn = await startNext(store);
    expect(await store.jobs.find("A")).toBeUndefined();
    expect(await store.jobs.find("a\0")).toBeUndefined();
    expect(await store.turns.ofJob("unknown")).toEqual([]);
    expect(await store.lists.countTurns("unknown")).toBe(0);
    expect(await store.lists.latestTurns("unknown", 10)).toEqual([]);
    expect(await store.turns.add("unknown", "Two", now)).toBe(false);
    expect(await store.jobs.copy("unknown")).toBeUndefined();
    for (const id of [turn.id + 1, 0, -1, 999_999_999]) {
      expect(await store.lists.turnExcerpt(id, 10)).toBeUndefined();
      expect(await store.pullRequests.find(id)).toBeUndefined();
    }
    expect(await store.pullRequests.update(1, "unknown", "2", "3")).toBe(false);
    expect(await store.idleJobs.deleted(10)).toEqual([]);
    await store.idleJobs.forgetDeleted(["unknown"]);
    expect(await store.counts.total()).toEqual({ jobs: 1, waitingTurns: 0 });
  });

  test("keeps nothing of a change that fails", async () => {
    const store = await newStore();
    await addJob(store, "a");
    await expect(store.jobs.add({ id: "a", project: "docs", createdAt: now }, "Two")).rejects.toThrow(/unique/i);
    expect((await store.turns.ofJob("a")).map(({ prompt }) => prompt)).toEqual(["One"]);
    expect((await startNext(store)).prompt).toBe("One");
    expect(await store.runningTurns.startNext()).toBeUndefined();
  });

  test("belongs to a repository", async () => {
    const store = await newStore();
    expect(await store.repositories.main()).toBeUndefined();
    for (const name of ["example/docs", "example/moved"]) {
      await store.repositories.setMain(name);
      expect(await store.repositories.main()).toBe(name);
    }
  });

  test("remembers the repository of each project, and which one is in the service's folder", async () => {
    const store = await newStore();
    expect(await store.repositories.ofProjects()).toEqual(new Map());
    await store.repositories.setOfProjects(new Map([["docs", "example/docs"]]));
    const set = new Map([
      ["site", "example/site"],
      ["docs", "example/moved"],
    ]);
    await store.repositories.setOfProjects(set);
    expect(await store.repositories.ofProjects()).toEqual(set);
    await store.repositories.setMain("example/moved");
    expect(await store.repositories.main()).toBe("example/moved");
  });

  test("knows the projects of its jobs, and how many turns wait in each", async () => {
    const store = await newStore();
    expect([await store.jobs.projects(), await store.counts.waitingTurns()]).toEqual([[], []]);
    for (const id of ["a", "b"]) await addJob(store, id);
    await store.turns.add("b", "Two", now);
    await endNext(store);
    await addJob(store, "c", "blog");
    expect(await store.jobs.projects()).toEqual(["blog", "docs"]);
    expect(await store.counts.waitingTurns()).toEqual([
      { project: "blog", turns: 1 },
      { project: "docs", turns: 2 },
    ]);
    expect(await store.jobs.projectOf("c")).toBe("blog");
    expect(await store.jobs.projectOf("unknown")).toBeUndefined();
  });

  describe("texts", () => {
    const oneMebibyte = "ü𝄞'\"$1?\\\n".repeat(100_000);
    const texts = [
      { what: "with quotes and placeholders", text: `'"; DROP TABLE job; -- ? $1 \${x} \\ %s E'\\'' :a @b` },
      { what: "of any script, with line ends", text: "Zwei ü𝄞\r\n日本語\t\u{202E}\u{FEFF}é é" },
      { what: "of more than a mebibyte", text: oneMebibyte },
      { what: "of spaces", text: "  \n " },
    ];

    test.each(texts)("$what come back as they were", async ({ text }) => {
      const store = await newStore();
      await store.jobs.add({ id: text.slice(0, 100), project: text.slice(0, 100), createdAt: now }, text);
      const turn = await startNext(store);
      expect(turn).toMatchObject({ job: text.slice(0, 100), prompt: text });
      await store.runningTurns.countAttempt(turn);
      await store.runningTurns.setReport(turn, { answer: text });
      await store.runningTurns.setPullRequest(turn, text, text);
      await store.runningTurns.finish(turn, "completed", now);
      expect(await store.turns.ofJob(turn.job)).toMatchObject([{ prompt: text, answer: text }]);
      expect(await store.jobs.find(turn.job)).toMatchObject({
        project: text.slice(0, 100),
        pullRequest: text,
        head: text,
      });
      const number = await store.pullRequests.add({ ...pullRequestOf(turn.job), title: text, head: text });
      expect((await store.pullRequests.find(number))?.title).toBe(text);
    });

    test("with half of a character, or with a NUL, keep everything else", async () => {
      const store = await newStore();
      const text = "before \u{D834} between \0 after";
      await store.jobs.add({ id: "a", project: "docs", createdAt: now }, text);
      const turn = await startNext(store);
      await store.runningTurns.setReport(turn, { answer: text });
      await store.runningTurns.finish(turn, "completed", now);
      const [stored] = await store.turns.ofJob("a");
      for (const kept of [turn.prompt, stored?.prompt, stored?.answer])
        expect(kept).toMatch(/^before \u{FFFD} between [\0\u{FFFD}] after$/u);
      expect((await store.lists.turnExcerpt(turn.id, 100))?.answer).toMatch(/ after$/);
    });
  });

  describe("turns", () => {
    test("run in their order, and those of a job one after another", async () => {
      const store = await newStore();
      for (const id of ["a", "b"]) await addJob(store, id);
      expect(await store.turns.add("a", "Two", now)).toBe(true);
      const [one, other] = [await startNext(store), await startNext(store)];
      expect(one).toMatchObject({ job: "a", prompt: "One", attempts: 0, isResumed: false });
      expect(other).toMatchObject({ job: "b", prompt: "One", attempts: 0, isResumed: false });
      expect(await store.runningTurns.startNext()).toBeUndefined();
      await store.turns.add("a", "Three", now);
      expect(await store.runningTurns.startNext()).toBeUndefined();
      await store.runningTurns.finish(one, "failed", now);
      const two = await startNext(store);
      expect(two).toMatchObject({ job: "a", prompt: "Two" });
      expect(await store.runningTurns.startNext()).toBeUndefined();
      await store.runningTurns.finish(two, "completed", now);
      expect(await endNext(store)).toMatchObject({ job: "a", prompt: "Three" });
      expect(await store.runningTurns.startNext()).toBeUndefined();
      const turns = await store.turns.ofJob("a");
      expect(turns.map(({ prompt, state }) => [prompt, state])).toEqual([
        ["One", "failed"],
        ["Two", "completed"],
        ["Three", "completed"],
      ]);
      expect(turns.map(({ id }) => id)).toEqual(turns.map(({ id }) => id).sort((x, y) => x - y));
    });

    test("make a job active until the last one has ended, and its result is that of the job", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const turn = await startNext(store);
      expect(await store.jobs.find("a")).toMatchObject({ state: "active", idleSince: null });
      await store.runningTurns.finish(turn, "completed", now + 5);
      expect(await store.jobs.find("a")).toMatchObject({ state: "completed", idleSince: now + 5 });
      await store.turns.add("a", "Two", now);
      expect(await store.jobs.find("a")).toMatchObject({ state: "active", idleSince: null });
      await endNext(store, "failed", now + 9);
      expect(await store.jobs.find("a")).toMatchObject({ state: "failed", idleSince: now + 9 });
    });

    test("are announced when they become ready, and only after they can be taken", async () => {
      const store = await open();
      const taken: Promise<RunningTurn | undefined>[] = [];
      store.onReady(() => void taken.push(store.runningTurns.startNext()));
      await addJob(store, "a");
      await expect.poll(async () => (await Promise.all(taken)).filter((turn) => turn !== undefined).length).toBe(1);
    });

    test("are each taken once, however many are taken at the same time", async () => {
      const store = await newStore();
      for (let job = 0; job < 8; job++) await addJob(store, `job_${job}`);
      const taken = await Promise.all(Array.from({ length: 20 }, () => store.runningTurns.startNext()));
      const jobs = taken.flatMap((turn) => (turn === undefined ? [] : [turn.job]));
      expect(jobs.sort()).toEqual(Array.from({ length: 8 }, (_, job) => `job_${job}`));
    });

    test("are in the history of later turns if an agent ran", async () => {
      const store = await newStore();
      await addJob(store, "other");
      await endNext(store);
      await addJob(store, "a");
      const first = await startNext(store);
      await store.runningTurns.countAttempt(first);
      await store.runningTurns.setReport(first, { answer: "Done." });
      await store.runningTurns.finish(first, "completed", now);
      await store.turns.add("a", "Two", now);
      await endNext(store);
      await store.turns.add("a", "Three", now);
      const third = await startNext(store);
      await store.runningTurns.countAttempt(third);
      await store.runningTurns.finish(third, "failed", now);
      await store.turns.add("a", "Four", now);
      const turns = await store.turns.ofJob("a");
      expect(historyOf(first, turns)).toEqual([]);
      expect(historyOf(await startNext(store), turns)).toEqual([
        { prompt: "One", answer: "Done.", state: "completed" },
        { prompt: "Three", answer: null, state: "failed" },
      ]);
    });
  });

  describe("projects", () => {
    test("take turns, and one that was idle is not ahead of the others", async () => {
      const store = await newStore();
      for (let job = 0; job < 4; job++) await addJob(store, `docs_${job}`);
      for (const project of ["blog", "site"])
        for (const job of [0, 1]) await addJob(store, `${project}_${job}`, project);
      const rounds = [await startJobs(store, 3), await startJobs(store, 3)];
      expect(rounds).toEqual([
        ["docs_0", "blog_0", "site_0"],
        ["docs_1", "blog_1", "site_1"],
      ]);
      await addJob(store, "new_0", "new");
      await addJob(store, "new_1", "new");
      await addJob(store, "blog_2", "blog");
      expect(await startJobs(store, 5)).toEqual(["docs_2", "new_0", "blog_2", "docs_3", "new_1"]);
      expect(await store.runningTurns.startNext()).toBeUndefined();
    });

    test("that have reached the number of turns that run at a time leave the others their place", async () => {
      const store = await newStore();
      for (let job = 0; job < 3; job++) await addJob(store, `docs_${job}`);
      await addJob(store, "blog_0", "blog");
      const first = await startNext(store, 2);
      expect([(await startNext(store, 2)).job, (await startNext(store, 2)).job].sort()).toEqual(["blog_0", "docs_1"]);
      expect(await store.runningTurns.startNext(2)).toBeUndefined();
      await store.runningTurns.finish(first, "completed", now);
      expect((await startNext(store, 2)).job).toBe("docs_2");
      expect(await store.runningTurns.startNext(2)).toBeUndefined();
    });

    test("that a worker does not know are left to others, and hold up nobody", async () => {
      const store = await newStore();
      for (const [id, project] of Object.entries({ gone_0: "gone", a: "docs", b: "blog", gone_1: "gone", c: "docs" }))
        await addJob(store, id, project);
      const known = new Map([
        ["docs", 1],
        ["blog", Number.POSITIVE_INFINITY],
        ["without jobs", 1],
      ]);
      const first = [await store.runningTurns.startNext(known), await store.runningTurns.startNext(known)];
      expect(first.map((turn) => turn?.job).sort()).toEqual(["a", "b"]);
      expect(await store.runningTurns.startNext(known)).toBeUndefined();
      const docs = first.find((turn) => turn?.job === "a");
      if (docs) await store.runningTurns.finish(docs, "completed", now);
      expect((await store.runningTurns.startNext(known))?.job).toBe("c");
      expect(await store.runningTurns.startNext(new Map([["other", 1]]))).toBeUndefined();
      expect((await store.jobs.find("gone_0"))?.state).toBe("active");
      expect((await store.runningTurns.startNext(new Map([["gone", Number.POSITIVE_INFINITY]])))?.job).toBe("gone_0");
      expect((await store.runningTurns.startNext())?.job).toBe("gone_1");
    });

    test("each have their own number of turns that run at a time", async () => {
      const store = await newStore();
      for (let job = 0; job < 4; job++) {
        await addJob(store, `docs_${job}`);
        await addJob(store, `blog_${job}`, "blog");
      }
      const limits = new Map([
        ["docs", 1],
        ["blog", 3],
      ]);
      const taken = await Promise.all(Array.from({ length: 8 }, () => store.runningTurns.startNext(limits)));
      const jobs = taken.flatMap((turn) => turn?.job ?? []).sort();
      expect(jobs).toEqual(["blog_0", "blog_1", "blog_2", "docs_0"]);
    });

    test("do not exceed that number if several turns are taken at the same time", async () => {
      const store = await newStore();
      for (let job = 0; job < 8; job++) await addJob(store, `docs_${job}`);
      const taken = await Promise.all(Array.from({ length: 8 }, () => store.runningTurns.startNext(3)));
      expect(taken.filter((turn) => turn !== undefined)).toHaveLength(3);
    });
  });

  describe("a running turn", () => {
    test("that is requeued has the attempts that it had, keeps its place in its job, and can be taken again", async () => {
      const store = await newStore();
      await addJob(store, "a");
      await store.turns.add("a", "Two", now);
      const turn = await startNext(store);
      await store.runningTurns.countAttempt(turn);
      await store.runningTurns.requeue(turn);
      expect(await store.turns.ofJob("a")).toMatchObject([{ state: "waiting", attempts: 0 }, { state: "waiting" }]);
      const again = await startNext(store);
      expect(again).toMatchObject({
        id: turn.id,
        prompt: "One",
        attempts: 0,
        isResumed: false,
      });
      expect(again.lease).not.toBe(turn.lease);
      expect(await store.runningTurns.startNext()).toBeUndefined();
    });

    test("that is requeued with a pause waits until it is over and the turn resumed, and holds up only its job", async () => {
      const store = await newStore();
      for (const id of ["a", "b"]) await addJob(store, id);
      await store.turns.add("a", "Two", now);
      const turn = await startNext(store);
      await store.runningTurns.countAttempt(turn);
      await store.runningTurns.requeue(turn, 1000);
      expect((await store.jobs.find("a"))?.state).toBe("active");
      expect((await startNext(store)).job).toBe("b");
      expect(await store.runningTurns.startNext()).toBeUndefined();
      await setTimeout(1000);
      await store.runningTurns.resume(turn);
      await expect.poll(() => store.runningTurns.startNext(), { timeout: 10_000 }).toMatchObject({ id: turn.id });
      expect(await store.runningTurns.startNext()).toBeUndefined();
    });

    test("that is resumed although it was taken, ended or deleted is not started again", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const turn = await startNext(store);
      await store.runningTurns.resume(turn);
      expect(await store.runningTurns.startNext()).toBeUndefined();
      await store.runningTurns.finish(turn, "completed", now);
      await store.runningTurns.resume(turn);
      expect(await store.idleJobs.deleteOldest(now, 10)).toEqual(["a"]);
      await store.runningTurns.resume(turn);
      expect(await store.runningTurns.startNext()).toBeUndefined();
    });

    test("ends once, even if its end is recorded again", async () => {
      const store = await newStore();
      await addJob(store, "a");
      for (const prompt of ["Two", "Three"]) await store.turns.add("a", prompt, now);
      const first = await startNext(store);
      for (const at of [1, 2]) await store.runningTurns.finish(first, "completed", now + at);
      expect((await startNext(store)).prompt).toBe("Two");
      await store.runningTurns.finish(first, "failed", now + 3);
      expect(await store.runningTurns.startNext()).toBeUndefined();
      expect((await store.turns.ofJob("a")).map(({ state }) => state)).toEqual(["completed", "running", "waiting"]);
    });

    test("changes nothing any more after it was taken by somebody else", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const before = await startNext(store);
      await store.runningTurns.requeue(before);
      const changes = [
        () => store.runningTurns.countAttempt(before),
        () => store.runningTurns.setReport(before, { answer: "Wrong" }),
        () => store.runningTurns.setPullRequest(before, "https://example.com/pull/9", "999"),
        () => store.runningTurns.recordPush(before, null, "999"),
        () => store.runningTurns.finish(before, "failed", now),
        () => store.runningTurns.requeue(before),
        () => store.runningTurns.requeue(before, 1000),
      ];
      // Neither while it waits, nor while somebody else runs it.
      for (const change of changes) await expect(change()).rejects.toThrow(LeaseLost);
      const turn = await startNext(store);
      for (const change of changes) await expect(change()).rejects.toThrow(LeaseLost);
      expect(await store.turns.ofJob("a")).toMatchObject([{ state: "running", attempts: 0, answer: null }]);
      expect(await store.jobs.find("a")).toMatchObject({ pullRequest: null, head: null });
      expect(await store.runningTurns.renewLease(turn)).toBe(true);
      await store.runningTurns.confirmLease(turn);
      await store.runningTurns.finish(turn, "completed", now);
      expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed" }]);
    });

    test("whose job was deleted can be ended, without effect", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const turn = await endNext(store);
      expect(await store.idleJobs.deleteOldest(now, 10)).toEqual(["a"]);
      await store.runningTurns.finish(turn, "completed", now);
      expect(await store.jobs.find("a")).toBeUndefined();
    });

    test("records what it reaches", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const turn = await startNext(store);
      for (let attempt = 0; attempt < 2; attempt++) await store.runningTurns.countAttempt(turn);
      for (const answer of ["Working on it.", "Done."]) await store.runningTurns.setReport(turn, { answer });
      await store.runningTurns.setPullRequest(turn, "https://example.com/pull/1", "abc");
      expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "https://example.com/pull/1", head: "abc" });
      await store.runningTurns.recordPush(turn, null, "def");
      expect(await store.jobs.find("a")).toMatchObject({ pullRequest: null, head: "def" });
      expect(await store.turns.ofJob("a")).toMatchObject([{ attempts: 2, answer: "Done.", costUsd: -1 }]);
      const report = { costUsd: 0.000018, sessionCost: "{}" };
      await store.runningTurns.setReport(turn, report);
      expect(await store.turns.ofJob("a")).toMatchObject([{ answer: "Done.", ...report }]);
      expect(await store.lists.turnExcerpt(turn.id, 2)).toMatchObject({ answer: "Do", costUsd: 0.000018 });
      expect(await store.runningTurns.countAttempt(turn)).toBe(0.000018);
      expect(await store.turns.ofJob("a")).toMatchObject([{ answer: null, costUsd: -1, sessionCost: "{}" }]);
      expect(await store.runningTurns.countAttempt(turn)).toBeUndefined();
    });
  });

  describe("the hourly limit", () => {
    /** A store on which time passes as the test says. */
    async function storeAt(): Promise<{ store: Store; at: (time: number) => number }> {
      let current = now;
      const store = await newStore(() => current);
      const at = (time: number): number => {
        current = time;
        return time;
      };
      return { store, at };
    }

    test("is 100 creates of a project in any hour, to the millisecond", async () => {
      const { store, at } = await storeAt();
      let jobs = 0;
      const create = (time: number, project = "docs") =>
        store.jobs.add({ id: `job_${++jobs}`, project, createdAt: now }, "One", at(time));
      expect(await create(now)).toBeUndefined();
      for (let use = 1; use < 100; use++) expect(await create(now + 1000)).toBeUndefined();
      expect(await create(now + minute)).toEqual({ retryAfterMs: hour - minute });
      expect(await store.jobs.find("job_101")).toBeUndefined();
      expect(await create(now + minute, "blog")).toBeUndefined();
      expect(await create(now + hour - 1)).toEqual({ retryAfterMs: 1 });
      expect(await create(now + hour)).toBeUndefined();
      expect(await create(now + hour)).toEqual({ retryAfterMs: 1000 });
      expect(await store.counts.total()).toEqual({ jobs: 102, waitingTurns: 102 });
    });

    test("is 100 messages of a project in any hour, over all of its jobs", async () => {
      const { store, at } = await storeAt();
      for (const id of ["a", "b"]) await addJob(store, id);
      await addJob(store, "c", "blog");
      for (let use = 0; use < 100; use++) expect(await store.turns.add(use % 2 ? "a" : "b", "Two", now)).toBe(true);
      for (const id of ["a", "b"]) expect(await store.turns.add(id, "Two", now)).toEqual({ retryAfterMs: hour });
      expect(await store.lists.countTurns("a")).toBe(51);
      expect(await store.turns.add("c", "Two", now)).toBe(true);
      await addJob(store, "d");
      expect(await store.turns.add("a", "Two", at(now + hour))).toBe(true);
    });

    test("is neither escaped nor prolonged by a clock that was set back", async () => {
      const { store, at } = await storeAt();
      let jobs = 0;
      const create = (time: number) =>
        store.jobs.add({ id: `job_${++jobs}`, project: "docs", createdAt: now }, "One", at(time));
      for (let use = 0; use < 100; use++) await create(now + 24 * hour);
      expect(await create(now)).toEqual({ retryAfterMs: hour });
      expect(await create(now + hour)).toBeUndefined();
    });
  });

  describe("archiving", () => {
    const link = "https://example.com/pull/1";

    /** Adds a job with a pull request, idle since a time. */
    async function addIdle(store: Store, id: string, idleSince: number): Promise<void> {
      await addJob(store, id);
      const turn = await startNext(store);
      await store.runningTurns.setPullRequest(turn, link, "abc");
      await store.runningTurns.finish(turn, "completed", idleSince);
    }

    test("is for jobs with a pull request that are neither active nor archived", async () => {
      const store = await newStore();
      await addIdle(store, "late", now + 20);
      await addIdle(store, "early", now + 10);
      await addIdle(store, "also late", now + 20);
      await addJob(store, "without");
      await endNext(store, "completed", now + 10);
      await addIdle(store, "active", now + 10);
      await store.turns.add("active", "Two", now);
      const idle = (id: string, idleSince: number) => ({
        id,
        project: "docs",
        branch: `agent/${id}`,
        idleSince,
        pullRequest: link,
        head: "abc",
      });
      const all = [idle("early", now + 10), idle("also late", now + 20), idle("late", now + 20)];
      expect(await store.idleJobs.withPullRequest(10)).toEqual(all);
      expect(await store.idleJobs.withPullRequest(2)).toEqual(all.slice(0, 2));
      expect(await store.idleJobs.withPullRequest(2, all[0])).toEqual(all.slice(1));
      expect(await store.idleJobs.withPullRequest(2, all[1])).toEqual(all.slice(2));
      expect(await store.idleJobs.archive(all.slice(0, 1), now + 40)).toEqual(["early"]);
      expect(await store.idleJobs.archive(all, now + 50)).toEqual(["also late", "late"]);
      expect((await store.jobs.find("early"))?.archivedAt).toBe(now + 40);
      expect(await store.idleJobs.withPullRequest(10)).toEqual([]);
      await store.turns.add("early", "Three", now);
      expect((await store.jobs.find("early"))?.archivedAt).toBeNull();
      expect(await store.idleJobs.archive(all, now + 60)).toEqual([]);
    });

    test("is not for a job that has received a turn or another pull request since it was read", async () => {
      const store = await newStore();
      for (const id of ["waiting", "ended", "pull", "head"]) await addIdle(store, id, now + 10);
      const jobs = await store.idleJobs.withPullRequest(10);
      expect(jobs).toHaveLength(4);
      for (const id of ["ended", "pull", "head", "waiting"]) await store.turns.add(id, "Two", now);
      await endNext(store, "completed", now + 20);
      for (const [newLink, head] of [
        ["https://example.com/pull/2", "abc"],
        [link, "def"],
      ] as const) {
        const turn = await startNext(store);
        await store.runningTurns.setPullRequest(turn, newLink, head);
        await store.runningTurns.finish(turn, "completed", now + 10);
      }
      expect(await store.idleJobs.archive(jobs, now + 40)).toEqual([]);
    });

    test("lets one process look at the branches of archived jobs with a pull request, in the order of their times", async () => {
      const store = await newStore();
      for (const id of ["a", "b", "without"]) {
        await addJob(store, id);
        const turn = await startNext(store);
        if (id !== "without")
          await store.runningTurns.setPullRequest(turn, `https://example.com/${id}`, `head of ${id}`);
        await store.runningTurns.finish(turn, "completed", now);
      }
      const due = async (at: number) => (await store.idleJobs.withDueBranch(at, 10)).map(({ id }) => id);
      expect(await due(now + 50)).toEqual([]);
      await store.idleJobs.archiveOldest(now, now + 10, 10);
      expect([await due(now + 9), await due(now + 10)]).toEqual([[], ["a", "b"]]);
      await store.idleJobs.setBranchDue("a", now + 20);
      const all = await store.idleJobs.withDueBranch(now + 20, 10);
      const [b, a] = all;
      if (a === undefined || b === undefined) throw new Error("the jobs are missing");
      expect(b).toEqual({
        id: "b",
        project: "docs",
        base: null,
        branch: "agent/b",
        pullRequest: "https://example.com/b",
        head: "head of b",
        branchDueAt: now + 10,
      });
      expect(all.map(({ id }) => id)).toEqual(["b", "a"]);
      expect(await store.idleJobs.withDueBranch(now + 20, 1)).toEqual([b]);
      expect(await store.idleJobs.withDueBranch(now + 20, 1, b)).toEqual([a]);
      const isUnused = () => store.idleJobs.isBranchUnused(a);
      expect(await isUnused()).toBe(true);
      expect(await store.idleJobs.isBranchUnused({ ...a, head: "other" })).toBe(false);
      await store.jobs.add({ id: "c", project: "docs", createdAt: now, base: "agent/a" }, "One");
      expect(await isUnused()).toBe(false);
      await store.turns.add("b", "More", now);
      expect(await store.idleJobs.isBranchUnused(b)).toBe(false);
      await store.idleJobs.setBranchDue("a", null);
      expect(await due(now + 50)).toEqual([]);
      const begin = (at: number) => store.idleJobs.beginBranches("docs", at, 30);
      expect([await begin(now), await begin(now + 29), await begin(now + 30)]).toEqual([true, false, true]);
    });

    test("archives those that have been idle longest, a few at a time", async () => {
      const store = await newStore();
      for (const [id, idleMs] of Object.entries({ c: 30, a: 10, b: 20, d: 40 })) {
        await addJob(store, id);
        await endNext(store, "failed", now + idleMs);
      }
      await addJob(store, "active");
      const archive = () => store.idleJobs.archiveOldest(now + 30, now + 100, 2);
      expect((await archive()).sort()).toEqual(["a", "b"]);
      expect(await archive()).toEqual(["c"]);
      expect(await archive()).toEqual([]);
      expect((await store.jobs.find("a"))?.archivedAt).toBe(now + 100);
      expect((await store.jobs.find("d"))?.archivedAt).toBeNull();
    });
  });

  describe("deletion", () => {
    test("is for jobs that have been idle longest, archived or not, and never for active ones", async () => {
      const store = await newStore();
      for (const [index, id] of ["a", "b", "c", "again"].entries()) {
        await addJob(store, id);
        await store.pullRequests.add(pullRequestOf(id));
        await endNext(store, "completed", now + 10 * index);
      }
      await store.idleJobs.archiveOldest(now + 10, now + 50, 1);
      await store.turns.add("again", "Two", now);
      expect(await store.idleJobs.deleteOldest(now + 5, 10)).toEqual(["a"]);
      expect(await store.idleJobs.deleteOldest(now + hour, 1)).toEqual(["b"]);
      expect(await store.idleJobs.deleteOldest(now + hour, 10)).toEqual(["c"]);
      for (const id of ["a", "b", "c"])
        expect([await store.jobs.find(id), await store.turns.ofJob(id)]).toEqual([undefined, []]);
      for (const id of ["a", "b", "c"]) expect(await store.pullRequests.newestOf(id, 10)).toEqual([]);
      expect(await store.pullRequests.newestOf("again", 10)).toEqual([{ number: 4, title: "Fix" }]);
      expect((await store.jobs.find("again"))?.state).toBe("active");
      expect((await store.idleJobs.deleted(10)).sort()).toEqual(["a", "b", "c"]);
      expect(await store.idleJobs.deleted(2)).toHaveLength(2);
      await store.idleJobs.forgetDeleted(["a", "b"]);
      expect(await store.idleJobs.deleted(2)).toEqual(["c"]);
      expect(await store.turns.add("a", "Two", now)).toBe(false);
    });

    test("leaves the job that receives a message at the same time, or the message is not accepted", async () => {
      const store = await newStore();
      for (let job = 0; job < 10; job++) {
        await addJob(store, `job_${job}`);
        await endNext(store);
      }
      const deleting = store.idleJobs.deleteOldest(now, 10);
      const accepted = await Promise.all(
        Array.from({ length: 10 }, (_, job) => store.turns.add(`job_${job}`, "Two", now)),
      );
      const deleted = await deleting;
      for (const [job, isAccepted] of accepted.entries()) {
        expect(deleted.includes(`job_${job}`)).toBe(!isAccepted);
        expect(await store.lists.countTurns(`job_${job}`)).toBe(isAccepted ? 2 : 0);
      }
    });

    test("does not free the number of a pull request, whose link would show another one", async () => {
      const store = await newStore();
      await addJob(store, "a");
      expect(await store.pullRequests.add(pullRequestOf("a"))).toBe(1);
      await endNext(store);
      await store.idleJobs.deleteOldest(now, 1);
      await addJob(store, "b");
      expect(await store.pullRequests.add(pullRequestOf("b"))).toBe(2);
    });
  });

  describe("copies", () => {
    const copy: JobCopy = {
      id: "a",
      project: "docs",
      branch: "docs/agent-a",
      createdAt: now,
      archivedAt: now + 50,
      pullRequest: "https://example.com/pull/1",
      head: "abc",
      base: "release/1",
      session: "nightly",
      turns: [
        {
          id: 1001,
          identity: identityOf(1001),
          prompt: "One",
          promptHash: "1".repeat(32),
          sections: "What changed",
          asked: '{"by":"ada"}',
          asker: "ada",
          covers: "c".repeat(40),
          state: "completed",
          attempts: 1,
          startedAt: now + 5,
          endedAt: now + 10,
          answer: "Done.",
          reason: null,
          kept: null,
          head: "c0ffee".repeat(7),
          stopRequestedAt: null,
          costUsd: 0.0123,
          sessionCost: '{"session":"s","totalUsd":2}',
          failureClass: null,
          checkResult: "failed",
          checkOutput: "no such link",
          stage: "published",
          made: '{"commit":"c0ffee"}',
          caller: "ci",
          step: "deploy",
          request: "first",
        },
        {
          id: 1003,
          identity: identityOf(1003),
          prompt: "Two",
          promptHash: "2".repeat(32),
          sections: "What changed",
          asked: null,
          asker: "ci",
          covers: "c".repeat(40),
          state: "failed",
          attempts: 2,
          startedAt: now + 12,
          endedAt: now + 20,
          answer: null,
          reason: "Stopped by me.",
          kept: "push",
          head: null,
          stopRequestedAt: now + 19,
          costUsd: -1,
          sessionCost: null,
          failureClass: "limit",
          checkResult: null,
          checkOutput: null,
          stage: "begun",
          made: null,
          caller: "",
          step: "",
          request: "a random one",
        },
      ],
    };

    test("of jobs are complete, and later turns are later", async () => {
      const store = await newStore();
      await store.jobs.addCopy(copy);
      expect(await store.jobs.copy("a")).toEqual(copy);
      expect(await store.jobs.find("a")).toMatchObject({ state: "failed", idleSince: now + 20 });
      expect(await store.runningTurns.startNext()).toBeUndefined();
      for (const prompt of ["Three", "Four", "Five"]) await store.turns.add("a", prompt, now);
      expect((await store.turns.ofJob("a")).map(({ prompt }) => prompt)).toEqual([
        "One",
        "Two",
        "Three",
        "Four",
        "Five",
      ]);
      expect((await startNext(store)).prompt).toBe("Three");
    });

    test("of active jobs go on with the turn that was running", async () => {
      const store = await newStore();
      const running = {
        id: 2001,
        identity: identityOf(2001),
        prompt: "Three",
        state: "running",
        attempts: 1,
        endedAt: null,
        answer: null,
      } as const;
      const waiting = {
        ...running,
        id: 2002,
        identity: identityOf(2002),
        prompt: "Four",
        state: "waiting",
        attempts: 0,
      } as const;
      await store.jobs.addCopy({ ...copy, archivedAt: null, turns: [...copy.turns, running, waiting] });
      expect(await store.jobs.find("a")).toMatchObject({ state: "active", idleSince: null });
      expect(await endNext(store)).toMatchObject({
        id: 2001,
        identity: identityOf(2001),
        prompt: "Three",
        attempts: 1,
        isResumed: false,
      });
      expect(await endNext(store)).toMatchObject({ id: 2002, identity: identityOf(2002), prompt: "Four", attempts: 0 });
      expect(await store.runningTurns.startNext()).toBeUndefined();
    });

    test("of jobs with a turn that is to stop do not forget that", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const turn = await startNext(store);
      await store.turns.stop("a", turn.id, now + 2, "Stopped by me.");
      const stopping = await store.jobs.copy("a");
      if (stopping === undefined) throw new Error("no copy");
      const other = await newStore();
      await other.jobs.addCopy(stopping);
      expect(await other.runningTurns.stopRequest(await startNext(other))).toBe("Stopped by me.");
    });

    test("that were rebuilt from commits need not say how turns went", async () => {
      const store = await newStore();
      const turn = {
        id: 1,
        identity: identityOf(1),
        prompt: "One",
        state: "failed",
        attempts: 1,
        endedAt: now,
        answer: null,
      } as const;
      await store.jobs.addCopy({ ...copy, turns: [turn] });
      expect(await store.turns.ofJob("a")).toMatchObject([{ ...turn, startedAt: null, reason: null }]);
    });

    test("of jobs that are there are not added", async () => {
      const store = await newStore();
      await store.jobs.addCopy(copy);
      await expect(store.jobs.addCopy({ ...copy, project: "blog" })).rejects.toThrow(/unique/i);
      expect(await store.jobs.copy("a")).toEqual(copy);
    });
  });

  describe("stages", () => {
    const stagesOf = async (store: Store) =>
      (await store.turns.ofJob("a")).map(({ stage, made, checkResult }) => ({ stage, made, checkResult }));

    test("come with what is known from then on", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const turn = await startNext(store);
      const { runningTurns } = store;
      expect(await stagesOf(store)).toEqual([{ stage: null, made: null, checkResult: null }]);
      await runningTurns.countAttempt(turn);
      expect(await stagesOf(store)).toEqual([{ stage: "begun", made: null, checkResult: null }]);
      await runningTurns.setMade(turn, 1, { commit: "c1" }, { answer: "Done." });
      await runningTurns.setChecked(turn, { checkResult: "failed", checkOutput: "no such link" });
      expect(await stagesOf(store)).toEqual([{ stage: "checked", made: '{"commit":"c1"}', checkResult: "failed" }]);
      // It was moved, so what its check showed no longer counts.
      await runningTurns.setMade(turn, 1, { commit: "c2" });
      expect(await stagesOf(store)).toEqual([{ stage: "made", made: '{"commit":"c2"}', checkResult: null }]);
      await runningTurns.setPullRequest(turn, "https://example.com/pull/1", "earlier");
      expect((await stagesOf(store))[0]?.stage).toBe("made");
      await runningTurns.recordPush(turn, null, "c2", turn.id);
      expect((await stagesOf(store))[0]?.stage).toBe("pushed");
      await runningTurns.setPullRequest(turn, "https://example.com/pull/1", "c2");
      expect((await stagesOf(store))[0]?.stage).toBe("published");
      await runningTurns.finish(turn, "completed", now);
      expect(await store.turns.ofJob("a")).toMatchObject([{ stage: "published", answer: "Done.", attempts: 1 }]);
    });

    test("are told by a worker that has lost its turn, unless another attempt was counted since", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const turn = await startNext(store);
      const lost = { ...turn, lease: "lost" };
      const { runningTurns } = store;
      await runningTurns.countAttempt(turn);
      await runningTurns.setMade(lost, 1, {});
      expect(await stagesOf(store)).toEqual([{ stage: "made", made: "{}", checkResult: null }]);
      await runningTurns.countAttempt(turn);
      await expect(runningTurns.setMade(lost, 1, {})).rejects.toThrow(LeaseLost);
      expect((await stagesOf(store))[0]?.stage).toBe("begun");
      // The database has lost the count, and still knows who holds the turn.
      await runningTurns.setMade(turn, 3, { reason: "It cannot." });
      expect(await store.turns.ofJob("a")).toMatchObject([{ attempts: 3, made: '{"reason":"It cannot."}' }]);
      await runningTurns.finish(turn, "failed", now);
      await expect(runningTurns.setMade(turn, 3, {})).rejects.toThrow(LeaseLost);
    });
  });

  describe("pull requests", () => {
    test("belong to one job", async () => {
      const store = await newStore();
      for (const id of ["a", "b"]) await addJob(store, id);
      expect(await store.pullRequests.add(pullRequestOf("a"))).toBe(1);
      expect(await store.pullRequests.add(pullRequestOf("b"))).toBe(2);
      expect(await store.pullRequests.update(1, "b", "222", "333")).toBe(false);
      expect(await store.pullRequests.find(1)).toEqual({ number: 1, ...pullRequestOf("a") });
      expect(await store.pullRequests.update(1, "a", "222", "333")).toBe(true);
      expect(await store.pullRequests.find(1)).toMatchObject({ base: "222", head: "333" });
      expect(await store.pullRequests.find(2)).toMatchObject({ base: "000", head: "111" });
      await expect(store.pullRequests.add(pullRequestOf("unknown"))).rejects.toThrow(/foreign key/i);
    });

    test("are added once for each commit, also by two attempts at the same time", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const attempts = [1, 2].map(() => store.pullRequests.add(pullRequestOf("a")));
      expect(await Promise.all(attempts)).toEqual([1, 1]);
      expect(await store.pullRequests.add({ ...pullRequestOf("a"), head: "222" })).toBe(2);
    });

    test("get no head from a worker that was paused while others went on with the job", async () => {
      const store = await newStore();
      await addJob(store, "a");
      const turn = await startNext(store);
      await store.runningTurns.recordPush(turn, null, "111");
      expect(await store.pullRequests.add(pullRequestOf("a"))).toBe(1);
      await store.runningTurns.recordPush(turn, null, "222");
      await expect(store.pullRequests.add(pullRequestOf("a"))).rejects.toThrow(LeaseLost);
      await expect(store.pullRequests.update(1, "a", "000", "111")).rejects.toThrow(LeaseLost);
      expect(await store.pullRequests.update(1, "a", "111", "222")).toBe(true);
      await expect(store.pullRequests.update(1, "a", "000", "111")).rejects.toThrow("the turn of a was taken over");
      expect(await store.pullRequests.find(1)).toMatchObject({ base: "111", head: "222" });
      expect(await store.pullRequests.newestOf("a", 5)).toHaveLength(1);
    });

    test("are listed by job, the newest first", async () => {
      const store = await newStore();
      await addJob(store, "a");
      await addJob(store, "b");
      for (const title of ["One", "Two", "Three"])
        await store.pullRequests.add({ ...pullRequestOf("a"), title, head: `head of ${title}` });
      await store.pullRequests.add(pullRequestOf("b"));
      expect(await store.pullRequests.newestOf("a", 2)).toEqual([
        { number: 3, title: "Three" },
        { number: 2, title: "Two" },
      ]);
    });

    test("show the newest turns of their job, and the beginning of their texts", async () => {
      const store = await newStore();
      await addJob(store, "a");
      await addJob(store, "b", "blog");
      for (const prompt of ["Zwei ü𝄞 Noten", "Three"]) await store.turns.add("a", prompt, now);
      const [one] = [await startNext(store), await startNext(store)];
      await store.runningTurns.finish(one, "completed", now);
      const two = await store.runningTurns.startNext(undefined, now + 1);
      if (two === undefined) throw new Error("no turn is ready");
      await store.runningTurns.setReport(two, { answer: "Done." });
      await store.runningTurns.finish(two, "failed", now + 2, { reason: "It cannot." });
      expect(await store.lists.countTurns("a")).toBe(3);
      const [first = 0, second = 0, third = 0] = (await store.turns.ofJob("a")).map(({ id }) => id);
      expect(await store.lists.latestTurns("a", 2)).toEqual([second, third]);
      expect(await store.lists.latestTurns("a", 9)).toEqual([first, second, third]);
      expect(await store.lists.firstTurn("a")).toBe(first);
      expect(await store.lists.firstTurn("unknown")).toBeUndefined();
      const wait = { waitReason: null, waitUntil: null };
      const unchecked = { checkResult: null, checkOutput: null, asked: null, asker: "", ...wait };
      const failed = { state: "failed", startedAt: now + 1, endedAt: now + 2, costUsd: null, ...unchecked };
      const long = { prompt: "Zwei ü𝄞", answer: "Done.", reason: "It cann" };
      expect(await store.lists.turnExcerpt(second, 7)).toEqual({ ...failed, ...long });
      const short = { prompt: "Zwe", answer: "Don", reason: "It " };
      expect(await store.lists.turnExcerpt(second, 3)).toEqual({ ...failed, ...short });
      const waiting = { state: "waiting", startedAt: null, endedAt: null, reason: null, costUsd: null, ...unchecked };
      expect(await store.lists.turnExcerpt(third, 3)).toEqual({ ...waiting, prompt: "Thr", answer: null });
    });
  });
});
