import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { apiKey, scratchFolder } from "../../bench/scratch.ts";
import { DocsRepository } from "../../tools/docs-repository.ts";
import { type Answer, type Job, send, startService } from "./service-process.ts";

/** A service with an agent and a repository of its own. Disposing of it stops it and removes its files. */
export interface AgentService extends AsyncDisposable {
  url: string;
  /** Sends a request for the project: a create or a message with a prompt, otherwise a poll. */
  send: (path: string, prompt?: string) => Promise<Answer>;
  /** Waits until a job is no longer active. */
  wait: (id: string) => Promise<Job>;
  /** Returns the cookie of a new session. */
  signIn: () => Promise<string>;
  /** Returns the most memory that the process has had since the last call, in MiB. Linux only. */
  peakMemoryMib: () => number;
}

/**
 * Starts the service with an agent.
 *
 * @param descriptors - how many it can have open; default: as many as this process
 */
export async function startAgentService(agent: string, descriptors?: number): Promise<AgentService> {
  const scratch = scratchFolder();
  const docs = new DocsRepository();
  const store = join(scratch.path, "jobs.sqlite");
  const args = ["--repository", docs.path, "--agent", agent, "--sandbox", "none", "--store", store];
  const service = await startService(args, descriptors);
  const { url, child } = service;
  return {
    url,
    send: (path, prompt) => send(url, `demo/${path}`, prompt),
    wait: async (id) => {
      for (;;) {
        const { job } = await send(url, `demo/job/${id}`);
        if (job.status !== "active") return job;
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
      await service[Symbol.asyncDispose]();
      docs[Symbol.dispose]();
      scratch[Symbol.dispose]();
    },
  };
}
