import { join } from "node:path";
import { say } from "../../src/runner-kit/text.ts";
import type { Agent } from "../src/agents/agent.ts";
import { checkModelKey } from "../src/agents/check-model-key.ts";
import { confineAgents } from "../src/agents/confine.ts";
import { errorMessage, errorStack } from "../src/error-message.ts";
import { parseOptions } from "../src/options/options.ts";
import { startService } from "../src/start/service.ts";
import { connectCacheEntries } from "./memory/cache-entries.ts";
import type { Memory } from "./memory/describe-memory.ts";
import { openMemory, type StepMemory } from "./memory/open-memory.ts";
import { ReportFile, reportedCopies } from "./report.ts";
import { keepRunning, type ServerConfig, type ServerReply } from "./server-protocol.ts";
import { checkAccess } from "./setup/access.ts";
import { SetupError } from "./setup/setup-error.ts";

// The process in which the service runs. It outlives the step that starts it, until `post` terminates it.

const runnerCheckMs = 5000;
const log = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);

process.umask(0o077);
process.once("message", (config: ServerConfig) => {
  serve(config).then(
    (started) => reply(started),
    (error: unknown) => {
      // What is wrong outside the service has a message for people; the stack is for a bug.
      const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
      log(`Not started: ${isBug ? errorStack(error) : errorMessage(error)}`);
      const [title, text] =
        error instanceof SetupError
          ? [error.title, error.text]
          : ["The agent service cannot start", say`${errorMessage(error)}\nNothing was started.`];
      reply({ title, text }, () => process.exit(1));
    },
  );
});
const stopEarly = (): never => process.exit(1);
process.once("disconnect", stopEarly);

function reply(message: ServerReply, then: () => void = () => {}): void {
  process.once("message", (answer) => {
    if (answer !== keepRunning) return;
    process.off("disconnect", stopEarly);
    process.disconnect();
  });
  process.send?.(message, undefined, undefined, then);
}

/** Starts the service. */
async function serve(config: ServerConfig): Promise<{ url: string; memory: Memory | undefined }> {
  const { folder, projectId, port, remember } = config;
  const options = parseOptions(config.args, { ...process.env, ...config.environment });
  const { settings, apiKey = "", store: _, ...rest } = options;
  await Promise.all(settings.values.flatMap((project) => [checkAccess(project, log), checkKey(project.agent)]));
  const confined = await confineAgents(settings, folder, process.env, log);
  const report = new ReportFile(folder);
  const cache = connectCacheEntries({ ...process.env, ...remember?.cacheEnvironment });
  let memory: StepMemory | undefined;
  const service = await startService({
    ...rest,
    settings: confined.settings,
    apiKey,
    projects: [projectId],
    port,
    isPortPreferred: true,
    folder: join(folder, "service"),
    areTokensChecked: true,
    copies: (projects) => {
      memory = remember && openMemory({ ...config, ...remember, project: projects.get(projectId), cache, log });
      return reportedCopies(report, memory?.copies);
    },
    log,
  }).catch(async (error: unknown) => {
    // Its proxy has a folder among the system's temporary ones.
    await confined[Symbol.asyncDispose]();
    throw error;
  });
  report.begin();
  let isStopping = false;
  const stop = async (reason: string): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    log(`Stopping the agents, ${reason}`);
    await service[Symbol.asyncDispose]();
    await confined[Symbol.asyncDispose]();
    log("Stopped");
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(`because of ${signal}`));
  watchRunner(config.runner, () => void stop("because the runner is gone"));
  log(`Listening on ${service.url}`);
  return { url: service.url, memory: await memory?.describe() };
}

/** @throws SetupError if the model's API rejects the agent's key */
async function checkKey(agent: Agent): Promise<void> {
  await checkModelKey(agent, process.env, log).catch((error: unknown) => {
    // The options have the names of the inputs.
    const problem = errorMessage(error).replace(/--(?=[a-z])/g, "");
    throw new SetupError("The model's key is not valid", say`${problem}\nNothing was started.`);
  });
}

/** Calls `onGone` when the process that runs the steps has ended without running `post`. */
function watchRunner(runner: number | undefined, onGone: () => void): void {
  if (runner === undefined) return;
  setInterval(() => {
    try {
      process.kill(runner, 0);
    } catch (error) {
      // Otherwise it belongs to another user.
      if ((error as NodeJS.ErrnoException).code === "ESRCH") onGone();
    }
  }, runnerCheckMs).unref();
}
