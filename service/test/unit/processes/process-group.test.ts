import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { isGroupAlive } from "../../../src/processes/own-processes.ts";
import { killGroup } from "../../../src/processes/process-group.ts";

test.skipIf(process.platform === "win32")("no process of a group that was killed is left", async () => {
  const { pid } = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
  // A group of 0 would be that of the tests.
  if (pid === undefined) throw new Error("sleep could not be started");
  await killGroup(pid);
  expect(isGroupAlive(pid)).toBe(false);
});
