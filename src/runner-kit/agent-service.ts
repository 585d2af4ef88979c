import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { withNoProxyBelow } from "./no-proxy.ts";
import { say, type Text, trusted } from "./text.ts";

// What the action and the program that runs its own agent agree on: the inputs `agent` and `agent-options`, and their messages.

/** What to do about a run without secrets or tokens because of its event: a condition that lets all other events pass. */
export const forkAdvice =
  "Runs for pull requests from forks get none: to skip these, give the job if: github.event.pull_request == null || github.event.pull_request.head.repo.full_name == github.repository";

/** The built-in editor, which needs neither a model nor a key. */
export const editor = "editor";

/** The agents that are known by name, and the variables of which one must have the key of their model. */
export const agentKeys: Readonly<Record<string, readonly string[]>> = {
  claude: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  codex: ["CODEX_API_KEY", "OPENAI_API_KEY"],
  gemini: ["GEMINI_API_KEY"],
  opencode: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
  aider: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
  // It works with the workflow's own token.
  copilot: [],
  [editor]: [],
};

const agentNames = Object.keys(agentKeys);

/** The variables that lead Claude Code to a cloud, and the ones that can have its credential. */
const cloudKeys: Readonly<Record<string, readonly string[]>> = {
  CLAUDE_CODE_USE_BEDROCK: ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"],
  CLAUDE_CODE_USE_VERTEX: ["CLOUDSDK_AUTH_ACCESS_TOKEN"],
  CLAUDE_CODE_USE_FOUNDRY: ["ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_AUTH_TOKEN"],
};

/** Returns the variables of which one must have the key of an agent's model; empty if it needs none. */
export function keysOf(agent: string, environment: NodeJS.ProcessEnv): readonly string[] {
  const isOn = (name: string): boolean => /^\s*(?:1|true|yes|on)\s*$/i.test(environment[name] ?? "");
  const cloud = agent === "claude" ? Object.keys(cloudKeys).find(isOn) : undefined;
  return cloudKeys[cloud ?? ""] ?? agentKeys[agent] ?? [];
}

/** Describes a problem of an agent: it is a word that is not a program, or a known one with more words. `undefined` if it may be one. */
export function agentProblem(agent: string, { PATH = "" }: NodeJS.ProcessEnv): Text | undefined {
  const [name = ""] = agent.replace(/^(\w+=\S*\s+)*/, "").match(/^[\w-]+(?=@|\s|$)/) ?? [];
  const model = /\s(?:--model|-m)[\s=]+(\S+)/.exec(agent)?.[1] ?? "NAME";
  if (name !== agent && Object.hasOwn(agentKeys, name))
    return say`is ${agent}, which would run as a command of your own. Set agent to ${name} alone, and its model by the line --model ${model} of agent-options. A command line of your own has to be in a script`;
  if (agent in agentKeys || !/^[\w.-]+$/.test(agent) || isInPath(agent, PATH)) return undefined;
  return say`is ${agent}, which is neither one of ${agentNames.join(", ")} nor a program in the PATH of this runner`;
}

/** Returns whether a program is in one of the folders of a `PATH`. */
export function isInPath(program: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}

/**
 * Returns the project of an agent's service. It is the same in each run, so that sessions find their jobs: whatever the port is, and
 * however a command is worded. The workflow's own repository is known by its id, which a rename or transfer keeps.
 *
 * @param other - `OWNER/NAME` of a repository that is not the workflow's
 * @param name - tells agents of one repository apart. Default: the agent
 */
export function projectOf(
  other: string | undefined,
  agent: string,
  { GITHUB_REPOSITORY: own = "", GITHUB_REPOSITORY_ID: id }: NodeJS.ProcessEnv,
  name = agent in agentKeys ? agent : "command",
): string {
  // No account has a dot in its name, and GitHub's names are the same in any case.
  return [other?.toLowerCase().replace("/", ".") ?? (id || own.replace("/", "-")), name].join("-");
}

/** The options of the service that a step may set. */
export const serviceOptions = [
  "agent-args",
  "agent-env",
  "agent-env-public",
  "agent-model-tools",
  "agent-network",
  "agent-reads",
  "branch-prefix",
  "commit-as",
  "disk-mb",
  "draft",
  "largest-change-mb",
  "max-cost-usd",
  "memory-mb",
  "model",
  "model-host",
  "only",
  "protect",
  "protected-files",
  "sandbox",
  "setup-host",
  "sign-off",
  "time-limit-minutes",
  "title-prefix",
  "trailer",
] as const;

/** An option of the service. */
export interface ServiceOption {
  name: (typeof serviceOptions)[number] | "setup" | "check";
  /** Empty if its line has none. */
  value: string;
  /** As it is written. */
  line: string;
}

/** Options of the step's own, with what their values must be. */
const ownOptions = {
  name: [/^[\w.-]{1,50}$/, "letters, digits, dots, hyphens and underscores"],
  remember: [/^(true|false)$/i, "true or false"],
  install: [/^(true|false)$/i, "true or false"],
  quiet: [/^(true|false)?$/i, "true or false"],
  "agent-version": [/^\d+\.\d[\w.+-]*$/, "a version, such as 2.1.330"],
  repository: [/^[\w-]+\/(?!\.{1,2}$)(?!.*\.git$)[\w.-]+$/, "OWNER/NAME"],
} as const;

type OwnOption = keyof typeof ownOptions;

