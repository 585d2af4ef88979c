import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createApi } from "../api/jobs-endpoints.ts";
import { createOperations, type OperationsOptions } from "../api/operations.ts";
import type { Problems } from "../api/problems.ts";
import { type Authenticator, singleKey } from "../http/authentication.ts";
import { dispatch } from "../http/dispatch.ts";
import { type LoopbackServer, listen } from "../http/listen.ts";
import { observeRequests } from "../http/observe-requests.ts";
import { basePathOf, withoutBasePath } from "../http/public-url.ts";
import { Jobs } from "../jobs/jobs.ts";
import { listenForChanges } from "../jobs/jobs-socket.ts";
import { changeJobs } from "../jobs/run-jobs-command.ts";
import type { Log, LogEvent } from "../log/log.ts";
import { type Metrics, noMetrics, type ReadableMetrics } from "../metrics/metrics.ts";
import type { LocalPullRequest } from "../model.ts";
import { sendNotFoundPage } from "../pages/not-found.ts";
import { Pages } from "../pages/pages.ts";
import type { PerProject } from "../per-project.ts";
import { checkDescriptors } from "../processes/descriptor-limit.ts";
import { JobCopier } from "../store/job-copier.ts";
import type { JobCopies } from "../store/job-copies.ts";
import { LogFiles } from "../store/log-files.ts";
import { findFlaggedChanges } from "../turns/check-change.ts";
import { turnLimits } from "../turns/turn-limits.ts";
import { type BackendOptions, createFolder, openBackend, type ProjectBackend, type ProjectSource } from "./backend.ts";
import {
  checkAgent,
  ownProjectsOf,
  type ProjectAgents,
  type RunningWorker,
  runWorker,
  type WorkerOptions,
} from "./run-worker.ts";

type Shared = "baseUrl" | "signal" | "log" | "metrics" | "hasCopies" | "folder" | "copier" | "projects" | "settings";

/** The repository of a project, and how agents work on it. */
export interface ProjectOptions extends ProjectSource, ProjectAgents {}

export interface ServiceOptions extends Omit<BackendOptions, Shared>, Omit<WorkerOptions, Shared> {
  /** A key that gives access to all projects. Default: only `openAuthenticator` knows who has access. */
  apiKey?: string | undefined;
  projects: readonly string[];
  /**
   * Opens what decides who may use the service, `apiKey` included. `baseUrl` returns the URL at which the service is reached.
   * Default: whoever has `apiKey` may.
   */
  openAuthenticator?: ((baseUrl: () => string) => Promise<Authenticator>) | undefined;
  settings: PerProject<ProjectOptions>;
  /** A folder of the service, for clones of the repositories, worktrees, homes and logs. Created if it does not exist. */
  folder: string;
  /** Default: 0, any free port. */
  port?: number | undefined;
  /** The address of this machine to listen on. Default: 127.0.0.1. */
  listen?: string | undefined;
  /** The URL at which a reverse proxy serves the service, see `parsePublicUrl`. Default: only loopback, at its port. */
  publicUrl?: string | undefined;
  /** Whether answers of the API link to the pages of jobs. Default: no. */
  hasJobPages?: boolean | undefined;
  /** Copies of jobs, or a function that returns them once the repositories are open. Default: jobs are only in the store. */
  copies?: JobCopies | ((projects: PerProject<ProjectBackend>) => JobCopies) | undefined;
  /** Whether commands of this machine can change jobs, through a socket beside `store`. Default: no. */
  takesCommands?: boolean;
  /** Counts events. If it can be read, it is served at `/metrics`. Default: nothing is counted. */
  metrics?: Metrics | ReadableMetrics | undefined;
  /** Where `/metrics` and `/healthz` are answered without a key. Default: only an API does, on its own port and with conditions. */
  metricsListen?: { address: string; port: number } | undefined;
  log?: Log;
  /** Knows what keeps jobs from going on, besides this process. Default: nobody is told. */
  problems?: Problems | undefined;
  /** Receives events that only a structured log has. Default: does nothing. */
  logEvent?: LogEvent | undefined;
}

