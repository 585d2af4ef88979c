import { expect, test } from "vitest";
import { runJobsCommand } from "../../../src/jobs/run-jobs-command.ts";
import { memoryStore, startNext } from "../../support/memory-store.ts";

const job = "job_00000000-0000-0000-0000-000000000001";

async function setUp() {
  const store = memoryStore();
  await store.jobs.add({ id: job, project: "docs", createdAt: 0 }, "One");
  return store;
}

test("lists jobs by project and status", async () => {
  const store = await setUp();
  const list = (projects?: string[], status?: "active" | "failed") =>
    runJobsCommand({ command: "list", projects, status }, store);
  expect(await list()).toEqual([`${job}  active     1970-01-01T00:00:00.000Z  docs  1 turn  -`]);
  expect(await list(["docs"], "active")).toHaveLength(1);
  expect(await list(["other"])).toEqual([]);
  expect(await list(undefined, "failed")).toEqual([]);
  await store.runningTurns.finish(await startNext(store), "completed", 1000);
  await store.idleJobs.archiveOldest(2000, 3000, 1);
  expect(await list()).toEqual([`${job}  archived   1970-01-01T00:00:00.000Z  docs  1 turn  -`]);
});

test("stops the first turn that has not ended, or another one, and runs a failed one again", async () => {
  const store = await setUp();
  await store.turns.add(job, "Two", 0);
  const running = await startNext(store);
  const stop = (turn?: number) => runJobsCommand({ command: "stop", job, turn }, store);
  expect(await stop()).toEqual([`${job}: turn 1 was told to stop`]);
  expect(await store.runningTurns.stopRequest(running)).toBe("Stopped by an operator (command line).");
  expect(await stop(2)).toEqual([`${job}: turn 2 is stopped`]);
  await expect(stop(2)).rejects.toThrow(`${job} has no such turn that waits or runs, so nothing was stopped`);
  expect(await runJobsCommand({ command: "retry", job }, store)).toEqual([`${job}: the prompt of turn 2 is run again`]);
  expect((await store.turns.ofJob(job)).map(({ prompt }) => prompt)).toEqual(["One", "Two", "Two"]);
  await expect(runJobsCommand({ command: "retry", job }, store)).rejects.toThrow("has not failed");
});

test("says if there is no such job", async () => {
  const store = memoryStore();
  await expect(runJobsCommand({ command: "retry", job }, store)).rejects.toThrow(`the store has no job ${job}`);
});
