import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { checkDescriptors, descriptorLimit } from "../../../src/processes/descriptor-limit.ts";

test("the service starts only with enough descriptors", () => {
  expect(() => checkDescriptors(127)).toThrow("can have only 127 files and connections open, and needs 128");
  expect(() => checkDescriptors(128)).not.toThrow();
  expect(() => checkDescriptors()).not.toThrow();
  expect(descriptorLimit()).toBeGreaterThanOrEqual(128);
});

test.runIf(process.platform === "linux")("reads the limit of the process", () => {
  const limit = execFileSync("/bin/sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();
  expect(descriptorLimit()).toBe(limit === "unlimited" ? Infinity : Number(limit));
});

test("takes a limit that is not given for none", () => {
  const file = join(temporaryFolder(), "limits");
  expect(descriptorLimit(file)).toBe(Infinity);
  writeFileSync(file, "Max processes             100                  100                  processes\n");
  expect(descriptorLimit(file)).toBe(Infinity);
  writeFileSync(file, "Max open files            unlimited            unlimited            files\n");
  expect(descriptorLimit(file)).toBe(Infinity);
});
