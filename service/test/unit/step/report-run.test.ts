import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { startNote } from "../../../src/turns/log-notes.ts";
import { Report } from "../../../step/report.ts";
import { reportRun } from "../../../step/report-run.ts";
import { createFakeStepRunner } from "../../support/fake-step-runner.ts";

let folder = "";
let report: Report;
beforeEach(() => {
  // No part of a pattern.
  folder = join(temporaryFolder(), "service-[a-b]");
  mkdirSync(join(folder, "service/logs"), { recursive: true });
  report = new Report();
});

interface Told {
  pullRequests?: string[];
  failedJobs?: string[];
  unsavedJobs?: Record<string, string>;
}

/** Sets what the service tells and leaves in its folder. */
function leave(told: Told, logs: Readonly<Record<string, string>> = {}): void {
  const { pullRequests = [], failedJobs = [], unsavedJobs = {} } = told;
  report = Object.assign(new Report(), { pullRequests, failedJobs, unsavedJobs: new Map(Object.entries(unsavedJobs)) });
  for (const [id, text] of Object.entries(logs)) writeFileSync(join(folder, `service/logs/${id}.log`), text);
  writeFileSync(join(folder, "service.log"), "Listening\nStopped\n");
}

const serverLog = { "Log of the agent service": ["Listening", "Stopped"] };

async function end({ isWorkflowToken = false, isOwnRepository = true, environment = {} as NodeJS.ProcessEnv } = {}) {
  const runner = createFakeStepRunner();
  const secrets = [{ name: "KEY", value: "0123456789abcdef" }];
  const transcript = `${folder}.transcript`;
  const workFile = `${folder}.patch`;
  const run = { folder, report, isWorkflowToken, isOwnRepository, environment, secrets, transcript, workFile };
  await reportRun(runner, run);
  return runner;
}

test("a service that never started leaves its log, and nothing else to say", async () => {
  writeFileSync(join(folder, "service.log"), "No repository\n");
  const { annotations, groups } = await end();
  expect(annotations).toEqual([]);
  expect(groups).toEqual({ "Log of the agent service": ["No repository"] });
  expect(existsSync(folder)).toBe(false);
});

test("work that is kept nowhere is left in a file, and said to be there only", async () => {
  leave({});
  report.unkeptWork.set("job_1", Buffer.from("change\n")).set("job_2", Buffer.from("other\n"));
  const { annotations } = await end();
  expect(annotations).toEqual([expect.stringContaining("Work is only in a file on this runner")]);
  // A run keeps the workflow file that it began with.
  expect(annotations[0]).toContain("only a step that this run already has");
  expect(readFileSync(`${folder}.patch`, "utf8")).toBe("change\nother\n");
  expect(statSync(`${folder}.patch`).mode & 0o777).toBe(0o600);
  rmSync(`${folder}.patch`);
});

test("a file of work that could be written only in part is none", async () => {
  leave({});
  report.unkeptWork.set("job_1", Buffer.from("change\n"));
  // As with a full disk, it is there and cannot be written.
  writeFileSync(`${folder}.patch`, "chan");
  const { annotations } = await end();
  expect(annotations).toEqual([expect.stringContaining("The work file is missing")]);
  expect(existsSync(`${folder}.patch`)).toBe(false);
});

test("removes the agent that was installed", async () => {
  mkdirSync(`${folder}-agent/bin`, { recursive: true });
  await end();
  expect(existsSync(`${folder}-agent`)).toBe(false);
});

describe("logs", () => {
  test("of jobs that failed, or have not ended, are shown, and that of the service", async () => {
    leave({ failedJobs: ["job_2", "job_3"] }, { job_1: "done", job_2: "first\nlast\n\n", job_3: "", job_4: "waits" });
    report.openJobs.add("job_4");
    const { annotations, groups } = await end();
    expect(annotations).toEqual([]);
    expect(groups).toEqual({ "Log of job_2": ["first", "last"], "Log of job_4": ["waits"], ...serverLog });
  });

  test("are shown to their last 100 lines", async () => {
    const lines = Array.from({ length: 102 }, (_, index) => `line ${index}`);
    leave({ failedJobs: ["job_1"] }, { job_1: lines.join("\n") });
    expect((await end()).groups["Log of job_1"]).toEqual(lines.slice(2));
  });

  test("of all jobs are shown if the run is debugged", async () => {
    leave({ failedJobs: ["job_2"] }, { job_1: "one", job_2: "two" });
    const { groups } = await end({ environment: { RUNNER_DEBUG: "1" } });
    expect(groups).toEqual({ "Log of job_1": ["one"], "Log of job_2": ["two"], ...serverLog });
  });

  test("of jobs are not shown if all went well", async () => {
    leave({ pullRequests: ["https://github.com/acme/docs/pull/1"] }, { job_1: "one" });
    expect((await end()).groups).toEqual(serverLog);
  });
});

