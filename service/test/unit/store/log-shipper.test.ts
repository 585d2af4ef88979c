import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { RunningTurn } from "../../../src/model.ts";
import { LogShipper, type LogShipperOptions } from "../../../src/store/log-shipper.ts";
import { StoreUnavailable } from "../../../src/store-errors.ts";
import { MemoryLogs } from "../../support/memory-logs.ts";
import { identityOf } from "../../support/turn-identity.ts";

const turn: RunningTurn = {
  id: 7,
  identity: identityOf(7),
  job: "job_1",
  prompt: "Fix it",
  attempts: 0,
  sections: "",
  covers: null,
  step: "",
  request: "r",
  lease: "a",
  isResumed: false,
};

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

const fail = (error: Error) => () => Promise.reject(error);

/** A shipper that only writes when it is flushed, unless it has another interval. */
function setUp(options: Partial<LogShipperOptions> = {}, before = "") {
  const file = join(temporaryFolder(), "job_1.log");
  if (before !== "") appendFileSync(file, before);
  const logs = new MemoryLogs();
  const log: string[] = [];
  const create = (changed: Partial<LogShipperOptions> = {}) => {
    const line = (text: string) => void log.push(text);
    const shipper = new LogShipper({ turn, file, logs, log: line, intervalMs: 1_000_000, ...options, ...changed });
    onTestFinished(() => shipper[Symbol.dispose]());
    return shipper;
  };
  const write = (text: string) => appendFileSync(file, text);
  return { file, logs, log, create, shipper: create(), write };
}

test("stores what is appended to a file, while it is", async () => {
  const { logs, write } = setUp({ intervalMs: 1 });
  const waitFor = (text: string) => vi.waitFor(() => expect(logs.text("job_1")).toBe(text), { timeout: 10_000 });
  write("| one\n");
  await waitFor("| one\n");
  write("| two\n");
  await waitFor("| one\n| two\n");
});

test("stores nothing of earlier turns, which may be in the store, and appends to what is there", async () => {
  const { logs, shipper, write } = setUp({}, "| earlier turn on this machine\n");
  logs.add("job_1", "| earlier turn on another machine\n", 6);
  write("| now\n");
  await shipper.flush();
  expect(logs.text("job_1")).toBe("| earlier turn on another machine\n| now\n");
});

test("asks the store for nothing as long as there is nothing to store", async () => {
  const { logs, shipper } = setUp({}, "| earlier\n");
  let count = 0;
  logs.gate = async () => void count++;
  await shipper.flush();
  expect(count).toBe(0);
});

test("stores whole lines, so that those of another worker do not continue them", async () => {
  const { logs, shipper, write } = setUp();
  write("| one\n| tw");
  await shipper.flush();
  expect(logs.text("job_1")).toBe("| one\n");
  write("o\n");
  await shipper.flush();
  expect(logs.text("job_1")).toBe("| one\n| two\n");
});

test("stores a long log in writes of at most 1 MiB", async () => {
  const { logs, shipper, write } = setUp();
  const text = `| ${"x".repeat(1000)}\n`.repeat(2500);
  write(text);
  await shipper.flush();
  expect(logs.text("job_1") === text).toBe(true);
  expect(logs.appended).toHaveLength(3);
  expect(Math.max(...logs.appended)).toBeLessThanOrEqual(1024 * 1024);
});

test("stores everything once after an outage, also what a failed write had stored", async () => {
  const { logs, log, shipper, write } = setUp();
  logs.gate = fail(new StoreUnavailable("no connection"));
  write("| one\n");
  expect(await shipper.flush()).toBe(false);
  expect(await shipper.flush()).toBe(false);
  expect(logs.text("job_1")).toBe("");
  expect(log).toEqual([expect.stringMatching(/^job_1: the end of its log is not stored, only in .*job_1\.log$/)]);
  logs.gate = () => Promise.resolve();
  logs.afterAppend = fail(new StoreUnavailable("the connection was lost"));
  expect(await shipper.flush()).toBe(false);
  expect(logs.text("job_1")).toBe("| one\n");
  logs.afterAppend = () => Promise.resolve();
  write("| two\n");
  await shipper.flush();
  expect(logs.text("job_1")).toBe("| one\n| two\n");
  expect(log.slice(1)).toEqual(["job_1: its log can be stored again"]);
});

test("goes on after an unexpected error, which is logged once", async () => {
  const { logs, log, shipper, write } = setUp();
  logs.gate = fail(new Error("no such table"));
  write("| one\n");
  expect(await shipper.flush()).toBe(true);
  await shipper.flush();
  logs.gate = () => Promise.resolve();
  await shipper.flush();
  expect(logs.text("job_1")).toBe("| one\n");
  expect(log).toEqual([
    "job_1: its log cannot be stored, trying again: no such table",
    "job_1: its log can be stored again",
  ]);
});

test("stores nothing more when another worker has taken the turn over", async () => {
  const { logs, log, shipper, write } = setUp();
  write("| one\n");
  await shipper.flush();
  logs.lostLeases.add("a");
  write("| two\n");
  await shipper.flush();
  logs.lostLeases.clear();
  await shipper.flush();
  expect(logs.text("job_1")).toBe("| one\n");
  expect(log).toEqual([]);
});

test("stores no secret, and all else at its place", async () => {
  const { logs, shipper, write } = setUp({ secrets: [{ name: "KEY", value: "first-line-4711\nsecond-line-0815" }] });
  write("| one\n| first-line-4711\n| second-line-0815\n| two\n");
  await shipper.flush();
  expect(logs.text("job_1")).toBe(`| one\n| ${"*".repeat(15)}\n| ${"*".repeat(16)}\n| two\n`);
});

test("does not hold up the end of a turn while the store does not answer", async () => {
  const { logs, log, shipper, write } = setUp({ flushMs: 1 });
  const { promise, resolve } = Promise.withResolvers<void>();
  logs.gate = () => promise;
  write("| one\n");
  await shipper.flush();
  expect(log).toEqual([expect.stringMatching(/^job_1: the end of its log is not stored/)]);
  resolve();
  await waitUntil(() => logs.text("job_1") === "| one\n");
});

test("stores a limited length of a turn, over all its attempts, and says that there is more", async () => {
  const { logs, create, shipper, write } = setUp({ maxTurnBytes: 20 });
  logs.add("job_1", "| earlier turn, however long\n", 6);
  write("| 7 bytes\n".repeat(2));
  await shipper.flush();
  expect(logs.text("job_1")).toBe("| earlier turn, however long\n| 7 bytes\n| 7 bytes\n");
  const second = create();
  write("|\n");
  await second.flush();
  write("|\n");
  await second.flush();
  expect(logs.text("job_1")).toMatch(
    /long\n\| 7 bytes\n\| 7 bytes\n\[service\] The log of this turn is too long\. .*\n$/,
  );
});

test("counts what earlier writes of this attempt have stored, too", async () => {
  const { logs, shipper, write } = setUp({ maxTurnBytes: 20 });
  for (let count = 0; count < 3; count++) {
    write("| 7 bytes\n");
    await shipper.flush();
  }
  expect(logs.text("job_1")).toMatch(/^\| 7 bytes\n\| 7 bytes\n\[service\] The log of this turn is too long\./);
});

test("ends when it is disposed of", async () => {
  const { logs, shipper, write } = setUp({ intervalMs: 1 });
  shipper[Symbol.dispose]();
  write("| one\n");
  for (let times = 0; times < 20; times++) await tick();
  expect(logs.text("job_1")).toBe("");
});