/** What the input `agent-options` says. */
export interface AgentOptions {
  /** Values of the step's own options; those without a line are missing. */
  own: Partial<Record<OwnOption, string>>;
  ofService: ServiceOption[];
  /** What is wrong with each other line. It continues a sentence. */
  problems: Text[];
}

/** Reads options, one in each line, such as `--model sonnet`. A line that begins with `#` is a comment. */
export function readAgentOptions(text: string): AgentOptions {
  const read: AgentOptions = { own: {}, ofService: [], problems: [] };
  const lines = text.split("\n").map((line) => line.trim());
  for (const line of lines.filter((each) => each !== "" && !each.startsWith("#"))) {
    const [, given = "", written = ""] = /^--([a-z-]+)(?:[\s=]+(.+))?$/.exec(line) ?? [];
    // Quotation marks around a value are what a shell would need.
    const value = /^(["'])((?:(?!\1).)+)\1$/.exec(written)?.[2] ?? written;
    // The arguments of an agent are options.
    const isOne = given === "agent-args" || !/\s--[a-z]/.test(written);
    const name = isOne ? serviceOptions.find((option) => option === given) : undefined;
    const own = isOne ? (Object.keys(ownOptions) as OwnOption[]).find((option) => option === given) : undefined;
    // The service says what is wrong with its own.
    if (name !== undefined) read.ofService.push({ name, value, line });
    else if (own === undefined) {
      const known = [...Object.keys(ownOptions), ...serviceOptions].map((one) => `--${one}`).join(", ");
      read.problems.push(say`must have one of ${known} in each line, with its value, not ${line}`);
    } else if (read.own[own] !== undefined) read.problems.push(say`must have --${own} only once`);
    else {
      const [pattern, form] = ownOptions[own];
      if (pattern.test(value)) read.own[own] = value;
      else read.problems.push(say`must have --${own} with ${trusted(form)}, not ${line}`);
    }
  }
  return read;
}

/** Returns why an agent cannot run on this system; `undefined` if it can. It continues a sentence. */
export function platformProblem(
  { RUNNER_OS }: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Text | undefined {
  const system = RUNNER_OS || { linux: "Linux", darwin: "macOS", win32: "Windows" }[platform as string] || platform;
  if (system === "Linux") return undefined;
  return say`does not run on ${system}: an agent's sandbox needs bubblewrap and the namespaces of Linux. Set \`runs-on: ubuntu-latest\` for this job`;
}

/**
 * What the service and what it starts need of the runner's environment. `RUNNER_TRACKING_ID` lets the runner end the service
 * after the workflow's job.
 */
const needed =
  /^(PATH|HOME|LANG|LANGUAGE|LC_[A-Z]+|TZ|USER|LOGNAME|SHELL|TMPDIR|(HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|GIT_SSL_CAINFO|RUNNER_TRACKING_ID)$/i;

/** Returns the variables with which programs run that need no secrets. @param more - others that they get */
export function withoutSecrets(
  environment: NodeJS.ProcessEnv,
  more: (name: string) => boolean = () => false,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && (needed.test(name) || more(name)) ? [[name, value]] : [],
    ),
  );
}

/**
 * Returns the environment of a process of the service: nothing else of the runner's, neither its tokens nor inputs.
 *
 * @param names - variables that the agent gets, such as its key
 */
export function serviceEnvironment(environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  // With what Node has compiled before, the service starts in two thirds of the time. Agents do not get it.
  const more = (name: string): boolean => name === "NODE_COMPILE_CACHE" || names.includes(name);
  // Node ignores the variables of proxies otherwise.
  return { ...withoutSecrets(withNoProxyBelow(environment), more), NODE_USE_ENV_PROXY: "1" };
}

/** An agent, and what it works on. */
export interface AgentSettings {
  /** A name, or a shell command. */
  agent: string;
  /** `OWNER/NAME` of the repository that it works on. */
  repository: string;
  /** Whether that is the workflow's. */
  isOwnRepository: boolean;
  /** Whether it is known that not everyone can read it. */
  isPrivate: boolean;
  /** What `projectOf` returns. */
  projectId: string;
  /** Pushes branches, and opens pull requests. */
  githubToken: string;
  /** The one that GitHub made for the workflow. */
  workflowToken: string;
  /** How long it may work, unless an option says less, in minutes. */
  minutes: number;
  remember: boolean;
  install: boolean;
  /** Whether the log of the step does not show what the agent does. */
  isQuiet: boolean;
  /** The agent's version, to be installed. Default: the one that is there, or the tested one. */
  agentVersion?: string | undefined;
  options: readonly ServiceOption[];
  /** The key of its service: a new one in each run. */
  apiKey: string;
}

/** The first message to the program: sent, so that it has no secrets in an environment that others can read. */
export interface AgentConfig {
  /** The step's. */
  environment: NodeJS.ProcessEnv;
  settings: AgentSettings;
  /** Where the transcript of its jobs is written. */
  logFile: string;
  /** Where work is written that is kept nowhere else. */
  workFile: string;
}

/**
 * What the program is asked to do, in one message after another. `answer`: to say what is known of jobs; `run`: to run agents,
 * too; `check`: to find out what would keep it from that; a number: to end, and to save what later runs continue for at most so
 * many milliseconds, whatever it is doing.
 */
export type AgentRequest = "answer" | "run" | "check" | number;

/** The reply to each request but the last, which has none. `url`: of the service; empty after `check`. */
export type AgentReply = { url: string } | { title: string; text: Text };
