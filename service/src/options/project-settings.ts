import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type Agent, builtInEditor, shellAgent } from "../agents/agent.ts";
import type { CommandSettings, Confinement } from "../agents/confine.ts";
import type { Limits } from "../agents/limits.ts";
import { mayBePublic } from "../agents/network/public-address.ts";
import { presetAgent, presetNames } from "../agents/presets.ts";
import { errorMessage } from "../error-message.ts";
import type { CommitSettings } from "../pulls/committers.ts";
import { findOnGitHub, type GitHubRepository, gitHubOf } from "../pulls/github/github-repository.ts";
import { checkPattern, type PathPatterns, readPathPatterns } from "../pulls/path-patterns.ts";
import type { ProtectedFilesKind } from "../pulls/protected-files.ts";
import {
  findKey,
  findSecret,
  isPublicValue,
  isSecretName,
  passwordOf,
  type ServiceSecret,
} from "../service-secrets.ts";
import { readCommitOptions } from "./commit-options.ts";
import type { ByKey, KeyedName, OptionValues } from "./table.ts";

/** The repository of a project, and how agents work on it. */
export interface ProjectSettings extends Confinement, CommitSettings {
  /** URL or path, as `git clone` accepts it. */
  repository: string;
  /** The branch that jobs start from. Undefined: the repository's default branch. */
  targetBranch: string | undefined;
  /** What the branches of new jobs begin with. Undefined: `defaultBranchPrefix`. */
  branchPrefix: string | undefined;
  opensDrafts: boolean;
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
  /** What happens with a change of files that run code or instruct agents. */
  protectedFiles: ProtectedFilesKind;
  /** Such files besides those that the service knows. */
  moreProtected: readonly string[];
  /** What is run for the project before and after its agents. Undefined: nothing. */
  commands: CommandSettings | undefined;
  /** The files that agents may change. Undefined: all. */
  only: PathPatterns | undefined;
  /** Secrets of the service that no change may have: each value that they have had, as it is known when they are listed. */
  secrets: Iterable<{ name: string; value: string }>;
  /** Those that can be in files. */
  secretSources: readonly ServiceSecret[];
}

/** The values of a project's options; `undefined` for those that have their default. */
export type ProjectValues = { [Name in KeyedName]: OptionValues[Name] | undefined };

/** What the operator says about a project, with the names of keys in a configuration. */
export interface ProjectInput extends Partial<Omit<ByKey<ProjectValues>, "repository">> {
  repository: string;
  /** The repository on GitHub, as `OWNER/NAME`. Default: the one of `repository`, if that is on GitHub. */
  github?: string | undefined;
  /** The base URL of GitHub's REST API. Default: the one of the server of `repository`. */
  githubApi?: string | undefined;
  /** The environment variable with the token of the repository. Default: `GITHUB_TOKEN`. */
  githubTokenEnv?: string | undefined;
}

/**
 * Returns the settings of a project.
 *
 * @param environment - of the service, with the keys of agents and the token
 * @param tokenVariables - variables with the tokens of other projects. Default: none
 * @throws if the values do not go together, or something is missing in the environment. The message names options as on the
 *   command line, such as `--agent-network`
 */
