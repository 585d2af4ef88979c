import { expect, onTestFinished, test } from "vitest";
import { StoreUnavailable } from "../../../../src/service/jobs/engine.ts";
import { watchStopRequest } from "../../../../src/service/jobs/stop-request.ts";
import { openSqliteStore } from "../../../../src/service/store/sqlite/open-store.ts";

/** Returns a store in which a turn of the job `a` is running. */
async function setUp() {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  await store.addJob({ id: "a", project: "docs", createdAt: 5 }, "Fix it");
  const turn = await store.startNextTurn();
  if (turn === undefined) throw new Error("no turn is waiting");
  return { store, turn };
}

test("aborts with the reason when somebody asks", async () => {
  const { store, turn } = await setUp();
  using request = watchStopRequest(turn, store);
  await store.addTurn("a", "More", 5);
  expect(request.signal.aborted).toBe(false);
  await store.stopTurn("a", turn.id, 6, "Stopped by ci.");
  await expect.poll(() => request.signal.aborted).toBe(true);
  expect(request.signal.reason).toBe("Stopped by ci.");
});

test("aborts if somebody asked before", async () => {
  const { store, turn } = await setUp();
  await store.stopTurn("a", turn.id, 6, "Stopped by ci.");
  using request = watchStopRequest(turn, store);
  await expect.poll(() => request.signal.reason).toBe("Stopped by ci.");
});

test("goes on while the store cannot be read", async () => {
  const { store, turn } = await setUp();
  const read = store.stopRequest.bind(store);
  store.stopRequest = () => Promise.reject(new StoreUnavailable("full"));
  using request = watchStopRequest(turn, store);
  await store.stopTurn("a", turn.id, 6, "Stopped by ci.");
  store.stopRequest = read;
  await store.addTurn("a", "More", 5);
  await expect.poll(() => request.signal.aborted).toBe(true);
});

test("asks nothing when it is over", async () => {
  const { store, turn } = await setUp();
  let questions = 0;
  store.stopRequest = async () => void questions++ as undefined;
  watchStopRequest(turn, store)[Symbol.dispose]();
  await store.addTurn("a", "More", 5);
  expect(questions).toBe(1);
});
