import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { EndedState, RunningTurn } from "../../../src/model.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { LeaseLost } from "../../../src/store-errors.ts";

/** Creates a store in memory. */
function memoryStore(): Store {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

/** Adds a job, whose prompt is "One", of the project `docs`. */
async function addJob(store: Store, id: string, createdAt = 0): Promise<void> {
  await store.jobs.add({ id, project: "docs", createdAt }, "One");
}

async function startNext(store: Store): Promise<RunningTurn> {
  const turn = await store.runningTurns.startNext();
  if (!turn) throw new Error("no turn is waiting");
  return turn;
}

/** Ends the next turn. */
async function endNext(store: Store, state: EndedState = "completed", at = 0): Promise<void> {
  await store.runningTurns.finish(await startNext(store), state, at);
}

describe("a file", () => {
  test("keeps everything, and can only be read by its owner", async () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    {
      await using store = openSqliteStore(file);
      await store.jobs.add({ id: "a", project: "docs", createdAt: 5, model: "large" }, "One");
      const turn = await startNext(store);
      await store.runningTurns.setPullRequest(turn, "https://example.com/pull/1", "abc");
      await store.runningTurns.finish(turn, "completed", 0);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await using store = openSqliteStore(file);
    expect(await store.jobs.find("a")).toEqual({
      id: "a",
      project: "docs",
      createdAt: 5,
      state: "completed",
      idleSince: 0,
      archivedAt: null,
      pullRequest: "https://example.com/pull/1",
      head: "abc",
      model: "large",
    });
    expect(() => openSqliteStore(file)).toThrow("is locked: another service is running on it");
  });

  test("that cannot be opened or locked is named with the reason", () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    const reason = "unable to open database file";
    mkdirSync(file);
    expect(() => openSqliteStore(file)).toThrow(new Error(`cannot open ${file}: ${reason}`));
    const unlocked = join(temporaryFolder(), "jobs.sqlite");
    mkdirSync(`${unlocked}.lock`);
    expect(() => openSqliteStore(unlocked)).toThrow(
      new Error(`cannot lock ${unlocked} with ${unlocked}.lock: ${reason}`),
    );
  });

  test("that could not be written during a turn has what the turn reached after its end, and what later turns reach", async () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    await using store = openSqliteStore(file);
    await addJob(store, "a");
    const turn = await startNext(store);
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    await store.runningTurns.setAnswer(turn, "Done");
    await store.runningTurns.setPullRequest(turn, "https://example.com/pull/1", "abc");
    other.exec("COMMIT");
    other.close();
    expect(await store.jobs.find("a")).toMatchObject({ pullRequest: null, head: null });
    await store.runningTurns.finish(turn, "completed", 0);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", answer: "Done" }]);
    expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "https://example.com/pull/1", head: "abc" });
    await store.turns.add("a", "Two", 0);
    const next = await startNext(store);
    await store.runningTurns.setPullRequest(next, "https://example.com/pull/2", "def");
    await store.runningTurns.finish(next, "completed", 0);
    expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "https://example.com/pull/2", head: "def" });
  });

  test("that could not be written during a turn has what the turn reached when the turn is put back, too", async () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    await using store = openSqliteStore(file);
    await addJob(store, "a");
    const turn = await startNext(store);
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    await store.runningTurns.setAnswer(turn, "Done");
    other.exec("COMMIT");
    other.close();
    await store.runningTurns.requeue(turn, 1000);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "waiting", answer: "Done" }]);
  });

  test("that cannot be changed leaves no half of a change", async () => {
    const store = memoryStore();
    await addJob(store, "a");
    await expect(store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "Two")).rejects.toThrow("UNIQUE");
    expect(await store.turns.add("unknown", "Two", 0)).toBe(false);
    await addJob(store, "b");
    expect((await store.turns.ofJob("a")).map(({ prompt }) => prompt)).toEqual(["One"]);
    expect((await store.turns.ofJob("b")).map(({ prompt }) => prompt)).toEqual(["One"]);
  });
});

