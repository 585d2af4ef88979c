import { mkdirSync, mkdtempSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { generateKey } from "./access/generate-key.ts";
import type { AccessOptions } from "./access/open-authenticator.ts";
import type { KeyCommand } from "./access/run-key-command.ts";
import { type ConfinedProjects, confineAgents, withoutAgents } from "./agents/confine.ts";
import { errorMessage } from "./error-message.ts";
import type { Authenticator } from "./http/authentication.ts";
import { createLinePrinter } from "./log/line-printer.ts";
import type { Log } from "./log/log.ts";
import { createServiceLog } from "./log/service-log.ts";
import type { Metrics, ReadableMetrics } from "./metrics/metrics.ts";
import { readConfiguration } from "./options/config-file.ts";
import { type CopyOptions, parseCopyOptions } from "./options/copy-options.ts";
import { help } from "./options/help.ts";
import { parseKeyOptions } from "./options/key-options.ts";
import { type CommandLineOptions, parseOptions } from "./options/options.ts";
import type { ProjectSettings } from "./options/project-settings.ts";
import { isResourceExhausted } from "./processes/resource-exhausted.ts";
import { removeDirectory } from "./remove-directory.ts";
import { logsFolder } from "./service-folder.ts";
import { type RunningService, type Service, startApi, startService, startWorker } from "./start/service.ts";
import { backUpStore } from "./store/sqlite/backup.ts";
import { lockStore } from "./store/sqlite/store-lock.ts";
import type { Store } from "./store/store.ts";
import { markHome } from "./turns/shared-homes.ts";

const args = process.argv.slice(2);
const options = parseKeyOptions(args) ?? parseCopyOptions(args) ?? parseOptions(args, process.env, readConfiguration);
if (options === "help") process.stdout.write(help);
else if ("error" in options) {
  // Without the options, among which the error would not be found.
  process.stderr.write(`${options.error}\nnpm run service -- --help lists all options.\n`);
  process.exitCode = 2;
} else if ("command" in options) await changeKeys(options);
else if ("target" in options) await copy(options);
else await serve(options);

async function changeKeys(command: KeyCommand): Promise<void> {
  try {
    const { runKeyCommand } = await import("./access/run-key-command.ts");
    const { text, note } = await runKeyCommand(command, Date.now());
    process.stderr.write(note);
    process.stdout.write(text);
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n`);
    process.exitCode = 1;
  }
}

async function copy({ store, target }: CopyOptions): Promise<void> {
  process.umask(0o077);
  const print = createLinePrinter();
  try {
    if ("file" in target) {
      await backUpStore(store, target.file);
      print(`Copied ${store} to ${target.file}`);
    } else {
      const { importStore } = await import("./store/postgres/import-store.ts");
      const { jobs, turns, pullRequests } = await importStore(store, target.url, print, markHome);
      print(`Copied ${jobs} jobs, ${turns} turns and ${pullRequests} pull requests from ${store} to Postgres`);
    }
  } catch (error) {
    process.stderr.write(`The store was not ${"file" in target ? "backed up" : "exported"}: ${errorMessage(error)}\n`);
    process.exitCode = 1;
  }
}

async function serve({
  role,
  settings,
  secretVariables,
  apiKey: givenKey,
  keys,
  trust,
  trustIssuer,
  store,
  postgres,
  folder: givenFolder,
  drainMs,
  logFormat,
  ...rest
}: CommandLineOptions) {
  // Everything the service writes is only for its user, except what Git writes to a repository of others.
  const repositoryUmask = process.umask(0o077);
  const keptFolder = store === undefined ? givenFolder : `${resolve(store)}.files`;
  const folder = keptFolder === undefined ? createFolder() : resolve(keptFolder);
  const isPersistent = store !== undefined || postgres !== undefined;
  const { log, logEvent, announce, fail } = await createServiceLog(logFormat);
  const metrics = role === "worker" && rest.healthPort === undefined ? undefined : await createMetrics();
  // Several API processes must have the same keys.
  const isGenerated = givenKey === undefined && keys === undefined && role === undefined;
  const apiKey = isGenerated ? generateKey() : givenKey;
  // No program that the service starts gets them.
  for (const name of secretVariables) delete process.env[name];
  let confined: ConfinedProjects<ProjectSettings> | undefined;
  let folderLock: Disposable | undefined;
  const start = async (): Promise<RunningService | Service> => {
    confined = role === "api" ? withoutAgents(settings) : await confineAgents(settings, folder, process.env, log);
    const openStore = postgres === undefined ? undefined : () => openPostgres(postgres, log, metrics);
    if (postgres !== undefined) folderLock = lockFolder(folder);
    const openAuthenticator =
      keys === undefined && trust.length === 0
        ? undefined
        : (baseUrl: () => string) =>
            openAccess({ apiKey, keys, trust, trustIssuer, projects: rest.projects, baseUrl, log });
    const options = {
      ...rest,
      settings: confined.settings,
      hasJobPages: true,
      openAuthenticator,
      apiKey,
      folder,
      store,
      openStore,
      repositoryUmask,
      log,
      logEvent,
      metrics,
    };
    if (role === "worker") return startWorker(options);
    return role === "api" ? startApi(options) : startService(options);
  };
  const end = async (): Promise<void> => {
    await confined?.[Symbol.asyncDispose]();
    folderLock?.[Symbol.dispose]();
    if (keptFolder === undefined) await removeDirectory(folder);
  };
  const service = await start().catch(async (error: unknown) => {
    const advice = isResourceExhausted(error)
      ? "The machine lacks something, such as disk space, processes or file descriptors. Start the service again when it has that.\n"
      : "";
    fail(`The service cannot start: ${errorMessage(error)}\n${advice}`);
    await end();
    process.exit(1);
  });
  let signals = 0;
  const stop = async (): Promise<void> => {
    signals++;
    if (signals === 1 && drainMs > 0) {
      log(
        `Waiting up to ${drainMs / 60_000} minutes for the running agents. No more are started. A second signal stops them.`,
      );
      const { promise: second, resolve: onSecond } = Promise.withResolvers<void>();
      stopNow = onSecond;
      await Promise.race([service.finish(), second, setTimeout(drainMs, undefined, { ref: false })]);
    } else if (signals > 1) return stopNow();
    log(`Stopping the agents.${isPersistent ? " The next service on the same store resumes their jobs." : ""}`);
    await service[Symbol.asyncDispose]();
    await end();
    process.exit(0);
  };
  let stopNow = (): void => {};
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
  if ("url" in service) {
    announce(`Listening on ${service.url}`);
    announce(`Projects     ${rest.projects.join(", ")}`);
    if (apiKey !== undefined) announce(`API key      ${isGenerated ? apiKey : "from AGENT_SERVICE_KEY"}`);
    if (keys !== undefined) announce(`API keys     ${keys}`);
    if (trust.length > 0) announce(`Trusts       ${trust.map(({ text }) => text).join(", ")}`);
  } else announce(`Running up to ${rest.agents} agents at a time`);
  if (service.healthUrl !== undefined) announce(`Health       ${service.healthUrl}/healthz`);
  if (role !== "api") announce(`Job logs     ${logsFolder(folder)}`);
}

/** Only a service with more than one key loads what that needs. */
async function openAccess(options: AccessOptions): Promise<Authenticator> {
  const { openAuthenticator } = await import("./access/open-authenticator.ts");
  return openAuthenticator(options);
}

/** Only a service with a Postgres store loads its client. */
async function openPostgres(url: string, log: Log, metrics: Metrics | undefined): Promise<Store> {
  const { openPostgresStore } = await import("./store/postgres/open-store.ts");
  return openPostgresStore({ url, log, onOutage: () => metrics?.storeOutageBegan() });
}

/** The service's step, which bundles the service, has no metrics and does not load what they need. */
async function createMetrics(): Promise<ReadableMetrics> {
  const { PrometheusMetrics } = await import("./metrics/prometheus.ts");
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
