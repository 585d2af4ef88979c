import { mkdirSync, statSync } from "node:fs";
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
      state: "completed",
      idleSince: 0,
      archivedAt: null,
      pullRequest: "https://example.com/pull/1",
      head: "abc",
    });
    expect(() => new Store(file)).toThrow("is locked: another service is running on it");
  });

  test("that cannot be opened or locked is named with the reason", () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    const reason = "unable to open database file";
    mkdirSync(file);
    expect(() => new Store(file)).toThrow(new Error(`cannot open ${file}: ${reason}`));
    const unlocked = join(temporaryFolder(), "jobs.sqlite");
    mkdirSync(`${unlocked}.lock`);
    expect(() => new Store(unlocked)).toThrow(new Error(`cannot lock ${unlocked} with ${unlocked}.lock: ${reason}`));
  });

  test("that could not be written during a turn has what the turn reached after its end, and what later turns reach", () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    using store = new Store(file);
    addJob(store, "a");
    const { id } = startNext(store);
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    store.setAnswer(id, "Done");
    store.setPullRequest("a", "https://example.com/pull/1", "abc");
    other.exec("COMMIT");
    other.close();
    expect(store.job("a")).toMatchObject({ pullRequest: null, head: null });
    store.finishTurn(id, "completed", 0);
    expect(store.turns("a")).toMatchObject([{ state: "completed", answer: "Done" }]);
    expect(store.job("a")).toMatchObject({ pullRequest: "https://example.com/pull/1", head: "abc" });
    store.addTurn("a", "Two", 0);
    const next = startNext(store);
    store.setPullRequest("a", "https://example.com/pull/2", "def");
    store.finishTurn(next.id, "completed", 0);
    expect(store.job("a")).toMatchObject({ pullRequest: "https://example.com/pull/2", head: "def" });
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
});

