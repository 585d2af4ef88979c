import { type CacheAccess, cacheAccess } from "../../src/runner-kit/cache.ts";
import type { NamedTurn } from "../src/pulls/turn-trailers.ts";
import type { Settings } from "./settings.ts";

/** How the service remembers jobs of other runs. */
export interface RememberConfig {
  /** What this run may do with the Actions cache, and the variables by which it is found. */
  cacheAccess: CacheAccess;
  cacheEnvironment: Record<string, string>;
  /** Whether GitHub made the token for the workflow. */
  isWorkflowToken: boolean;
  /** Whether no earlier attempt of the workflow run can have sent anything. */
  isFirstAttempt: boolean;
  /** Whether the repository is the workflow's own. */
  isOwnRepository: boolean;
  /**
   * See `RememberedJobsOptions`. Of an agent that failed: in a private repository, or with no network but its model's; of one that was stopped: in
   * a private one.
   */
  keeps: readonly NamedTurn["left"][];
}

/** What a service of the action is made of. */
export interface ServiceConfig {
  /** Arguments of the service's command line. */
  args: string[];
  /** Variables that the command line depends on, such as the token. */
  environment: Record<string, string>;
  /** `undefined` if jobs are not remembered. */
  remember: RememberConfig | undefined;
  /** For everything that the service writes. */
  folder: string;
  projectId: string;
  /** Values that no copy of an agent's files may have. */
  secrets: string[];
}

/** @param folder - for everything that the service writes */
export function configOf(settings: Settings, environment: NodeJS.ProcessEnv, folder: string): ServiceConfig {
  const { args, variables, options, projectId, isWorkflowToken } = settings;
  const remember = {
    cacheAccess: cacheAccess(environment),
    cacheEnvironment: cacheEnvironment(environment),
    isWorkflowToken,
    isFirstAttempt: environment.GITHUB_RUN_ATTEMPT === "1",
    isOwnRepository: settings.isOwnRepository,
    keeps: [
      ...(settings.isPrivate || options.network !== "full" ? ["unfinished" as const] : []),
      ...(settings.isPrivate ? ["stopped" as const] : []),
    ],
  };
  const secrets = Array.from(options.secrets, ({ value }) => value);
  return {
    args,
    environment: variables,
    projectId,
    remember: settings.remember ? remember : undefined,
    folder,
    secrets: [...new Set(secrets)],
  };
}

/** Returns the variables by which actions find the cache service. */
export function cacheEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const isPicked = (name: string): boolean =>
    /^(ACTIONS_(CACHE_|RESULTS_URL$|RUNTIME_TOKEN$)|GITHUB_SERVER_URL$)/.test(name);
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && isPicked(name) ? [[name, value]] : [],
    ),
  );
}

/** The file of the service's log, in its folder. */
export const logFile = "service.log";
