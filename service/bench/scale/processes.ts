import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { apiKey } from "../../../bench/scratch.ts";

const mainFile = resolve(import.meta.dirname, "../../src/main.ts");

/** A process of the service that is ready. Disposing of it stops it. */
export interface Started extends AsyncDisposable {
  pid: number;
  /** Of its API; empty for a worker. */
  url: string;
}

/** Starts `npm run service` with these arguments and this folder for its files, and waits until it listens or takes turns. */
export async function startProcess(args: readonly string[], folder?: string): Promise<Started> {
  const child = spawn(process.execPath, [mainFile, ...args], {
    env: { ...process.env, AGENT_SERVICE_KEY: apiKey, STATE_DIRECTORY: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const url = await untilReady(child);
  return {
    pid: child.pid ?? 0,
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

function untilReady(child: ChildProcess): Promise<string> {
  const { promise, resolve: ready, reject } = Promise.withResolvers<string>();
  if (child.stdout === null) throw new Error("no output");
  createInterface({ input: child.stdout }).on("line", (line) => {
    const match = /^(?:Listening on (\S+)|Running up to )/.exec(line);
    if (match) ready(match[1] ?? "");
  });
  child.once("exit", () => reject(new Error("the service exited")));
  return promise;
}
