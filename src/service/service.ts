import { existsSync, realpathSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Agent } from "./agents/agent.ts";
import { checkPrograms } from "./agents/check-programs.ts";
import type { Limits } from "./agents/limits.ts";
import { type AgentNetwork, fullNetwork } from "./agents/network/agent-network.ts";
import type { Sandbox } from "./agents/sandbox/sandbox.ts";
import { errorMessage, errorStack } from "./error-message.ts";
import { Repository } from "./git/repository.ts";
import { repositoryName as nameOf, resolveAddress } from "./git/repository-address.ts";
import { createApi } from "./http/api.ts";
import { type LoopbackServer, listen } from "./http/listen.ts";
import { AgentEngine } from "./jobs/agent-engine.ts";
import { Archiver } from "./jobs/archiver.ts";
import { cleanJobDirectories } from "./jobs/job-directory.ts";
import { Store } from "./jobs/store.ts";
import { GitHubPullRequests, type GitHubRepository } from "./pulls/github.ts";
import { LocalPullRequests } from "./pulls/local.ts";

export interface ServiceOptions {
  /** URL or path, as `git clone` accepts it. */
  repository: string;
  /** The branch that jobs start from and pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  agent: Agent;
  /** Where agents run. */
  sandbox: Sandbox;
  /** Default: that of the machine. */
  network?: AgentNetwork;
  /** Per job. Default: none. */
  limits?: Limits;
  apiKey: string;
  /** The projects that the key gives access to. */
  projects: readonly string[];
  /** A folder of the service, for a clone of the repository, worktrees and logs. Created if it does not exist. */
  folder: string;
  /** The SQLite file. Default: `jobs.sqlite` in the folder. */
  store?: string | undefined;
  /** The umask with which Git writes to a repository on this machine. Default: that of the process. */
  repositoryUmask?: number;
  /** Default: 0, any free port. */
  port?: number;
  /** How many agents run at a time. */
  agents: number;
  /** Per attempt. */
  timeLimitMs: number;
  /** A turn that changes files of more than this together fails. */
  largestChangeBytes: number;
  /** Default: jobs are archived only when their pull request is closed or merged. */
  archiveAfterDays?: number | undefined;
  /** Default: pull requests are pages of the service. */
  github?: GitHubRepository | undefined;
  log?: (line: string) => void;
}

const archiveIntervalMs = 60_000;

/**
 * Starts the service. Disposing of it stops the agents; the next service on the same store resumes their turns.
 *
 * @throws if the agent is not installed, if another service has the store open, or if the service cannot work on the
 *   repository
 */
export async function startService(options: ServiceOptions): Promise<LoopbackServer> {
  const {
    folder,
    agent,
    sandbox,
    network = fullNetwork,
    limits = {},
    agents,
    apiKey,
    projects,
    timeLimitMs,
    largestChangeBytes,
    github,
    log = () => {},
  } = options;
  checkPrograms(agent, process.env.PATH);
  await mkdir(folder, { recursive: true });
  // It has prompts, and homes with the sessions of agents.
  await chmod(folder, 0o700);
  const exposed = agent.reads.find((path) => [folder, options.store ?? folder].some((own) => isWithin(own, path)));
  if (exposed !== undefined)
    throw new Error(`agents cannot be allowed to read ${exposed}: it has files of the service`);
  // Opened first: its lock guards the folder against a second service.
  const store = new Store(options.store ?? join(folder, "jobs.sqlite"));
  await cleanJobDirectories(folder, (id) => store.job(id) !== undefined).catch((error: unknown) =>
    log(`Cannot remove old worktrees: ${errorMessage(error)}`),
  );
  const stop = new AbortController();
  const { signal } = stop;
  const { address, settings } = resolveAddress(options.repository, github?.token);
  const repository = new Repository({
    url: address,
    folder,
    targetBranch: options.targetBranch,
    settings,
    umask: options.repositoryUmask,
    signal,
  });
  let baseUrl = "";
  const repositoryName = nameOf(address);
  const pages = new LocalPullRequests({
    store,
    repository,
    repositoryName,
    baseUrl: () => baseUrl,
    signal,
    log,
  });
  const pullRequests = github ? new GitHubPullRequests({ repository: github, signal, log }) : pages;
  const run = { agent, sandbox, network, limits, timeLimitMs, largestChangeBytes };
  const ports = { store, repository, pullRequests, folder, ...run };
  const engine = new AgentEngine({ ...ports, repositoryName, agents, signal, log });
  const api = createApi({ engine, apiKey, projects, log });

  let server: LoopbackServer;
  try {
    await repository.open();
    server = await listen(pages.servePages(api), options.port);
  } catch (error) {
    store[Symbol.dispose]();
    throw error;
  }
  baseUrl = server.url;
  engine.start();
  const archiver = new Archiver({ store, pullRequests, afterDays: options.archiveAfterDays, signal, log });
  const archiving = archiveRegularly(archiver, signal, log);
  return {
    ...server,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await server[Symbol.asyncDispose]();
      await engine.drain();
      await archiving;
      store[Symbol.dispose]();
    },
  };
}

/** Returns whether a path, whose folder exists, is another one or within it. */
function isWithin(path: string, other: string): boolean {
  if (!existsSync(other)) return false;
  const real = join(realpathSync(dirname(path)), basename(path));
  return `${real}/`.startsWith(`${realpathSync(other).replace(/\/$/, "")}/`);
}

async function archiveRegularly(archiver: Archiver, signal: AbortSignal, log: (line: string) => void): Promise<void> {
  while (!signal.aborted) {
    await archiver.run(Date.now()).catch((error: unknown) => log(`Archiving failed: ${errorStack(error)}`));
    await setTimeout(archiveIntervalMs, undefined, { signal }).catch(() => {});
  }
}
