import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { jobLogFile, logsFolder, logTimesFile, removeLog } from "../../../src/service-folder.ts";
import { LogFiles } from "../../../src/store/log-files.ts";
import { LogTimes } from "../../../src/store/log-times.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

function setUp() {
  const folder = temporaryFolder();
  mkdirSync(logsFolder(folder));
  const machine = new FakeMachine(1000);
  const file = jobLogFile(folder, "job_1");
  const marks = () => new LogFiles(folder).marks("job_1");
  /** Runs a turn that appends a text at each of some times. */
  const run = async (turn: number, writes: readonly (readonly [at: number, text: string])[]) => {
    await using _times = new LogTimes({ id: turn, job: "job_1" }, folder, machine, 1);
    for (const [at, text] of writes) {
      const before = (await marks()).length;
      machine.setWallTime(at);
      appendFileSync(file, text);
      await expect.poll(marks).toHaveLength(before + 1);
    }
  };
  return { folder, file, machine, run, marks };
}

test("says which turn wrote which part of a log, and when", async () => {
  const { file, run, marks } = setUp();
  appendFileSync(file, "of an earlier service\n");
  await run(1, [
    [2000, "one\n"],
    [5000, "two\n"],
  ]);
  await run(2, []);
  await run(3, [[9000, "three\n"]]);
  expect(await marks()).toEqual([
    { turn: 1, start: 22, at: 2000 },
    { turn: 1, start: 26, at: 5000 },
    { turn: 3, start: 30, at: 9000 },
  ]);
});

test("records what was appended last when the turn ends", async () => {
  const { folder, file, machine, marks } = setUp();
  {
    await using _times = new LogTimes({ id: 7, job: "job_1" }, folder, machine, 3_600_000);
    await marks();
    appendFileSync(file, "one\n");
  }
  expect(await marks()).toEqual([{ turn: 7, start: 0, at: 1000 }]);
});

test("is nothing if nothing was recorded, or cannot be", async () => {
  const { folder, file, machine, marks } = setUp();
  expect(await marks()).toEqual([]);
  mkdirSync(logTimesFile(folder, "job_1"), { recursive: true });
  {
    await using _times = new LogTimes({ id: 7, job: "job_1" }, folder, machine, 1);
    appendFileSync(file, "one\n");
  }
  expect(await marks()).toEqual([]);
});

test("is removed with the log", async () => {
  const { folder, file, run } = setUp();
  await run(1, [[2000, "one\n"]]);
  await removeLog(folder, "job_1");
  await removeLog(folder, "job_1");
  expect([file, logTimesFile(folder, "job_1")].map((path) => existsSync(path))).toEqual([false, false]);
});
