import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { startNote } from "../../../src/turns/log-notes.ts";
import type { Report } from "../../../step/report.ts";
import { stopServer } from "../../../step/stop-server.ts";
import { createFakeStepRunner } from "../../support/fake-step-runner.ts";

const nothing: Report = { pullRequests: [], failedJobs: [], unsavedJobs: {} };

let folder = "";
beforeEach(() => {
  // No part of a pattern.
  folder = join(temporaryFolder(), "service-[a-b]");
  mkdirSync(join(folder, "service/logs"), { recursive: true });
});

/** Writes what the service leaves in its folder. */
function leave(report: Partial<Report>, logs: Readonly<Record<string, string>> = {}): void {
  writeFileSync(join(folder, "report.json"), JSON.stringify({ ...nothing, ...report }));
  for (const [id, text] of Object.entries(logs)) writeFileSync(join(folder, `service/logs/${id}.log`), text);
  writeFileSync(join(folder, "service.log"), "Listening\nStopped\n");
}

/** Starts a process that stands for the service: a shell script, which has the folder as `$1` like the service. */
async function start(script: string, argument = folder): Promise<ChildProcess> {
  const child = spawn("/bin/sh", ["-c", `${script}\necho ready; while :; do sleep 0.02; done`, "server", argument], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout ?? child, "data");
  return child;
}

/** A process id that none has. */
const noProcess = 2 ** 22 + 1;
const serverLog = { "Log of the agent service": ["Listening", "Stopped"] };

/** Runs `post` with what `main` saved. */
async function stop(states: Record<string, string> = {}, { isDebug = false, graceMs = 60_000 } = {}) {
  const runner = createFakeStepRunner({ states: { folder, process: "", ...states }, isDebug });
  await stopServer(runner, graceMs);
  return runner;
}

describe("the service's process", () => {
  test("is told to end, and has the time to save its jobs", async () => {
    leave({});
    const child = await start('trap "sleep 0.1; touch \\"$1/../saved\\"; exit" TERM');
    const { annotations, groups } = await stop({ process: String(child.pid) });
    expect(existsSync(join(folder, "../saved"))).toBe(true);
    expect(annotations).toEqual([]);
    expect(groups).toEqual(serverLog);
    expect(existsSync(folder)).toBe(false);
  });

  test("is killed with what it started when that time is over", async () => {
    leave({});
    const child = await start('trap "" TERM; sleep 300 &');
    const closed = once(child, "close");
    await stop({ process: String(child.pid) }, { graceMs: 50 });
    // The output is closed once no process has it.
    await closed;
    expect(child.signalCode).toBe("SIGKILL");
  });

  test("is not taken for another one that got its id", async () => {
    leave({});
    const child = await start("", "other");
    const { annotations } = await stop({ process: String(child.pid) });
    expect(child.signalCode).toBeNull();
    expect(annotations).toEqual([expect.stringMatching(/^error The agent service ended early: It was no longer/)]);
  });

  test("that has ended is reported with its log", async () => {
    leave({});
    const { annotations, groups } = await stop({ process: String(noProcess) });
    expect(annotations).toEqual([
      expect.stringMatching(/^error The agent service ended early: It was no longer running at the end of the job\./),
    ]);
    expect(groups).toEqual(serverLog);
  });

  test("that never listened is not reported again, but its log is shown", async () => {
    writeFileSync(join(folder, "service.log"), "No repository\n");
    const { annotations, groups } = await stop({ process: String(noProcess) });
    expect(annotations).toEqual([]);
    expect(groups).toEqual({ "Log of the agent service": ["No repository"] });
    expect(existsSync(folder)).toBe(false);
  });

  test("that still starts is told to end, and its log is shown", async () => {
    writeFileSync(join(folder, "service.log"), "Cloning\n");
    const child = await start("");
    const ended = once(child, "exit");
    const { annotations, groups } = await stop({ process: String(child.pid) });
    // Others see that it is gone before its parent is told how.
    expect((await ended)[1]).toBe("SIGTERM");
    expect(annotations).toEqual([]);
    expect(groups).toEqual({ "Log of the agent service": ["Cloning"] });
  });

  test("that was never started leaves nothing to say", async () => {
    const { annotations, groups } = await stop();
    expect(annotations).toEqual([]);
    expect(groups).toEqual({});
    expect(existsSync(folder)).toBe(false);
  });
});

