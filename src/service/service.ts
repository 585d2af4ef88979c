import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { AgentProgram } from "./agents/agent-program.ts";
import { Repository } from "./git/repository.ts";
import { repositoryName, resolveAddress } from "./git/repository-address.ts";
import { createApi } from "./http/api.ts";
import { type LoopbackServer, listen } from "./http/listen.ts";
import { hourlyLimit, hourMs } from "./http/rate-limiter.ts";
import { WorkingEngine } from "./jobs/agent-engine.ts";
import { archiveJobs } from "./jobs/archive.ts";
import { Store } from "./jobs/store.ts";
import { runsFolderOf } from "./jobs/turn.ts";
import { GitHubPullRequests, type GitHubRepository } from "./pulls/github.ts";
import { OwnPullRequests } from "./pulls/local.ts";
import { removeDirectory } from "./remove-directory.ts";

export interface WorkingServiceOptions {
  /** An address or a path, as `git clone` takes it. */
  repository: string;
  /** The branch to work from. Default: the repository's own default branch. */
  base?: string | undefined;
  agent: AgentProgram;
  apiKey: string;
  projects: readonly string[];
  /** The service's own: `jobs.sqlite`, a mirror of the repository, working trees and logs. */
  folder: string;
  /** SQLite file. Default: `jobs.sqlite` in the folder. */
  store?: string | undefined;
  /** Default: any free one. */
  port?: number;
  agents: number;
  timeLimitMs: number;
  archiveAfterDays?: number | undefined;
  /** Default: pull requests are pages of the service. */
  github?: GitHubRepository | undefined;
  log?: (line: string) => void;
}

const archiveEveryMs = 60_000;

/** Starts the service with agents that do real work. Disposing of it ends the agents; their work is resumed next time. */
export async function startWorkingService(options: WorkingServiceOptions): Promise<LoopbackServer> {
  const { folder, agent, agents, timeLimitMs, github, log = () => {} } = options;
  await mkdir(folder, { recursive: true });
  // Whoever has the store has the folder: from here on there is no other service in it.
  const store = new Store(options.store ?? join(folder, "jobs.sqlite"));
  await removeDirectory(runsFolderOf(folder)).catch((error: unknown) =>
    log(`Old working trees are left: ${String(error)}`),
  );
  const stop = new AbortController();
  const { address, environment } = resolveAddress(options.repository, github?.token);
  const repository = new Repository({
    url: address,
    folder,
    targetBranch: options.base,
    environment,
    signal: stop.signal,
  });
  await repository.open().catch((error: unknown) => {
    store[Symbol.dispose]();
    throw error;
  });

  let baseUrl = "";
  const name = repositoryName(address);
  const ownPages = new OwnPullRequests(store, repository, name, () => baseUrl, log);
  const pullRequests = github ? new GitHubPullRequests(github, stop.signal) : ownPages;
  const ports = { store, repository, pullRequests, agent, folder, timeLimitMs };
  const engine = new WorkingEngine({ ...ports, repositoryName: name, agents, signal: stop.signal, log });
  const rateLimiters = {
    creates: store.rateLimiter("create", hourlyLimit, hourMs),
    messages: store.rateLimiter("message", hourlyLimit, hourMs),
  };
  const { apiKey, projects } = options;
  const api = createApi({ engine, apiKey, projects, rateLimiters, log });
  const listening = await listen(ownPages.serve(api), options.port).catch((error: unknown) => {
    store[Symbol.dispose]();
    throw error;
  });
  baseUrl = listening.url;
  engine.start();
  const archiving = archiveRegularly(stop.signal, () =>
    archiveJobs({ store, pullRequests, afterDays: options.archiveAfterDays, now: Date.now(), log }).catch(
      (error: unknown) => log(`Jobs cannot be archived: ${String(error)}`),
    ),
  );
  return {
    ...listening,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await listening[Symbol.asyncDispose]();
      await engine.stopped();
      await archiving;
      store[Symbol.dispose]();
    },
  };
}

/** One round after another, with a pause between. */
async function archiveRegularly(signal: AbortSignal, archive: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await archive();
    await setTimeout(archiveEveryMs, undefined, { signal }).catch(() => {});
  }
}
