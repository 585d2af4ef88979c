import { describe, expect, test } from "vitest";
import { ReadyTurns } from "../../../src/store/ready-turns.ts";
import type { Value } from "../../../src/store/sql.ts";
import { machineClock } from "../../../src/store/sqlite/open-store.ts";
import { Store } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { memoryDatabase } from "../../support/memory-database.ts";
import { addJob, memoryStore, startNext } from "../../support/memory-store.ts";

describe("turns", () => {
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
    const store = new Store({ database, ready: new ReadyTurns({ clock: machineClock }), nextTurnId: countTurnIds });
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
