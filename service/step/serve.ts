import { join } from "node:path";
import { say } from "../../src/runner-kit/text.ts";
import type { Agent } from "../src/agents/agent.ts";
import { checkModelKey, UnusableModel } from "../src/agents/check-model-key.ts";
import { confineAgents, withoutAgents } from "../src/agents/confine.ts";
import { errorMessage } from "../src/error-message.ts";
import { parseOptions } from "../src/options/options.ts";
import { startApi, startService } from "../src/start/service.ts";
import { connectCacheEntries } from "./memory/cache-entries.ts";
import type { Memory } from "./memory/describe-memory.ts";
import { openMemory, type StepMemory } from "./memory/open-memory.ts";
import { type Report, reportedCopies } from "./report.ts";
import type { ServiceConfig } from "./service-config.ts";
import { inWordsOfInputs } from "./settings.ts";
import { checkAccess } from "./setup/access.ts";
import { SetupError } from "./setup/setup-error.ts";

/** The service of a step. Disposing of it stops its agents, and saves their jobs. */
export interface StepService extends AsyncDisposable {
  url: string;
  /** What later runs will know of this one; `undefined` if jobs are not remembered. */
  memory: Memory | undefined;
}

/**
 * Starts the service in this process. The variables that agents get are in the process's environment.
 *
 * @param report - gets what happens to jobs
 * @param hasAgents - whether it runs agents, and not only says what is known of jobs
 * @throws SetupError if the token or the model's key is not accepted
 */
export async function serve(
  config: ServiceConfig,
  report: Report,
  log: (line: string) => void,
  hasAgents: boolean,
): Promise<StepService> {
  const { folder, projectId, remember } = config;
  const environment = { ...process.env, ...config.environment };
  const options = parseOptions(config.args, environment);
  const { settings, apiKey = "", store: _, ...rest } = options;
  if (hasAgents) await checkAccessAndKey(config, log);
  const confined = hasAgents ? await confineAgents(settings, folder, environment, log) : withoutAgents(settings);
  const cache = connectCacheEntries({ ...process.env, ...remember?.cacheEnvironment });
  let memory: StepMemory | undefined;
  const start = hasAgents ? startService : startApi;
  const service = await start({
    ...rest,
    settings: confined.settings,
    apiKey,
    projects: [projectId],
    port: 0,
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
  log(`Listening on ${service.url}`);
  const tidied = hasAgents ? memory?.tidy() : undefined;
  return {
    url: service.url,
    memory: hasAgents ? await memory?.describe() : undefined,
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await tidied;
      await confined[Symbol.asyncDispose]();
    },
  };
}

/**
 * Checks what GitHub and the model's API can tell before an agent works in vain.
 *
 * @throws SetupError if the token may not push or open pull requests, or the model's API rejects the agent's key
 */
export async function checkAccessAndKey(config: ServiceConfig, log: (line: string) => void): Promise<void> {
  const environment = { ...process.env, ...config.environment };
  const { settings } = parseOptions(config.args, environment);
  await Promise.all(
    settings.values.flatMap((project) => [checkAccess(project, log), checkKey(project.agent, environment, log)]),
  );
}

async function checkKey(agent: Agent, environment: NodeJS.ProcessEnv, log: (line: string) => void): Promise<void> {
  await checkModelKey(agent, environment, log).catch((error: unknown) => {
    const problem = inWordsOfInputs(errorMessage(error));
    const title = error instanceof UnusableModel ? "The model cannot be used" : "The model's key is not valid";
    throw new SetupError(title, say`${problem}\nNothing was started.`);
  });
}

/** Returns why the service cannot start, in words for people. */
export function explainStart(error: unknown): SetupError {
  if (error instanceof SetupError) return error;
  const problem = errorMessage(error).replace(
    /: choose one with --base$/,
    ". Push a first commit to it, or choose its default branch in its settings on GitHub.",
  );
  return new SetupError("The agent service cannot start", say`${problem}\nNothing was started.`);
}
