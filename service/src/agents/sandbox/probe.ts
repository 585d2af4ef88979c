import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { SandboxedCommand } from "./sandbox.ts";

/** In characters. */
const maxErrorLength = 10_000;

/** Runs a command. Returns `undefined` if it exits with 0, or else why it does not: its stderr, or why it cannot be started. */
export function probe(
  { file, args, inherited }: SandboxedCommand,
  environment: NodeJS.ProcessEnv = process.env,
  timeLimitMs = 20_000,
): Promise<string | undefined> {
  const filter = inherited === undefined ? [] : [openSync(inherited, "r")];
  return new Promise((resolve) => {
    const options = { timeout: timeLimitMs, env: environment };
    const child = spawn(file, args, { ...options, stdio: ["ignore", "ignore", "pipe", ...filter] });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(0, maxErrorLength);
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", (exitCode, signal) =>
      resolve(exitCode === 0 ? undefined : stderr.trim() || `Command failed with ${exitCode ?? signal}: ${file}`),
    );
    for (const descriptor of filter) closeSync(descriptor);
  });
}
