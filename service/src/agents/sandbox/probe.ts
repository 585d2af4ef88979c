import { execFile } from "node:child_process";
import type { AgentCommand } from "../agent.ts";

const timeLimitMs = 20_000;

/** Runs a command. Returns `undefined` if it exits with 0, or else why it does not: its stderr, or why it cannot be started. */
export function probe(
  { file, args }: AgentCommand,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout: timeLimitMs, env: environment }, (error, _stdout, stderr) =>
      resolve(error === null ? undefined : stderr.trim() || error.message),
    );
  });
}
