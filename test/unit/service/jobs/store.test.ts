import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { Store, type Turn } from "../../../../src/service/jobs/store.ts";
import { temporaryFolder } from "../../../support/step.ts";

/** Creates a store in memory. */
function memoryStore(): Store {
  const store = new Store(":memory:");
  onTestFinished(() => store[Symbol.dispose]());
  return store;
}

/** Adds a job, whose prompt is "One", of the project `docs`. */
function addJob(store: Store, id: string, createdAt = 0): void {
  store.addJob({ id, project: "docs", createdAt }, "One");
}

function startNext(store: Store): Turn {
  const turn = store.startNextTurn();
  if (!turn) throw new Error("no turn is waiting");
  return turn;
}

/** Ends the next turn. */
function endNext(store: Store, state: "completed" | "failed" = "completed", at = 0): void {
  store.finishTurn(startNext(store).id, state, at);
}

describe("a file", () => {
  test("keeps everything, and can only be read by its owner", () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    {
      using store = new Store(file);
      addJob(store, "a", 5);
      endNext(store);
      store.setPullRequest("a", "https://example.com/pull/1", "abc");
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
    using store = new Store(file);
    expect(store.job("a")).toEqual({
      id: "a",
      project: "docs",
      createdAt: 5,
      archivedAt: null,
      pullRequest: "https://example.com/pull/1",
      head: "abc",
    });
    expect(store.stateOf("a")).toBe("completed");
    expect(() => new Store(file)).toThrow("locked");
  });

  test("that cannot be changed leaves no half of a change", () => {
    const store = memoryStore();
    addJob(store, "a");
    expect(() => store.addJob({ id: "a", project: "docs", createdAt: 0 }, "Two")).toThrow("UNIQUE");
    expect(() => store.addTurn("unknown", "Two")).toThrow("FOREIGN KEY");
    addJob(store, "b");
    expect(store.turns("a").map(({ prompt }) => prompt)).toEqual(["One"]);
    expect(store.turns("b").map(({ prompt }) => prompt)).toEqual(["One"]);
  });

  test("of an earlier version gets the answers of agents", () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    {
      using store = new Store(file);
      store.addJob({ id: "job_1", project: "docs", createdAt: 0 }, "One");
    }
    const database = new DatabaseSync(file);
    database.exec("ALTER TABLE turn DROP COLUMN answer");
    database.close();
    using store = new Store(file);
    const turn = startNext(store);
    store.countAttempt(turn.id);
    store.setAnswer(turn.id, "Done.");
    store.finishTurn(turn.id, "completed", 0);
    store.addTurn("job_1", "Two");
    const next = startNext(store);
    expect(store.history(next)).toEqual([{ prompt: "One", answer: "Done.", state: "completed" }]);
  });
});

describe("turns", () => {
  test("run in their order, and those of a job one after another", () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) addJob(store, id);
    store.addTurn("a", "Two");
    const [one, other] = [startNext(store), startNext(store)];
    expect(one).toEqual({ id: 1, job: "a", prompt: "One", attempts: 0 });
    expect(other).toEqual({ id: 2, job: "b", prompt: "One", attempts: 0 });
    expect(store.startNextTurn()).toBeUndefined();
    store.finishTurn(one.id, "failed", 0);
    expect(store.startNextTurn()).toMatchObject({ job: "a", prompt: "Two" });
    expect(store.turns("a").map(({ prompt }) => prompt)).toEqual(["One", "Two"]);
  });

  test("make a job active until the last one has ended, and its result is that of the job", () => {
    const store = memoryStore();
    addJob(store, "a");
    expect(store.stateOf("a")).toBe("active");
    const turn = startNext(store);
    expect(store.stateOf("a")).toBe("active");
    store.finishTurn(turn.id, "completed", 0);
    expect(store.stateOf("a")).toBe("completed");
    store.addTurn("a", "Two");
    expect(store.stateOf("a")).toBe("active");
    endNext(store, "failed");
    expect(store.stateOf("a")).toBe("failed");
    expect(store.stateOf("unknown")).toBe("failed");
  });

  test("that were stopped or interrupted wait again", () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) addJob(store, id);
    const [one, other] = [startNext(store), startNext(store)];
    for (const { id } of [one, other]) store.countAttempt(id);
    store.requeueTurn(one);
    expect(store.requeueInterruptedTurns()).toEqual(["b"]);
    expect([startNext(store), startNext(store)]).toMatchObject([
      { id: one.id, attempts: 0 },
      { id: other.id, attempts: 1 },
    ]);
  });

  test("are in the history of later turns if an agent ran", () => {
    const store = memoryStore();
    addJob(store, "other");
    endNext(store);
    addJob(store, "a");
    const first = startNext(store);
    store.countAttempt(first.id);
    store.setAnswer(first.id, "Done.");
    store.finishTurn(first.id, "completed", 0);
    store.addTurn("a", "Two");
    endNext(store);
    store.addTurn("a", "Three");
    const third = startNext(store);
    store.countAttempt(third.id);
    store.finishTurn(third.id, "failed", 0);
    store.addTurn("a", "Four");
    expect(store.history(first)).toEqual([]);
    expect(store.history(startNext(store))).toEqual([
      { prompt: "One", answer: "Done.", state: "completed" },
      { prompt: "Three", answer: null, state: "failed" },
    ]);
  });
});

