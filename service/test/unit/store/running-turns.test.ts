import { describe, expect, test } from "vitest";
import { LeaseLost } from "../../../src/store-errors.ts";
import { addJob, endNext, memoryStore, startNext } from "../../support/memory-store.ts";

describe("turns", () => {
  test("run in their order, and those of a job one after another", async () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) await addJob(store, id);
    await store.turns.add("a", "Two", 0);
    const [one, other] = [await startNext(store), await startNext(store)];
    const taken = {
      prompt: "One",
      sections: "",
      asked: null,
      covers: null,
      attempts: 0,
      step: "",
      request: expect.any(String),
      isResumed: false,
      lease: expect.any(String),
    };
    expect(one).toEqual({ id: 1, identity: expect.stringMatching(/^[0-9a-f]{32}$/), job: "a", ...taken });
    expect(other).toEqual({ id: 2, identity: expect.any(String), job: "b", ...taken });
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
      () => store.runningTurns.setReport(before, { answer: "Done." }),
      () => store.runningTurns.setPullRequest(before, "https://example.com/pull/1", "abc"),
      () => store.runningTurns.recordPush(before, null, "abc"),
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
});
