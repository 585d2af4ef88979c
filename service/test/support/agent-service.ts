import { dirname, join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { type Defer, temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { type Agent, builtInEditor, shellAgent } from "../../src/agents/agent.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import type { JobRecord } from "../../src/model.ts";
import { PerProject } from "../../src/per-project.ts";
import { type ProjectOptions, type Service, type ServiceOptions, startService } from "../../src/start/service.ts";
import { type TurnHost, turnHost } from "../../src/turns/turn-host.ts";

/** Returns an agent written in JavaScript: a module that finds the prompt in `prompt` and the job's id in `job`. */
export function scriptAgent(code: string): Agent {
  const prelude = `import fs from "node:fs"; const prompt = fs.readFileSync(0, "utf8"); const job = process.env.AGENT_JOB_ID;\n`;
  return {
    ...shellAgent(""),
    command: () => ({ file: process.execPath, args: ["--input-type=module", "--eval", prelude + code] }),
    model: "script",
  };
}

/** Writes its prompt, one word, to a page that is named after it. */
export const writingAgent = shellAgent('prompt=$(cat | head -n 1); printf %s "$prompt" > "$prompt.md"');

/** Returns an agent whose supervisor starts in half the time: it reads what Node has compiled for an earlier one. */
export function withCompiledSupervisor(agent: Agent): Agent {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined
    ? agent
    : { ...agent, environment: { NODE_COMPILE_CACHE, ...agent.environment } };
}

/** The disk and the processes of this machine, where the supervisors of `--setup` and `--check` start as fast, too. */
const compiledHost: TurnHost = {
  ...turnHost,
  runAgent: (agent, options) =>
    turnHost.runAgent(agent, { ...options, compileCache: options.compileCache ?? process.env.NODE_COMPILE_CACHE }),
};

/** Creates a repository that is removed when the test ends. */
export function docsRepository(
  files?: Readonly<Record<string, string>>,
  defer: Defer = onTestFinished,
): DocsRepository {
  const docs = new DocsRepository(files);
  defer(() => docs[Symbol.dispose]());
  return docs;
}

export interface AgentService extends Service {
  folder: string;
  /** What the service logged. */
  lines: string[];
}

/** The options of a service whose projects are all the same, unless it has `settings`. */
export type AgentServiceOptions = Partial<ServiceOptions & ProjectOptions>;

/** Returns the settings of projects. Default: the built-in editor. */
export function projectOptions(docs: DocsRepository, options: Partial<ProjectOptions> = {}): ProjectOptions {
  const { repository = docs.path, agent = builtInEditor, sandbox = unconfined, network, limits } = options;
  const {
    targetBranch,
    branchPrefix,
    github,
    agentsPerProject,
    timeLimitMs = 60_000,
    largestChangeBytes = 20_000_000,
  } = options;
  const { protectedFiles, moreProtected, secrets, only, commitAs, signsOff, trailers, titlePrefix, commands } = options;
  const source = { repository, targetBranch, branchPrefix, github };
  return {
    ...source,
    agent: withCompiledSupervisor(agent),
    sandbox,
    network,
    limits,
    agentsPerProject,
    timeLimitMs,
    largestChangeBytes,
    protectedFiles,
    moreProtected,
    secrets,
    only,
    commitAs,
    signsOff,
    trailers,
    titlePrefix,
    commands,
  };
}

/** Returns the folder of a new service, which has a clone of the repository already. */
export function folderWithClone(docs: DocsRepository): string {
  const folder = temporaryFolder();
  docs.prepareClone(join(folder, "mirror.git"));
  return folder;
}

/** Returns a repository and the folder of a service with a clone of it, for all tests of the file or the `describe` that calls it. */
export function sharedClone(files?: Readonly<Record<string, string>>): { docs: DocsRepository; folder: string } {
  const docs = new DocsRepository(files);
  afterAll(() => docs[Symbol.dispose]());
  const folder = join(dirname(docs.path), "service");
  docs.prepareClone(join(folder, "mirror.git"));
  return { docs, folder };
}

/**
 * Starts the service with real agents. Default: the built-in editor, two at a time, for the project `docs`, in a new folder with a
 * clone of the repository.
 */
export async function startAgentService(
  repository: DocsRepository,
  options: AgentServiceOptions = {},
): Promise<AgentService> {
  const folder = options.folder ?? folderWithClone(repository);
  const lines: string[] = [];
  const service = await startService({
    settings: PerProject.same(projectOptions(repository, options)),
    apiKey: serviceKey,
    projects: ["docs"],
    folder,
    agents: 2,
    log: (line) => void lines.push(line),
    host: compiledHost,
    ...options,
  });
  return { ...service, folder, lines };
}

/** Sends a request to the service: a POST with a prompt, a GET without. */
export async function send(
  service: { url: string },
  path: string,
  prompt?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; job: JobRecord; headers: Headers }> {
  const response = await fetch(`${service.url}/v2/agent/${path}`, {
    method: prompt === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${serviceKey}`, "content-type": "application/json", ...headers },
    ...(prompt !== undefined && { body: JSON.stringify({ prompt }) }),
  });
  return { status: response.status, job: (await response.json()) as JobRecord, headers: response.headers };
}

/** Signs in, and returns the page of a pull request. */
export async function readPage(service: { url: string }, link: string | null): Promise<string> {
  const key = new URLSearchParams({ key: serviceKey });
  const { headers } = await fetch(`${service.url}/sign-in`, { method: "POST", body: key, redirect: "manual" });
  const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
  const page = await fetch(new URL(link ?? "", service.url), { headers: { cookie }, redirect: "manual" });
  if (page.status !== 200) throw new Error(`the page was answered with ${page.status}`);
  return page.text();
}

/** A real coding agent takes minutes. */
const jobLimitMs = 300_000;

/** Waits until a job is no longer active. */
export function waitForJob(service: { url: string }, jobId: string, project = "docs"): Promise<JobRecord> {
  return waitUntil(async () => {
    const { job } = await send(service, `${project}/job/${jobId}`, undefined, { prefer: "wait=25" });
    return job.status !== "active" && job;
  }, jobLimitMs);
}

/** Creates a job and waits for it. */
export async function runJob(service: { url: string }, prompt: string): Promise<JobRecord> {
  return waitForJob(service, (await send(service, "docs/job", prompt)).job.id);
}
