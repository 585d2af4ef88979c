import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { shellAgent } from "../../service/src/agents/agent.ts";
import { unconfined } from "../../service/src/agents/sandbox/sandbox.ts";
import { PerProject } from "../../service/src/per-project.ts";
import { startService } from "../../service/src/start/service.ts";
import { turnStatus } from "../../service/src/store/request-keys.ts";
import type { DocsRepository } from "../../tools/docs-repository.ts";
import { serviceKey, startScriptedService } from "../support/scripted-service.ts";
import { agentProcessesOf } from "./agent-processes.ts";

/** Which service the action uses: this repository's own, or one that knows no keys of requests. */
export type ServiceKind = "own" | "keyless";

/** What a service was asked to do. */
export interface Started {
  jobs: number;
  turns: number;
  /** How many of the turns the service stopped because it was asked to. */
  stopped: number;
  /** The processes of the agents that are running, on Linux. */
  agentProcesses: number[];
}

/** A service for one history. */
export interface TestedService extends AsyncDisposable {
  url: string;
  project: string;
  started(): Started;
}

/** Starts services for histories. */
export interface Services extends AsyncDisposable {
  open(kind: ServiceKind, index: number): Promise<TestedService>;
}

/** Changes a page for each turn, in about a second. It has a process that a polite signal does not end. */
const agent = shellAgent(
  "cat > /dev/null; (trap '' TERM; exec sleep 9) > /dev/null 2>&1 & sleep 0.8; echo changed >> page.md",
);
const keylessJobMs = 1000;

/**
 * Starts what the histories need: one service of this repository with a project for each history, because a project may only
 * create 100 jobs an hour, and for each history without keys a scripted service.
 */
export async function startServices(docs: DocsRepository, folder: string, histories: number): Promise<Services> {
  const projects = Array.from({ length: histories }, (_, index) => projectOf(index));
  const project = { repository: docs.path, agent, sandbox: unconfined, timeLimitMs: 60_000 };
  const own = await startService({
    settings: PerProject.same({ ...project, largestChangeBytes: 20_000_000 }),
    apiKey: serviceKey,
    projects,
    folder,
    agents: 2,
  });
  const store = new DatabaseSync(join(folder, "jobs.sqlite"), { readOnly: true });
  const select = store.prepare(
    `SELECT job, ${turnStatus} AS status FROM turn WHERE job IN (SELECT id FROM job WHERE project = ?)`,
  );
  return {
    open: async (kind, index) => {
      if (kind === "keyless") return openKeyless();
      const started = (): Started => {
        const turns = select.all(projectOf(index));
        const jobs = new Set(turns.map(({ job }) => String(job)));
        const stopped = turns.filter(({ status }) => status === "stopped").length;
        return { jobs: jobs.size, turns: turns.length, stopped, agentProcesses: agentProcessesOf(jobs) };
      };
      return { url: own.url, project: projectOf(index), started, [Symbol.asyncDispose]: async () => {} };
    },
    [Symbol.asyncDispose]: async () => {
      store.close();
      await own[Symbol.asyncDispose]();
    },
  };
}

function projectOf(index: number): string {
  return `project-${index}`;
}

async function openKeyless(): Promise<TestedService> {
  const service = await startScriptedService({ script: () => ({ durationMs: keylessJobMs }) });
  const started = (): Started => {
    const isCreate = (request: string): boolean => request === "POST /v2/agent/docs/job";
    const jobs = service.requests.filter(isCreate).length;
    return { jobs, turns: service.engine.prompts.length, stopped: 0, agentProcesses: [] };
  };
  return { ...service, project: "docs", started };
}
