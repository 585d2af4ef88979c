import { expect, onTestFinished, test } from "vitest";
import type { RunningTurn } from "../../../../src/model.ts";
import { ReadyTurns } from "../../../../src/store/ready-turns.ts";
import { Connection } from "../../../../src/store/sqlite/connection.ts";
import { SqliteDatabase } from "../../../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open-store.ts";
import { openSchema } from "../../../../src/store/sqlite/schema.ts";
import { Store } from "../../../../src/store/store.ts";
import { countTurnIds } from "../../../../src/store/turn-ids.ts";

/** Creates a store with jobs, each of a project. */
async function setUp(...jobs: [id: string, project: string][]) {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  for (const [id, project] of jobs) await store.jobs.add({ id, project, createdAt: 0 }, "One");
  const running: RunningTurn[] = [];
  /** Starts the next turn and returns its job. */
  const startNext = async (perProject?: number) => {
    const turn = await store.runningTurns.startNext(perProject);
    if (turn) running.push(turn);
    return turn?.job;
  };
  const endOf = async (job: string) => {
    const turn = running.find((one) => one.job === job);
    if (turn) await store.runningTurns.finish(turn, "completed", 0);
  };
  return { store, startNext, endOf };
}

test("takes no turn of a project with as many running turns as it may have, and those of others", async () => {
  const { startNext, endOf } = await setUp(["a", "docs"], ["b", "docs"], ["c", "docs"], ["d", "blog"]);
  expect([await startNext(2), await startNext(2), await startNext(2), await startNext(2)]).toEqual([
    "a",
    "d",
    "b",
    undefined,
  ]);
  await endOf("d");
  expect(await startNext(2)).toBeUndefined();
  await endOf("a");
  expect(await startNext(2)).toBe("c");
  expect(await startNext(2)).toBeUndefined();
});

test("knows for how long the oldest turn could have been started", async () => {
  const clock = { now: 4000 };
  const connection = new Connection(":memory:", () => {});
  openSchema(connection, ":memory:");
  const database = new SqliteDatabase(connection);
  const open = () =>
    new Store({
      database,
      ready: new ReadyTurns({ clock: () => ({ sql: "?", values: [clock.now] }) }),
      nextTurnId: countTurnIds,
    });
  const store = open();
  onTestFinished(() => store[Symbol.asyncDispose]());
  const age = async () => (await store.counts.census()).oldestWaitingSeconds;
  expect(await age()).toBe(0);
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "One");
  clock.now += 10_000;
  await store.jobs.add({ id: "b", project: "docs", createdAt: 0 }, "One");
  clock.now += 5000;
  // By a worker that starts after the first requests.
  await store.runningTurns.requeueInterrupted();
  expect(await age()).toBe(15);
  const first = await store.runningTurns.startNext();
  expect(await age()).toBe(5);
  // It waits for the turn before it, not for an agent.
  await store.turns.add("a", "Two", 0);
  const second = await store.runningTurns.startNext();
  clock.now += 7000;
  if (second) await store.runningTurns.requeue(second);
  clock.now += 2000;
  expect(await age()).toBe(2);
  await store.runningTurns.startNext();
  expect(await age()).toBe(0);
  if (first) await store.runningTurns.requeue(first);
  clock.now += 4000;
  const later = open();
  await later.runningTurns.requeueInterrupted();
  clock.now += 1000;
  expect((await later.counts.census()).oldestWaitingSeconds).toBe(5);
});

test("takes any number of turns of a project without a limit", async () => {
  const { startNext } = await setUp(["a", "docs"], ["b", "docs"], ["c", "docs"]);
  expect([await startNext(), await startNext(), await startNext()]).toEqual(["a", "b", "c"]);
});

test("a turn that was put back or interrupted does not count as running", async () => {
  const { store, startNext } = await setUp(["a", "docs"], ["b", "docs"]);
  const turn = await store.runningTurns.startNext(1);
  expect(await startNext(1)).toBeUndefined();
  if (turn) await store.runningTurns.requeue(turn, 1000);
  expect(await startNext(1)).toBe("b");
  await store.runningTurns.requeueInterrupted();
  expect(await startNext(1)).toBe("a");
  expect(await startNext(1)).toBeUndefined();
});

test("a lease needs no renewal", async () => {
  const { store } = await setUp(["a", "docs"]);
  const turn = await store.runningTurns.startNext();
  expect(store.runningTurns.renewEveryMs).toBeUndefined();
  expect(turn && (await store.runningTurns.renewLease(turn))).toBe(true);
  if (turn) await store.runningTurns.confirmLease(turn);
});
