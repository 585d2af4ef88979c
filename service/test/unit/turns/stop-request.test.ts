import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { StoreUnavailable } from "../../../src/store-errors.ts";
import { watchStopRequest } from "../../../src/turns/stop-request.ts";
import { fakeMachine } from "../../support/fake-machine.ts";

/** Returns a store in which a turn of the job `a` is running. */
async function setUp() {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  await store.jobs.add({ id: "a", project: "docs", createdAt: 5 }, "Fix it");
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is waiting");
  return { store, turn };
}

test("aborts with the reason when somebody asks", async () => {
  const { store, turn } = await setUp();
  using request = watchStopRequest(turn, store);
  await store.turns.add("a", "More", 5);
  expect(request.signal.aborted).toBe(false);
  await store.turns.stop("a", turn.id, 6, "Stopped by ci.");
  await expect.poll(() => request.signal.aborted).toBe(true);
  expect(request.signal.reason).toBe("Stopped by ci.");
});

test("aborts if somebody asked before", async () => {
  const { store, turn } = await setUp();
  await store.turns.stop("a", turn.id, 6, "Stopped by ci.");
  using request = watchStopRequest(turn, store);
  await expect.poll(() => request.signal.reason).toBe("Stopped by ci.");
});

test("asks again if the store could not be read when somebody asked", async () => {
  const { store, turn } = await setUp();
  const read = store.runningTurns.stopRequest.bind(store.runningTurns);
  let questions = 0;
  store.runningTurns.stopRequest = async () => {
    questions++;
    throw new StoreUnavailable("no connection");
  };
  const pauses: PromiseWithResolvers<void>[] = [];
  const sleep = (ms: number) => {
    expect(ms).toBe(2000);
    const pause = Promise.withResolvers<void>();
    pauses.push(pause);
    return pause.promise;
  };
  using request = watchStopRequest(turn, store, fakeMachine({ sleep }));
  await store.turns.stop("a", turn.id, 6, "Stopped by ci.");
  await expect.poll(() => questions).toBe(2);
  pauses[0]?.resolve();
  await expect.poll(() => pauses.length).toBe(2);
  expect(questions).toBe(3);
  expect(request.signal.aborted).toBe(false);
  store.runningTurns.stopRequest = read;
  pauses[1]?.resolve();
  await expect.poll(() => request.signal.reason).toBe("Stopped by ci.");
  expect(pauses.length).toBe(2);
});

test("does not ask again when it is over", async () => {
  const { store, turn } = await setUp();
  let questions = 0;
  store.runningTurns.stopRequest = async () => {
    questions++;
    throw new StoreUnavailable("no connection");
  };
  const pauses: AbortSignal[] = [];
  const sleep = (_ms: number, signal?: AbortSignal) => {
    if (signal !== undefined) pauses.push(signal);
    return new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
  };
  const request = watchStopRequest(turn, store, fakeMachine({ sleep }));
  await expect.poll(() => pauses.length).toBe(1);
  request[Symbol.dispose]();
  await new Promise(setImmediate);
  expect({ questions, isOver: pauses[0]?.aborted }).toEqual({ questions: 1, isOver: true });
});

test("asks nothing when it is over", async () => {
  const { store, turn } = await setUp();
  let questions = 0;
  store.runningTurns.stopRequest = async () => void questions++ as undefined;
  watchStopRequest(turn, store)[Symbol.dispose]();
  await store.turns.add("a", "More", 5);
  expect(questions).toBe(1);
});
