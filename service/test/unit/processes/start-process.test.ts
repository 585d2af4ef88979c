import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { ResourceExhausted } from "../../../src/processes/resource-exhausted.ts";
import { startProcess } from "../../../src/processes/start-process.ts";

test("returns a process that was started", async () => {
  const child = await startProcess(() => spawn(process.execPath, ["--version"]));
  expect(child.pid).toBeGreaterThan(0);
  expect(await once(child, "close")).toEqual([0, null]);
});

test("says by an error of its own that the machine cannot start a process now", async () => {
  const failing = startProcess(() => {
    throw Object.assign(new Error("spawn EAGAIN"), { code: "EAGAIN" });
  });
  await expect(failing).rejects.toThrow(ResourceExhausted);
  await expect(failing).rejects.toThrow("no process can be started now: spawn EAGAIN");
});

test("says by the same error that a program of the service is missing, being written, or not executable", async () => {
  await expect(startProcess(() => spawn("/no/such/program"))).rejects.toThrow(ResourceExhausted);
  for (const code of ["EACCES", "ETXTBSY"]) {
    const failing = startProcess(() => {
      throw Object.assign(new Error("x"), { code });
    });
    await expect(failing, code).rejects.toThrow(ResourceExhausted);
  }
});

test("passes on why another program cannot be started", async () => {
  const missing = startProcess(() => spawn("/no/such/program"), false);
  await expect(missing).rejects.toThrow("ENOENT");
  await expect(missing).rejects.not.toThrow(ResourceExhausted);
});
