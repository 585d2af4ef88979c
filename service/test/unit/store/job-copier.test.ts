import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { JobCopy } from "../../../src/model.ts";
import { GitHubError, RateLimitError } from "../../../src/pulls/github/github-error.ts";
import { JobDirectory } from "../../../src/service-folder.ts";
import { JobCopier } from "../../../src/store/job-copier.ts";
import type { BusyJob, JobCopies } from "../../../src/store/job-copies.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { SourceUnavailable, StoreUnavailable } from "../../../src/store-errors.ts";
import { MemoryCopies } from "../../support/memory-copies.ts";
import { identityOf } from "../../support/turn-identity.ts";

function setUp(now?: () => number) {
  const folder = temporaryFolder();
  const store = openSqliteStore(":memory:");
  const copies = new MemoryCopies(folder);
  const log: string[] = [];
  const copier = new JobCopier({ copies, store, folder, log: (line) => void log.push(line), now });
  /** Creates a job, and ends its turn unless it should stay active. */
  const addJob = async (isActive = false) => {
    await store.jobs.add({ id: "a", project: "docs", createdAt: 5 }, "Go on");
    const turn = isActive ? undefined : await store.runningTurns.startNext();
    if (turn) await store.runningTurns.finish(turn, "completed", 6);
  };
  const addHome = (jobId: string) => {
    const { home } = new JobDirectory(folder, jobId);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "session"), "");
    return home;
  };
  return { folder, store, copies, copier, log, addJob, addHome };
}

const id = "job_00000000-0000-4000-8000-000000000000";
const waitingTurn = {
  id: 7,
  identity: identityOf(7),
  prompt: "Go on",
  state: "running" as const,
  attempts: 1,
  endedAt: null,
  answer: null,
};
const copy: JobCopy = {
  id,
  project: "docs",
  createdAt: 5,
  archivedAt: null,
  pullRequest: null,
  head: null,
  base: null,
  turns: [waitingTurn],
};

/** Lets everything happen that waits for nothing else. */
const aWhile = () => new Promise((resolve) => setImmediate(resolve));

test("logs that a job cannot be saved if the store cannot be read", async () => {
  const { store, copies, copier, log } = setUp();
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "Go on");
  await store[Symbol.asyncDispose]();
  copier.save("a");
  await copier.settle();
  expect(log).toEqual([expect.stringMatching(/^a: cannot be saved for later services: \S/)]);
  expect(copies.saves).toEqual([]);
});

test("restores a job once, however many ask for it at the same time, and its turn can be started", async () => {
  const { store, copies, copier, log } = setUp();
  await copies.save(copy, temporaryFolder());
  let announcements = 0;
  store.onReady(() => announcements++);
  await Promise.all([copier.restore(id), copier.restore(id)]);
  await copier.restore(id);
  expect(log).toEqual([`${id}: restored`]);
  expect(announcements).toBeGreaterThan(0);
  expect(await store.runningTurns.startNext()).toMatchObject({ id: 7, identity: identityOf(7), job: id, attempts: 1 });
  expect(await store.runningTurns.startNext()).toBeUndefined();
});

test("saves a job with its home directory only while no turn of it is waiting or running", async () => {
  const { store, copies, copier, addJob, addHome } = setUp();
  await addJob();
  const save = async () => {
    copier.save("a");
    await copier.settle();
    return copies.saves.at(-1);
  };
  expect(await save()).toEqual({ states: ["completed"], hasHome: false });
  addHome("a");
  expect(await save()).toEqual({ states: ["completed"], hasHome: true });
  await store.turns.add("a", "Go on", 7);
  expect(await save()).toEqual({ states: ["completed", "waiting"], hasHome: false });
  await store.runningTurns.startNext();
  expect(await save()).toEqual({ states: ["completed", "running"], hasHome: false });
});

test("saves a job once for all changes that are made before the save begins", async () => {
  const { copies, copier, addJob } = setUp();
  await addJob();
  copier.save("a");
  copier.save("a");
  await copier.settle();
  expect(copies.saves).toHaveLength(1);
  copier.save("a");
  await copier.settle();
  expect(copies.saves).toHaveLength(2);
});