describe("projects", () => {
  test("take turns: the one whose last start is longest ago goes first", () => {
    const store = memoryStore();
    for (let index = 0; index < 4; index++) addJob(store, `docs_${index}`);
    for (const project of ["blog", "site"])
      for (const index of [0, 1]) store.addJob({ id: `${project}_${index}`, project, createdAt: 0 }, "One");
    const order = Array.from({ length: 6 }, () => startNext(store).job);
    expect(order).toEqual(["docs_0", "blog_0", "site_0", "docs_1", "blog_1", "site_1"]);
    store.addJob({ id: "new_0", project: "new", createdAt: 0 }, "One");
    store.addJob({ id: "blog_2", project: "blog", createdAt: 0 }, "One");
    expect([startNext(store).job, startNext(store).job]).toEqual(["new_0", "docs_2"]);
    expect([startNext(store).job, startNext(store).job]).toEqual(["blog_2", "docs_3"]);
    expect(store.startNextTurn()).toBeUndefined();
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
    expect(store.job("a")?.state).toBe("active");
    const turn = startNext(store);
    expect(store.job("a")?.state).toBe("active");
    store.finishTurn(turn.id, "completed", 0);
    expect(store.job("a")?.state).toBe("completed");
    store.addTurn("a", "Two", 0);
    expect(store.job("a")?.state).toBe("active");
    endNext(store, "failed");
    expect(store.job("a")?.state).toBe("failed");
    expect(store.job("unknown")).toBeUndefined();
  });

  test("that were stopped or interrupted wait again", () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) addJob(store, id);
    const [one, other] = [startNext(store), startNext(store)];
    for (const { id } of [one, other]) store.countAttempt(id);
    store.requeueTurn(one);
    expect(store.requeueInterruptedTurns()).toEqual([{ id: other.id, job: "b" }]);
    expect([startNext(store), startNext(store)]).toMatchObject([
      { id: one.id, attempts: 0 },
      { id: other.id, attempts: 1 },
    ]);
  });

  test("that were postponed wait until they are resumed, and hold up only their job", () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) addJob(store, id);
    store.addTurn("a", "Two", 0);
    const turn = startNext(store);
    store.countAttempt(turn.id);
    store.postponeTurn(turn);
    expect(store.job("a")?.state).toBe("active");
    expect(startNext(store).job).toBe("b");
    expect(store.startNextTurn()).toBeUndefined();
    store.resumeTurn(turn.id);
    expect(startNext(store)).toEqual(turn);
    expect(store.startNextTurn()).toBeUndefined();
    store.postponeTurn(turn);
    expect(store.requeueInterruptedTurns().map(({ job }) => job)).toEqual(["b"]);
    expect(startNext(store)).toEqual(turn);
  });

  test("end once, even if their end is recorded again", () => {
    const store = memoryStore();
    addJob(store, "a");
    for (const prompt of ["Two", "Three"]) store.addTurn("a", prompt, 0);
    const first = startNext(store);
    for (const at of [1, 2]) store.finishTurn(first.id, "completed", at);
    expect(startNext(store).prompt).toBe("Two");
    store.finishTurn(first.id, "completed", 3);
    expect(store.startNextTurn()).toBeUndefined();
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
  const pullRequest = "https://example.com/pull/1";

  /** Adds a job with a pull request, idle since a time. */
  function addIdle(store: Store, id: string, idleSince: number): void {
    addJob(store, id);
    store.setPullRequest(id, pullRequest, "abc");
    endNext(store, "completed", idleSince);
  }

  test("is for jobs with a closed pull request that are neither active nor archived", () => {
    const store = memoryStore();
    addIdle(store, "late", 20);
    addIdle(store, "early", 10);
    addJob(store, "without");
    endNext(store, "completed", 10);
    addJob(store, "waiting");
    store.setPullRequest("waiting", pullRequest, "abc");
    const idle = (id: string, idleSince: number) => ({ id, idleSince, pullRequest, head: "abc" });
    expect(store.jobsWithPullRequest(10)).toEqual([idle("early", 10), idle("late", 20)]);
    expect(store.jobsWithPullRequest(1)).toEqual([idle("early", 10)]);
    expect(store.jobsWithPullRequest(1, idle("early", 10))).toEqual([idle("late", 20)]);
    const jobs = store.jobsWithPullRequest(10);
    expect(store.archiveJobs(jobs.slice(0, 1), 40)).toEqual(["early"]);
    expect(store.archiveJobs(jobs, 50)).toEqual(["late"]);
    expect(store.job("early")?.archivedAt).toBe(40);
    expect(store.jobsWithPullRequest(10)).toEqual([]);
    store.addTurn("early", "Three", 0);
    expect(store.job("early")?.archivedAt).toBeNull();
    expect(store.archiveJobs(jobs, 60)).toEqual([]);
  });

  test("is not for a job that has received a turn or another pull request since it was read", () => {
    const store = memoryStore();
    for (const id of ["turn", "ended", "pull", "head"]) addIdle(store, id, 10);
    const jobs = store.jobsWithPullRequest(10);
    for (const id of ["turn", "ended"]) store.addTurn(id, "Two", 0);
    store.finishTurn(startNext(store).id, "completed", 20);
    store.setPullRequest("pull", "https://example.com/pull/2", "abc");
    store.setPullRequest("head", pullRequest, "def");
    expect(store.archiveJobs(jobs, 40)).toEqual([]);
  });

  test("archives those that have been idle longest, a few at a time", () => {
    const store = memoryStore();
    for (const [index, id] of ["c", "a", "b", "d"].entries()) {
      addJob(store, id);
      endNext(store, "failed", [30, 10, 20, 40][index]);
    }
    addJob(store, "active");
    expect(store.archiveIdleJobs(30, 100, 2).sort()).toEqual(["a", "b"]);
    expect(store.archiveIdleJobs(30, 100, 2)).toEqual(["c"]);
    expect(store.archiveIdleJobs(30, 100, 2)).toEqual([]);
    expect(store.job("a")?.archivedAt).toBe(100);
    expect(store.job("d")?.archivedAt).toBeNull();
  });
});

