import { expect, test } from "vitest";
import { PerProject } from "../../../src/per-project.ts";
import type { PullRequestRef, PullRequests } from "../../../src/pulls/pull-requests.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { Archiver } from "../../../src/upkeep/archiver.ts";

const alwaysOpen: PullRequests = {
  open: async () => "https://example.com/pull/1",
  read: async () => ({ state: "open", target: undefined }),
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
    pullRequests: PerProject.same({ ...alwaysOpen, ...pullRequests }),
    afterDays,
    signal,
    log: (line) => void log.push(line),
  });
  return { archiver, log };
}

test("archives an idle job only if a number of days is set, and never an active one", async () => {
  await using store = openSqliteStore(":memory:");
  for (const id of ["old", "new", "active"]) await store.jobs.add({ id, project: "docs", createdAt: 0 }, "Go on");
  for (let turn = await store.runningTurns.startNext(); turn; turn = await store.runningTurns.startNext()) {
    const days = { old: 8, new: 6 }[turn.job];
    if (days !== undefined) await store.runningTurns.finish(turn, "failed", now - days * dayMs);
  }
  await archiverOf(store).archiver.run(now);
  expect((await store.jobs.find("old"))?.archivedAt).toBeNull();
  await archiverOf(store, { afterDays: 7 }).archiver.run(now);
  const jobs = await Promise.all(["old", "new", "active"].map((id) => store.jobs.find(id)));
  expect(jobs.map((job) => job?.archivedAt)).toEqual([now, null, null]);
});

/** Runs the next turn, up to its end at a time in milliseconds since 1970. */
async function runTurn(store: Store, endedAt: number, pullRequest?: { link: string; head: string }): Promise<void> {
  const turn = await store.runningTurns.startNext();
  if (!turn) throw new Error("no turn is ready");
  if (pullRequest) await store.runningTurns.setPullRequest(turn, pullRequest.link, pullRequest.head);
  await store.runningTurns.finish(turn, "completed", endedAt);
}

/** Returns a store with an idle job that has a pull request. */
async function storeWithPullRequest(): Promise<Store> {
  const store = openSqliteStore(":memory:");
  await store.jobs.add({ id: "one", project: "docs", createdAt: 0 }, "Go on");
  await runTurn(store, 0, { link: "https://example.com/pull/1", head: "abc" });
  return store;
}

test("archives nothing while the platform is down, and logs each outage once", async () => {
  await using store = await storeWithPullRequest();
  let isDown = true;
  const findClosed = async () => {
    if (isDown) throw new Error("the platform is down");
    return new Set<string>();
  };
  const { archiver, log } = archiverOf(store, { findClosed });
  await archiver.run(now);
  await archiver.run(now);
  expect((await store.jobs.find("one"))?.archivedAt).toBeNull();
  expect(log).toEqual(["Cannot read which pull requests are closed: the platform is down"]);
  isDown = false;
  await archiver.run(now);
  isDown = true;
  await archiver.run(now);
  expect(log).toHaveLength(2);
});

test("does not archive a job that gets a new pull request in the meantime", async () => {
  await using store = await storeWithPullRequest();
  const findClosed = async () => {
    await store.turns.add("one", "More", 0);
    await runTurn(store, 1, { link: "https://example.com/pull/2", head: "def" });
    return new Set(["https://example.com/pull/1"]);
  };
  await archiverOf(store, { findClosed }).archiver.run(now);
  expect((await store.jobs.find("one"))?.archivedAt).toBeNull();
});

test("archives jobs whose pull request is closed, and logs why", async () => {
  await using store = await storeWithPullRequest();
  await store.jobs.add({ id: "two", project: "docs", createdAt: 0 }, "Go on");
  await runTurn(store, now - dayMs);
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
  await using store = await storeWithPullRequest();
  const findClosed = async () => {
    throw new Error("aborted");
  };
  const { archiver, log } = archiverOf(store, { findClosed, signal: AbortSignal.abort() });
  await archiver.run(now);
  expect(log).toEqual([]);
});

test("logs another error of the same outage", async () => {
  await using store = await storeWithPullRequest();
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
  await using store = await storeWithPullRequest();
  const findClosed = async () => {
    await store.turns.add("one", "More", 0);
    return new Set(["https://example.com/pull/1"]);
  };
  const { archiver, log } = archiverOf(store, { findClosed });
  await archiver.run(now);
  expect(log).toEqual([]);
});

