import { describe, expect, onTestFinished, test } from "vitest";
import type { RunningTurn } from "../../../src/model.ts";
import { startTurn } from "../../../src/store/job-state.ts";
import type { ReadyTurn, ReadyTurns, TakenTurn } from "../../../src/store/ready-turns.ts";
import type { Database, Sql, Transaction, Value } from "../../../src/store/sql.ts";
import { SqliteReadyTurns } from "../../../src/store/sqlite/ready-turns.ts";
import { Store, type StoreOptions } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { LeaseLost, StoreUnavailable } from "../../../src/store-errors.ts";
import { memoryDatabase } from "../../support/memory-database.ts";
import { identityOf } from "../../support/turn-identity.ts";

/** A database that several machines share. */
class SharedDatabase implements Database {
  readonly #database = memoryDatabase();
  /** Why nothing can be changed, unless it can. */
  outage: StoreUnavailable | undefined;
  /** What another machine changes before a transaction has its lock. */
  beforeLock: ((sql: Sql) => Promise<unknown>) | undefined;
  /** The names under which work was done exclusively. */
  readonly exclusive: string[] = [];

  async transaction<T>(change: (transaction: Transaction) => Promise<T>): Promise<T> {
    await this.probe();
    return this.#database.transaction((transaction) =>
      change({
        ...transaction,
        lock: async (name) => {
          await transaction.lock(name);
          await this.beforeLock?.(transaction);
        },
      }),
    );
  }

  async probe(): Promise<void> {
    if (this.outage) throw this.outage;
  }

  async exclusively(name: string, work: () => Promise<void>): Promise<boolean> {
    if (this.exclusive.includes(name)) return false;
    this.exclusive.push(name);
    await work();
    return true;
  }

  run = (sql: string, ...values: Value[]) => this.#database.run(sql, ...values);
  row = <T>(sql: string, ...values: Value[]) => this.#database.row<T>(sql, ...values);
  rows = <T>(sql: string, ...values: Value[]) => this.#database.rows<T>(sql, ...values);
  [Symbol.asyncDispose] = () => this.#database[Symbol.asyncDispose]();
}

/** A queue that several machines share. */
class SharedTurns implements ReadyTurns {
  readonly renewEveryMs = 7000;
  readonly #queue = new SqliteReadyTurns();
  readonly #listeners: (() => void)[] = [];
  /** A turn whose lease has expired. */
  expired: number | undefined;
  /** The leases that are renewed. */
  readonly held = new Set<string>();