describe("deletion", () => {
  test("is for jobs that have been idle longest, archived or not, and never for active ones", () => {
    const store = memoryStore();
    const pullRequest = { title: "Fix", branch: "agent/a", target: "main", base: "000", head: "111" };
    for (const [index, id] of ["a", "b", "c", "again"].entries()) {
      addJob(store, id);
      store.addPullRequest({ job: id, ...pullRequest });
      endNext(store, "completed", 10 * index);
    }
    store.archiveIdleJobs(10, 50, 1);
    store.addTurn("again", "Two", 0);
    expect(store.deleteIdleJobs(5, 10)).toEqual(["a"]);
    expect(store.deleteIdleJobs(1000, 1)).toEqual(["b"]);
    expect(store.deleteIdleJobs(1000, 10)).toEqual(["c"]);
    for (const id of ["a", "b", "c"]) expect([store.job(id), store.turns(id)]).toEqual([undefined, []]);
    expect([1, 2, 3].map((number) => store.pullRequest(number))).toEqual([undefined, undefined, undefined]);
    expect(store.job("again")?.state).toBe("active");
    expect(store.deletedJobs(2)).toEqual(["a", "b"]);
    store.forgetDeletedJobs(["a", "b"]);
    expect(store.deletedJobs(2)).toEqual(["c"]);
  });

  test("does not free the number of a pull request, whose link would show another one", () => {
    const store = memoryStore();
    const pullRequest = { title: "Fix", branch: "agent/a", target: "main", base: "000", head: "111" };
    addJob(store, "a");
    expect(store.addPullRequest({ job: "a", ...pullRequest })).toBe(1);
    endNext(store);
    store.deleteIdleJobs(0, 1);
    addJob(store, "b");
    expect(store.addPullRequest({ job: "b", ...pullRequest })).toBe(2);
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

test("bounds the wait if the clock was set back, which does not escape the limit", () => {
  const store = memoryStore();
  let ids = 0;
  const createAt = (at: number) => store.addJob({ id: `job_${++ids}`, project: "docs", createdAt: 0 }, "One", at);
  const day = 86_400_000;
  for (let use = 0; use < 100; use++) expect(createAt(3 * day)).toBeUndefined();
  expect(createAt(2 * day)).toEqual({ retryAfterMs: 3_600_000 });
  expect(createAt(2 * day + 600_000)).toEqual({ retryAfterMs: 3_000_000 });
  expect(createAt(2 * day + 3_600_000)).toBeUndefined();
});

test("does not count a create that could not be stored", () => {
  const store = memoryStore();
  addJob(store, "job_1", 1000);
  for (let use = 0; use < 200; use++) expect(() => addJob(store, "job_1", 1000)).toThrow("UNIQUE");
  expect(store.addJob({ id: "job_2", project: "docs", createdAt: 1000 }, "One")).toBeUndefined();
});

test("returns the newest turns and the beginning of their texts for a page", () => {
  const store = memoryStore();
  addJob(store, "job_1", 1000);
  for (const prompt of ["Zwei ü𝄞", "Three"]) store.addTurn("job_1", prompt, 2000);
  store.setAnswer(2, "Done.");
  for (const state of ["completed", "failed"] as const) {
    const turn = store.startNextTurn();
    if (turn) store.finishTurn(turn.id, state, 3000);
  }
  expect(store.countTurns("job_1")).toBe(3);
  expect(store.latestTurns("job_1", 2)).toEqual([2, 3]);
  expect(store.latestTurns("job_1", 9)).toEqual([1, 2, 3]);
  expect(store.turnExcerpt(2, 7)).toEqual({ state: "failed", prompt: "Zwei ü𝄞", answer: "Done." });
  expect(store.turnExcerpt(2, 3)).toEqual({ state: "failed", prompt: "Zwe", answer: "Don" });
  expect(store.turnExcerpt(3, 3)).toEqual({ state: "waiting", prompt: "Thr", answer: null });
  expect(store.turnExcerpt(4, 3)).toBeUndefined();
});

test("lists the newest pull requests", () => {
  const store = memoryStore();
  addJob(store, "job_1", 1000);
  const pull = { job: "job_1", branch: "agent/job_1", target: "main", base: "1", head: "2" };
  for (const title of ["One", "Two", "Three"]) store.addPullRequest({ ...pull, title });
  expect(store.latestPullRequests(2)).toEqual([
    { number: 3, title: "Three" },
    { number: 2, title: "Two" },
  ]);
});
