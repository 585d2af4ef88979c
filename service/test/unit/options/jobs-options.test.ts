import { expect, test } from "vitest";
import { parseJobsOptions } from "../../../src/options/jobs-options.ts";

const job = "job_00000000-0000-0000-0000-000000000001";
const parse = (line: string) => parseJobsOptions(line.split(" "));
const store = { file: "jobs.sqlite" };

test("reads commands for jobs, and leaves other command lines alone", () => {
  expect(parse("jobs list --store jobs.sqlite")).toEqual({ command: { command: "list" }, store });
  expect(parse("jobs list failed --project docs --store postgres://db/agents")).toEqual({
    command: { command: "list", status: "failed", projects: ["docs"] },
    store: { url: "postgres://db/agents" },
  });
  expect(parse(`jobs stop ${job} 7 --store jobs.sqlite`)).toEqual({
    command: { command: "stop", job, turn: 7 },
    store,
  });
  expect(parse(`jobs stop ${job} --store jobs.sqlite`)).toEqual({ command: { command: "stop", job }, store });
  expect(parse(`jobs retry ${job} --store jobs.sqlite`)).toEqual({ command: { command: "retry", job }, store });
  expect(parse("--store jobs.sqlite")).toBeUndefined();
});

test.each([
  ["jobs list", "jobs requires --store"],
  ["jobs --store a", "jobs must be followed by"],
  ["jobs list late --store a", "jobs list takes one of active"],
  ["jobs stop job_1 --store a", "jobs must be followed by"],
  [`jobs stop ${job} x --store a`, "x is not a turn."],
  [`jobs retry ${job} 7 --store a`, "jobs must be followed by"],
  [`jobs retry ${job} --project docs --store a`, "--project is an option of jobs list."],
])("rejects %s", (line, reason) => {
  expect(parse(line)).toEqual({ error: expect.stringContaining(reason) });
});