test("saves a job that changes during a save again afterwards, and waits for both", async () => {
  const { copies, copier, addJob, addHome } = setUp();
  await addJob();
  addHome("a");
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  copies.gate = gates[0]?.promise ?? copies.gate;
  copier.save("a");
  await waitUntil(() => copies.saves.length >= 1);
  copier.save("a");
  copier.save("a");
  await aWhile();
  expect(copies.saves).toHaveLength(1);
  copies.gate = gates[1]?.promise ?? copies.gate;
  gates[0]?.resolve();
  await waitUntil(() => copies.saves.length >= 2);
  let isSettled = false;
  const settled = copier.settle().then(() => {
    isSettled = true;
  });
  await aWhile();
  expect(isSettled).toBe(false);
  gates[1]?.resolve();
  await settled;
  expect(copies.saves).toHaveLength(2);
});

test("a turn gets a home directory only after that was read", async () => {
  const { copies, copier, addJob, addHome } = setUp();
  await addJob();
  addHome("a");
  const gate = Promise.withResolvers<void>();
  copies.gate = gate.promise;
  copier.save("a");
  await waitUntil(() => copies.saves.length >= 1);
  let isReleased = false;
  const released = copier.bring({ job: "a" }).then(() => {
    isReleased = true;
  });
  await aWhile();
  expect(isReleased).toBe(false);
  await copier.bring({ job: "b" });
  gate.resolve();
  await released;
});

test("a turn does not wait for a save without its home directory", async () => {
  const { store, addJob, addHome, folder } = setUp();
  await addJob(true);
  addHome("a");
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const copies: JobCopies = {
    save: () => {
      begin();
      return end.promise;
    },
    restore: async () => undefined,
  };
  const copier = new JobCopier({ copies, store, folder, log: () => {} });
  copier.save("a");
  await begun;
  let isSaved = false;
  const saved = end.promise.then(() => {
    isSaved = true;
  });
  await copier.bring({ job: "a" });
  expect(isSaved).toBe(false);
  end.resolve();
  await saved;
});

test("tries again to restore a job after the copies could not be read", async () => {
  const { store, copies, copier, log } = setUp();
  await copies.save(copy, temporaryFolder());
  copies.failure = new Error("no connection");
  const restored = copier.restore(id);
  await expect(restored).rejects.toThrow(StoreUnavailable);
  await expect(restored).rejects.toThrow("no connection");
  expect(log).toEqual([`${id}: cannot be restored: no connection`]);
  expect(await store.jobs.find(id)).toBeUndefined();
  copies.failure = undefined;
  await copier.restore(id);
  expect(await store.jobs.find(id)).toMatchObject({ id, createdAt: 5 });
});

test("says that it is of no use to ask again once GitHub has refused twice, some seconds apart, or names a missing permission", async () => {
  let now = 0;
  const { copies, copier } = setUp(() => now);
  const isLasting = async (): Promise<boolean | undefined> => {
    const error = await copier.restore(id).catch((thrown: unknown) => thrown);
    return error instanceof SourceUnavailable ? error.isLasting : undefined;
  };
  const refused = new GitHubError("GitHub answered 404 to GET /repos/a/b/pulls: Not Found", 404);
  copies.failure = refused;
  expect(await isLasting()).toBe(false);
  now += 8999;
  expect(await isLasting()).toBe(false);
  now += 1;
  expect(await isLasting()).toBe(true);
  copies.failure = new GitHubError("GitHub answered 502", 502);
  expect(await isLasting()).toBe(false);
  copies.failure = new RateLimitError("GitHub answered 403", 403, 1000);
  expect(await isLasting()).toBe(false);
  copies.failure = undefined;
  await copier.restore(id.replace(/0$/, "1"));
  copies.failure = refused;
  expect(await isLasting()).toBe(false);
  copies.failure = new GitHubError("GitHub answered 403: Resource not accessible by integration", 403);
  expect(await isLasting()).toBe(true);
});

test("restores the jobs of a step", async () => {
  const { store, copies, copier, log } = setUp();
  const ofStep = { ...waitingTurn, caller: "ci", step: "deploy", request: "1" };
  const other = id.replace(/0$/, "1");
  await copies.save({ ...copy, turns: [ofStep] }, temporaryFolder());
  await copies.save({ ...copy, id: other, turns: [{ ...ofStep, step: "test" }] }, temporaryFolder());
  const sent = { project: "docs", caller: "ci", step: "deploy" };
  copies.failure = new Error("no connection");
  await expect(copier.restoreStep(sent)).rejects.toThrow(StoreUnavailable);
  expect(log).toEqual(["the jobs of a step cannot be looked up: no connection"]);
  copies.failure = undefined;
  await copier.restoreStep(sent);
  // The step asks again how its turn has ended, in an outage, too.
  copies.failure = new Error("no connection");
  await copier.restoreStep(sent);
  copies.failure = undefined;
  expect(await store.turns.ofStep("docs", sent, 10)).toMatchObject([
    { id: 7, job: id, request: "1", status: "waiting" },
  ]);
  expect(await store.jobs.find(other)).toBeUndefined();
});

