import { describe, expect, onTestFinished, test } from "vitest";
import type { RunningTurn } from "../../../src/model.ts";
import { ReadyTurns } from "../../../src/store/ready-turns.ts";
import type { Database, Sql, Transaction, Value } from "../../../src/store/sql.ts";
import { machineClock } from "../../../src/store/sqlite/open-store.ts";
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
  rowsSoon = <T>(sql: string, ...values: Value[]) => this.#database.rows<T>(sql, ...values);
  [Symbol.asyncDispose] = () => this.#database[Symbol.asyncDispose]();
}

const leaseMs = 21_000;

function setUp(options: Partial<StoreOptions> = {}) {
  const database = new SharedDatabase();
  const clock = { now: 1_800_000_000_000 };
  const ready = new ReadyTurns({ clock: () => ({ sql: "?", values: [clock.now] }), leaseMs });
  const store = new Store({ database, ready, nextTurnId: countTurnIds, ...options });
  onTestFinished(() => store[Symbol.asyncDispose]());
  /** Lets time pass in which machines look for expired leases every ten seconds. Returns whether there were any. */
  const pass = async (ms: number): Promise<boolean> => {
    let hasExpired = await ready.expire(database);
    for (const end = clock.now + ms; clock.now < end; hasExpired = (await ready.expire(database)) || hasExpired)
      clock.now = Math.min(end, clock.now + 10_000);
    return hasExpired;
  };
  return { database, clock, ready, store, pass };
}

async function startJob(store: Store, id = "a"): Promise<RunningTurn> {
  await store.jobs.add({ id, project: "docs", createdAt: 5 }, "One");
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  return turn;
}

describe("a store that several machines share", () => {
  test("announces a turn that another machine has added", () => {
    let announce = (): void => {};
    const changes = {
      announceJob: () => {},
      onJob: () => {},
      onReady: (listener: () => void) => {
        announce = listener;
      },
    };
    const { store } = setUp({ changes });
    let announced = 0;
    store.onReady(() => void announced++);
    announce();
    expect(announced).toBe(1);
  });

  test("hands over a turn whose lease has expired as one that was running", async () => {
    const { store, pass } = setUp();
    const turn = await startJob(store);
    expect(turn.isResumed).toBe(false);
    expect(await store.counts.census()).toMatchObject({ expiredLeases: 0, takeableTurns: 0 });
    expect(await pass(leaseMs)).toBe(false);
    expect(await store.runningTurns.startNext()).toBeUndefined();
    expect(await pass(1)).toBe(true);
    expect(await store.counts.census(1)).toMatchObject({ expiredLeases: 1, takeableTurns: 1 });
    const resumed = await store.runningTurns.startNext(1);
    expect(resumed).toEqual({ ...turn, lease: expect.any(String), isResumed: true });
    expect(resumed?.lease).not.toBe(turn.lease);
    await expect(store.runningTurns.finish(turn, "completed", 6)).rejects.toThrow(LeaseLost);
    await expect(store.runningTurns.confirmLease(turn)).rejects.toThrow(new LeaseLost(turn.id));
    expect(await store.runningTurns.renewLease(turn)).toBe(false);
    expect(await store.counts.census()).toMatchObject({ expiredLeases: 0 });
  });

  test("leaves a turn whose lease has expired to its worker if nobody has taken it", async () => {
    const { store, pass } = setUp();
    const turn = await startJob(store);
    expect(store.runningTurns.renewEveryMs).toBe(7000);
    for (const use of [() => store.runningTurns.renewLease(turn), () => store.runningTurns.countAttempt(turn)]) {
      await pass(2 * leaseMs);
      await use();
      expect(await store.runningTurns.startNext()).toBeUndefined();
    }
    await pass(2 * leaseMs);
    await store.runningTurns.finish(turn, "completed", 6);
    expect(await store.runningTurns.startNext()).toBeUndefined();
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", lease: null }]);
  });

  test("lets nobody take a turn that was running before an outage until its worker had time to renew its lease", async () => {
    const { clock, store, pass } = setUp();
    await startJob(store);
    await pass(10_000);
    clock.now += 60_000;
    expect(await pass(leaseMs - 1)).toBe(false);
    expect(await pass(1)).toBe(true);
  });

  test("hands over turns of dead workers while the database is away for a moment again and again", async () => {
    const { clock, store, pass } = setUp();
    await startJob(store);
    for (let passedMs = 0; passedMs < 3 * leaseMs; passedMs += 10_000) {
      clock.now += 9999;
      if (await pass(1)) return;
    }
    throw new Error("it was not handed over");
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
    ready: new ReadyTurns({ clock: machineClock }),
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