export function createProjectSettings(
  input: ProjectInput,
  environment: NodeJS.ProcessEnv,
  tokenVariables: readonly string[] = [],
): ProjectSettings {
  const agent = createAgent(input, environment);
  const { repository, base } = input;
  const reads = readReads(input);
  const sandbox = input.sandbox ?? (agent.isTrusted ? undefined : "bwrap");
  // Files of a repository can name another host for the model, to which a named agent would send its key.
  const agentNetwork = input.agentNetwork ?? (agent.modelEndpoint && sandbox === "bwrap" ? "model" : "full");
  checkSharedToken(input, agent, { sandbox, agentNetwork }, environment);
  checkAgentEnv(input, agent, environment, tokenVariables);
  if (agentNetwork !== "full" && sandbox !== "bwrap")
    throw new Error(`--agent-network ${agentNetwork} requires --sandbox bwrap.`);
  const { memoryMb, diskMb, protect = [] } = input;
  const github = findGitHubRepository(input, environment);
  const exception = protect.find((pattern) => pattern.startsWith("!"));
  if (exception !== undefined) throw new Error(`--protect cannot except files, as ${exception} would.`);
  named("--protect", () => protect.forEach(checkPattern));
  const { branchPrefix, draft = false } = input;
  if (branchPrefix !== undefined && !branchStart.test(branchPrefix))
    throw new Error(
      `--branch-prefix must be the beginning of a branch's name, such as docs/agent-, not ${JSON.stringify(branchPrefix)}.`,
    );
  if (draft && github === undefined) throw new Error("--draft requires a repository on GitHub, and its token.");
  return {
    repository,
    targetBranch: base,
    branchPrefix,
    opensDrafts: draft,
    github,
    agent: {
      ...agent,
      passes: [...agent.passes, ...namedVariables(input)],
      reads: [...agent.reads, ...reads],
    },
    sandbox,
    network: agentNetwork,
    modelHosts: readModelHosts(input),
    allowsServerTools: input.agentModelTools ?? false,
    agentsPerProject: input.agents,
    timeLimitMs: (input.timeLimitMinutes ?? 30) * 60_000,
    // Without a limit of memory, nothing reads the processes, which takes time.
    limits: { memoryMb, diskMb, processes: memoryMb === undefined ? undefined : maxProcesses },
    largestChangeBytes: (input.largestChangeMb ?? 20) * 1_000_000,
    protectedFiles: input.protectedFiles ?? "flag",
    moreProtected: protect,
    only: readOnly(input.only),
    commands: readCommands(input, sandbox, reads),
    ...readCommitOptions(input, github !== undefined),
    ...findSecrets(input, agent, environment),
  };
}

/** So that Git takes what it makes with an id for a name: "git-check-ref-format". */
const branchStart = /^(?!.*(?:\.\.|\/[./]|\.lock\/|\.\/))[A-Za-z0-9][\w./-]{0,99}$/;

/** @throws if an agent would hold a token with which the service writes to GitHub, because that is its model's key, too */
function checkSharedToken(
  input: ProjectInput,
  { kind, modelEndpoint }: Agent,
  { sandbox, agentNetwork }: Pick<ProjectInput, "sandbox" | "agentNetwork">,
  environment: NodeJS.ProcessEnv,
): void {
  if (modelEndpoint === undefined || (sandbox === "bwrap" && agentNetwork !== "full")) return;
  const { keyVariable } = modelEndpoint;
  const key = findSecret(keyVariable, environment)?.value;
  if (!ownTokenVariables(input).some((name) => key && findSecret(name, environment)?.value === key)) return;
  const setting = sandbox === "bwrap" ? "--agent-network full" : `--sandbox ${sandbox}`;
  throw new Error(
    `${setting} would give the agent a token that can write to the repository, because ${kind} uses the same one for its model. Remove that, or set ${keyVariable} to a token of its own, which can do nothing else.`,
  );
}

/** What a runner has for its own use: its tokens, and the inputs of the step. */
const ofRunner = /^(?:ACTIONS|INPUT)_/i;

/** With shorter secrets, other values begin or end by accident. */
const minSecretLength = 8;

