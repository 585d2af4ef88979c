import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cacheAccess } from "../../src/runner-kit/cache.ts";
import { say, trusted } from "../../src/runner-kit/text.ts";
import { forAnnotation } from "../../src/runner-kit/untrusted.ts";
import { readMemoryNote } from "../src/agents/limits.ts";
import { guide } from "./guide.ts";
import { describeMemory, type Memory } from "./memory/describe-memory.ts";
import { isFree, portOf } from "./port.ts";
import type { Runner } from "./runner.ts";
import { keepRunning, logFile, type ServerConfig, type ServerReply } from "./server-protocol.ts";
import { readSettings, type Settings } from "./settings.ts";
import { prepareBubblewrap } from "./setup/bubblewrap.ts";
import { cacheEnvironment, serverEnvironment } from "./setup/environment.ts";
import { installAgent } from "./setup/install-agent.ts";
import { checkGit, checkPlatform } from "./setup/platform.ts";
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
  const warn = (title: string, text: string): void => runner.annotate("warning", title, forAnnotation([text]));
  const apiKey = `agent_${randomBytes(24).toString("hex")}`;
  runner.mask(apiKey);
  checkPlatform(process.platform);
  const settings = readSettings(runner.input, environment, apiKey);
  runner.mask(settings.token);
  await checkGit();
  const folder = createFolder(environment, settings.projectId);
  runner.saveState("folder", folder);
  runner.saveState("isWorkflowToken", String(settings.isWorkflowToken));
  const { agentPackage, options } = settings;
  if (options.sandbox === "bwrap")
    await prepareBubblewrap({
      folder: join(folder, "sandbox-test"),
      canInstall: settings.install && environment.RUNNER_ENVIRONMENT === "github-hosted",
      info: runner.info,
    });
  const path = agentPackage
    ? await installAgent({
        agent: agentPackage,
        isAllowed: settings.install,
        folder: `${folder}-agent`,
        environment,
        info: runner.info,
        signal,
      })
    : environment.PATH;
  const port = portOf(settings.projectId);
  if (!(await isFree(port)))
    warn(
      "The usual port is in use",
      `Port ${port} is in use on this runner, so the service has another \`base-url\` than in other runs: a session, and a re-run, do not find their jobs here. Comments do.`,
    );
  signal.throwIfAborted();
  const config = { ...configOf(settings, environment, apiKey), folder, port };
  const ofServer = serverEnvironment({ ...environment, PATH: path }, options.agent.passes);
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

/** Says what later runs will know of this one. It is no annotation unless there is something to fix: every run would have it. */
function tellMemory(runner: Runner, memory: Memory, environment: NodeJS.ProcessEnv): void {
  const lines = describeMemory(memory, guide("what-is-remembered-and-who-can-read-it", environment));
  if (memory.branches === "no" && ["absent", "none"].includes(memory.cache))
    runner.annotate("warning", "Jobs are not remembered", forAnnotation(say`${trusted(`${lines.join(". ")}.`)}`));
  else for (const line of lines) runner.info(line);
}

function configOf(settings: Settings, environment: NodeJS.ProcessEnv, apiKey: string) {
  const { args, options, projectId, repository, serverUrl, apiUrl, token, isWorkflowToken } = settings;
  const remember = {
    cacheAccess: cacheAccess(environment),
    cacheEnvironment: cacheEnvironment(environment),
    isWorkflowToken,
    isFirstAttempt: environment.GITHUB_RUN_ATTEMPT === "1",
  };
  const keys = options.agent.passes.filter((name) => !/(_URL|_BASE)$/.test(name)).map((name) => environment[name]);
  return {
    args,
    environment: { GITHUB_TOKEN: token, AGENT_SERVICE_KEY: apiKey },
    projectId,
    repository,
    serverUrl,
    apiUrl,
    token,
    remember: settings.remember ? remember : undefined,
    // Shorter ones match by accident.
    secrets: [token, apiKey, ...keys].filter((secret) => secret !== undefined).filter(({ length }) => length >= 8),
    // In a container, the process that runs the steps is outside.
    runner: process.ppid > 1 ? process.ppid : undefined,
  };
}

/**
 * Creates the folder of the service, in the folder that the runner empties after the job. It has the same path in each run:
 * agents find their sessions by it.
 */
function createFolder({ RUNNER_TEMP, HOME }: NodeJS.ProcessEnv, projectId: string): string {
  const parent = RUNNER_TEMP || join(HOME || homedir(), ".cache");
  mkdirSync(parent, { recursive: true });
  for (let number = 1; ; number++) {
    const folder = join(parent, `agent-job-service-${projectId}${number === 1 ? "" : `-${number}`}`);
    try {
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
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
