import { describe, expect, test } from "vitest";
import { type EndedState, noContext, type TurnCopy } from "../../../src/model.ts";
import type { Store } from "../../../src/store/store.ts";
import { addJob, memoryStore, startNext } from "../../support/memory-store.ts";

describe("copies of jobs", () => {
  /** Ends the next turn with an answer. */
  async function answerNext(store: Store, state: EndedState, at: number): Promise<void> {
    const turn = await startNext(store);
    await store.runningTurns.countAttempt(turn);
    await store.runningTurns.setReport(turn, { answer: `Done at ${at}`, costUsd: 0.5, sessionCost: "{}" });
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
    const context = { sections: "What changed", asked: '{"by":"ada"}', covers: "c".repeat(40) };
    await store.turns.add("a", "Two", 15, undefined, undefined, context);
    await answerNext(store, "failed", 20);
    await store.idleJobs.archiveOldest(20, 30, 1);
    expect(await store.jobs.copy("unknown")).toBeUndefined();
    const copy = await copyOf(store, "a");
    const turn = {
      identity: expect.any(String),
      promptHash: expect.any(String),
      ...noContext,
      state: "completed",
      attempts: 1,
      startedAt: expect.any(Number),
      reason: null,
      kept: null,
      head: null,
      stopRequestedAt: null,
      costUsd: 0.5,
      sessionCost: "{}",
      failureClass: null,
      checkResult: null,
      checkOutput: null,
      stage: "begun",
      made: null,
      caller: "",
      step: "",
      request: expect.any(String),
    };
    expect(copy).toEqual({
      id: "a",
      project: "docs",
      createdAt: 5,
      branch: "agent/a",
      archivedAt: 30,
      pullRequest: "https://example.com/pull/1",
      head: "abc",
      base: null,
      session: null,
      turns: [
        { ...turn, id: 1, prompt: "One", endedAt: 10, answer: "Done at 10" },
        { ...turn, ...context, id: 2, prompt: "Two", state: "failed", endedAt: 20, answer: "Done at 20" },
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

  test("of two jobs that were sent the same request let the agent of the first one run", async () => {
    const copies = await Promise.all(
      ["a", "b"].map(async (id) => {
        const store = memoryStore();
        const key = { caller: "ci", step: "deploy", request: "1" };
        await store.jobs.add({ id, project: "docs", createdAt: 0 }, "Go on", 0, undefined, key);
        return copyOf(store, id);
      }),
    );
    const other = memoryStore();
    for (const copy of copies) {
      const turns = copy.turns.map((turn) => ({ ...turn, id: turn.id + copies.indexOf(copy) }));
      await other.jobs.addCopy({ ...copy, turns });
    }
    expect(await other.turns.ofJob("a")).toMatchObject([{ state: "waiting", attempts: 0, reason: null }]);
    const reason = expect.stringContaining("no agent is run for it");
    expect(await other.turns.ofJob("b")).toMatchObject([{ state: "waiting", attempts: 2, reason }]);
  });

  test("with a request that was sent twice name its last turn", async () => {
    const store = memoryStore();
    const key = { caller: "ci", step: "deploy", request: "1" };
    await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "Go on", 0, undefined, key);
    await answerNext(store, "failed", 10);
    const copy = await copyOf(store, "a");
    const [first] = copy.turns;
    const turns = copy.turns.concat(first ? { ...first, id: 2, identity: "b".repeat(32), state: "completed" } : []);
    const other = memoryStore();
    await other.jobs.addCopy({ ...copy, turns });
    expect(await other.turns.ofStep("docs", key, 10)).toMatchObject([{ id: 2, status: "completed" }]);
  });

  test.each([
    [0, 0],
    [1, undefined],
  ])("of a turn with %i attempts say what these cost only if that is known", async (attempts, costUsd) => {
    const store = memoryStore();
    await addJob(store, "a", 5);
    const copy = await copyOf(store, "a");
    const other = memoryStore();
    await other.jobs.addCopy({ ...copy, turns: copy.turns.map((turn) => ({ ...turn, attempts, costUsd: null })) });
    expect(await other.runningTurns.countAttempt(await startNext(other))).toBe(costUsd);
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

  test("of two attempts that sent one request are both found by their session, the newer one first", async () => {
    const other = memoryStore();
    const key = { caller: "ci", step: "s", request: "1" };
    for (const [at, id] of ["a", "b"].entries()) {
      const store = memoryStore();
      await store.jobs.add({ id, project: "docs", createdAt: at, session: "nightly" }, "One", at, undefined, key);
      const copy = await copyOf(store, id);
      await other.jobs.addCopy({ ...copy, turns: copy.turns.map((turn) => ({ ...turn, id: at + 1 })) });
      expect(await other.jobs.ofSession("docs", "ci", "nightly")).toMatchObject({ job: id, covers: [] });
    }
    expect(await other.jobs.ofSession("docs", "", "nightly")).toBeUndefined();
  });

  test("have what is kept of a turn before one that was stopped before it did anything", async () => {
    const store = memoryStore();
    await addJob(store, "a", 5);
    const { turns, ...job } = await copyOf(store, "a");
    const turn = (id: number, attempts: number, kept: "push" | null) =>
      turns.map((one) => ({
        ...one,
        id,
        identity: `${id}`,
        state: "failed" as const,
        attempts,
        kept,
        stage: "made" as const,
        endedAt: 9 + id,
      }));
    const other = memoryStore();
    await other.jobs.addCopy({ ...job, turns: [...turn(1, 1, "push"), ...turn(2, 0, null)] });
    expect(await other.jobs.find("a")).toMatchObject({ state: "failed", kept: "push", idleSince: 11 });
    await other.jobs.addCopy({
      ...job,
      id: "b",
      branch: "agent/b",
      turns: [...turn(3, 1, "push"), ...turn(4, 1, null)],
    });
    expect(await other.jobs.find("b")).toMatchObject({ state: "failed", kept: null });
  });

  test("say that work is kept after a turn which ran beside the one that made it, and not after any other", async () => {
    const store = memoryStore();
    const key = { caller: "ci", step: "deploy", request: "1" };
    await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "One", 0, undefined, key);
    const { turns, ...job } = await copyOf(store, "a");
    const keptOf = async (
      copy: string,
      id: number,
      endedAt: number,
      laterId: number,
      startedAt: number | null = null,
    ) => {
      const other = memoryStore();
      const copied = (more: Partial<TurnCopy>): TurnCopy[] =>
        turns.map((one) => ({ ...one, attempts: 1, stage: "made", ...more }));
      const made = copied({ id, state: "failed", kept: "push", endedAt });
      const ends = { id: laterId, identity: copy, state: "completed", startedAt, endedAt } as const;
      await other.jobs.addCopy({ ...job, id: copy, turns: [...made, ...copied({ ...ends, step: "other" })] });
      return [
        (await other.turns.ofStep("docs", key, 1))[0]?.kept,
        await other.turns.keptJob("docs", { ...key, request: "2" }, { prompt: "One", base: null }),
      ];
    };
    // In milliseconds and, as an id, in microseconds.
    const [time, id] = [1_800_000_000_000, 1_800_000_000_000_000];
    expect(await keptOf("b", id, time + 30, id + 10_000)).toEqual(["push", "b"]);
    expect(await keptOf("c", id, time + 5, id + 10_000)).toEqual([null, undefined]);
    expect(await keptOf("d", id, time + 30, id + 10_000, time + 31)).toEqual([null, undefined]);
    // A store that counts its turns lets no two run.
    expect(await keptOf("e", 1, time + 30, 2)).toEqual([null, undefined]);
  });

  test("of a session tell up to where their completed turns were told of changes", async () => {
    const store = memoryStore();
    const key = { caller: "ci", step: "s", request: "1" };
    await store.jobs.add({ id: "a", project: "docs", createdAt: 0, session: "nightly" }, "One", 0, undefined, key);
    const { turns, ...job } = await copyOf(store, "a");
    const turn = (id: number, state: "completed" | "failed", covers: string | null) =>
      turns.map((one) => ({ ...one, id, identity: `${id}`, state, covers }));
    const other = memoryStore();
    await other.jobs.addCopy({
      ...job,
      turns: [
        ...turn(1, "completed", "a".repeat(40)),
        ...turn(2, "completed", "b".repeat(40)),
        ...turn(3, "completed", null),
        ...turn(5, "completed", `+${"d".repeat(40)}`),
        ...turn(4, "failed", "c".repeat(40)),
      ],
    });
    const covers = ["b".repeat(40), "a".repeat(40)];
    expect(await other.jobs.ofSession("docs", "ci", "nightly")).toEqual({ job: "a", jobs: ["a"], covers });
    await store.jobs.add({ id: "b", project: "docs", createdAt: 1, session: "nightly" }, "Two", 1, undefined, {
      ...key,
      request: "2",
    });
    const later = await copyOf(store, "b");
    const told = later.turns.map((one) => ({
      ...one,
      state: "completed" as const,
      covers: "e".repeat(40),
      endedAt: 9,
    }));
    await other.jobs.addCopy({ ...later, archivedAt: 9, turns: told.map((one) => ({ ...one, id: 6, identity: "6" })) });
    expect(await other.jobs.ofSession("docs", "ci", "nightly")).toEqual({
      job: "a",
      jobs: ["a", "b"],
      covers: ["e".repeat(40), ...covers],
    });
    await other.jobs.addCopy({ ...job, archivedAt: 9, turns: turn(1, "completed", "a".repeat(40)) }, true);
    expect(await other.jobs.ofSession("docs", "ci", "nightly")).toEqual({
      job: null,
      jobs: ["b", "a"],
      covers: ["e".repeat(40), "a".repeat(40)],
    });
  });
});