  async mayHaveTurns(sql: Sql): Promise<boolean> {
    return this.expired !== undefined || (await this.#queue.mayHaveTurns(sql));
  }
  async take(transaction: Transaction, perProject: number | undefined, at: number): Promise<RunningTurn | undefined> {
    if (this.expired === undefined) return this.#queue.take(transaction, perProject, at);
    return startTurn(transaction, { turn: this.expired, lease: "of another machine" }, at);
  }
  async renew({ lease }: TakenTurn): Promise<boolean> {
    return this.held.has(lease);
  }
  async recover(): Promise<{ id: number; job: string }[]> {
    return [];
  }
  add(transaction: Transaction, turn: ReadyTurn): Promise<void> {
    return this.#queue.add(transaction, turn);
  }
  async remove(): Promise<void> {}
  putBack(transaction: Transaction, taken: TakenTurn, pauseMs: number): Promise<void> {
    return this.#queue.putBack(transaction, taken, pauseMs);
  }
  withdraw(transaction: Transaction, turn: ReadyTurn): Promise<void> {
    return this.#queue.withdraw(transaction, turn);
  }
  endPause(transaction: Transaction, turn: ReadyTurn): Promise<void> {
    return this.#queue.endPause(transaction, turn);
  }
  async ofProjects(): Promise<[]> {
    return [];
  }
  onReady(listener: () => void): void {
    this.#listeners.push(listener);
  }
  /** Another machine adds a turn. */
  announce(): void {
    for (const listener of this.#listeners) listener();
  }
}

function setUp(options: Partial<StoreOptions> = {}) {
  const database = new SharedDatabase();
  const ready = new SharedTurns();
  const store = new Store({ database, ready, nextTurnId: countTurnIds, ...options });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return { database, ready, store };
}

async function startJob(store: Store, id = "a"): Promise<RunningTurn> {
  await store.jobs.add({ id, project: "docs", createdAt: 5 }, "One");
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  return turn;
}

describe("a store that several machines share", () => {
  test("announces a turn that another machine has added", () => {
    const { ready, store } = setUp();
    let announced = 0;
    store.onReady(() => void announced++);
    ready.announce();
    expect(announced).toBe(1);
  });

  test("hands over a turn whose lease has expired as one that was running", async () => {
    const { ready, store } = setUp();
    const turn = await startJob(store);
    expect(turn.isResumed).toBe(false);
    ready.expired = turn.id;
    const resumed = await store.runningTurns.startNext();
    expect(resumed).toEqual({ ...turn, lease: "of another machine", isResumed: true });
    await expect(store.runningTurns.finish(turn, "completed", 6)).rejects.toThrow(LeaseLost);
  });

  test("hands over no turn that is in the queue but not in the table", async () => {
    const { ready, store } = setUp();
    ready.expired = 77;
    await expect(store.runningTurns.startNext()).rejects.toThrow("no turn 77");
  });

  test("says how often a lease has to be renewed, and confirms only one that is held", async () => {
    const { ready, store } = setUp();
    const turn = await startJob(store);
    expect(store.runningTurns.renewEveryMs).toBe(7000);
    expect(await store.runningTurns.renewLease(turn)).toBe(false);
    await expect(store.runningTurns.confirmLease(turn)).rejects.toThrow(new LeaseLost(turn.id));
    ready.held.add(turn.lease);
    expect(await store.runningTurns.renewLease(turn)).toBe(true);
    await store.runningTurns.confirmLease(turn);
  });

  test("does not delete a job that receives a message before it is locked", async () => {
    const { database, store } = setUp();
    for (const id of ["a", "b"]) await store.runningTurns.finish(await startJob(store, id), "completed", 10);
    database.beforeLock = (sql) => sql.run(`UPDATE job SET "idleSince" = NULL WHERE id = 'a'`);
    expect(await store.idleJobs.deleteOldest(10, 5)).toEqual(["b"]);
    expect(await store.jobs.find("a")).toBeDefined();
  });

  test("does something exclusively by the name that it is given", async () => {
    const { database, store } = setUp();
    let times = 0;
    const work = async () => void times++;
    expect(await store.exclusively("archiving", work)).toBe(true);
    expect(await store.exclusively("archiving", work)).toBe(false);
    expect(times).toBe(1);
    expect(database.exclusive).toEqual(["archiving"]);
  });
});

describe("a database that cannot be written", () => {
  test("is found out by a probe, and not by looking for a turn while none is ready", async () => {
    const { database, store } = setUp();
    await store.probe();
    database.outage = new StoreUnavailable("the disk is full");
    await expect(store.probe()).rejects.toThrow("the disk is full");
    expect(await store.runningTurns.startNext()).toBeUndefined();
  });
});

describe("a copy of a job", () => {
  test("makes later turns have greater ids than its own", async () => {
    const skipped: number[] = [];
    const { store } = setUp({ skipTurnIds: async (_transaction, last) => void skipped.push(last) });
    const turn = { prompt: "One", state: "completed", attempts: 1, endedAt: 9, answer: null } as const;
    const job = { id: "a", project: "docs", createdAt: 5, archivedAt: null, pullRequest: null, head: null };
    await store.jobs.addCopy({
      ...job,
      base: null,
      turns: [
        { ...turn, id: 20, identity: identityOf(20) },
        { ...turn, id: 30, identity: identityOf(30) },
        { ...turn, id: 40, identity: identityOf(40) },
      ],
    });
    expect(skipped).toEqual([40]);
  });
});

test("closes what belongs to it before its database", async () => {
  const database = new SharedDatabase();
  const closed: string[] = [];
  const store = new Store({
    database,
    ready: new SharedTurns(),
    nextTurnId: countTurnIds,
    close: async () => {
      await database.row("SELECT 1");
      closed.push("queue");
    },
  });
  await store[Symbol.asyncDispose]();
  expect(closed).toEqual(["queue"]);
  await expect(database.row("SELECT 1")).rejects.toThrow();
});
