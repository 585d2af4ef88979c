import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CacheAccess } from "../../../src/runner-kit/cache.ts";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { type Agent, shellAgent } from "../../src/agents/agent.ts";
import { thisMachine } from "../../src/machine.ts";
import type { JobRecord } from "../../src/model.ts";
import { openMemory } from "../../step/memory/open-memory.ts";
import { startAgentService, waitForJob } from "./agent-service.ts";
import type { GitHubReply } from "./github-with-git.ts";
import { RepositoryCache } from "./memory-cache-entries.ts";
import { unsupervisedHost } from "./unsupervised-host.ts";
import { setUpGitHub } from "./workflow-job.ts";

export interface RunOptions {
  /** What the runner says of the Actions cache. Default: that it can be read. */
  cacheAccess?: CacheAccess;
  /** What the cache service allows. Default: to read. */
  access?: "read" | "write";
  /** The branch or pull request of the run. Default: the default branch. */
  scope?: string;
  /** Default: 1. */
  attempt?: number;
  /** Returns how long after what was pushed it is, in milliseconds. Default: 0. */
  laterMs?: () => number;
}

/** What the service answers for a step. */
export interface StepAnswer {
  step: string;
  turns: { job: string; turn: string; request: string; status: string }[];
}

/** A run of the workflow: a service on an empty runner, as the step configures it. */
export interface StepRun extends AsyncDisposable {
  lines: string[];
  /** Sends a prompt, and waits for the job. */
  send(prompt: string, key: string, job?: string): Promise<JobRecord>;
  /** Returns the answer to any request. */
  request(method: string, path: string, options?: { prompt?: string; key?: string }): Promise<Response>;
  /** Returns the turns that were sent under a step. */
  find(step: string): Promise<StepAnswer>;
}

/** An agent that says `Did PROMPT.`, and leaves its prompts in a page and, as its session, in its home directory. */
function recordingAgent(folder: string): Agent {
  const record = `cat "$AGENT_HISTORY_FILE" > "${folder}/history"; prompt=$(sed '/^$/,$d'); echo "$prompt" >> "${folder}/runs"
    echo "$prompt" >> "$HOME/session"; cp "$HOME/session" "${folder}/session"; echo "$prompt" >> "$AGENT_JOB_ID.md"; echo "Did $prompt."`;
  return { ...shellAgent(record), readReport: (stdout) => ({ message: stdout.trim(), error: undefined }) };
}

/** Sets up a repository on a GitHub with an Actions cache, and runs of a workflow in it. */
export async function setUpRuns(reply?: GitHubReply) {
  const { docs, github } = await setUpGitHub(reply);
  const cache = new RepositoryCache();
  const folder = temporaryFolder();
  /** Agents find their sessions by its path, which is the same on all runners. */
  const runner = join(temporaryFolder(), "runner");
  const agent = recordingAgent(folder);
  const read = (file: string): string =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim() : "";
  const start = async (options: RunOptions = {}): Promise<StepRun> => {
    const { cacheAccess = "read", attempt = 1, laterMs = () => 0, access, scope } = options;
    rmSync(runner, { recursive: true, force: true });
    mkdirSync(runner);
    const { url: apiUrl, owner, repo: name, token } = github;
    const service = await startAgentService(docs, {
      folder: join(runner, "service"),
      agent,
      host: unsupervisedHost,
      github: { apiUrl, owner, name, token },
      copies: (projects) =>
        openMemory({
          keeps: ["unfinished"],
          project: projects.get("docs"),
          projectId: "docs",
          cache: cache.ofRun({ ...(access && { access }), ...(scope !== undefined && { scope }) }),
          cacheAccess,
          isWorkflowToken: true,
          run: { run: "1", attempt: String(attempt) },
          isOwnRepository: true,
          folder: runner,
          secrets: [],
          log: (line) => void lines.push(line),
          machine: { ...thisMachine, wallTime: () => Date.now() + laterMs() },
        }).copies,
    });
    const { lines } = service;
    const request: StepRun["request"] = (method, path, { prompt, key } = {}) =>
      fetch(`${service.url}/v2/agent/docs/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${serviceKey}`,
          "content-type": "application/json",
          ...(key !== undefined && { "idempotency-key": `"${key}"` }),
        },
        ...(prompt !== undefined && { body: JSON.stringify({ prompt }) }),
      });
    return {
      ...service,
      request,
      send: async (prompt, key, job) => {
        const path = job === undefined ? "job" : `job/${job}/message`;
        const response = await request("POST", path, { prompt, key });
        if (!response.ok) throw new Error(`${response.status}: ${await response.text()}\n${lines.join("\n")}`);
        return waitForJob(service, ((await response.json()) as JobRecord).id);
      },
      find: async (step) => (await (await request("GET", `job?step=${step}`)).json()) as StepAnswer,
    };
  };
  return {
    docs,
    github,
    cache,
    start,
    /** Returns the prompts that agents were run for. */
    runs: () => read("runs").split("\n"),
    /** Returns the earlier turns that the last agent was told of. */
    history: () =>
      read("history")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    /** Returns the content of the last agent's home directory. */
    session: () => read("session").split("\n"),
    /** Returns the open pull requests. */
    openPulls: async () => (await github.call("GET", "/pulls?state=open")) as { number: number; body: string }[],
  };
}
