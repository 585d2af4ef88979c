import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { type Defer, temporaryFolder } from "../../../test/support/step.ts";

export const mainFile = resolve(import.meta.dirname, "../../src/main.ts");

/** Starts the service as `npm run service` does, and waits until it listens. It is killed when the test ends. */
export async function spawnService(
  args: string[],
  environment: Record<string, string> = {},
  defer: Defer = onTestFinished,
): Promise<{ child: ChildProcess; url: string }> {
  // What is killed leaves its files.
  const folder = temporaryFolder(defer);
  const child = spawn(process.execPath, [mainFile, ...args], {
    env: { ...process.env, TMPDIR: folder, XDG_STATE_HOME: folder, AGENT_SERVICE_KEY: serviceKey, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    // Otherwise its files could not be removed yet.
    await exited;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Listening on (\S+)$/.exec(line)?.[1];
    if (url) return { child, url };
  }
  throw new Error("the service exited");
}