describe("projects", () => {
  test("take turns: the one whose last start is longest ago goes first", async () => {
    const store = memoryStore();
    for (let index = 0; index < 4; index++) await addJob(store, `docs_${index}`);
    for (const project of ["blog", "site"])
      for (const index of [0, 1]) await store.jobs.add({ id: `${project}_${index}`, project, createdAt: 0 }, "One");
    const order: string[] = [];
    for (let index = 0; index < 6; index++) order.push((await startNext(store)).job);
    expect(order).toEqual(["docs_0", "blog_0", "site_0", "docs_1", "blog_1", "site_1"]);
    await store.jobs.add({ id: "new_0", project: "new", createdAt: 0 }, "One");
    await store.jobs.add({ id: "blog_2", project: "blog", createdAt: 0 }, "One");
    expect([(await startNext(store)).job, (await startNext(store)).job]).toEqual(["new_0", "docs_2"]);
    expect([(await startNext(store)).job, (await startNext(store)).job]).toEqual(["blog_2", "docs_3"]);
    expect(await store.runningTurns.startNext()).toBeUndefined();
  });
});

describe("turns", () => {
  test("run in their order, and those of a job one after another", async () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) await addJob(store, id);
    await store.turns.add("a", "Two", 0);
    const [one, other] = [await startNext(store), await startNext(store)];
    const taken = { prompt: "One", attempts: 0, isResumed: false, lease: expect.any(String) };
    expect(one).toEqual({ id: 1, job: "a", ...taken });
    expect(other).toEqual({ id: 2, job: "b", ...taken });
    expect(one.lease).not.toBe(other.lease);
    expect(await store.runningTurns.startNext()).toBeUndefined();
    await store.runningTurns.finish(one, "failed", 0);
    expect(await store.runningTurns.startNext()).toMatchObject({ job: "a", prompt: "Two" });
    expect((await store.turns.ofJob("a")).map(({ prompt }) => prompt)).toEqual(["One", "Two"]);
  });

  test("make a job active until the last one has ended, and its result is that of the job", async () => {
    const store = memoryStore();
    await addJob(store, "a");
    expect((await store.jobs.find("a"))?.state).toBe("active");
    const turn = await startNext(store);
    expect((await store.jobs.find("a"))?.state).toBe("active");
    await store.runningTurns.finish(turn, "completed", 0);
    expect((await store.jobs.find("a"))?.state).toBe("completed");
    await store.turns.add("a", "Two", 0);
    expect((await store.jobs.find("a"))?.state).toBe("active");
    await endNext(store, "failed");
    expect((await store.jobs.find("a"))?.state).toBe("failed");
    expect(await store.jobs.find("unknown")).toBeUndefined();
  });

  test("leave the job active when one of them has ended and another one waits", async () => {
    const store = memoryStore();
    await addJob(store, "a");
    await store.turns.add("a", "Two", 0);
    await endNext(store, "failed", 10);
    expect(await store.jobs.find("a")).toMatchObject({ state: "active", idleSince: null });
  });

  test("that have ended or were deleted are not resumed", async () => {
    const store = memoryStore();
    await addJob(store, "a");
    const turn = await startNext(store);
    await store.runningTurns.resume(turn);
    expect(await store.runningTurns.startNext()).toBeUndefined();
    await store.runningTurns.finish(turn, "completed", 0);
    await store.runningTurns.resume(turn);
    await store.idleJobs.deleteOldest(0, 1);
    await store.runningTurns.resume(turn);
    expect(await store.runningTurns.startNext()).toBeUndefined();
  });

  test("that were stopped or interrupted wait again", async () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) await addJob(store, id);
    const [one, other] = [await startNext(store), await startNext(store)];
    for (const turn of [one, other]) await store.runningTurns.countAttempt(turn);
    await store.runningTurns.requeue(one);
    expect(await store.runningTurns.requeueInterrupted()).toEqual([{ id: other.id, job: "b" }]);
    expect([await startNext(store), await startNext(store)]).toMatchObject([
      { id: one.id, attempts: 0 },
      { id: other.id, attempts: 1 },
    ]);
  });

  test("that were postponed wait until they are resumed, and hold up only their job", async () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) await addJob(store, id);
    await store.turns.add("a", "Two", 0);
    const turn = await startNext(store);
    await store.runningTurns.countAttempt(turn);
    await store.runningTurns.requeue(turn, 1000);
    expect((await store.jobs.find("a"))?.state).toBe("active");
    expect((await startNext(store)).job).toBe("b");
    expect(await store.runningTurns.startNext()).toBeUndefined();
    await store.runningTurns.resume(turn);
    const again = await startNext(store);
    expect(again).toEqual({ ...turn, lease: expect.any(String) });
    expect(await store.runningTurns.startNext()).toBeUndefined();
    await store.runningTurns.requeue(again, 1000);
    expect((await store.runningTurns.requeueInterrupted()).map(({ job }) => job)).toEqual(["b"]);
    expect(await startNext(store)).toEqual({ ...turn, lease: expect.any(String) });
  });

  test("end once, even if their end is recorded again", async () => {
    const store = memoryStore();
    await addJob(store, "a");
    for (const prompt of ["Two", "Three"]) await store.turns.add("a", prompt, 0);
    const first = await startNext(store);
    for (const at of [1, 2]) await store.runningTurns.finish(first, "completed", at);
    expect((await startNext(store)).prompt).toBe("Two");
    await store.runningTurns.finish(first, "completed", 3);
    expect(await store.runningTurns.startNext()).toBeUndefined();
  });

  test("that somebody else has taken are not changed by who ran them before", async () => {
    const store = memoryStore();
    await addJob(store, "a");
    const before = await startNext(store);
    await store.runningTurns.requeueInterrupted();
    await expect(store.runningTurns.requeue(before)).rejects.toThrow(LeaseLost);
    await expect(store.runningTurns.finish(before, "failed", 1)).rejects.toThrow(LeaseLost);
    const turn = await startNext(store);
    for (const change of [
      () => store.runningTurns.setAnswer(before, "Done."),
      () => store.runningTurns.setPullRequest(before, "https://example.com/pull/1", "abc"),
      () => store.runningTurns.clearPullRequest(before, "abc"),
      () => store.runningTurns.countAttempt(before),
      () => store.runningTurns.requeue(before),
      () => store.runningTurns.finish(before, "failed", 1),
    ])
      await expect(change()).rejects.toThrow(LeaseLost);
    expect(await store.turns.ofJob("a")).toMatchObject([
      { state: "running", answer: null, attempts: 0, lease: turn.lease },
    ]);
    expect(await store.jobs.find("a")).toMatchObject({ state: "active", pullRequest: null, head: null });
    await store.runningTurns.finish(turn, "completed", 1);
    expect((await store.jobs.find("a"))?.state).toBe("completed");
  });

  test("are announced when they can be started", async () => {
    const store = memoryStore();
    let wasAnnounced = false;
    store.onReady(() => {
      wasAnnounced = true;
    });
    const startAnnounced = () => {
      expect(wasAnnounced).toBe(true);
      wasAnnounced = false;
      return startNext(store);
    };
    await addJob(store, "a");
    const first = await startAnnounced();
    await store.runningTurns.requeue(first);
    const again = await startAnnounced();
    await store.runningTurns.requeue(again, 1000);
    wasAnnounced = false;
    await store.runningTurns.resume(again);
    const resumed = await startAnnounced();
    await store.turns.add("a", "Two", 0);
    wasAnnounced = false;
    await store.runningTurns.finish(resumed, "completed", 0);
    const second = await startAnnounced();
    await store.runningTurns.finish(second, "completed", 0);
    wasAnnounced = false;
    await store.turns.add("a", "Three", 0);
    await startAnnounced();
  });

  test("are in the history of later turns if an agent ran", async () => {
    const store = memoryStore();
    await addJob(store, "other");
    await endNext(store);
    await addJob(store, "a");
    const first = await startNext(store);
    await store.runningTurns.countAttempt(first);
    await store.runningTurns.setAnswer(first, "Done.");
    await store.runningTurns.finish(first, "completed", 0);
    await store.turns.add("a", "Two", 0);
    await endNext(store);
    await store.turns.add("a", "Three", 0);
    const third = await startNext(store);
    await store.runningTurns.countAttempt(third);
    await store.runningTurns.finish(third, "failed", 0);
    await store.turns.add("a", "Four", 0);
    expect(await store.turns.history(first)).toEqual([]);
    expect(await store.turns.history(await startNext(store))).toEqual([
      { prompt: "One", answer: "Done.", state: "completed" },
      { prompt: "Three", answer: null, state: "failed" },
    ]);
  });

  test("that is requeued at the moment when somebody stops it is stopped", async () => {
    const store = memoryStore();
    await addJob(store, "a");
    const turn = await startNext(store);
    const [isStopped] = await Promise.all([
      store.turns.stop("a", turn.id, 10, "Stopped."),
      store.runningTurns.requeue(turn),
    ]);
    expect(isStopped).toBe(true);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "failed", reason: "Stopped." }]);
    expect(await store.runningTurns.startNext()).toBeUndefined();
  });

  test("of another job is not stopped, even if it waits", async () => {
    const store = memoryStore();
    await addJob(store, "a");
    await addJob(store, "b");
    const [id = 0] = await store.lists.latestTurns("b", 1);
    expect(await store.turns.stop("a", id, 10, "Stopped.")).toBe(false);
    expect(await store.turns.ofJob("b")).toMatchObject([{ state: "waiting" }]);
  });
});

