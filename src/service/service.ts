import { type BackendOptions, createFolder, openBackend, type ProjectBackend, type ProjectSource } from "./backend.ts";
import { createApi } from "./http/api.ts";
import { checkHost } from "./http/host.ts";
import { type LoopbackServer, listen } from "./http/listen.ts";
import { JobCopier } from "./jobs/job-copier.ts";
import type { JobCopies } from "./jobs/job-copies.ts";
import { Jobs } from "./jobs/jobs.ts";
import { LogFiles } from "./jobs/log-files.ts";
import { Pages } from "./pages/pages.ts";
import type { PerProject } from "./per-project.ts";
import { checkDescriptors } from "./processes/descriptor-limit.ts";
import type { LocalPullRequest } from "./pulls/local.ts";
import { checkAgent, type ProjectAgents, type RunningWorker, runWorker, type WorkerOptions } from "./run-worker.ts";

type Shared = "baseUrl" | "signal" | "log" | "hasCopies" | "folder" | "copier" | "projects" | "settings";

/** The repository of a project, and how agents work on it. */
export interface ProjectOptions extends ProjectSource, ProjectAgents {}

export interface ServiceOptions extends Omit<BackendOptions, Shared>, Omit<WorkerOptions, Shared> {
  apiKey: string;
  /** The projects that the key gives access to. */
  projects: readonly string[];
  settings: PerProject<ProjectOptions>;
  /** A folder of the service, for clones of the repositories, worktrees, homes and logs. Created if it does not exist. */
  folder: string;
  /** Default: 0, any free port. */
  port?: number | undefined;
  /** The address of this machine to listen on. Default: 127.0.0.1. */
  listen?: string | undefined;
  /** The origin at which a reverse proxy serves the service, for links. Default: only loopback, at its port. */
  publicUrl?: string | undefined;
  /** Default: jobs are only in the store. */
  copies?: JobCopies | undefined;
  log?: (line: string) => void;
}

/** A part of the service, or all of it. Disposing of it stops its agents; others on the same store resume their turns. */
export interface RunningService extends AsyncDisposable {
  /** Starts no more turns, and waits until none is running. */
  finish(): Promise<void>;
}

/** A service with its API. */
export interface Service extends LoopbackServer, RunningService {
  /** Returns a URL that signs in who opens it first, within 10 minutes, and leads to a page, such as `/pull/1`. */
  createSignInLink(path: string): Promise<string>;
}

/**
 * Starts the service, on one machine: its API with its pages, and a worker.
 *
 * @throws if an agent is not installed, if the store cannot be opened or belongs to other repositories, if GitHub does not
 *   accept a token, or if the service cannot work on a repository
 */
export function startService(options: ServiceOptions): Promise<Service> {
  return startParts(options, true);
}

/**
 * Starts only the API with its pages. Workers on the same store run the turns.
 *
 * @throws as `startService` does
 */
export function startApi(options: ServiceOptions): Promise<Service> {
  return startParts(options, false);
}

/**
 * Starts only a worker, on a store that other processes have open too.
 *
 * @throws as `startService` does
 */
export async function startWorker(options: ServiceOptions): Promise<RunningService> {
  const { folder, publicUrl = "", log = () => {} } = options;
  checkDescriptors();
  await createFolder(folder);
  await options.settings.mapInOrder(({ agent }) => checkAgent(agent, [folder]));
  const stop = new AbortController();
  const { signal } = stop;
  const backend = await openBackend({ ...options, hasCopies: false, baseUrl: () => publicUrl, signal, log });
  const worker = await runWorker(backend, { ...options, signal, log });
  return {
    finish: () => worker.finish(),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await worker[Symbol.asyncDispose]();
      await backend[Symbol.asyncDispose]();
    },
  };
}

async function startParts(options: ServiceOptions, hasWorker: boolean): Promise<Service> {
  const { folder, settings, apiKey, projects, publicUrl, copies, log = () => {} } = options;
  checkDescriptors();
  await createFolder(folder);
  if (hasWorker) await settings.mapInOrder(({ agent }) => checkAgent(agent, [folder, options.store ?? folder]));
  const stop = new AbortController();
  const { signal } = stop;
  let ownUrl = "";
  const baseUrl = () => publicUrl ?? ownUrl;
  const backend = await openBackend({ ...options, hasCopies: copies !== undefined, baseUrl, signal, log });
  const { store } = backend;
  const copier = copies && new JobCopier({ copies, store, folder, log });
  let worker: RunningWorker | undefined;
  const onUnavailable = () => void worker?.waitForStore();
  const shown = backend.projects.with(settings, ({ repositoryName }, { agent: { model } }) => ({
    repositoryName,
    model,
  }));
  const jobs = new Jobs({ store, projects: shown, copier, onUnavailable });
  const { tokens, logs = new LogFiles(folder) } = store;
  const isShared = options.openStore !== undefined;
  const sources = backend.projects.map((project) => ({ ...project, stateOf: stateOf(project, isShared) }));
  const pages = new Pages({ store, projects: sources, logs, tokens, apiKey, baseUrl, log });
  const api = createApi({ engine: jobs, apiKey, projects, log });
  let server: LoopbackServer | undefined;
  try {
    server = await listen(checkHost(publicUrl, pages.serve(api)), options.port, { address: options.listen, log });
    ownUrl = server.url;
    if (hasWorker) worker = await runWorker(backend, { ...options, copier, signal, log });
  } catch (error) {
    await server?.[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
    throw error;
  }
  const started = server;
  return {
    ...started,
    createSignInLink: (path) => pages.createSignInLink(path),
    finish: async () => worker?.finish(),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await started[Symbol.asyncDispose]();
      await worker?.[Symbol.asyncDispose]();
      await backend[Symbol.asyncDispose]();
    },
  };
}

/** A page is at most this much behind what other processes have pushed. */
const maxCloneAgeMs = 30_000;

/** Reads the states of pull requests for their pages, which show the commits, too. */
const stateOf =
  ({ localPullRequests, repository }: ProjectBackend, isShared: boolean) =>
  async (pull: LocalPullRequest) => {
    // Without other processes, the clone has what this one has pushed.
    if (isShared) await repository.fetchIfBehind(pull.head, maxCloneAgeMs);
    return localPullRequests.stateAtLastFetch(pull, pull.target);
  };
