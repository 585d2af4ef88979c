import { onTestFinished } from "vitest";
import type { EndedState, RunningTurn } from "../../src/model.ts";
import { openSqliteStore } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";

/** Creates a store in memory, which is closed when the test has finished. */
export function memoryStore(): Store {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

/** Adds a job, whose prompt is "One", of the project `docs`. */
export async function addJob(store: Store, id: string, createdAt = 0): Promise<void> {
  await store.jobs.add({ id, project: "docs", createdAt }, "One");
}

export async function startNext(store: Store): Promise<RunningTurn> {
  const turn = await store.runningTurns.startNext();
  if (!turn) throw new Error("no turn is waiting");
  return turn;
}

/** Ends the next turn. */
export async function endNext(store: Store, state: EndedState = "completed", at = 0): Promise<void> {
  await store.runningTurns.finish(await startNext(store), state, at);
}