describe("the transcript", () => {
  test("has the log of a job and all events, without secrets, for the runner's user alone", async () => {
    leave({}, { job_1: "| → Bash echo 01234567\n| 89abcdef\n" });
    mkdirSync(join(folder, "service/jobs/job_1"), { recursive: true });
    writeFileSync(join(folder, "service/jobs/job_1/events.jsonl"), '{"key":"0123456789abcdef"}\n');
    await end();
    const file = `${folder}.transcript`;
    expect(readFileSync(file, "utf8")).toBe(
      `| → Bash echo ${"*".repeat(8)}\n| ${"*".repeat(8)}\n\n{"key":"${"*".repeat(16)}"}\n`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is missing without a job, and a file that cannot be written is named", async () => {
    leave({});
    expect((await end()).annotations).toEqual([]);
    expect(existsSync(`${folder}.transcript`)).toBe(false);
    mkdirSync(join(folder, "service/logs"), { recursive: true });
    leave({}, { job_1: "one" });
    writeFileSync(`${folder}.transcript`, "somebody's own");
    expect((await end()).annotations).toEqual([expect.stringMatching(/^warning The log file is missing: .*EEXIST/)]);
    expect(readFileSync(`${folder}.transcript`, "utf8")).toBe("somebody's own");
  });
});

describe("a job that cannot be continued", () => {
  test("is named with the reason, and the service's log is shown", async () => {
    leave({ unsavedJobs: { job_1: "the cache is full", job_2: "##[error]forged\n::error::forged" } });
    const { annotations, groups } = await end();
    expect(annotations).toEqual([
      "warning Jobs cannot be continued by a later run: They could not be saved in the Actions cache. job_1: the cache is full. job_2: ##\\[error]forged\\u{a}::error::forged.",
    ]);
    expect(groups).toEqual(serverLog);
  });
});

describe("a pull request", () => {
  const links = ["https://github.com/acme/docs/pull/1", "https://github.com/acme/docs/pull/2"];

  test("of the workflow's own token gets no workflow runs", async () => {
    leave({ pullRequests: links });
    const { annotations } = await end({ isWorkflowToken: true });
    expect(annotations).toEqual([
      expect.stringMatching(`^notice Workflows wait for approval: ${links[0]} was opened with the workflow's own`),
    ]);
  });

  test.each([
    ["of another token", { isWorkflowToken: false }, links],
    ["that was not opened", { isWorkflowToken: true }, []],
  ])("%s needs no notice", async (_what, states, pullRequests) => {
    leave({ pullRequests });
    expect((await end(states)).annotations).toEqual([]);
  });
});

describe("what an agent said", () => {
  const unchanged = (words: string) =>
    `[service] Turn 1 started.\n| {}\n[service] No file was changed. The agent's last words:\n[service] ${words}\n`;

  test("is told if it changed nothing, because it is lost with the log otherwise", async () => {
    leave({}, { job_1: unchanged("The page is fine.\n[service] ::error::no") });
    expect((await end()).annotations).toEqual([
      expect.stringMatching(/^notice The agent changed nothing: Its last words: The page is fine\./),
    ]);
  });

  test.each([
    { id: 2, step: "", request: "r" },
    { id: 2, step: "abc", request: "def" },
    { id: 1_795_354_011_232_344, step: "abc", request: "def" },
  ])("is not told if a later turn of the job (%o) changed something, or if it said nothing", async (later) => {
    leave(
      {},
      {
        job_1: `${unchanged("Nothing.")}[service] ${startNote(later)}\n[service] Pull request: https://example.com/1\n`,
        job_2: "[service] Turn 3 started.\n[service] No file was changed.\n",
      },
    );
    expect((await end()).annotations).toEqual([]);
  });

  test("is joined by a note if others have published its change first", async () => {
    const note = "Nothing of the change was left to publish: agent/1 has it already, by another commit.";
    leave({}, { job_1: `[service] Turn 1 started.\n[service] ${note}\n` });
    expect((await end()).annotations).toEqual([`notice The change was there already: ${note}`]);
  });

  test.each([
    ["write", true, 1],
    ["read", true, 0],
    ["write", false, 0],
  ])("is joined by a note if its session is gone, and could be kept (%s, %s)", async (mode, isOwnRepository, count) => {
    const environment = { ACTIONS_CACHE_URL: "http://127.0.0.1/", ACTIONS_CACHE_MODE: mode };
    leave(
      {},
      {
        job_1:
          "[service] The session of the earlier turns is gone, so the agent begins a new one. Its prompt tells of them.\n",
      },
    );
    const note = /^notice The agent began a new session: The session of the earlier turns of job_1 is gone/;
    expect((await end({ environment, isOwnRepository })).annotations).toEqual(
      Array(count).fill(expect.stringMatching(note)),
    );
  });
});
