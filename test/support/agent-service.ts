import { onTestFinished } from "vitest";
import { type AgentProgram, builtInEditor } from "../../src/service/agents/agent-program.ts";
import type { LoopbackServer } from "../../src/service/http/listen.ts";
import type { JobRecord } from "../../src/service/jobs/engine.ts";
import { startWorkingService, type WorkingServiceOptions } from "../../src/service/service.ts";
import { DocsRepository } from "../../tools/docs-repository.ts";
import { serviceKey } from "./scripted-service.ts";
import { temporaryFolder } from "./step.ts";

/** An agent in JavaScript, as a module that finds the prompt in `prompt`. */
export function scriptAgent(code: string): AgentProgram {
  const prelude = `import fs from "node:fs"; const prompt = fs.readFileSync(0, "utf8"); const job = process.env.AGENT_JOB_ID;\n`;
  return { file: process.execPath, args: ["--input-type=module", "--eval", prelude + code], model: "script" };
}

/** A repository for the length of a test. */
export function docsRepository(files?: Readonly<Record<string, string>>): DocsRepository {
  const docs = new DocsRepository(files);
  onTestFinished(() => docs[Symbol.dispose]());
  return docs;
}

export interface WorkingService extends LoopbackServer {
  folder: string;
  lines: string[];
}

/** The service with real agents, for the project `docs` and others. */
export async function startWorking(
  repository: DocsRepository,
  options: Partial<WorkingServiceOptions> = {},
): Promise<WorkingService> {
  const folder = options.folder ?? temporaryFolder();
  const lines: string[] = [];
  const service = await startWorkingService({
    repository: repository.path,
    agent: builtInEditor,
    apiKey: serviceKey,
    projects: ["docs"],
    folder,
    agents: 2,
    timeLimitMs: 60_000,
    log: (line) => void lines.push(line),
    ...options,
  });
  return { ...service, folder, lines };
}

/** Sends a request to the service, and gives the status and what the answer holds. */
export async function ask(
  service: { url: string },
  path: string,
  prompt?: string,
): Promise<{ status: number; job: JobRecord; headers: Headers }> {
  const response = await fetch(`${service.url}/v2/agent/${path}`, {
    method: prompt === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${serviceKey}`, "content-type": "application/json" },
    ...(prompt !== undefined && { body: JSON.stringify({ prompt }) }),
  });
  return { status: response.status, job: (await response.json()) as JobRecord, headers: response.headers };
}

/** Waits until a job is no more at work. */
export async function ended(service: { url: string }, jobId: string, project = "docs"): Promise<JobRecord> {
  for (;;) {
    const { job } = await ask(service, `${project}/job/${jobId}`);
    if (job.status !== "active") return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A job from its create to its end. */
export async function runJob(service: { url: string }, prompt: string): Promise<JobRecord> {
  return ended(service, (await ask(service, "docs/job", prompt)).job.id);
}