/** @throws if agents would get a secret of the service, by its name or in another variable */
function checkAgentEnv(
  input: ProjectInput,
  { passes }: Agent,
  environment: NodeJS.ProcessEnv,
  tokenVariables: readonly string[],
): void {
  const own = [...ownVariables(input), ...tokenVariables];
  const secrets = [
    ...[...own, "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"].flatMap(
      (name) => findSecret(name, environment)?.value ?? [],
    ),
    ...fixedSecrets(input, environment).map(({ value }) => value),
  ];
  const has = (value: string, secret: string): boolean =>
    secret.length < minSecretLength ? value === secret : value.includes(secret);
  // The key of its model may be the workflow's own token: the agent itself never gets that.
  for (const name of namedVariables(input).filter((one) => !passes.includes(one))) {
    if (own.includes(name) || name === databasePassword || ofRunner.test(name))
      throw new Error(`--agent-env must not name ${name}, which no agent may have.`);
    const value = isSecretName(name) ? findSecret(name, environment)?.value : environment[name];
    if (value !== undefined && secrets.some((secret) => has(value, secret)))
      throw new Error(
        `--agent-env must not name ${name}: it has a token, a key or a password of the service, which no agent may have.`,
      );
  }
  for (const name of namedVariables(input)) {
    const [variable = "", ...assigned] = name.split("=");
    if (assigned.length > 0)
      throw new Error(`--agent-env must have the name ${variable} alone: set its value in the environment.`);
    if (!(isSecretName(name) ? findSecret(name, environment) : environment[name]?.trim()))
      throw new Error(`--agent-env ${name} requires this variable in the environment.`);
  }
}

/** Variables that agents get besides those that they need. */
const namedVariables = ({ agentEnv = [], agentEnvPublic = [] }: ProjectInput): string[] => [
  ...agentEnv,
  ...agentEnvPublic,
];

/** Variables with the service's own secrets, which can also be in files. */
const ownVariables = (input: ProjectInput): string[] => [apiKeyVariable, ...ownTokenVariables(input)];

/** Variables with the service's own tokens of GitHub. */
const ownTokenVariables = ({ githubTokenEnv = defaultTokenVariable }: ProjectInput): string[] => [
  defaultTokenVariable,
  "GH_TOKEN",
  githubTokenEnv,
];

/**
 * Here the kernel shows the processes and devices of the machine, with their secrets, and its programs have their sockets. A sandbox has its
 * own. Files in /dev/shm are like others.
 */
const ofMachine = /^\/(?:(?:dev(?!\/shm\/)|proc|run|sys|var\/run)(?:\/|$)|(?:tmp|var)?$)/;

const hostPattern = /^[\w.-]+(?::\d{1,5})?$/;

/** @throws if agents could never reach one of these hosts */
function readModelHosts({ modelHosts = [] }: ProjectInput): readonly string[] {
  const own = modelHosts.find((host) => /^(?:localhost|127\.|0\.0\.0\.0|\[?::)/i.test(host));
  if (own !== undefined)
    throw new Error(
      `--model-host ${own} is this machine, which a sandbox with a network of its own does not reach: use its name in your network, or --agent-network full.`,
    );
  const other = modelHosts.find((host) => !hostPattern.test(host));
  if (other !== undefined) throw new Error(`--model-host ${other} is not a HOST or HOST:PORT.`);
  return modelHosts;
}

function readReads({ agentReads = [] }: ProjectInput): string[] {
  const paths = agentReads.map((path) => resolve(path));
  const exposed = paths.find(isExposed);
  if (exposed !== undefined)
    throw new Error(`--agent-reads ${exposed} would let agents reach processes, devices or sockets of this machine.`);
  for (const path of paths) {
    const file = findGitToken(path);
    if (file !== undefined)
      throw new Error(
        `--agent-reads ${path} would let agents read the token of Git in ${file}. Name a folder without it, or set \`persist-credentials: false\` for actions/checkout.`,
      );
  }
  return paths;
}

/** Such as what `actions/checkout` leaves in a clone, or in a file of its own that the clone includes, and what `store` helpers keep. */
const gitSettings = /^(?:config(?:\.worktree)?|git-credentials-.*\.config|\.gitconfig|\.git-credentials)$/;
const gitToken = /\bextraheader\s*=\s*"?authorization\s*:|:\/\/[^\s"/@]*:[^\s"/@]+@/i;
/** Folders with many others in them, none of which a clone is in. */
const withoutClones = ["node_modules", "objects"];
/** From the home directory of a runner, clones are at most at a depth of six. */
const maxDepth = 8;

/** Returns a file at or below a path that has a token for Git; `undefined` if none is found. */
function findGitToken(path: string, depth = 0): string | undefined {
  try {
    if (statSync(path).isFile())
      return gitSettings.test(basename(path)) && gitToken.test(readFileSync(path, "utf8")) ? path : undefined;
    for (const entry of depth < maxDepth ? readdirSync(path, { withFileTypes: true }) : []) {
      const isSearched = entry.isDirectory() ? !withoutClones.includes(entry.name) : gitSettings.test(entry.name);
      const found = isSearched ? findGitToken(join(path, entry.name), depth + 1) : undefined;
      if (found !== undefined) return found;
    }
  } catch {
    // What the service cannot read, its agents cannot read either.
  }
  return undefined;
}

/** Whoever can see a socket can connect to it, also where nothing can be written: to Docker's, it would have the machine. */
function isExposed(path: string): boolean {
  if (ofMachine.test(path)) return true;
  // One that does not exist has no other path.
  if (!existsSync(path)) return false;
  const found = realpathSync(path);
  return statSync(found).isSocket() || hasSocket(found) || ofMachine.test(found);
}

function hasSocket(folder: string): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).some((one) => one.isSocket());
  } catch {
    // A file, or a folder of which only known names can be opened.
    return false;
  }
}

