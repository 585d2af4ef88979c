import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { shellAgent } from "../../service/src/agents/agent.ts";
import { unconfined } from "../../service/src/agents/sandbox/sandbox.ts";
import { PerProject } from "../../service/src/per-project.ts";
import { startService } from "../../service/src/start/service.ts";
import type { DocsRepository } from "../../tools/docs-repository.ts";
import { serviceKey, startScriptedService } from "../support/scripted-service.ts";

/** Which service the action uses: this repository's own, or one that knows no keys of requests. */
export type ServiceKind = "own" | "keyless";

/** What a service was asked to do. */
export interface Started {
  jobs: number;
  turns: number;
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

/** Changes a page for each turn, in about a second. */
const agent = shellAgent("cat > /dev/null; sleep 0.8; echo changed >> page.md");
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
  const count = store.prepare(
    "SELECT count(DISTINCT job) AS jobs, count(*) AS turns FROM turn WHERE job IN (SELECT id FROM job WHERE project = ?)",
  );
  return {
    open: async (kind, index) => {
      if (kind === "keyless") return openKeyless();
      const started = (): Started => {
        const { jobs, turns } = count.get(projectOf(index)) ?? {};
        return { jobs: Number(jobs), turns: Number(turns) };
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
    return { jobs: service.requests.filter(isCreate).length, turns: service.engine.prompts.length };
  };
  return { ...service, project: "docs", started };
}