describe("archiving", () => {
  const pullRequest = "https://example.com/pull/1";

  /** Ends the next turn, which has opened a pull request. */
  async function endWithPullRequest(store: Store, link: string, head: string, at: number): Promise<void> {
    const turn = await startNext(store);
    await store.runningTurns.setPullRequest(turn, link, head);
    await store.runningTurns.finish(turn, "completed", at);
  }

  /** Adds a job with a pull request, idle since a time. */
  async function addIdle(store: Store, id: string, idleSince: number): Promise<void> {
    await addJob(store, id);
    await endWithPullRequest(store, pullRequest, "abc", idleSince);
  }

  test("is for jobs with a closed pull request that are neither active nor archived", async () => {
    const store = memoryStore();
    await addIdle(store, "late", 20);
    await addIdle(store, "early", 10);
    await addJob(store, "without");
    await endNext(store, "completed", 10);
    await addJob(store, "waiting");
    const waiting = await startNext(store);
    await store.runningTurns.setPullRequest(waiting, pullRequest, "abc");
    await store.runningTurns.requeue(waiting);
    const idle = (id: string, idleSince: number) => ({ id, project: "docs", idleSince, pullRequest, head: "abc" });
    expect(await store.idleJobs.withPullRequest(10)).toEqual([idle("early", 10), idle("late", 20)]);
    expect(await store.idleJobs.withPullRequest(1)).toEqual([idle("early", 10)]);
    expect(await store.idleJobs.withPullRequest(1, idle("early", 10))).toEqual([idle("late", 20)]);
    const jobs = await store.idleJobs.withPullRequest(10);
    expect(await store.idleJobs.archive(jobs.slice(0, 1), 40)).toEqual(["early"]);
    expect(await store.idleJobs.archive(jobs, 50)).toEqual(["late"]);
    expect((await store.jobs.find("early"))?.archivedAt).toBe(40);
    expect(await store.idleJobs.withPullRequest(10)).toEqual([]);
    await store.turns.add("early", "Three", 0);
    expect((await store.jobs.find("early"))?.archivedAt).toBeNull();
    expect(await store.idleJobs.archive(jobs, 60)).toEqual([]);
  });

  test("is for jobs that have been idle since any time", async () => {
    const store = memoryStore();
    await addIdle(store, "a", 0);
    expect((await store.idleJobs.withPullRequest(10)).map(({ id }) => id)).toEqual(["a"]);
  });

  test("is not for a job that has received a turn or another pull request since it was read", async () => {
    const store = memoryStore();
    for (const id of ["turn", "ended", "pull", "head"]) await addIdle(store, id, 10);
    const jobs = await store.idleJobs.withPullRequest(10);
    for (const id of ["ended", "pull", "head", "turn"]) await store.turns.add(id, "Two", 0);
    await endNext(store, "completed", 20);
    // In the same millisecond as the turns before.
    await endWithPullRequest(store, "https://example.com/pull/2", "abc", 10);
    await endWithPullRequest(store, pullRequest, "def", 10);
    expect(await store.idleJobs.archive(jobs, 40)).toEqual([]);
  });

  test("archives those that have been idle longest, a few at a time", async () => {
    const store = memoryStore();
    for (const [index, id] of ["c", "a", "b", "d"].entries()) {
      await addJob(store, id);
      await endNext(store, "failed", [30, 10, 20, 40][index]);
    }
    await addJob(store, "active");
    expect((await store.idleJobs.archiveOldest(30, 100, 2)).sort()).toEqual(["a", "b"]);
    expect(await store.idleJobs.archiveOldest(30, 100, 2)).toEqual(["c"]);
    expect(await store.idleJobs.archiveOldest(30, 100, 2)).toEqual([]);
    expect((await store.jobs.find("a"))?.archivedAt).toBe(100);
    expect((await store.jobs.find("d"))?.archivedAt).toBeNull();
  });
});

