import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { Retention, type RetentionOptions } from "../../../src/upkeep/retention.ts";

const dayMs = 86_400_000;
const now = Date.UTC(2026, 0, 10);

function setUp(options: Partial<RetentionOptions> = {}) {
  const folder = temporaryFolder();
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const log: string[] = [];
  const forgotten: string[] = [];
  const retention = new Retention({
    store,
    folder,
    forgetJobs: async (ids) => void forgotten.push(...ids),
    afterDays: 7,
    signal: new AbortController().signal,
    log: (line) => void log.push(line),
    ...options,
  });
  const paths = (id: string) => [join(folder, "jobs", id), join(folder, "logs", `${id}.log`)];
  /** Adds a job with its files, idle for some days. */
  const addIdle = async (id: string, days: number) => {
    await store.jobs.add({ id, project: id, createdAt: 0 }, "Go on");
    const turn = await store.runningTurns.startNext();
    if (!turn) throw new Error("no turn is ready");
    await store.runningTurns.finish(turn, "completed", now - days * dayMs);
    mkdirSync(join(folder, "jobs", id, "home"), { recursive: true });
    mkdirSync(join(folder, "logs"), { recursive: true });
    for (const file of [join(folder, "jobs", id, "home/session"), join(folder, "logs", `${id}.log`)])
      writeFileSync(file, "");
  };
  const existing = (id: string) => paths(id).filter((path) => existsSync(path)).length;
  return { store, folder, retention, log, forgotten, addIdle, existing };
}

test("deletes nothing for a while after its first round, when the clock may be wrong", async () => {
  const { store, retention, addIdle } = setUp({ startAfterMs: 1000 });
  await addIdle("old", 8);
  for (const time of [now, now + 999, now - dayMs]) {
    await retention.run(time);
    expect((await store.jobs.find("old"))?.id).toBe("old");
  }
  await retention.run(now + 1000);
  expect(await store.jobs.find("old")).toBeUndefined();
});

test("deletes jobs that are idle for long enough, with their files and commits", async () => {
  const { store, retention, log, forgotten, addIdle, existing } = setUp();
  await addIdle("old", 7);
  await addIdle("new", 6.9);
  await addIdle("again", 8);
  await store.turns.add("again", "More", 0);
  await retention.run(now);
  const jobs = await Promise.all(["old", "new", "again"].map((id) => store.jobs.find(id)));
  expect(jobs.map((job) => job?.id)).toEqual([undefined, "new", "again"]);
  expect(["old", "new", "again"].map(existing)).toEqual([0, 2, 2]);
  expect(forgotten).toEqual(["old"]);
  expect(await store.idleJobs.deleted(10)).toEqual([]);
  expect(log).toEqual(["Deleted, idle for 7 days: old"]);
  await retention.run(now);
  expect(log).toHaveLength(1);
});

test("deletes no job whose turn may be of the last hour, by which the hourly limits count", async () => {
  const { store, retention, addIdle } = setUp({ afterDays: 0.01 });
  await addIdle("recent", 0.99 / 24);
  await addIdle("old", 1 / 24);
  await retention.run(now);
  expect([(await store.jobs.find("recent"))?.id, await store.jobs.find("old")]).toEqual(["recent", undefined]);
});

test("deletes nothing if no number of days is set", async () => {
  const { store, retention, addIdle } = setUp({ afterDays: undefined });
  await addIdle("old", 1000);
  await retention.run(now);
  expect((await store.jobs.find("old"))?.id).toBe("old");
});

test("deletes many jobs, and names some of them", async () => {
  const { store, retention, log, forgotten, addIdle } = setUp({ afterDays: 1 });
  for (let index = 0; index < 45; index++) await addIdle(`job_${index}`, 100 - index);
  await retention.run(now);
  expect((await store.counts.total()).jobs).toBe(0);
  expect(forgotten).toHaveLength(45);
  expect(log).toEqual([expect.stringMatching(/^Deleted, idle for 1 day: job_0, job_1, .*, job_19 and 25 more$/)]);
});

test("lets other work go on between batches", async () => {
  const { store, retention, addIdle } = setUp();
  for (let index = 0; index < 100; index++) await addIdle(`job_${index}`, 100);
  const seen: number[] = [];
  const { deleteOldest } = store.idleJobs;
  store.idleJobs.deleteOldest = async (...args) => {
    const ids = await deleteOldest.apply(store.idleJobs, args);
    // Whatever waits for the event loop runs before the next batch.
    if (ids.length > 0) setImmediate(() => void store.counts.total().then(({ jobs }) => seen.push(jobs)));
    return ids;
  };
  await retention.run(now);
  expect(seen).toEqual([80, 60, 40, 20, 0]);
});

test("tries again what could not be removed, also after a restart, and logs each outage once", async () => {
  let isBroken = true;
  const { store, folder, retention, log, forgotten, addIdle } = setUp({
    forgetJobs: async (ids) => {
      if (isBroken) throw new Error("refs are locked");
      forgotten.push(...ids);
    },
  });
  await addIdle("old", 8);
  for (let round = 0; round < 2; round++) await retention.run(now);
  expect(await store.jobs.find("old")).toBeUndefined();
  expect(log.slice(1)).toEqual([
    `Cannot remove the files of deleted jobs from ${folder}, trying again every minute: refs are locked`,
  ]);
  isBroken = false;
  await retention.run(now);
  expect(forgotten).toEqual(["old"]);
  expect(log.slice(2)).toEqual(["The files of deleted jobs can be removed again."]);
});

test("deletes nothing more when the service stops", async () => {
  const stop = new AbortController();
  const { store, retention, log, addIdle } = setUp({ signal: stop.signal });
  await addIdle("old", 8);
  stop.abort();
  await retention.run(now);
  expect((await store.jobs.find("old"))?.id).toBe("old");
  expect(log).toEqual([]);
});