/** A part of the service, or all of it. Disposing of it stops its agents; others on the same store resume their turns. */
export interface RunningService extends AsyncDisposable {
  /** Where `/metrics` and `/healthz` are answered without a key, without a path; undefined if nowhere. */
  metricsUrl?: string;
  /** Starts no more turns, and waits until none is running. */
  finish(): Promise<void>;
}

export interface Service extends LoopbackServer, RunningService {
  /**
   * Returns a URL that signs in the first person to open it within 10 minutes, and leads to a page, such as `/pull/1`.
   *
   * @throws HttpException 401 if the service has no `apiKey`
   */
  createSignInLink(path: string): Promise<string>;
  /** Starts a worker, too, if there is none. @throws as `startService` does */
  runTurns(settings: ServiceOptions["settings"]): Promise<void>;
}

/**
 * Starts the service, on one machine: its API with its pages, and a worker.
 *
 * @throws if nobody could have access, if an agent is not installed, if the store cannot be opened or belongs to other
 *   repositories, if GitHub does not accept a token, or if the service cannot work on a repository
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
  let worker: RunningWorker | undefined;
  let server: LoopbackServer | undefined;
  try {
    const limits = () => turnLimits(options.settings, ownProjectsOf(backend));
    void options.problems?.watch(async () => backend.store.counts.census(await limits()), signal);
    server = await listenForMetrics({ ...options, store: backend.store, limits, worker: () => worker }, options);
    worker = await runWorker(backend, { ...options, signal, log });
  } catch (error) {
    await server?.[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
    throw error;
  }
  const running = worker;
  return {
    ...(server && { metricsUrl: server.url }),
    finish: () => running.finish(),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
      await backend[Symbol.asyncDispose]();
    },
  };
}

async function startParts(options: ServiceOptions, hasWorker: boolean): Promise<Service> {
  const { folder, settings, publicUrl, copies, metrics, logEvent, log = () => {} } = options;
  checkDescriptors();
  await createFolder(folder);
  const checkAgents = (given: typeof settings) =>
    given.mapInOrder(({ agent }) => checkAgent(agent, [folder, options.store ?? folder]));
  if (hasWorker) await checkAgents(settings);
  const stop = new AbortController();
  const { signal } = stop;
  let ownUrl = "";
  const baseUrl = () => publicUrl ?? ownUrl;
  const basePath = basePathOf(publicUrl);
  const authenticator = await authenticatorOf(options, baseUrl);
  const backend = await openBackend({ ...options, hasCopies: copies !== undefined, baseUrl, signal, log });
  const { store } = backend;
  const opened = typeof copies === "function" ? copies(backend.projects) : copies;
  const copier = opened && new JobCopier({ copies: opened, store, folder, log });
  let worker: RunningWorker | undefined;
  const runTurns = async (given = settings): Promise<void> => {
    worker = await runWorker(backend, { ...options, settings: given, copier, signal, log });
  };
  const onUnavailable = () => void worker?.waitForStore();
  const shown = backend.projects.with(
    settings,
    ({ repositoryName, repository, branchPrefix }, { agent: { model } }) => ({
      repositoryName,
      model,
      branchPrefix,
      hasBranch: (branch: string) => repository.hasBranch(branch),
    }),
  );
  const jobs = new Jobs({ store, projects: shown, copier, onUnavailable, metrics, logEvent });
  const { tokens, logs = new LogFiles(folder) } = store;
  const isShared = options.openStore !== undefined;
  const sources = backend.projects.with(settings, (project, { protectedFiles, moreProtected }) => ({
    ...project,
    protectedFiles: async (base: string, head: string) => {
      const { repository } = project;
      return findFlaggedChanges(
        { repository, protectedFiles, moreProtected },
        await repository.changedFiles(base, head),
        base,
      );
    },
    stateOf: stateOf(project, isShared),
  }));
  const content = { store, projects: sources, logs, engine: jobs };
  const { problems } = options;
  const pages = new Pages({ ...content, problems, tokens, authenticator, baseUrl, basePath, signal, log });
  const { hasJobPages } = options;
  const api = createApi({
    engine: jobs,
    steps: jobs,
    turns: jobs,
    takesBase: true,
    authenticator,
    hasJobPages,
    basePath,
    signal,
  });
  let server: LoopbackServer | undefined;
  let metricsServer: LoopbackServer | undefined;
  let commands: AsyncDisposable | undefined;
  try {
    const ownWorker = hasWorker ? () => worker : undefined;
    const limits = () => turnLimits(settings, ownProjectsOf(backend));
    void options.problems?.watch(async () => store.counts.census(await limits()), signal);
    const shared = { ...options, store, limits, worker: ownWorker };
    // Behind a reverse proxy, everybody can look like a program on this machine.
    const metricsReaders = publicUrl === undefined ? undefined : "with a key";
    const operations = createOperations({ ...shared, authenticator, metricsReaders });
    metricsServer = await listenForMetrics(shared, options);
    const endpoints = { ...operations, ...pages.endpoints, ...api.endpoints };
    const notFound = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      if (!sendNotFoundPage(request, response, basePath)) await api.notFound(request);
    };
    const listener = dispatch({ endpoints, notFound, publicUrl, log });
    const { port, listen: address } = options;
    server = await listen(observed(listener, options), port, { address, log });
    ownUrl = server.url;
    if (hasWorker) await runTurns();
    if (options.takesCommands && options.store !== undefined)
      commands = await listenForChanges(options.store, (command) => changeJobs(command, store, jobs), log);
  } catch (error) {
    await server?.[Symbol.asyncDispose]();
    await metricsServer?.[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
    throw error;
  }
  const started = server;
  return {
    ...started,
    ...(metricsServer && { metricsUrl: metricsServer.url }),
    createSignInLink: async (path) => pages.createSignInLink(path, await authenticator.authenticate(options.apiKey)),
    runTurns: async (given) => {
      await checkAgents(given);
      await runTurns(given);
    },
    finish: async () => worker?.finish(),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await commands?.[Symbol.asyncDispose]();
      await started[Symbol.asyncDispose]();
      await metricsServer?.[Symbol.asyncDispose]();
      await worker?.[Symbol.asyncDispose]();
      await backend[Symbol.asyncDispose]();
    },
  };
}

/** Answers `/metrics` and `/healthz` without a key, if the options say where. */
async function listenForMetrics(
  operations: OperationsOptions,
  options: ServiceOptions,
): Promise<LoopbackServer | undefined> {
  const { metricsListen, log = () => {} } = options;
  if (metricsListen === undefined) return undefined;
  const endpoints = createOperations({ ...operations, metricsReaders: "all" });
  const { address, port } = metricsListen;
  return listen(observed(dispatch({ endpoints, log }), options), port, { address, log });
}

async function authenticatorOf(options: ServiceOptions, baseUrl: () => string): Promise<Authenticator> {
  const { apiKey, projects, openAuthenticator } = options;
  if (openAuthenticator !== undefined) return openAuthenticator(baseUrl);
  if (!apiKey) throw new Error("there is no API key");
  return singleKey(apiKey, projects);
}

function observed(
  listener: RequestListener,
  { metrics = noMetrics, logEvent, publicUrl }: ServiceOptions,
): RequestListener {
  return withoutBasePath(basePathOf(publicUrl), observeRequests({ metrics, logEvent }, listener));
}

/** A page is at most this much behind what other processes have pushed. */
const maxCloneAgeMs = 30_000;

/** Reads the states of pull requests for their pages, which show the commits, too. */
const stateOf =
  ({ localPullRequests, repository }: ProjectBackend, isShared: boolean) =>
  async (pull: LocalPullRequest) => {
    // Without other processes, what this one knows is as new as a turn needs it.
    const maxAgeMs = isShared ? maxCloneAgeMs : Number.POSITIVE_INFINITY;
    await repository.fetchIfBehind([pull.branch, pull.target], maxAgeMs, pull.head);
    return localPullRequests.stateAtLastFetch(pull, pull.target);
  };
