import { expect, test } from "vitest";
import { Archiver } from "../../../../src/service/jobs/archiver.ts";
import { Store } from "../../../../src/service/jobs/store.ts";
import type { PullRequestRef, PullRequests } from "../../../../src/service/pulls/pull-requests.ts";

const alwaysOpen: PullRequests = {
  open: async () => "https://example.com/pull/1",
  stateOf: async () => "open",
  findClosed: async () => new Set(),
};

const dayMs = 86_400_000;
const now = Date.UTC(2026, 0, 10);

function archiverOf(
  store: Store,
  options: Partial<PullRequests & { afterDays: number; signal: AbortSignal }> = {},
): { archiver: Archiver; log: string[] } {
  const { afterDays, signal = new AbortController().signal, ...pullRequests } = options;
  const log: string[] = [];
  const archiver = new Archiver({
    store,
    pullRequests: { ...alwaysOpen, ...pullRequests },
    afterDays,
    signal,
    log: (line) => void log.push(line),
  });
  return { archiver, log };
}

test("archives an idle job only if a number of days is set, and never an active one", async () => {
  using store = new Store(":memory:");
  for (const id of ["old", "new", "active"]) store.addJob({ id, project: "docs", createdAt: 0 }, "Go on");
  for (let turn = store.startNextTurn(); turn; turn = store.startNextTurn()) {
    const days = { old: 8, new: 6 }[turn.job];
    if (days !== undefined) store.finishTurn(turn.id, "failed", now - days * dayMs);
  }
  await archiverOf(store).archiver.run(now);
  expect(store.job("old")?.archivedAt).toBeNull();
  await archiverOf(store, { afterDays: 7 }).archiver.run(now);
  const archived = ["old", "new", "active"].map((id) => store.job(id)?.archivedAt);
  expect(archived).toEqual([now, null, null]);
});

/** Returns a store with an idle job that has a pull request. */
function storeWithPullRequest(): Store {
  const store = new Store(":memory:");
  store.addJob({ id: "one", project: "docs", createdAt: 0 }, "Go on");
  store.finishTurn(store.startNextTurn()?.id ?? 0, "completed", 0);
  store.setPullRequest("one", "https://example.com/pull/1", "abc");
  return store;
}

test("archives nothing while the platform is down, and logs each outage once", async () => {
  using store = storeWithPullRequest();
  let isDown = true;
  const findClosed = async () => {
    if (isDown) throw new Error("the platform is down");
    return new Set<string>();
  };
  const { archiver, log } = archiverOf(store, { findClosed });
  await archiver.run(now);
  await archiver.run(now);
  expect(store.job("one")?.archivedAt).toBeNull();
  expect(log).toEqual(["Cannot read which pull requests are closed: the platform is down"]);
  isDown = false;
  await archiver.run(now);
  isDown = true;
  await archiver.run(now);
  expect(log).toHaveLength(2);
});

test("does not archive a job that gets a new pull request in the meantime", async () => {
  using store = storeWithPullRequest();
  const findClosed = async () => {
    store.addTurn("one", "More", 0);
    store.finishTurn(store.startNextTurn()?.id ?? 0, "completed", 1);
    store.setPullRequest("one", "https://example.com/pull/2", "def");
    return new Set(["https://example.com/pull/1"]);
  };
  await archiverOf(store, { findClosed }).archiver.run(now);
  expect(store.job("one")?.archivedAt).toBeNull();
});

test("archives jobs whose pull request is closed, and logs why", async () => {
  using store = storeWithPullRequest();
  store.addJob({ id: "two", project: "docs", createdAt: 0 }, "Go on");
  store.finishTurn(store.startNextTurn()?.id ?? 0, "completed", now - dayMs);
  const asked: PullRequestRef[] = [];
  const findClosed = async (pullRequests: readonly PullRequestRef[]) => {
    asked.push(...pullRequests);
    return new Set(["https://example.com/pull/1"]);
  };
  const { archiver, log } = archiverOf(store, { findClosed });
  await archiver.run(now);
  expect(asked).toEqual([{ link: "https://example.com/pull/1", branch: "agent/one", head: "abc" }]);
  const expired = archiverOf(store, { afterDays: 1 });
  await expired.archiver.run(now - 1);
  expect(expired.log).toEqual([]);
  await expired.archiver.run(now);
  expect([log, expired.log]).toEqual([
    ["Archived, pull request closed or merged: one"],
    ["Archived, idle for 1 day: two"],
  ]);
});

test("does not log an error that the end of the service causes", async () => {
  using store = storeWithPullRequest();
  const findClosed = async () => {
    throw new Error("aborted");
  };
  const { archiver, log } = archiverOf(store, { findClosed, signal: AbortSignal.abort() });
  await archiver.run(now);
  expect(log).toEqual([]);
});

test("logs another error of the same outage", async () => {
  using store = storeWithPullRequest();
  let errors = 0;
  const findClosed = async () => {
    throw new Error(`error ${++errors}`);
  };
  const { archiver, log } = archiverOf(store, { findClosed });
  await archiver.run(now);
  await archiver.run(now);
  expect(log).toHaveLength(2);
});

test("does not log a job that was not archived", async () => {
  using store = storeWithPullRequest();
  const findClosed = async () => {
    store.addTurn("one", "More", 0);
    return new Set(["https://example.com/pull/1"]);
  };
  const { archiver, log } = archiverOf(store, { findClosed });
  await archiver.run(now);
  expect(log).toEqual([]);
});
