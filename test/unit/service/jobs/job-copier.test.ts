import { expect, test } from "vitest";
import { JobCopier } from "../../../../src/service/jobs/job-copier.ts";
import { openSqliteStore } from "../../../../src/service/store/sqlite/open-store.ts";
import { MemoryCopies } from "../../../support/memory-copies.ts";
import { temporaryFolder } from "../../../support/step.ts";

function setUp() {
  const folder = temporaryFolder();
  const store = openSqliteStore(":memory:");
  const copies = new MemoryCopies(folder);
  const log: string[] = [];
  const copier = new JobCopier({ copies, store, folder, log: (line) => void log.push(line) });
  return { store, copies, copier, log };
}

test("logs that a job cannot be saved if the store cannot be read", async () => {
  const { store, copies, copier, log } = setUp();
  await store.addJob({ id: "a", project: "docs", createdAt: 0 }, "Go on");
  await store[Symbol.asyncDispose]();
  copier.save("a");
  await copier.settle();
  expect(log).toEqual([expect.stringMatching(/^a: cannot be saved for later services: \S/)]);
  expect(copies.saves).toEqual([]);
});

test("restores a job once, however many ask for it at the same time, and its turn can be started", async () => {
  const { store, copies, copier, log } = setUp();
  const id = "job_00000000-0000-4000-8000-000000000000";
  const turn = { id: 7, prompt: "Go on", state: "running" as const, attempts: 1, endedAt: null, answer: null };
  const job = { id, project: "docs", createdAt: 5, archivedAt: null, pullRequest: null, head: null, turns: [turn] };
  await copies.save(job, temporaryFolder());
  let announcements = 0;
  store.onReady(() => announcements++);
  await Promise.all([copier.restore(id), copier.restore(id)]);
  await copier.restore(id);
  expect(log).toEqual([`${id}: restored`]);
  expect(announcements).toBeGreaterThan(0);
  expect(await store.startNextTurn()).toMatchObject({ id: 7, job: id, attempts: 1 });
  expect(await store.startNextTurn()).toBeUndefined();
});
