import { execFile, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheAccess } from "../../src/runner-kit/cache.ts";
import { say, trusted } from "../../src/runner-kit/text.ts";
import { forAnnotation } from "../../src/runner-kit/untrusted.ts";
import { readMemoryNote } from "../src/agents/limits.ts";
import { guide } from "./guide.ts";
import { describeMemory, type Memory } from "./memory/describe-memory.ts";
import { portOf } from "./port.ts";
import type { Runner } from "./runner.ts";
import { keepRunning, logFile, type ServerConfig, type ServerReply } from "./server-protocol.ts";
import { readSettings, type Settings } from "./settings.ts";
import { prepareBubblewrap } from "./setup/bubblewrap.ts";
import { cacheEnvironment, serverEnvironment } from "./setup/environment.ts";
import { installAgent } from "./setup/install-agent.ts";
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
  const { args, variables, options, projectId, token, isWorkflowToken } = settings;
  const remember = {
    cacheAccess: cacheAccess(environment),
    cacheEnvironment: cacheEnvironment(environment),
    isWorkflowToken,
    isFirstAttempt: environment.GITHUB_RUN_ATTEMPT === "1",
    isOwnRepository: settings.repository.toLowerCase() === environment.GITHUB_REPOSITORY?.toLowerCase(),
  };
  const keys = options.agent.passes.filter((name) => !/(_URL|_BASE)$/.test(name)).map((name) => environment[name]);
  return {
    args,
    environment: variables,
    projectId,
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

/** The names of the runner's operating systems. */
const systems: Partial<Record<NodeJS.Platform, string>> = { darwin: "macOS", win32: "Windows" };

/** The first version with `git merge-tree --write-tree --stdin`. */
const minGit = [2, 39] as const;

/** @throws SetupError unless this is Linux */
export function checkPlatform(platform: NodeJS.Platform): void {
  if (platform === "linux") return;
  throw new SetupError(
    "The runner is not Linux",
    say`The agent service does not run on ${trusted(systems[platform] ?? platform)}: it needs bubblewrap and the namespaces of Linux for the agent's sandbox. Set \`runs-on: ubuntu-latest\` for this job. Nothing was started.`,
  );
}

/** @throws SetupError unless Git is installed in a version that the service can use */
export async function checkGit(): Promise<void> {
  const { stdout } = await promisify(execFile)("git", ["--version"]).catch(() => ({ stdout: "" }));
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
  if (major > minGit[0] || (major === minGit[0] && minor >= minGit[1])) return;
  const found = stdout === "" ? say`Git was not found in PATH` : say`The runner has ${stdout.trim()}`;
  throw new SetupError(
    "Git is missing or too old",
    say`${found}. The agent service needs Git ${trusted(minGit.join("."))} or newer: install it in a step before this one. Nothing was started.`,
  );
}
