import { describe, expect, test } from "vitest";
import type { RunningTurn } from "../../../src/model.ts";
import { ReadyTurns } from "../../../src/store/ready-turns.ts";
import type { Database, Transaction, Value } from "../../../src/store/sql.ts";
import { machineClock } from "../../../src/store/sqlite/open-store.ts";
import { Store } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { OutcomeUnknown } from "../../../src/store-errors.ts";
import { memoryDatabase } from "../../support/memory-database.ts";

/** A database that can lose its connection when the next change is committed. */
class UncertainDatabase implements Database {
  readonly #database = memoryDatabase();
  /** Whether the next change is committed and reported, or its connection is lost before or after the commit. */
  next: "reported" | "lost" | "committed" = "reported";

  async transaction<T>(change: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { next } = this;
    this.next = "reported";
    if (next === "lost") throw new OutcomeUnknown("the connection was lost");
    const result = await this.#database.transaction(change);
    if (next === "committed") throw new OutcomeUnknown("the connection was lost");
    return result;
  }

  run = (sql: string, ...values: Value[]) => this.#database.run(sql, ...values);
  row = <T>(sql: string, ...values: Value[]) => this.#database.row<T>(sql, ...values);
  rows = <T>(sql: string, ...values: Value[]) => this.#database.rows<T>(sql, ...values);
  probe = () => this.#database.probe();
  exclusively = (name: string, work: () => Promise<void>) => this.#database.exclusively(name, work);
  rowsSoon = <T>(sql: string, ...values: Value[]) => this.#database.rows<T>(sql, ...values);
  [Symbol.asyncDispose] = () => this.#database[Symbol.asyncDispose]();
}

async function setUp(): Promise<{ database: UncertainDatabase; store: Store; turn: RunningTurn }> {
  const database = new UncertainDatabase();
  const store = new Store({ database, ready: new ReadyTurns({ clock: machineClock }), nextTurnId: countTurnIds });
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "Go on");
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn");
  return { database, store, turn };
}

describe.each(["lost", "committed"] as const)(
  "when it is unknown whether a change was stored, and it was %s",
  (next) => {
    test("an answer is stored with the end of the turn", async () => {
      const { database, store, turn } = await setUp();
      database.next = next;
      await store.runningTurns.setReport(turn, { answer: "Done" });
      await store.runningTurns.finish(turn, "completed", 1);
      expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", answer: "Done" }]);
    });

    test("a pull request is stored with the end of the turn", async () => {
      const { database, store, turn } = await setUp();
      database.next = next;
      await store.runningTurns.setPullRequest(turn, "https://example.com/pull/1", "222");
      await store.runningTurns.finish(turn, "completed", 1);
      expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "https://example.com/pull/1", head: "222" });
    });

    test("an attempt that is counted again counts once, after the turn was requeued", async () => {
      const { database, store, turn } = await setUp();
      database.next = next;
      await expect(store.runningTurns.countAttempt(turn)).rejects.toThrow(OutcomeUnknown);
      await store.runningTurns.requeue(turn);
      expect(await store.runningTurns.startNext()).toMatchObject({ id: turn.id, attempts: 0 });
    });

    test("a page that is added again for the same commit is one page", async () => {
      const { database, store } = await setUp();
      const pull = { job: "a", title: "Fix", branch: "agent/a", target: "main", base: "111", head: "222" };
      database.next = next;
      await expect(store.pullRequests.add(pull)).rejects.toThrow(OutcomeUnknown);
      expect(await store.pullRequests.add(pull)).toBe(1);
      expect(await store.pullRequests.add(pull)).toBe(1);
      expect(await store.pullRequests.newestOf("a", 10)).toEqual([{ number: 1, title: "Fix" }]);
      expect(await store.pullRequests.add({ ...pull, head: "333" })).toBe(2);
    });
  },
);

test("what the database has lost of a turn that its worker still has is stored with the end of the turn", async () => {
  const { database, store, turn } = await setUp();
  await store.runningTurns.setReport(turn, { answer: "Done", costUsd: 2 });
  await store.runningTurns.setReport(turn, { sessionCost: "{}", costUsd: undefined });
  await store.runningTurns.recordPush(turn, "https://example.com/pull/1", "222");
  // As after a failover to a server that was a second behind.
  await database.run('UPDATE turn SET answer = NULL, "costUsd" = NULL, "sessionCost" = NULL');
  await database.run('UPDATE job SET "pullRequest" = NULL, head = NULL');
  await store.runningTurns.finish(turn, "completed", 1);
  expect(await store.turns.ofJob("a")).toMatchObject([{ answer: "Done", costUsd: 2, sessionCost: "{}" }]);
  expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "https://example.com/pull/1", head: "222" });
});
