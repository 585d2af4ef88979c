import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createAgentNetwork, fullNetwork } from "./agents/network/agent-network.ts";
import { createSandbox } from "./agents/sandbox/create-sandbox.ts";
import { unconfined } from "./agents/sandbox/sandbox.ts";
import { type BackupOptions, parseBackupOptions } from "./backup-options.ts";
import { errorMessage } from "./error-message.ts";
import { logsFolder } from "./jobs/job-files.ts";
import { createLinePrinter } from "./line-printer.ts";
import { type CommandLineOptions, help, parseOptions } from "./options.ts";
import { isResourceExhausted } from "./processes/resource-exhausted.ts";
import { removeDirectory } from "./remove-directory.ts";
import { startService } from "./service.ts";
import { backUpStore } from "./store/sqlite/backup.ts";

const print = createLinePrinter();
const args = process.argv.slice(2);
const options = parseBackupOptions(args) ?? parseOptions(args, process.env);
if (options === "help") process.stdout.write(help);
else if ("error" in options) {
  process.stderr.write(`${options.error}\n\n${help}`);
  process.exitCode = 2;
} else if ("file" in options) await backUp(options);
else await serve(options);

async function backUp({ store, file }: BackupOptions): Promise<void> {
  process.umask(0o077);
  try {
    await backUpStore(store, file);
    print(`Copied ${store} to ${file}`);
  } catch (error) {
    process.stderr.write(`The store was not backed up: ${errorMessage(error)}\n`);
    process.exitCode = 1;
  }
}

async function serve({
  sandbox: kind,
  network: networkKind,
  modelHosts,
  apiKey = `mint_${randomBytes(24).toString("hex")}`,
  store,
  ...rest
}: CommandLineOptions) {
  // Everything the service writes is only for its user, except what Git writes to a repository of others.
  const repositoryUmask = process.umask(0o077);
  const folder = store === undefined ? createFolder() : `${resolve(store)}.files`;
  const log = (line: string): void => print(`${new Date().toISOString()} ${line}`);
  let network = fullNetwork;
  const start = async () => {
    const sandbox = kind === undefined ? unconfined : await createSandbox(kind, folder, networkKind === "full", log);
    network = await createAgentNetwork(networkKind, rest.agent, modelHosts, process.env, log);
    return startService({ ...rest, sandbox, network, apiKey, folder, store, repositoryUmask, log });
  };
  const service = await start().catch(async (error: unknown) => {
    const advice = isResourceExhausted(error)
      ? "The machine lacks something, such as disk space, processes or file descriptors. Start the service again when it has that.\n"
      : "";
    process.stderr.write(`The service cannot start: ${errorMessage(error)}\n${advice}`);
    await network[Symbol.asyncDispose]();
    if (store === undefined) await removeDirectory(folder);
    process.exit(1);
  });
  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    log(`Stopping the agents.${store === undefined ? "" : " The next service on the same store resumes their jobs."}`);
    await service[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
    if (store === undefined) await removeDirectory(folder);
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
  print(`Listening on ${service.url}`);
  print(`Projects     ${rest.projects.join(", ")}`);
  print(`API key      ${process.env.AGENT_SERVICE_KEY ? "from AGENT_SERVICE_KEY" : apiKey}`);
  print(`Job logs     ${logsFolder(folder)}`);
}

/** Creates a folder for a service without a store. Not in the temporary directory, where some agents refuse to have a home. */
function createFolder(): string {
  const parent = join(process.env.XDG_STATE_HOME || join(homedir(), ".local/state"), "agent-job-service");
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "run-"));
}