function readCommands(
  { setup, setupHosts, check }: ProjectInput,
  sandbox: Confinement["sandbox"],
  reads: readonly string[],
): CommandSettings | undefined {
  for (const [name, command] of Object.entries({ setup, check })) {
    if (command?.trim() === "") throw new Error(`--${name} is empty.`);
    if (command?.split("\n").every((line) => /^\s*(?:#|$)/.test(line)))
      throw new Error(`--${name} has only comments: it would pass without doing anything.`);
    if (command !== undefined && sandbox !== "bwrap") throw new Error(`--${name} requires --sandbox bwrap.`);
  }
  if (setupHosts !== undefined && setup === undefined) throw new Error("--setup-host requires --setup.");
  const invalid = setupHosts?.find((host) => !hostPattern.test(host) || !mayBePublic(host.replace(/:\d+$/, "")));
  if (invalid !== undefined)
    throw new Error(`--setup-host ${invalid} is not a HOST or HOST:PORT of the public network.`);
  if (setup === undefined && check === undefined) return undefined;
  return { setup, check, setupHosts: setupHosts ?? [], reads };
}

function readOnly(patterns: readonly string[] = []): PathPatterns | undefined {
  return named("--only", () => {
    const absolute = patterns.find((pattern) => /^!?\//.test(pattern));
    if (absolute !== undefined) throw new Error(`${JSON.stringify(absolute)} begins with /, as no path does`);
    patterns.forEach(checkPattern);
    return patterns.length === 0 ? undefined : readPathPatterns(patterns);
  });
}

/** Names the option in errors. */
function named<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${option}: ${errorMessage(error)}.`);
  }
}

/** Enough for a build with a process for each core. It keeps the others going when an agent starts processes without end. */
const maxProcesses = 2000;

const proxyVariables = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);

/** Returns the secrets in the service's environment, in its files, and in the URLs of the repository and of proxies, which no change may have. */
function findSecrets(
  input: ProjectInput,
  agent: Agent,
  environment: NodeJS.ProcessEnv,
): Pick<ProjectSettings, "secrets" | "secretSources"> {
  const { agentEnv = [], agentEnvPublic = [] } = input;
  const named = [...agent.passes, ...agentEnv].filter((name) => !agentEnvPublic.includes(name));
  const sources = new Set([...ownVariables(input), ...named.filter(isSecretName)]);
  const secretSources = [...sources].flatMap((name) => findSecret(name, environment) ?? []);
  const others = named.map((name) => ({ name, value: environment[name]?.trim() ?? "" }));
  const headers = Object.entries(agent.modelEndpoint?.headers ?? {});
  const proxies = proxyVariables.map((variable) => {
    const name = `the password of ${variable}`;
    return { name, value: passwordOf(environment[variable] ?? "") };
  });
  const fixed = [
    ...fixedSecrets(input, environment),
    ...others.filter(({ name, value }) => !sources.has(name) && !isPublicValue(name, value)),
    ...headers.map(([name, value]) => ({ name, value })).filter(({ name, value }) => !isPublicValue(name, value)),
    ...proxies,
  ].filter(({ value }) => value !== "");
  const secrets = {
    *[Symbol.iterator]() {
      for (const { name, values } of secretSources) for (const value of values()) yield { name, value };
      yield* fixed;
    },
  };
  return { secrets, secretSources };
}

const databasePassword = "PGPASSWORD";

/** Returns the secrets of the service that are in no file. */
function fixedSecrets({ repository }: ProjectInput, environment: NodeJS.ProcessEnv): { name: string; value: string }[] {
  const password = URL.canParse(repository) ? decodeURIComponent(new URL(repository).password) : "";
  return [
    { name: databasePassword, value: environment[databasePassword] ?? "" },
    { name: "the password of the repository", value: password },
  ].filter(({ value }) => value !== "");
}

function createAgent(
  { agent: given, model, agentArgs, maxCostUsd }: ProjectInput,
  environment: NodeJS.ProcessEnv,
): Agent {
  const command = given?.trim();
  if (command === "") throw new Error("--agent is empty.");
  const preset =
    command === undefined ? undefined : presetAgent(command, environment, model, { agentArgs, maxCostUsd });
  if (preset !== undefined) return preset;
  for (const [name, value] of Object.entries({ "agent-args": agentArgs, "max-cost-usd": maxCostUsd }))
    if (value !== undefined) throw new Error(`--${name} requires an --agent with a name: a command has its own.`);
  const agent = command === undefined ? builtInEditor : shellAgent(command);
  const [named = ""] = agent.programs[0]?.split("@") ?? [];
  if (presetNames.includes(named))
    throw new Error(
      `--agent must be ${named} alone, with --model NAME as an option of its own. A command line of your own has to be in a script.`,
    );
  return model === undefined ? agent : { ...agent, model };
}

const defaultTokenVariable = "GITHUB_TOKEN";
/** The API key for all projects. */
export const apiKeyVariable = "AGENT_SERVICE_KEY";

function findGitHubRepository(input: ProjectInput, environment: NodeJS.ProcessEnv): GitHubRepository | undefined {
  const { github, githubTokenEnv } = input;
  const variable = githubTokenEnv ?? defaultTokenVariable;
  const token = findKey(variable, environment);
  const found = findOnGitHub(input.repository, environment);
  const [owner = "", name = "", ...more] = (github ?? found?.name ?? "").split("/");
  if (github !== undefined && (owner === "" || name === "" || more.length > 0))
    throw new Error("github must be OWNER/NAME.");
  if (github !== undefined && !token) throw new Error(`github requires ${variable} in the environment.`);
  if (githubTokenEnv !== undefined && !token) throw new Error(`${variable} is not set in the environment.`);
  if (name === "" || !token) return undefined;
  const apiUrl = (input.githubApi ?? found?.apiUrl ?? gitHubOf(environment).apiUrl).replace(/\/+$/, "");
  if (!URL.canParse(apiUrl))
    throw new Error(`${input.githubApi === undefined ? "GITHUB_API_URL" : "githubApi"} must be a URL.`);
  return {
    apiUrl,
    owner,
    name,
    get token() {
      return token.value;
    },
    ...(githubTokenEnv && { tokenVariable: githubTokenEnv }),
  };
}
