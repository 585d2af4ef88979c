import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { apiKey } from "../../bench/scratch.ts";

const mainFile = resolve(import.meta.dirname, "../src/main.ts");

/** The service in a process of its own, which ends when it is disposed of. */
export interface ServiceProcess extends AsyncDisposable {
  url: string;
  child: ChildProcess;
  /** What it printed. */
  lines: string[];
  /** Its resident memory. Linux only. */
  memoryKib: () => number;
}

/**
 * Starts `npm run service` with these arguments, and waits until it listens.
 *
 * @param descriptors - how many it can have open; default: as many as this process
 */
export async function startService(args: readonly string[], descriptors?: number): Promise<ServiceProcess> {
  const setLimit = descriptors === undefined ? "" : `ulimit -n ${descriptors}; `;
  const child = spawn("sh", ["-c", `${setLimit}exec "$0" "$@"`, process.execPath, mainFile, ...args], {
    env: { ...process.env, AGENT_SERVICE_KEY: apiKey },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  const url = await new Promise<string>((found, failed) => {
    output.on("line", (line) => {
      lines.push(line);
      const match = /^Listening on (\S+)$/.exec(line)?.[1];
      if (match !== undefined) found(match);
    });
    exited.then(() => failed(new Error("the service exited")), failed);
  });
  return {
    url,
    child,
    lines,
    memoryKib: () => Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

export interface Job {
  id: string;
  status: string;
  prLink: string | null;
}

export interface Answer {
  /** Of the HTTP response. */
  status: number;
  job: Job;
}

/** Sends a create or a message, or a poll if there is no prompt. */
export async function send(url: string, path: string, prompt?: string): Promise<Answer> {
  const response = await fetch(`${url}/v2/agent/${path}`, {
    method: prompt === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    ...(prompt !== undefined && { body: JSON.stringify({ prompt }) }),
  });
  return { status: response.status, job: (await response.json()) as Job };
}
