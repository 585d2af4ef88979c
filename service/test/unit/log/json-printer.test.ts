import { expect, test } from "vitest";
import { createJsonPrinter } from "../../../src/log/json-printer.ts";
import { withLogContext } from "../../../src/log/log-context.ts";

/** A printer to a disk that is full while the test says so. */
function setUp() {
  const disk = { output: "", isFull: false };
  const printer = createJsonPrinter((bytes) => {
    if (disk.isFull) throw Object.assign(new Error("full"), { code: "ENOSPC" });
    disk.output += bytes.toString();
    return bytes.length;
  });
  const lines = () =>
    disk.output
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...printer, disk, lines };
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test("prints one object per line, with its level", () => {
  const { log, disk, lines } = setUp();
  log("Started");
  log("job_1: turn 3 failed", "warn");
  log('Error: "x"\n    at line 2', "error");
  expect(disk.output.match(/\n/g)).toHaveLength(3);
  expect(lines()).toEqual([
    { level: "info", time, msg: "Started" },
    { level: "warn", time, msg: "job_1: turn 3 failed" },
    { level: "error", time, msg: 'Error: "x"\n    at line 2' },
  ]);
});

test("adds what a line is about, also after a wait, and nothing of what the work began in", async () => {
  const { log, logEvent, lines } = setUp();
  await withLogContext({ request: "r1" }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    logEvent("create accepted", { job: "job_1", turn: 3 });
    await withLogContext({ job: "job_2", turn: 1 }, async () => log("started"));
    log("later");
  });
  log("outside");
  expect(lines()).toEqual([
    { level: "info", time, request: "r1", job: "job_1", turn: 3, msg: "create accepted" },
    { level: "info", time, job: "job_2", turn: 1, msg: "started" },
    { level: "info", time, request: "r1", msg: "later" },
    { level: "info", time, msg: "outside" },
  ]);
});

test("goes on after lines that could not be printed, and says so in JSON", () => {
  const { log, disk, lines } = setUp();
  disk.isFull = true;
  for (const line of ["first", "second"]) log(line);
  disk.isFull = false;
  log("third");
  expect(lines()).toEqual([
    { level: "warn", time, msg: "Lines that could not be written here: 2" },
    { level: "info", time, msg: "third" },
  ]);
});
