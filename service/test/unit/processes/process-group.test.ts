import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { isGroupAlive, killWithVariable } from "../../../src/processes/own-processes.ts";
import { killGroup } from "../../../src/processes/process-group.ts";

test.skipIf(process.platform === "win32")("no process of a group that was killed is left", async () => {
  const { pid } = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
  // A group of 0 would be that of the tests.
  if (pid === undefined) throw new Error("sleep could not be started");
  await killGroup(pid);
  expect(isGroupAlive(pid)).toBe(false);
});

test.skipIf(process.platform !== "linux")("a process is found by a variable that is not ASCII", async () => {
  const variable = `/home/jürgen/${process.pid}`;
  const child = spawn("sleep", ["1000"], {
    detached: true,
    stdio: "ignore",
    env: { ...process.env, AGENT_TEST: variable },
  });
  const exited = once(child, "exit");
  try {
    await once(child, "spawn");
    await killWithVariable([`AGENT_TEST=${variable}`]);
    expect(isGroupAlive(child.pid ?? 0)).toBe(false);
  } finally {
    child.kill();
  }
  expect(await exited).toEqual([null, "SIGKILL"]);
});
