import { join } from "node:path";
import { cacheAccess } from "../../src/runner-kit/cache.ts";
import { say } from "../../src/runner-kit/text.ts";
import type { Agent } from "../src/agents/agent.ts";
import { checkModelKey, UnusableModel } from "../src/agents/check-model-key.ts";
import { confineAgents, withoutAgents } from "../src/agents/confine.ts";
import { errorMessage } from "../src/error-message.ts";
import { PerProject } from "../src/per-project.ts";
import { startApi } from "../src/start/service.ts";
import { atMost } from "./at-most.ts";
import { connectCacheEntries } from "./memory/cache-entries.ts";
import type { Memory } from "./memory/describe-memory.ts";
import { type MemoryOptions, openMemory, type StepMemory } from "./memory/open-memory.ts";
import { type Report, reportedCopies } from "./report.ts";
import { inWordsOfInputs, type Settings } from "./settings.ts";
import { checkAccess } from "./setup/access.ts";
import { SetupError } from "./setup/setup-error.ts";

/** The file of the service's log, in its folder. */
export const logFile = "service.log";

/** What a service of the action is made of. */
export interface ServiceConfig {
  settings: Settings;
  /** The action's. */
  environment: NodeJS.ProcessEnv;
  /** For everything that the service writes. */
  folder: string;
  /** See `KeptOnRefsOptions`. */
  hurry?: AbortSignal | undefined;
}

/** The service of a step. Disposing of it stops its agents, and saves their jobs. */
export interface StepService extends AsyncDisposable {
  url: string;
  /**
   * Runs agents, too, and not only says what is known of jobs. The variables that agents get are in the process's environment.
   *
   * @param leftMs - returns after what time they have to have ended, in milliseconds
   * @returns what later runs will know of this one; `undefined` if jobs are not remembered
   */
  runAgents(leftMs: () => number): Promise<Memory | undefined>;
}

/**
 * Starts the service in this process.
 *
 * @param report - gets what happens to jobs
 */
export async function serve(config: ServiceConfig, report: Report, log: (line: string) => void): Promise<StepService> {
  const { folder } = config;
  const { projectId, options, remember, variables } = config.settings;
  const { settings, apiKey = "", store: _, ...rest } = config.settings.service;
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
      memory = remember ? openMemory({ ...memoryOptions(config), project, log }) : undefined;
      return reportedCopies(report, memory?.copies);
    },
    log,
  });
  log(`Listening on ${service.url}`);
  const held = new AsyncDisposableStack();
  return {
    url: service.url,
    runAgents: async (leftMs) => {
      const limited = PerProject.same({ ...options, leftMs });
      const confined = held.use(await confineAgents(limited, folder, { ...process.env, ...variables }, log));
      await service.runTurns(confined.settings);
      const tidied = memory?.tidy();
      held.defer(async () => tidied);
      return memory?.describe();
    },
    [Symbol.asyncDispose]: async () => {
      // The service's end stops Git, and with it what turns still push.
      await atMost(service.finish(), config.hurry);
      await atMost(memory?.release(), config.hurry);
      await service[Symbol.asyncDispose]();
      await held.disposeAsync();
    },
  };
}

function memoryOptions({
  settings,
  environment,
  folder,
  hurry,
}: ServiceConfig): Omit<MemoryOptions, "project" | "log"> {
  const { projectId, options, variables, isWorkflowToken, isOwnRepository, isPrivate } = settings;
  return {
    projectId,
    cache: connectCacheEntries({ ...process.env, ...cacheEnvironment(environment) }),
    cacheAccess: cacheAccess(environment),
    isWorkflowToken,
    workflowToken: variables.GH_TOKEN,
    run: { run: environment.GITHUB_RUN_ID ?? "", attempt: environment.GITHUB_RUN_ATTEMPT ?? "" },
    isOwnRepository,
    // What an agent left that failed or was stopped, nobody has approved: in a public repository, anyone can read it.
    keeps: [
      ...(isPrivate || options.network !== "full" ? ["unfinished" as const] : []),
      ...(isPrivate ? ["stopped" as const] : []),
    ],
    folder,
    hurry,
    secrets: [...new Set(Array.from(options.secrets, ({ value }) => value))],
  };
}

/** Returns the variables by which actions find the cache service. */
export function cacheEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isPicked = (name: string): boolean =>
    /^(ACTIONS_(CACHE_|RESULTS_URL$|RUNTIME_TOKEN$)|GITHUB_SERVER_URL$)/.test(name);
  return Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => value !== undefined && isPicked(name)),
  );
}

/**
 * Checks what GitHub and the model's API can tell before an agent works in vain.
 *
 * @throws SetupError if the token may not push or open pull requests, or the model's API rejects the agent's key
 */
export async function checkAccessAndKey({ options, variables }: Settings, log: (line: string) => void): Promise<void> {
  const environment = { ...process.env, ...variables };
  await Promise.all([checkAccess(options, log), checkKey(options.agent, environment, log)]);
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
