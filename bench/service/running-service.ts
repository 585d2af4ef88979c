import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { DocsRepository } from "../../tools/docs-repository.ts";
import { apiKey, scratchFolder } from "../scratch.ts";

const mainFile = resolve(import.meta.dirname, "../../src/service/main.ts");

export interface Answer {
  /** Of the HTTP response. */
  status: number;
  id: string;
  /** Of the job. */
  state: string;
  prLink: string;
}

/** A service in a process of its own. Disposing of it stops it and removes its files. */
export interface RunningService extends AsyncDisposable {
  url: string;
  /** Sends a request of the API: a create or a message with a prompt, otherwise a poll. */
  send: (path: string, prompt?: string) => Promise<Answer>;
  /** Waits until a job is no longer active. */
  wait: (id: string) => Promise<Answer>;
  /** Returns the cookie of a new session. */
  signIn: () => Promise<string>;
  /** Returns the most memory that the process has had since the last call, in MiB. Linux only. */
  peakMemoryMib: () => number;
}

/**
 * Starts the service with an agent, as `npm run service` does.
 *
 * @param limit - how many descriptors it can have open; default: as many as this process
 */
export async function startRunningService(agent: string, limit?: number): Promise<RunningService> {
  const scratch = scratchFolder();
  const docs = new DocsRepository();
  const store = join(scratch.path, "jobs.sqlite");
  const args = [mainFile, "--repository", docs.path, "--agent", agent, "--sandbox", "none", "--store", store];
  const env = { ...process.env, AGENT_SERVICE_KEY: apiKey };
  const setLimit = limit === undefined ? "" : `ulimit -n ${limit}; `;
  const child = spawn("sh", ["-c", `${setLimit}exec "$0" "$@"`, process.execPath, ...args], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await readUrl(child);
  const send: RunningService["send"] = async (path, prompt) => {
    const response = await fetch(`${url}/v2/agent/demo/${path}`, {
      method: prompt === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      ...(prompt !== undefined && { body: JSON.stringify({ prompt }) }),
    });
    const job = (await response.json()) as { id: string; status: string; prLink: string | null };
    return { status: response.status, id: job.id, state: job.status, prLink: job.prLink ?? "" };
  };
  return {
    url,
    send,
    wait: async (id) => {
      for (;;) {
        const answer = await send(`job/${id}`);
        if (answer.state !== "active") return answer;
        await setTimeout(100);
      }
    },
    signIn: async () => {
      const body = new URLSearchParams({ key: apiKey });
      const { headers } = await fetch(`${url}/sign-in`, { method: "POST", body, redirect: "manual" });
      return headers.get("set-cookie")?.split(";")[0] ?? "";
    },
    peakMemoryMib: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      // Linux: "5" resets the peak.
      writeFileSync(`/proc/${child.pid}/clear_refs`, "5");
      return Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024);
    },
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      docs[Symbol.dispose]();
      scratch[Symbol.dispose]();
    },
  };
}

async function readUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("the service has no stdout");
  const lines = createInterface({ input: child.stdout });
  // Listened to until the end, so that the service can always write.
  return new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      const url = /^Listening on (\S+)$/.exec(line)?.[1];
      if (url) resolve(url);
    });
    lines.once("close", () => reject(new Error("the service exited")));
  });
}
