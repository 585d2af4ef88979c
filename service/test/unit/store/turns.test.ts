import { describe, expect, test } from "vitest";
import type { Value } from "../../../src/store/sql.ts";
import { SqliteReadyTurns } from "../../../src/store/sqlite/ready-turns.ts";
import { Store } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { memoryDatabase } from "../../support/memory-database.ts";
import { addJob, endNext, memoryStore, startNext } from "../../support/memory-store.ts";

describe("turns", () => {
  test("are in the history of later turns if an agent ran", async () => {
    const store = memoryStore();
    await addJob(store, "other");
    await endNext(store);
    await addJob(store, "a");
    const first = await startNext(store);
    await store.runningTurns.countAttempt(first);
    await store.runningTurns.setReport(first, { answer: "Done." });
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

  test("that is requeued and taken again while somebody stops it is stopped", async () => {
    const database = memoryDatabase();
    const store = new Store({ database, ready: new SqliteReadyTurns(), nextTurnId: countTurnIds });
    await addJob(store, "a");
    const turn = await startNext(store);
    const { row } = database;
    let isTakenAgain = false;
    database.row = async <T>(sql: string, ...values: Value[]) => {
      if (sql.startsWith("SELECT 1 FROM turn") && !isTakenAgain) {
        isTakenAgain = true;
        await startNext(store);
      }
      return row.call<typeof database, [string, ...Value[]], Promise<T | undefined>>(database, sql, ...values);
    };
    const [isStopped] = await Promise.all([
      store.turns.stop("a", turn.id, 10, "Stopped."),
      store.runningTurns.requeue(turn),
    ]);
    expect([isTakenAgain, isStopped]).toEqual([true, true]);
    expect(await store.runningTurns.stopRequest(turn)).toBe("Stopped.");
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
