import { type CacheAccess, cacheAccess } from "../../src/runner-kit/cache.ts";
import type { Memory } from "./memory/describe-memory.ts";
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
}

/** What the step tells the service's process. It is sent, so that the process has no secrets in its environment. */
export interface ServerConfig {
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
  /** Preferred; another one if it is in use. */
  port: number;
  /** The process that runs the steps of the workflow's job; `undefined` if it cannot be watched. */
  runner: number | undefined;
}

/** Returns what the service's process is told, but where it is. */
export function configOf(settings: Settings, environment: NodeJS.ProcessEnv): Omit<ServerConfig, "folder" | "port"> {
  const { args, variables, options, projectId, isWorkflowToken } = settings;
  const remember = {
    cacheAccess: cacheAccess(environment),
    cacheEnvironment: cacheEnvironment(environment),
    isWorkflowToken,
    isFirstAttempt: environment.GITHUB_RUN_ATTEMPT === "1",
    isOwnRepository: settings.repository.toLowerCase() === environment.GITHUB_REPOSITORY?.toLowerCase(),
  };
  const secrets = Array.from(options.secrets, ({ value }) => value);
  return {
    args,
    environment: variables,
    projectId,
    remember: settings.remember ? remember : undefined,
    secrets: [...new Set(secrets)],
    // In a container, the process that runs the steps is outside.
    runner: process.ppid > 1 ? process.ppid : undefined,
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

/** What the process replies, once. */
export type ServerReply =
  | { url: string; memory?: Memory | undefined }
  | { title: string; text: readonly (string | { readonly untrusted: string })[] };

/** Sent when the step has the reply. A process whose step ends before that ends, too. */
export const keepRunning = "keep running";

/** The file of the service's log, and of its report, in its folder. */
export const logFile = "service.log";
export const reportFile = "report.json";
