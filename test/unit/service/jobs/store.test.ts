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
    expect(() => store.addTurn("unknown", "Two", 0)).toThrow("no job unknown");
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
    store.addTurn("job_1", "Two", 0);
    const next = startNext(store);
    expect(store.history(next)).toEqual([{ prompt: "One", answer: "Done.", state: "completed" }]);
  });
});

describe("turns", () => {
  test("run in their order, and those of a job one after another", () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) addJob(store, id);
    store.addTurn("a", "Two", 0);
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
    store.addTurn("a", "Two", 0);
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
    store.addTurn("a", "Two", 0);
    endNext(store);
    store.addTurn("a", "Three", 0);
    const third = startNext(store);
    store.countAttempt(third.id);
    store.finishTurn(third.id, "failed", 0);
    store.addTurn("a", "Four", 0);
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
    store.addTurn("early", "Two", 0);
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
    store.addTurn("early", "Three", 0);
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

test("accepts 100 creates and 100 messages of a project in any hour, to the millisecond", () => {
  const store = memoryStore();
  let ids = 0;
  const createAt = (createdAt: number, project = "docs") =>
    store.addJob({ id: `job_${++ids}`, project, createdAt }, "One")?.retryAfterMs;
  expect(createAt(1000)).toBeUndefined();
  for (let use = 1; use < 100; use++) expect(createAt(2000)).toBeUndefined();
  expect(createAt(61_000)).toBe(3_540_000);
  expect(store.job("job_101")).toBeUndefined();
  expect(createAt(61_000, "other")).toBeUndefined();
  expect(createAt(3_600_999)).toBe(1);
  expect(createAt(3_601_000)).toBeUndefined();
  expect(createAt(3_601_000)).toBe(1000);

  for (let use = 0; use < 100; use++) expect(store.addTurn("job_1", "Two", 5000)).toBeUndefined();
  expect(store.addTurn("job_1", "Two", 5000)).toEqual({ retryAfterMs: 3_600_000 });
  expect(store.turns("job_1")).toHaveLength(101);
  expect(store.addTurn("job_102", "Two", 5000)).toBeUndefined();
});

test("does not count a create that could not be stored", () => {
  const store = memoryStore();
  addJob(store, "job_1", 1000);
  for (let use = 0; use < 200; use++) expect(() => addJob(store, "job_1", 1000)).toThrow("UNIQUE");
  expect(store.addJob({ id: "job_2", project: "docs", createdAt: 1000 }, "One")).toBeUndefined();
});
