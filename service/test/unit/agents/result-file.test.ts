import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { readResultFile } from "../../../src/agents/result-file.ts";

test("what an agent reports is read up to 256 KiB, from a regular file only", () => {
  const folder = temporaryFolder();
  const file = join(folder, "result");
  expect(readResultFile(file)).toBeUndefined();
  writeFileSync(file, "x".repeat(256 * 1024));
  expect(readResultFile(file)).toHaveLength(256 * 1024);
  symlinkSync(file, join(folder, "link"));
  expect(readResultFile(join(folder, "link"))).toBeUndefined();
  writeFileSync(file, "x", { flag: "a" });
  expect(readResultFile(file)).toBeUndefined();
  mkdirSync(join(folder, "folder"));
  expect(readResultFile(join(folder, "folder"))).toBeUndefined();
});
