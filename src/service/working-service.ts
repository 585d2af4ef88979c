import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { archiveJobs } from "./archive.ts";
import { createHttpFace, hourlyLimit, hourMs } from "./http-face.ts";
import { type Listening, listen } from "./listen.ts";
import { GitHubPullRequests, type GitHubRepository } from "./pulls/github-pull-requests.ts";
import { OwnPullRequests } from "./pulls/own-pages.ts";
import { Store } from "./store.ts";
import type { AgentProgram } from "./work/agent.ts";
import { Repository } from "./work/repository.ts";
import { WorkingEngine } from "./working-engine.ts";

export interface WorkingServiceOptions {
  /** An address or a path, as `git clone` takes it. */
  repository: string;
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
export async function startWorkingService(options: WorkingServiceOptions): Promise<Listening> {
  const { folder, agent, agents, timeLimitMs, github, log = () => {} } = options;
  await mkdir(folder, { recursive: true });
  const address = isUrl(options.repository) ? options.repository : resolve(options.repository);
  const repository = new Repository(address, folder, github && loginTo(address, github.token));
  await repository.open();
  const store = new Store(options.store ?? join(folder, "jobs.sqlite"));
  let baseUrl = "";
  const repositoryName = nameOf(address);
  const ownPages = new OwnPullRequests(store, repository, repositoryName, () => baseUrl);
  const pullRequests = github ? new GitHubPullRequests(github) : ownPages;
  const workshop = { store, repository, pullRequests, agent, folder, timeLimitMs };
  const engine = new WorkingEngine({ ...workshop, repositoryName, agents, log });
  const face = createHttpFace({
    engine,
    keys: [{ value: options.apiKey, projects: options.projects }],
    limits: {
      creates: store.useLimit("create", hourlyLimit, hourMs),
      messages: store.useLimit("message", hourlyLimit, hourMs),
    },
  });
  const listening = await listen(ownPages.serve(face), options.port);
  baseUrl = listening.url;
  engine.start();

  let archiving: Promise<void> = Promise.resolve();
  const archive = (): void => {
    archiving = archiveJobs({ store, pullRequests, afterDays: options.archiveAfterDays, now: Date.now(), log });
  };
  const timer = setInterval(archive, archiveEveryMs);
  archive();
  return {
    ...listening,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await listening[Symbol.asyncDispose]();
      await engine.stop();
      await archiving;
      store[Symbol.dispose]();
    },
  };
}

/** Also of the form `git@host:path`. */
function isUrl(repository: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(repository) || /^[^/\\]+@[^/\\]+:/.test(repository);
}

/** The repository as its users know it: an address without credentials. */
function nameOf(address: string): string {
  if (!isUrl(address)) return pathToFileURL(address).href;
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href.replace(/\.git$/, "");
}

/** Tells Git the token for one host, in a way that stands in no file and in no list of processes. */
function loginTo(address: string, token: string): Record<string, string> {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return {};
  const login = Buffer.from(`x-access-token:${token}`).toString("base64");
  return {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${new URL(address).origin}/.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${login}`,
  };
}
