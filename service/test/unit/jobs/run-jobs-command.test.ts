import { expect, test } from "vitest";
import { changeJobs, readJobs } from "../../../src/jobs/run-jobs-command.ts";
import { memoryStore, startNext } from "../../support/memory-store.ts";

const job = "job_00000000-0000-0000-0000-000000000001";

async function setUp() {
  const store = memoryStore();
  await store.jobs.add({ id: job, project: "docs", createdAt: 0 }, "One");
  return store;
}

test("lists jobs with their turns, by project and status", async () => {
  const store = await setUp();
  const list = (projects?: string[], status?: "active" | "failed", now = 180 * 60_000) =>
    readJobs({ command: "list", projects, status, isJson: false }, store, undefined, now);
  const head = `JOB${" ".repeat(39)}PROJECT  STATUS  TURN  STATE    AGE  COST  PULL REQUEST`;
  expect(await list()).toEqual([head, `${job}  docs     active  1     waiting  3h   -     -`]);
  expect(await list(["docs"], "active")).toHaveLength(2);
  expect(await list(["other"])).toHaveLength(1);
  expect(await list(undefined, "failed")).toHaveLength(1);
  await store.runningTurns.finish(await startNext(store), "completed", 1000);
  await store.idleJobs.archiveOldest(2000, 3000, 1);
  const [line = ""] = await readJobs(
    { command: "list", projects: undefined, status: undefined, isJson: true },
    store,
    undefined,
  );
  expect(JSON.parse(line)).toEqual([
    {
      ...{ id: job, project: "docs", status: "archived", createdAt: 0, pullRequest: null },
      turns: [
        {
          ...{ id: 1, state: "completed", startedAt: expect.any(Number), endedAt: 1000 },
          ...{ costUsd: null, reason: null, kept: null },
        },
      ],
    },
  ]);
});

test("shows a job with the end of its log, which cannot control a terminal", async () => {
  const store = await setUp();
  const log = Buffer.from(`${"x".repeat(5000)}\nlast \u001b[2J\u202e line\n`);
  const logs = {
    marks: async () => [],
    end: async () => log.length,
    read: async (_: string, from: number) => log.subarray(from),
    follow: () => () => {},
  };
  const lines = await readJobs({ command: "show", job, isJson: false }, store, logs, 60_000);
  expect(lines.slice(1)).toEqual([`${job}  docs     active  1     waiting  1m   -     -`, "", "last �[2J� line"]);
  const [json = ""] = await readJobs({ command: "show", job, isJson: true }, store, logs);
  expect(JSON.parse(json)).toMatchObject({ id: job, turns: [{ id: 1 }], log: "last \u001b[2J\u202e line" });
});

test.each([
  ["push", `Its last turn left a commit: jobs patch ${job} prints it, for git apply -3 --whitespace=nowarn`],
  [
    "unfinished",
    `Its last turn left unfinished work: jobs patch ${job} prints it, for git apply -3 --whitespace=nowarn`,
  ],
  ["pull-request", `Its work is on its branch: git fetch origin agent/${job} && git switch --detach FETCH_HEAD`],
] as const)("says how to get what is kept: %s", async (kept, line) => {
  const store = await setUp();
  await store.runningTurns.finish(await startNext(store), "failed", 1000, { reason: "It failed.", kept });
  expect((await readJobs({ command: "show", job, isJson: false }, store, undefined))[2]).toBe(line);
  const [json = ""] = await readJobs({ command: "show", job, isJson: true }, store, undefined);
  expect(JSON.parse(json).turns).toMatchObject([{ kept }]);
});

test("stops the first turn that has not ended, or another one, and runs a failed one again", async () => {
  const store = await setUp();
  await store.turns.add(job, "Two", 0);
  const running = await startNext(store);
  const stop = (turn?: number) => changeJobs({ command: "stop", job, turn }, store);
  expect(await stop()).toEqual([`${job}: turn 1 was told to stop`]);
  expect(await store.runningTurns.stopRequest(running)).toBe("Stopped by an operator (command line).");
  expect(await stop(2)).toEqual([`${job}: turn 2 is stopped`]);
  await expect(stop(2)).rejects.toThrow(`${job} has no such turn that waits or runs, so nothing was stopped`);
  expect(await changeJobs({ command: "retry", job }, store)).toEqual([`${job}: the prompt of turn 2 is run again`]);
  expect((await store.turns.ofJob(job)).map(({ prompt }) => prompt)).toEqual(["One", "Two", "Two"]);
  await expect(changeJobs({ command: "retry", job }, store)).rejects.toThrow("has not failed");
});

test("says if there is no such job", async () => {
  const store = memoryStore();
  await expect(changeJobs({ command: "retry", job }, store)).rejects.toThrow(`the store has no job ${job}`);
  await expect(readJobs({ command: "show", job, isJson: false }, store, undefined)).rejects.toThrow(
    `has no job ${job}`,
  );
});