describe("archiving", () => {
  test("is for jobs that are neither active nor archived", () => {
    const store = memoryStore();
    addJob(store, "late", 2);
    endNext(store, "failed", 20);
    addJob(store, "early", 1);
    endNext(store, "completed", 10);
    store.addTurn("early", "Two");
    endNext(store, "completed", 30);
    addJob(store, "waiting");
    expect(store.idleJobs()).toMatchObject([
      { id: "early", idleSince: 30 },
      { id: "late", idleSince: 20 },
    ]);
    startNext(store);
    const [early] = store.idleJobs();
    if (!early) throw new Error("no job is idle");
    expect(store.archiveJob(early, 40)).toBe(true);
    expect(store.archiveJob(early, 50)).toBe(false);
    expect(store.job("early")?.archivedAt).toBe(40);
    expect(store.idleJobs().map(({ id }) => id)).toEqual(["late"]);
    store.addTurn("early", "Three");
    expect(store.job("early")?.archivedAt).toBeNull();
    expect(store.archiveJob(early, 60)).toBe(false);
  });
});

describe("pull requests", () => {
  test("belong to one job", () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) addJob(store, id);
    const pullRequest = { job: "a", title: "Fix", branch: "agent/a", target: "main", base: "000", head: "111" };
    expect(store.addPullRequest(pullRequest)).toBe(1);
    expect(store.addPullRequest({ ...pullRequest, job: "b" })).toBe(2);
    expect(store.updatePullRequest(1, "b", "222", "333")).toBe(false);
    expect(store.pullRequest(1)).toEqual({ number: 1, ...pullRequest });
    expect(store.updatePullRequest(1, "a", "222", "333")).toBe(true);
    expect(store.pullRequest(1)).toMatchObject({ base: "222", head: "333" });
    expect(store.pullRequest(2)).toMatchObject({ base: "000", head: "111" });
    expect(store.pullRequest(3)).toBeUndefined();
  });
});

test("counts a use while it is in the window, to the millisecond", () => {
  using store = new Store(":memory:");
  let now = 0;
  const limiter = store.rateLimiter("message", 2, 1000, () => now);
  const acquireAt = (time: number, project = "docs") => {
    now = time;
    return limiter.acquire(project);
  };
  expect([acquireAt(0), acquireAt(400), acquireAt(999)]).toEqual([0, 0, 1]);
  expect(acquireAt(1000)).toBe(0);
  expect(acquireAt(1001)).toBe(399);
  expect(acquireAt(1001, "other")).toBe(0);
  expect(store.rateLimiter("create", 1, 1000, () => now).acquire("docs")).toBe(0);
});

test("rate limits by the time of the machine", () => {
  const limiter = memoryStore().rateLimiter("create", 1, 3_600_000);
  expect(limiter.acquire("docs")).toBe(0);
  expect(limiter.acquire("docs")).toBeGreaterThan(0);
});
