import { mkdirSync, mkdtempSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { generateKey } from "../access/generate-key.ts";
import type { AccessOptions } from "../access/open-authenticator.ts";
import { Cgroups } from "../agents/cgroups.ts";
import { checkModelKey } from "../agents/check-model-key.ts";
import { confineAgents, withoutAgents } from "../agents/confine.ts";
import { readMemoryNote } from "../agents/limits.ts";
import { Problems } from "../api/problems.ts";
import { errorMessage } from "../error-message.ts";
import type { Authenticator } from "../http/authentication.ts";
import type { Log } from "../log/log.ts";
import { createServiceLog, type ServiceLog } from "../log/service-log.ts";
import type { ReadableMetrics } from "../metrics/metrics.ts";
import type { CommandLineOptions as ServeOptions } from "../options/options.ts";
import { shared } from "../per-project.ts";
import { isResourceExhausted } from "../processes/resource-exhausted.ts";
import { removeDirectory } from "../remove-directory.ts";
import { folderOfStore, logsFolder } from "../service-folder.ts";
import { checkStorePlace } from "../store/sqlite/find-store.ts";
import { lockStore } from "../store/sqlite/store-lock.ts";
import { waitForPostgres } from "./open-postgres.ts";
import { checkReads } from "./run-worker.ts";
import { type RunningService, type Service, startApi, startService, startWorker } from "./service.ts";
import { watchSecrets } from "./watch-secrets.ts";

/** Runs the service until a signal ends it. Ends the process if it cannot start. */
export async function serve(options: ServeOptions): Promise<void> {
  // Everything the service writes is only for its user, except what Git writes to a repository of others.
  const repositoryUmask = process.umask(0o077);
  const { role, store, folder: givenFolder, apiKey: givenKey, keys, secretVariables, logFormat } = options;
  const keptFolder = store === undefined ? givenFolder : folderOfStore(store);
  const folder = keptFolder === undefined ? createFolder() : resolve(keptFolder);
  const output = await createServiceLog(logFormat);
  // Several API processes must have the same keys.
  const isGenerated = givenKey === undefined && keys === undefined && role === undefined;
  const apiKey = isGenerated ? generateKey() : givenKey;
  // No program that the service starts gets them.
  for (const name of secretVariables) delete process.env[name];
  const held = new AsyncDisposableStack();
  if (keptFolder === undefined) held.defer(() => removeDirectory(folder));
  const service = await start({ ...options, apiKey, folder }, repositoryUmask, output, held).catch(
    async (error: unknown) => {
      const advice = isResourceExhausted(error)
        ? "The machine lacks something, such as disk space, processes or file descriptors. Start the service again when it has that.\n"
        : "";
      output.fail(`The service cannot start: ${errorMessage(error)}\n${advice}`);
      await held.disposeAsync();
      process.exit(1);
    },
  );
  stopOnSignals(service, held, options, output.log);
  announceStart(service, { ...options, apiKey, folder }, isGenerated, output.announce);
}

/** @param held - gets everything to dispose of after the service, even if it cannot start */
async function start(
  options: ServeOptions & { folder: string },
  repositoryUmask: number,
  { log, logEvent }: ServiceLog,
  held: AsyncDisposableStack,
): Promise<RunningService | Service> {
  const { role, settings, secretVariables, keys, trust, trustIssuer, postgres, drainMs, logFormat, ...rest } = options;
  const { folder, apiKey, projects, metricsListen } = rest;
  const metrics = role === "worker" && metricsListen === undefined ? undefined : await createMetrics();
  const problems = new Problems(log, metrics);
  const onModelAnswer = (status: number, key: string): void => problems.modelAnswered(status, key);
  const confined =
    role === "api" ? withoutAgents(settings) : await confineAgents(settings, folder, process.env, log, onModelAnswer);
  held.use(confined);
  if (options.store !== undefined) checkStorePlace(options.store);
  const secrets = settings.values.flatMap(({ secretSources }) => secretSources);
  held.use(watchSecrets(secrets, log));
  const secretFiles = secrets.flatMap(({ file }) => file ?? []);
  if (role !== "api") for (const { agent } of settings.values) checkReads(agent, secretFiles);
  const checks = new Map(
    confined.settings.values.map(({ agent }) => [agent, shared(() => checkModelKey(agent, process.env, log))]),
  );
  const hasMemoryLimit = role !== "api" && settings.values.some(({ limits }) => limits.memoryMb !== undefined);
  const cgroups = hasMemoryLimit ? await openCgroups(log) : undefined;
  if (postgres !== undefined) held.use(lockFolder(folder));
  const serviceOptions = {
    ...rest,
    settings: confined.settings.map((project) => ({
      ...project,
      check: role === "api" ? undefined : checks.get(project.agent),
    })),
    cgroups,
    hasJobPages: true,
    takesCommands: options.store !== undefined,
    isDiskMeasured: true,
    openAuthenticator:
      keys === undefined && trust.length === 0
        ? undefined
        : (baseUrl: () => string) => openAccess({ apiKey, keys, trust, trustIssuer, projects, baseUrl, log }),
    openStore:
      postgres === undefined ? undefined : () => waitForPostgres(postgres, log, () => metrics?.storeOutageBegan()),
    repositoryUmask,
    log,
    logEvent,
    metrics,
    problems,
  };
  if (role === "worker") return startWorker(serviceOptions);
  return role === "api" ? startApi(serviceOptions) : startService(serviceOptions);
}

/** Ends the process at a signal: the first one lets running agents finish for some time, the second one stops them. */
function stopOnSignals(
  service: RunningService,
  held: AsyncDisposableStack,
  { drainMs, store, postgres }: ServeOptions,
  log: Log,
): void {
  const isPersistent = store !== undefined || postgres !== undefined;
  let signals = 0;
  let stopNow = (): void => {};
  const stop = async (): Promise<void> => {
    signals++;
    if (signals > 1) return stopNow();
    if (drainMs > 0) {
      log(
        `Waiting up to ${drainMs / 60_000} minutes for the running agents. No more are started. A second signal stops them.`,
      );
      const { promise: second, resolve: onSecond } = Promise.withResolvers<void>();
      stopNow = onSecond;
      await Promise.race([service.finish(), second, setTimeout(drainMs, undefined, { ref: false })]);
    }
    log(`Stopping the agents.${isPersistent ? " The next service on the same store resumes their jobs." : ""}`);
    await service[Symbol.asyncDispose]();
    await held.disposeAsync();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
}

function announceStart(
  service: RunningService | Service,
  { role, projects, apiKey, keys, trust, agents, folder }: ServeOptions & { folder: string },
  isKeyGenerated: boolean,
  announce: (line: string) => void,
): void {
  if ("url" in service) {
    announce(`Listening on ${service.url}`);
    announce(`Projects     ${projects.join(", ")}`);
    if (apiKey !== undefined) announce(`API key      ${isKeyGenerated ? apiKey : "from AGENT_SERVICE_KEY"}`);
    if (keys !== undefined) announce(`API keys     ${keys}`);
    if (trust.length > 0) announce(`Trusts       ${trust.map(({ text }) => text).join(", ")}`);
  } else announce(`Running up to ${agents} agents at a time`);
  if (service.metricsUrl !== undefined) announce(`Metrics      ${service.metricsUrl}/metrics`);
  if (role !== "api") announce(`Job logs     ${logsFolder(folder)}`);
}

/** Says how the memory of agents is limited. Returns `undefined` if the kernel does not do it. */
async function openCgroups(log: Log): Promise<Cgroups | undefined> {
  try {
    const cgroups = await Cgroups.open();
    log("The kernel limits the memory of agents (cgroup v2).");
    return cgroups;
  } catch (error) {
    log(
      `${readMemoryNote} The kernel would limit it if a cgroup v2 were delegated to the service: ${errorMessage(error)}`,
    );
    return undefined;
  }
}

/** Only a service with more than one key loads what that needs. */
async function openAccess(options: AccessOptions): Promise<Authenticator> {
  const { openAuthenticator } = await import("../access/open-authenticator.ts");
  return openAuthenticator(options);
}

/** The action, which bundles the service, has no metrics and does not load what they need. */
async function createMetrics(): Promise<ReadableMetrics> {
  const { PrometheusMetrics } = await import("../metrics/prometheus.ts");
  return new PrometheusMetrics();
}

/** Creates a folder for a service without a store. Not in the temporary directory, where some agents refuse to have a home. */
function createFolder(): string {
  const parent = join(process.env.XDG_STATE_HOME || join(homedir(), ".local/state"), "agent-job-service");
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "run-"));
}

/** Keeps a second process away from a folder. With a file as the store, that has the lock. */
function lockFolder(folder: string): Disposable {
  mkdirSync(folder, { recursive: true });
  return lockStore(join(folder, "process"));
}