describe("deletion", () => {
  test("is for jobs that have been idle longest, archived or not, and never for active ones", async () => {
    const store = memoryStore();
    const pullRequest = { title: "Fix", branch: "agent/a", target: "main", base: "000", head: "111" };
    for (const [index, id] of ["a", "b", "c", "again"].entries()) {
      await addJob(store, id);
      await store.pullRequests.add({ job: id, ...pullRequest });
      await endNext(store, "completed", 10 * index);
    }
    await store.idleJobs.archiveOldest(10, 50, 1);
    await store.turns.add("again", "Two", 0);
    expect(await store.idleJobs.deleteOldest(5, 10)).toEqual(["a"]);
    expect(await store.idleJobs.deleteOldest(1000, 1)).toEqual(["b"]);
    expect(await store.idleJobs.deleteOldest(1000, 10)).toEqual(["c"]);
    for (const id of ["a", "b", "c"])
      expect([await store.jobs.find(id), await store.turns.ofJob(id)]).toEqual([undefined, []]);
    for (const number of [1, 2, 3]) expect(await store.pullRequests.find(number)).toBeUndefined();
    expect((await store.jobs.find("again"))?.state).toBe("active");
    expect(await store.idleJobs.deleted(2)).toEqual(["a", "b"]);
    await store.idleJobs.forgetDeleted(["a", "b"]);
    expect(await store.idleJobs.deleted(2)).toEqual(["c"]);
  });

  test("does not free the number of a pull request, whose link would show another one", async () => {
    const store = memoryStore();
    const pullRequest = { title: "Fix", branch: "agent/a", target: "main", base: "000", head: "111" };
    await addJob(store, "a");
    expect(await store.pullRequests.add({ job: "a", ...pullRequest })).toBe(1);
    await endNext(store);
    await store.idleJobs.deleteOldest(0, 1);
    await addJob(store, "b");
    expect(await store.pullRequests.add({ job: "b", ...pullRequest })).toBe(2);
  });
});

