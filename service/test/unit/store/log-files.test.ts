import { appendFileSync, fstatSync, mkdirSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { jobLogFile, logsFolder } from "../../../src/service-folder.ts";
import { LogFiles } from "../../../src/store/log-files.ts";

function setUp() {
  const folder = temporaryFolder();
  mkdirSync(logsFolder(folder));
  return { logs: new LogFiles(folder, 1), file: jobLogFile(folder, "job_1") };
}

test("returns the part of a log that begins at a position, at most 64 KiB of it", async () => {
  const { logs, file } = setUp();
  appendFileSync(file, `${"a".repeat(65_536)}end`);
  expect((await logs.read("job_1", 0)).toString()).toBe("a".repeat(65_536));
  expect((await logs.read("job_1", 65_535)).toString()).toBe("aend");
  expect(await logs.read("job_1", 65_539)).toHaveLength(0);
  expect(await logs.read("job_1", 100_000)).toHaveLength(0);
});

test("returns where a log ends", async () => {
  const { logs, file } = setUp();
  appendFileSync(file, "| ✓\n");
  expect(await logs.end("job_1")).toBe(6);
});

test("returns nothing of a log that has no file yet", async () => {
  const { logs } = setUp();
  expect(await logs.end("job_1")).toBe(0);
  expect(await logs.read("job_1", 0)).toHaveLength(0);
});

test("fails if a log cannot be read", async () => {
  const { logs, file } = setUp();
  mkdirSync(file);
  await expect(logs.read("job_1", 0)).rejects.toThrow("EISDIR");
});

test("calls a listener again and again until that is ended", async () => {
  const { logs } = setUp();
  let end = () => {};
  for (const _count of [1, 2])
    await new Promise<void>((resolve) => {
      end();
      end = logs.follow("job_1", resolve);
    });
  end();
  let calls = 0;
  logs.follow("job_1", () => calls++)();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(calls).toBe(0);
});

test("fails if a log cannot be opened", async () => {
  const { logs, file } = setUp();
  rmdirSync(dirname(file));
  writeFileSync(dirname(file), "");
  await expect(logs.read("job_1", 0)).rejects.toThrow("ENOTDIR");
});

test("closes a log after reading it", async () => {
  const { logs, file } = setUp();
  appendFileSync(file, "| one\n");
  const { dev, ino } = statSync(file);
  const isOpenAs = (descriptor: number): boolean => {
    try {
      const found = fstatSync(descriptor);
      return found.ino === ino && found.dev === dev;
    } catch {
      return false;
    }
  };
  expect((await logs.read("job_1", 0)).toString()).toBe("| one\n");
  expect(Array.from({ length: 256 }, (_, descriptor) => descriptor).filter(isOpenAs)).toEqual([]);
});
