import { expect, test } from "vitest";
import type { RunningTurn } from "../../../src/model.ts";
import type { Store } from "../../../src/store/store.ts";
import { LeaseLost } from "../../../src/store-errors.ts";
import { emptyDatabasesOfFile } from "../../support/empty-stores.ts";
import { postgresOfFile } from "../../support/postgres.ts";

const emptyDatabase = emptyDatabasesOfFile(postgresOfFile());

async function setUp() {
  const store = await (await emptyDatabase()).store();
  if (store.homes === undefined) throw new Error("the store has no homes");
  return { store, homes: store.homes };
}

async function startNext(store: Store): Promise<RunningTurn> {
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  return turn;
}

/** Adds a job, and takes its turn. */
async function startJob(store: Store, id: string): Promise<RunningTurn> {
  await store.jobs.add({ id, project: "docs", createdAt: 5_000_000 }, "One");
  return startNext(store);
}

/** Ends a turn, and takes the next one of its job. */
async function startAnother(store: Store, turn: RunningTurn): Promise<RunningTurn> {
  await store.turns.add(turn.job, "Next", 5_000_000);
  await store.runningTurns.finish(turn, "completed", 6_000_000);
  return startNext(store);
}

const bytes = (...values: number[]) => Uint8Array.from(values);

test("the home directory of a job is that of the turn that saved it last", async () => {
  const { store, homes } = await setUp();
  const first = await startJob(store, "a");
  expect(await homes.loadHome("a", first.identity)).toBeUndefined();
  await homes.saveHome(first, bytes(0, 1, 255));
  expect(Uint8Array.from((await homes.loadHome("a", first.identity)) ?? [])).toEqual(bytes(0, 1, 255));
  const second = await startAnother(store, first);
  await homes.saveHome(second, bytes(2));
  expect(Uint8Array.from((await homes.loadHome("a", second.identity)) ?? [])).toEqual(bytes(2));
  expect(await homes.loadHome("a", first.identity)).toBeUndefined();
  expect(await homes.loadHome("b", second.identity)).toBeUndefined();
});

test("the kept commit of a job is the one that was saved last by whoever has its turn", async () => {
  const { store } = await setUp();
  const { keptCommits } = store;
  if (keptCommits === undefined) throw new Error("the store keeps no commits");
  const turn = await startJob(store, "a");
  expect(await keptCommits.load("a", turn)).toBeUndefined();
  await keptCommits.save(turn, bytes(0, 1, 255));
  await keptCommits.save(turn, bytes(2));
  expect(Uint8Array.from((await keptCommits.load("a", turn)) ?? [])).toEqual(bytes(2));
  await expect(keptCommits.save({ ...turn, lease: "another" }, bytes(3))).rejects.toThrow(LeaseLost);
  expect(Uint8Array.from((await keptCommits.load("a", turn)) ?? [])).toEqual(bytes(2));
});

test("the kept commit of a job is forgotten by the turn that made it, and not by an earlier one", async () => {
  const { store } = await setUp();
  const { keptCommits } = store;
  const first = await startJob(store, "a");
  const commitOf = (turn: RunningTurn) => Buffer.from(`\u0000\nAgent-Turn: ${turn.id}.${turn.identity}\n\u0000`);
  await keptCommits?.save(first, commitOf(first));
  const second = await startAnother(store, first);
  await keptCommits?.save(second, commitOf(second));
  // Its worker has slept.
  await keptCommits?.forget?.(first);
  await keptCommits?.forget?.({ ...second, job: "b" });
  expect(await keptCommits?.load("a", second)).toBeDefined();
  await keptCommits?.forget?.(second);
  await keptCommits?.forget?.(second);
  expect(await keptCommits?.load("a", second)).toBeUndefined();
});

test("the last turn of a job before another one is the last in which an agent ran", async () => {
  const { store, homes } = await setUp();
  const other = await startJob(store, "other");
  await store.runningTurns.countAttempt(other);
  const first = await startJob(store, "a");
  await store.runningTurns.countAttempt(first);
  expect(await homes.lastAttemptedBefore(first)).toBeUndefined();
  const second = await startAnother(store, first);
  expect(await homes.lastAttemptedBefore(second)).toBe(first.identity);
  const third = await startAnother(store, second);
  expect(await homes.lastAttemptedBefore(third)).toBe(first.identity);
});

test("a worker whose turn has ended saves no home directory", async () => {
  const { store, homes } = await setUp();
  const turn = await startJob(store, "a");
  await homes.saveHome(turn, bytes(1));
  await expect(homes.saveHome({ ...turn, lease: "another" }, bytes(2))).rejects.toThrow(LeaseLost);
  await store.runningTurns.finish(turn, "completed", 6_000_000);
  await expect(homes.saveHome(turn, bytes(3))).rejects.toThrow(LeaseLost);
  expect(Uint8Array.from((await homes.loadHome("a", turn.identity)) ?? [])).toEqual(bytes(1));
});

test("the home directory of a job is deleted with the job", async () => {
  const { store, homes } = await setUp();
  const turn = await startJob(store, "a");
  await homes.saveHome(turn, bytes(1));
  await store.runningTurns.finish(turn, "completed", 6_000_000);
  expect(await store.idleJobs.deleteOldest(6_000_000, 1)).toEqual(["a"]);
  expect(await homes.loadHome("a", turn.identity)).toBeUndefined();
});

test("the home directory of a job is deleted when the job is archived, unless it is active again", async () => {
  const { store, homes } = await setUp();
  for (const id of ["archived", "active", "idle"]) {
    const turn = await startJob(store, id);
    await homes.saveHome(turn, bytes(1));
    await store.runningTurns.finish(turn, "completed", 6_000_000);
  }
  expect((await store.idleJobs.archiveOldest(6_000_000, 7_000_000, 2)).sort()).toEqual(["active", "archived"]);
  await store.turns.add("active", "Next", 8_000_000);
  await homes.deleteArchived(["archived", "active", "idle"]);
  await homes.deleteArchived([]);
  const next = await startNext(store);
  const kept = await Promise.all(
    ["archived", "active", "idle"].map(async (id) => {
      const [first] = await store.turns.ofJob(id);
      return (await homes.loadHome(id, first?.identity ?? "")) !== undefined;
    }),
  );
  expect(next.job).toBe("active");
  expect(kept).toEqual([false, true, true]);
});