describe("copies of jobs", () => {
  /** Ends the next turn with an answer. */
  async function answerNext(store: Store, state: EndedState, at: number): Promise<void> {
    const turn = await startNext(store);
    await store.runningTurns.countAttempt(turn);
    await store.runningTurns.setAnswer(turn, `Done at ${at}`);
    await store.runningTurns.setPullRequest(turn, "https://example.com/pull/1", "abc");
    await store.runningTurns.finish(turn, state, at);
  }

  async function copyOf(store: Store, id: string) {
    const copy = await store.jobs.copy(id);
    if (copy === undefined) throw new Error(`no job ${id}`);
    return copy;
  }

  test("are complete, and the job goes on in another store", async () => {
    const store = memoryStore();
    await addJob(store, "a", 5);
    await answerNext(store, "completed", 10);
    await store.turns.add("a", "Two", 15);
    await answerNext(store, "failed", 20);
    await store.idleJobs.archiveOldest(20, 30, 1);
    expect(await store.jobs.copy("unknown")).toBeUndefined();
    const copy = await copyOf(store, "a");
    const turn = {
      state: "completed",
      attempts: 1,
      startedAt: expect.any(Number),
      reason: null,
      stopRequestedAt: null,
    };
    expect(copy).toEqual({
      id: "a",
      project: "docs",
      createdAt: 5,
      archivedAt: 30,
      pullRequest: "https://example.com/pull/1",
      head: "abc",
      turns: [
        { ...turn, id: 1, prompt: "One", endedAt: 10, answer: "Done at 10" },
        { ...turn, id: 2, prompt: "Two", state: "failed", endedAt: 20, answer: "Done at 20" },
      ],
    });
    const other = memoryStore();
    await other.jobs.addCopy(copy);
    expect(await other.jobs.copy("a")).toEqual(copy);
    expect(await other.jobs.find("a")).toMatchObject({ state: "failed", idleSince: 20, model: null });
    expect(await other.runningTurns.startNext()).toBeUndefined();
    await other.turns.add("a", "Three", 40);
    expect(await other.runningTurns.startNext()).toMatchObject({ id: 3, prompt: "Three" });
  });

  test("of active jobs go on with the turn that was running, which is announced", async () => {
    const store = memoryStore();
    await addJob(store, "a", 5);
    await answerNext(store, "completed", 10);
    for (const prompt of ["Two", "Three"]) await store.turns.add("a", prompt, 15);
    await startNext(store);
    const other = memoryStore();
    let announced = 0;
    other.onReady(() => void announced++);
    await other.jobs.addCopy(await copyOf(store, "a"));
    expect(announced).toBe(1);
    expect(await other.jobs.find("a")).toMatchObject({ state: "active", idleSince: null });
    expect((await other.turns.ofJob("a")).map(({ state }) => state)).toEqual(["completed", "waiting", "waiting"]);
    expect(await startNext(other)).toMatchObject({ prompt: "Two", isResumed: false });
    expect(await other.runningTurns.startNext()).toBeUndefined();
  });

  test("whose last turn does not say when it ended have been idle since they were created", async () => {
    const store = memoryStore();
    await addJob(store, "a", 5);
    await answerNext(store, "completed", 10);
    const copy = await copyOf(store, "a");
    const other = memoryStore();
    await other.jobs.addCopy({ ...copy, turns: copy.turns.map((turn) => ({ ...turn, endedAt: null })) });
    expect(await other.jobs.find("a")).toMatchObject({ state: "completed", idleSince: 5 });
  });
});

