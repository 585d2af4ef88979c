import { resolve } from "node:path";
import { type Agent, builtInEditor, shellAgent } from "../agents/agent.ts";
import type { Confinement } from "../agents/confine.ts";
import type { Limits } from "../agents/limits.ts";
import { presetAgent } from "../agents/presets.ts";
import type { GitHubRepository } from "../pulls/github/github-repository.ts";
import type { ProtectedFilesKind } from "../pulls/protected-files.ts";
import type { ByKey, KeyedName } from "./config-keys.ts";
import type { OptionValues } from "./table.ts";

/** The repository of a project, and how agents work on it. */
export interface ProjectSettings extends Confinement {
  /** URL or path, as `git clone` accepts it. */
  repository: string;
  /** The branch that jobs start from. Undefined: the repository's default branch. */
  targetBranch: string | undefined;
  /** Undefined: pull requests are pages of the service. */
  github: GitHubRepository | undefined;
  /** How many turns of the project run at a time, over all workers. Undefined: any number. */
  agentsPerProject: number | undefined;
  /** Per attempt. */
  timeLimitMs: number;
  /** Per job. */
  limits: Limits;
  /** A turn that changes files of more than this together fails. */
  largestChangeBytes: number;
  /** A turn that changes more files fails. */
  largestChangeFiles: number;
  /** What happens with a change of files that run code or instruct agents. */
  protectedFiles: ProtectedFilesKind;
  /** Such files besides those that the service knows. */
  moreProtected: readonly string[];
  /** Secrets of the service that no change may have. */
  secrets: readonly { name: string; value: string }[];
}

/** The values of a project's options; `undefined` for those that have their default. */
export type ProjectValues = { [Name in KeyedName]: OptionValues[Name] | undefined };

/** What the operator says about a project, with the names of keys in a configuration. */
export interface ProjectInput extends Partial<Omit<ByKey<ProjectValues>, "repository">> {
  repository: string;
  /** The environment variable with the token of the repository. Default: `GITHUB_TOKEN`. */
  githubTokenEnv?: string | undefined;
}

/**
 * Returns the settings of a project.
 *
 * @param environment - of the service, with the keys of agents and the token
 * @throws if the values do not go together, or something is missing in the environment. The message names options as on the
 *   command line, such as `--agent-network`
 */
export function createProjectSettings(input: ProjectInput, environment: NodeJS.ProcessEnv): ProjectSettings {
  const agent = createAgent(input, environment);
  const { repository, base, agentEnv = [], agentReads = [] } = input;
  const sandbox = input.sandbox ?? (agent.isTrusted ? undefined : "bwrap");
  // Files of a repository can name another host for the model, to which a named agent would send its key.
  const agentNetwork = input.agentNetwork ?? (agent.modelEndpoint && sandbox === "bwrap" ? "model" : "full");
  if (agentNetwork !== "full" && sandbox !== "bwrap")
    throw new Error(`--agent-network ${agentNetwork} requires --sandbox bwrap.`);
  const { memoryMb, processes, diskMb } = input;
  return {
    repository,
    targetBranch: base,
    github: findGitHubRepository(input, environment),
    agent: {
      ...agent,
      passes: [...agent.passes, ...agentEnv],
      reads: [...agent.reads, ...agentReads.map((path) => resolve(path))],
    },
    sandbox,
    network: agentNetwork,
    modelHosts: input.modelHosts ?? [],
    allowsServerTools: input.agentModelTools ?? false,
    agentsPerProject: input.agents,
    timeLimitMs: (input.timeLimitMinutes ?? 30) * 60_000,
    limits: { memoryMb, processes, diskMb },
    largestChangeBytes: (input.largestChangeMb ?? 20) * 1_000_000,
    largestChangeFiles: input.largestChangeFiles ?? 1000,
    protectedFiles: input.protectedFiles ?? "flag",
    moreProtected: input.protect ?? [],
    secrets: findSecrets(input, agent, environment),
  };
}

/** Names of variables that have secrets. */
const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;

/** Returns the secrets in the service's environment and in the repository's URL, which no change may have. */
function findSecrets(
  { repository, githubTokenEnv, agentEnv = [] }: ProjectInput,
  agent: Agent,
  environment: NodeJS.ProcessEnv,
): { name: string; value: string }[] {
  const own = ["AGENT_SERVICE_KEY", "PGPASSWORD", defaultTokenVariable, "GH_TOKEN", githubTokenEnv];
  const names = [...own, ...[...agent.passes, ...agentEnv].filter((name) => secretName.test(name))];
  const found = [...new Set(names)].flatMap((name) =>
    name !== undefined && environment[name] ? [{ name, value: environment[name] }] : [],
  );
  const password = URL.canParse(repository) ? decodeURIComponent(new URL(repository).password) : "";
  return password === "" ? found : [...found, { name: "the password of the repository", value: password }];
}

function createAgent({ agent: command, agentFollowUp: followUp, model }: ProjectInput, environment: NodeJS.ProcessEnv) {
  if (command?.trim() === "") throw new Error("--agent is empty.");
  if (followUp?.trim() === "") throw new Error("--agent-follow-up is empty.");
  const preset = command === undefined ? undefined : presetAgent(command, environment, model);
  if (followUp !== undefined && (command === undefined || preset !== undefined))
    throw new Error("--agent-follow-up requires a shell command as --agent.");
  if (preset !== undefined) return preset;
  const agent: Agent = command === undefined ? builtInEditor : shellAgent(command, followUp);
  return model === undefined ? agent : { ...agent, model };
}

const defaultTokenVariable = "GITHUB_TOKEN";

function findGitHubRepository(input: ProjectInput, environment: NodeJS.ProcessEnv): GitHubRepository | undefined {
  const { repository, github, githubApi = "https://api.github.com", githubTokenEnv } = input;
  const variable = githubTokenEnv ?? defaultTokenVariable;
  const token = environment[variable];
  const match = /^(?:https:\/\/(?:[^@/]*@)?|ssh:\/\/git@|git@)github\.com[/:]([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(
    repository,
  );
  const name = github ?? match?.[1];
  const parts = name?.split("/") ?? [];
  if (github !== undefined && (parts.length !== 2 || parts.includes("")))
    throw new Error("--github must be OWNER/NAME.");
  if (github !== undefined && !token) throw new Error(`--github requires ${variable} in the environment.`);
  if (githubTokenEnv !== undefined && !token) throw new Error(`${variable} is not set in the environment.`);
  if (name === undefined || !token) return undefined;
  const apiUrl = githubApi.replace(/\/+$/, "");
  if (!URL.canParse(apiUrl)) throw new Error("--github-api must be a URL.");
  const [owner = "", repositoryName = ""] = parts;
  return { apiUrl, owner, name: repositoryName, token, ...(githubTokenEnv && { tokenVariable: githubTokenEnv }) };
}