test("asks each project's platform for its own pull requests, and an outage of one does not hold up the others", async () => {
  await using store = openSqliteStore(":memory:");
  for (const project of ["docs", "manual", "site", "gone"]) {
    await store.jobs.add({ id: `of ${project}`, project, createdAt: 0 }, "Go on");
    await runTurn(store, 0, { link: `https://example.com/${project}`, head: "abc" });
  }
  const asked: string[][] = [];
  const closeAll = async (refs: readonly PullRequestRef[]) => {
    asked.push(refs.map(({ link }) => link));
    return new Set(refs.map(({ link }) => link));
  };
  const down = async () => {
    throw new Error("the platform is down");
  };
  const shared = { ...alwaysOpen, findClosed: closeAll };
  const log: string[] = [];
  let own: string[] | undefined;
  const archiver = new Archiver({
    store,
    pullRequests: PerProject.of(
      new Map([
        ["site", { ...alwaysOpen, findClosed: down }],
        ["docs", shared],
        ["manual", shared],
      ]),
    ),
    ownProjects: async () => own,
    signal: new AbortController().signal,
    log: (line) => void log.push(line),
  });
  // It no longer belongs to this service.
  own = ["site"];
  await archiver.run(now);
  expect(asked).toEqual([]);
  own = undefined;
  for (let round = 0; round < 2; round++) await archiver.run(now);
  expect(asked).toEqual([["https://example.com/docs", "https://example.com/manual"]]);
  expect(log).toEqual([
    "Cannot read which pull requests are closed: the platform is down",
    "Archived, pull request closed or merged: of docs, of manual",
  ]);
  for (const project of ["site", "gone"]) expect((await store.jobs.find(`of ${project}`))?.archivedAt).toBeNull();
});

test("judges a thousand jobs at a time in one round, and asks a platform that is down once", async () => {
  await using store = openSqliteStore(":memory:");
  for (let number = 0; number < 2100; number++) {
    const pullRequest = `https://example.com/pull/${number}`;
    const job = { id: `job_${number}`, project: "docs", createdAt: number, archivedAt: null, head: "abc" };
    await store.jobs.addCopy({ ...job, pullRequest, base: null, turns: [] });
  }
  const asked: { links: string[]; round: object | undefined }[] = [];
  let isDown = true;
  const findClosed = async (refs: readonly PullRequestRef[], round?: object) => {
    asked.push({ links: refs.map(({ link }) => link), round });
    if (isDown) throw new Error("the platform is down");
    return new Set(refs.slice(-1).map(({ link }) => link));
  };
  const { archiver, log } = archiverOf(store, { findClosed });
  await archiver.run(now);
  expect(asked.splice(0)).toHaveLength(1);
  isDown = false;
  await archiver.run(now);
  expect(asked.map(({ links }) => links.length)).toEqual([1000, 1000, 100]);
  expect(new Set(asked.flatMap(({ links }) => links)).size).toBe(2100);
  expect(asked.every(({ round }) => round !== undefined && round === asked[0]?.round)).toBe(true);
  expect(log.at(-1)).toBe("Archived, pull request closed or merged: job_999, job_1999, job_2099");
});

test("deletes the homes of the jobs that it archives", async () => {
  for (const options of [{ afterDays: 7 }, { findClosed: async () => new Set(["https://example.com/pull/1"]) }]) {
    await using store = await storeWithPullRequest();
    const deleted: (readonly string[])[] = [];
    const homes = { deleteArchived: async (jobs: readonly string[]) => void deleted.push(jobs) };
    Object.assign(store, { homes });
    await archiverOf(store, options).archiver.run(now);
    expect(deleted.flat()).toEqual(["one"]);
  }
});

test("reads ten thousand jobs in a round, and goes on in the next one", async () => {
  await using store = openSqliteStore(":memory:");
  const all = Array.from({ length: 12_000 }, (_, index) => ({
    id: String(index),
    project: "docs",
    branch: `agent/${index}`,
    idleSince: index,
    pullRequest: `https://example.com/pull/${index}`,
    head: "abc",
  }));
  store.idleJobs.withPullRequest = async (limit, after) => {
    const start = (after?.idleSince ?? -1) + 1;
    return all.slice(start, start + limit);
  };
  const asked: number[] = [];
  const { archiver } = archiverOf(store, {
    findClosed: async (pullRequests: readonly PullRequestRef[]) => {
      asked.push(pullRequests.length);
      return new Set();
    },
  });
  const askedInRound = async () => {
    asked.length = 0;
    await archiver.run(now);
    return asked.reduce((sum, count) => sum + count, 0);
  };
  expect([await askedInRound(), await askedInRound(), await askedInRound()]).toEqual([10_000, 2000, 10_000]);
});