describe("pull requests", () => {
  test("belong to one job", async () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) await addJob(store, id);
    const pullRequest = { job: "a", title: "Fix", branch: "agent/a", target: "main", base: "000", head: "111" };
    expect(await store.pullRequests.add(pullRequest)).toBe(1);
    expect(await store.pullRequests.add({ ...pullRequest, job: "b" })).toBe(2);
    expect(await store.pullRequests.update(1, "b", "222", "333")).toBe(false);
    expect(await store.pullRequests.find(1)).toEqual({ number: 1, ...pullRequest });
    expect(await store.pullRequests.update(1, "a", "222", "333")).toBe(true);
    expect(await store.pullRequests.find(1)).toMatchObject({ base: "222", head: "333" });
    expect(await store.pullRequests.find(2)).toMatchObject({ base: "000", head: "111" });
    expect(await store.pullRequests.find(3)).toBeUndefined();
  });
});

test("accepts 100 creates and 100 messages of a project in any hour, to the millisecond", async () => {
  const store = memoryStore();
  let ids = 0;
  const createAt = async (createdAt: number, project = "docs") =>
    (await store.jobs.add({ id: `job_${++ids}`, project, createdAt }, "One"))?.retryAfterMs;
  expect(await createAt(1000)).toBeUndefined();
  for (let use = 1; use < 100; use++) expect(await createAt(2000)).toBeUndefined();
  expect(await createAt(61_000)).toBe(3_540_000);
  expect(await store.jobs.find("job_101")).toBeUndefined();
  expect(await createAt(61_000, "other")).toBeUndefined();
  expect(await createAt(3_600_999)).toBe(1);
  expect(await createAt(3_601_000)).toBeUndefined();
  expect(await createAt(3_601_000)).toBe(1000);

  for (let use = 0; use < 100; use++) expect(await store.turns.add("job_1", "Two", 5000)).toBe(true);
  expect(await store.turns.add("job_1", "Two", 5000)).toEqual({ retryAfterMs: 3_600_000 });
  expect(await store.turns.ofJob("job_1")).toHaveLength(101);
  expect(await store.turns.add("job_102", "Two", 5000)).toBe(true);
});

test("bounds the wait if the clock was set back, which does not escape the limit", async () => {
  const store = memoryStore();
  let ids = 0;
  const createAt = (at: number) => store.jobs.add({ id: `job_${++ids}`, project: "docs", createdAt: 0 }, "One", at);
  const day = 86_400_000;
  for (let use = 0; use < 100; use++) expect(await createAt(3 * day)).toBeUndefined();
  expect(await createAt(2 * day)).toEqual({ retryAfterMs: 3_600_000 });
  expect(await createAt(2 * day + 600_000)).toEqual({ retryAfterMs: 3_000_000 });
  expect(await createAt(2 * day + 3_600_000)).toBeUndefined();
});

test("does not count a create that could not be stored", async () => {
  const store = memoryStore();
  await addJob(store, "job_1", 1000);
  for (let use = 0; use < 200; use++) await expect(addJob(store, "job_1", 1000)).rejects.toThrow("UNIQUE");
  expect(await store.jobs.add({ id: "job_2", project: "docs", createdAt: 1000 }, "One")).toBeUndefined();
});

test("belongs to the repository that was set last", async () => {
  const store = memoryStore();
  expect(await store.repositories.main()).toBeUndefined();
  for (const name of ["docs", "blog"]) await store.repositories.setMain(name);
  expect(await store.repositories.main()).toBe("blog");
});
