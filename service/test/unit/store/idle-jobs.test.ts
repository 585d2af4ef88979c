import { describe, expect, test } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import { addJob, endNext, memoryStore, startNext } from "../../support/memory-store.ts";

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
    const idle = (id: string, idleSince: number) => ({
      id,
      project: "docs",
      branch: `agent/${id}`,
      idleSince,
      pullRequest,
      head: "abc",
    });
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
