import { join } from "node:path";
import { say } from "../../src/runner-kit/text.ts";
import type { Agent } from "../src/agents/agent.ts";
import { checkModelKey, UnusableModel } from "../src/agents/check-model-key.ts";
import { confineAgents, withoutAgents } from "../src/agents/confine.ts";
import { errorMessage } from "../src/error-message.ts";
import { parseOptions } from "../src/options/options.ts";
import { startApi } from "../src/start/service.ts";
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
  /**
   * Runs agents, too, and not only says what is known of jobs. The variables that agents get are in the process's environment.
   *
   * @returns what later runs will know of this one; `undefined` if jobs are not remembered
   */
  runAgents(config: ServiceConfig): Promise<Memory | undefined>;
}

/**
 * Starts the service in this process.
 *
 * @param report - gets what happens to jobs
 */
export async function serve(config: ServiceConfig, report: Report, log: (line: string) => void): Promise<StepService> {
  const { folder, projectId, remember } = config;
  const { settings, apiKey = "", store: _, ...rest } = parseOptions(config.args, environmentOf(config));
  const cache = connectCacheEntries({ ...process.env, ...remember?.cacheEnvironment });
  const { GH_TOKEN: workflowToken } = config.environment;
  let memory: StepMemory | undefined;
  const service = await startApi({
    ...rest,
    settings: withoutAgents(settings).settings,
    apiKey,
    projects: [projectId],
    port: 0,
    folder: join(folder, "service"),
    areTokensChecked: true,
    copies: (projects) => {
      const project = projects.get(projectId);
      memory = remember && openMemory({ ...config, ...remember, project, workflowToken, cache, log });
      return reportedCopies(report, memory?.copies);
    },
    log,
  });
  log(`Listening on ${service.url}`);
  const held = new AsyncDisposableStack();
  return {
    url: service.url,
    runAgents: async (given) => {
      const environment = environmentOf(given);
      const confined = held.use(
        await confineAgents(parseOptions(given.args, environment).settings, folder, environment, log),
      );
      await service.runTurns(confined.settings);
      const tidied = memory?.tidy();
      held.defer(async () => tidied);
      return memory?.describe();
    },
    [Symbol.asyncDispose]: async () => {
      // The service's end stops Git.
      await memory?.release();
      await service[Symbol.asyncDispose]();
      await held.disposeAsync();
    },
  };
}

const environmentOf = (config: ServiceConfig): NodeJS.ProcessEnv => ({ ...process.env, ...config.environment });

/**
 * Checks what GitHub and the model's API can tell before an agent works in vain.
 *
 * @throws SetupError if the token may not push or open pull requests, or the model's API rejects the agent's key
 */
export async function checkAccessAndKey(config: ServiceConfig, log: (line: string) => void): Promise<void> {
  const environment = environmentOf(config);
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