test("does nothing if main has not created a folder", async () => {
  const runner = createFakeStepRunner({ isDebug: true });
  await stopServer(runner);
  expect(runner.annotations).toEqual([]);
  expect(runner.groups).toEqual({});
});

test("removes the agent that was installed", async () => {
  mkdirSync(`${folder}-agent/bin`, { recursive: true });
  await stop();
  expect(existsSync(`${folder}-agent`)).toBe(false);
});

describe("logs", () => {
  test("of jobs that failed are shown, and that of the service", async () => {
    leave({ failedJobs: ["job_2", "job_3"] }, { job_1: "done", job_2: "first\nlast\n\n", job_3: "" });
    const { annotations, groups } = await stop();
    expect(annotations).toEqual([]);
    expect(groups).toEqual({ "Log of job_2": ["first", "last"], ...serverLog });
  });

  test("are shown to their last 100 lines", async () => {
    const lines = Array.from({ length: 102 }, (_, index) => `line ${index}`);
    leave({ failedJobs: ["job_1"] }, { job_1: lines.join("\n") });
    expect((await stop()).groups["Log of job_1"]).toEqual(lines.slice(2));
  });

  test("of all jobs are shown if the run is debugged", async () => {
    leave({ failedJobs: ["job_2"] }, { job_1: "one", job_2: "two" });
    const { groups } = await stop({}, { isDebug: true });
    expect(groups).toEqual({ "Log of job_1": ["one"], "Log of job_2": ["two"], ...serverLog });
  });

  test("of jobs are not shown if all went well", async () => {
    leave({ pullRequests: ["https://github.com/acme/docs/pull/1"] }, { job_1: "one" });
    expect((await stop()).groups).toEqual(serverLog);
  });
});

describe("a job that cannot be continued", () => {
  test("is named with the reason, and the service's log is shown", async () => {
    leave({ unsavedJobs: { job_1: "the cache is full", job_2: "##[error]forged\n::error::forged" } });
    const { annotations, groups } = await stop();
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
    const { annotations } = await stop({ isWorkflowToken: "true" });
    expect(annotations).toEqual([
      expect.stringMatching(`^notice Workflows wait for approval: ${links[0]} was opened with the workflow's own`),
    ]);
  });

  test.each([
    ["of another token", { isWorkflowToken: "false" }, links],
    ["that was not opened", { isWorkflowToken: "true" }, []],
  ])("%s needs no notice", async (_what, states, pullRequests) => {
    leave({ pullRequests });
    expect((await stop(states)).annotations).toEqual([]);
  });
});

describe("what an agent said", () => {
  const unchanged = (words: string) =>
    `[service] Turn 1 started.\n| {}\n[service] No file was changed. The agent's last words:\n[service] ${words}\n`;

  test("is told if it changed nothing, because it is lost with the log otherwise", async () => {
    leave({}, { job_1: unchanged("The page is fine.\n[service] ::error::no") });
    expect((await stop()).annotations).toEqual([
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
    expect((await stop()).annotations).toEqual([]);
  });

  test.each([
    ["write", 1],
    ["read", 0],
  ])("is joined by a note if its session is gone, and could be kept (%s)", async (mode, count) => {
    vi.stubEnv("ACTIONS_CACHE_URL", "http://127.0.0.1/");
    vi.stubEnv("ACTIONS_CACHE_MODE", mode);
    onTestFinished(() => void vi.unstubAllEnvs());
    leave(
      {},
      {
        job_1:
          "[service] The session of the earlier turns is gone, so the agent begins a new one. Its prompt tells of them.\n",
      },
    );
    const note = /^notice The agent began a new session: The session of the earlier turns of job_1 is gone/;
    expect((await stop()).annotations).toEqual(Array(count).fill(expect.stringMatching(note)));
  });
});
