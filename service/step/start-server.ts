import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { serviceEnvironment } from "../../src/runner-kit/agent-service.ts";
import { readMemoryNote } from "../src/agents/limits.ts";
import { tellMemory } from "./memory/describe-memory.ts";
import { portOf } from "./port.ts";
import type { Runner } from "./runner.ts";
import { configOf, keepRunning, logFile, type ServerConfig, type ServerReply } from "./server-protocol.ts";
import { readSettings } from "./settings.ts";
import { checkGit, checkPlatform, createFolder, prepareAgent } from "./setup/prepare.ts";
import { SetupError } from "./setup/setup-error.ts";

export interface StartOptions {
  runner: Runner;
  /** The step's environment variables. */
  environment: NodeJS.ProcessEnv;
  /** The file that the service's process runs: one that hands over to `server.ts` if its first argument is `server`. */
  program: string;
  /** Ends the service again if the run is cancelled meanwhile. */
  signal: AbortSignal;
}

/**
 * Runs `main` of the step: checks everything that can be checked before an agent runs, starts the service in a process that
 * outlives the step, and sets the outputs.
 *
 * @throws SetupError if the service cannot start
 */
export async function startServer({ runner, environment, program, signal }: StartOptions): Promise<void> {
  const apiKey = `agent_${randomBytes(24).toString("hex")}`;
  runner.mask(apiKey);
  checkPlatform(environment);
  const settings = readSettings(runner.input, environment, apiKey);
  runner.mask(settings.token);
  await checkGit();
  const folder = createFolder(environment, settings.projectId);
  runner.saveState("folder", folder);
  runner.saveState("isWorkflowToken", String(settings.isWorkflowToken));
  const { options } = settings;
  const path = await prepareAgent(settings, { folder, environment, info: runner.info, signal });
  const port = portOf(settings.projectId);
  signal.throwIfAborted();
  const config = { ...configOf(settings, environment), folder, port };
  const ofServer = serviceEnvironment({ ...environment, PATH: path }, options.agent.passes);
  const { url, memory } = await startProcess(config, { runner, environment: ofServer, program, signal });
  runner.setOutput("base-url", url);
  runner.setOutput("project-id", settings.projectId);
  runner.setOutput("api-key", apiKey);
  runner.info(`The service listens on ${url}, for the project ${settings.projectId}`);
  runner.info(`Agent: ${options.agent.model}. Repository: ${settings.repository}. Sandbox: ${options.sandbox}`);
  // The step is in a control group of the runner, which it must leave as it is.
  if (options.limits.memoryMb !== undefined) runner.info(readMemoryNote);
  if (memory !== undefined) tellMemory(runner, memory, environment);
  runner.info('If the agent fails, the end of its log is in that of this step\'s "Post", at the end of the job');
}

/** Starts the process of the service, and returns its reply when it listens. */
async function startProcess(
  config: ServerConfig,
  { runner, environment, program, signal }: StartOptions,
): Promise<Extract<ServerReply, { url: string }>> {
  const log = openSync(join(config.folder, logFile), "a", 0o600);
  const child = fork(program, ["server", config.folder], {
    cwd: config.folder,
    env: environment,
    execArgv: [],
    stdio: ["ignore", log, log, "ipc"],
    // Its own session, so that it outlives the step.
    detached: true,
  });
  closeSync(log);
  runner.saveState("process", String(child.pid));
  child.send(config);
  const reply = await new Promise<ServerReply>((resolve, reject) => {
    child.once("message", (message) => resolve(message as ServerReply));
    child.once("error", reject);
    child.once("exit", (exitCode, killedBy) =>
      reject(new Error(`The process of the service ended with ${killedBy ?? exitCode}`)),
    );
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  if ("title" in reply) throw new SetupError(reply.title, reply.text);
  await new Promise((resolve) => child.send(keepRunning, resolve));
  return reply;
}