test("restores the job of a session anew once another machine has worked on it, unless a turn of it waits here", async () => {
  const { store, copies, folder, log } = setUp();
  const busy: BusyJob[] = [];
  const ofSession: JobCopies = {
    save: async () => {},
    restore: (...job) => copies.restore(...job),
    busyJobOf: async () => busy.pop(),
    jobOfSession: async () => id,
  };
  const copier = new JobCopier({ copies: ofSession, store, folder, log: (line) => void log.push(line) });
  const completed = { ...waitingTurn, state: "completed" as const, caller: "ci", step: "s1", request: "1" };
  const turns = [{ ...completed, covers: "a".repeat(40) }];
  /** Another machine adds a turn. */
  const work = (covers: string) => {
    const next = turns.length + 8;
    turns.push({ ...completed, id: next, identity: identityOf(next), step: `s${next}`, covers: covers.repeat(40) });
    return copies.save({ ...copy, session: "nightly", turns }, temporaryFolder());
  };
  const coversOf = async () => {
    expect(await copier.restoreSession("nightly", "s")).toBeUndefined();
    return (await store.jobs.ofSession("docs", "ci", "nightly"))?.covers[0];
  };
  await copies.save({ ...copy, session: "nightly", turns }, temporaryFolder());
  expect(await coversOf()).toBe("a".repeat(40));
  busy.push({ job: id, until: 9 });
  expect(await copier.restoreSession("nightly", "s")).toEqual({ job: id, until: 9 });
  await work("b");
  copies.failure = new Error("no connection");
  await expect(copier.restoreSession("nightly", "s")).rejects.toThrow(StoreUnavailable);
  copies.failure = undefined;
  expect(await coversOf()).toBe("b".repeat(40));
  expect((await store.turns.ofJob(id)).map((turn) => turn.id)).toEqual([7, 9]);
  await work("c");
  expect(await coversOf()).toBe("b".repeat(40));
  await store.turns.add(id, "Go on", 7);
  busy.push({ job: id, until: 9 });
  await copier.restoreSession("nightly", "s");
  expect(await coversOf()).toBe("b".repeat(40));
  expect(await store.turns.ofJob(id)).toHaveLength(3);
});

test("restores nothing for a step if copies are only found by the ids of jobs", async () => {
  const { store, folder } = setUp();
  const copies: JobCopies = { save: async () => {}, restore: async () => copy };
  const copier = new JobCopier({ copies, store, folder, log: () => {} });
  await copier.restoreStep({ project: "docs", caller: "ci", step: "deploy" });
  expect(await store.jobs.find(id)).toBeUndefined();
});

test("looks up only ids that services give", async () => {
  const { copies, copier } = setUp();
  copies.failure = new Error("looked up");
  for (const other of ["", "a", `${id}0`, `x${id}`, `${id}\n`]) await copier.restore(other);
  await expect(copier.restore(id)).rejects.toThrow("looked up");
});

test("a job without a copy stays unknown, and nothing of it is changed", async () => {
  const { store, copier, log, addHome } = setUp();
  const home = addHome(id);
  await copier.restore(id);
  expect(await store.jobs.find(id)).toBeUndefined();
  expect(readdirSync(home)).toEqual(["session"]);
  expect(log).toEqual([]);
});

test.each([
  ["is that of its copy", true],
  ["is removed if the copy has none", false],
])("the home directory of a restored job %s", async (_, hasHome) => {
  const { store, folder, addHome } = setUp();
  const home = addHome(id);
  const restored: unknown[] = [];
  const copies: JobCopies = {
    save: async () => {},
    restore: async (jobId, place, into) => {
      restored.push([jobId, place, existsSync(into)]);
      if (hasHome) mkdirSync(join(into, "other"), { recursive: true });
      return copy;
    },
  };
  await new JobCopier({ copies, store, folder, log: () => {} }).restore(id);
  expect(restored).toEqual([[id, home, false]]);
  expect(existsSync(home) && readdirSync(home)).toEqual(hasHome && ["other"]);
  expect(readdirSync(folder)).toEqual(["jobs"]);
});
