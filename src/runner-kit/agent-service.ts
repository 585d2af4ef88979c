import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { say, type Text } from "./text.ts";

// What the action and the program that runs its own agent agree on: the inputs `agent` and `agent-options`, and their messages.

/** What to do about a run without secrets or tokens because of its event: a condition that lets all other events pass. */
export const forkAdvice =
  "Runs for pull requests from forks get none: to skip these, give the job if: github.event.pull_request == null || github.event.pull_request.head.repo.full_name == github.repository";

/** The built-in editor, which needs neither a model nor a key. */
export const editor = "editor";

/** The agents that are known by name, and the variables of which one must have the key of their model. */
export const agentKeys: Readonly<Record<string, readonly string[]>> = {
  claude: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"],
  codex: ["CODEX_API_KEY"],
  gemini: ["GEMINI_API_KEY"],
  opencode: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
  aider: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
  // It works with the workflow's own token.
  copilot: [],
  [editor]: [],
};

const agentNames = Object.keys(agentKeys);

/** Returns what is wrong with an agent: it is none, or a word that is not a program. `undefined` if it may be one. */
export function agentProblem(agent: string, { PATH = "" }: NodeJS.ProcessEnv): Text | undefined {
  if (agent === "") return say`is required: one of ${agentNames.join(", ")}, or a shell command`;
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
 * however a command is worded.
 *
 * @param repository - `OWNER/NAME`
 * @param name - tells agents of one repository apart. Default: the agent
 */
export function projectOf(repository: string, agent: string, name = agent in agentKeys ? agent : "command"): string {
  return [...repository.split("/"), name].join("-");
}

/** Inputs of `service/action.yml` that `agent-options` may have, too: the action sets the others. */
export const agentInputs = ["sandbox", "agent-network", "time-limit-minutes", "remember", "install"] as const;

/** The options of the service that a step may set. */
export const stepOptions = [
  "agent-env",
  "agent-env-public",
  "agent-reads",
  "agents",
  "check",
  "commit-as",
  "disk-mb",
  "largest-change-mb",
  "memory-mb",
  "model",
  "model-host",
  "only",
  "protect",
  "protected-files",
  "setup",
  "setup-host",
  "sign-off",
  "trailer",
] as const;

/** What `agent-options`, or the input `options` of `service/action.yml`, says. */
export interface AgentOptions {
  /** Which of several agents of a repository this is; `undefined` if no line says it. */
  name: string | undefined;
  /** Values of inputs, by their names. */
  inputs: Record<string, string>;
  /** Options of the service, with the lines that they are from. A value is empty if its line has none. */
  options: { name: (typeof stepOptions)[number]; value: string; line: string }[];
  /** What is wrong with each other line. It continues a sentence. */
  problems: Text[];
}

/** Reads options, one in each line, such as `--model sonnet`. @param inputs - the inputs that a line may stand for */
export function readAgentOptions(text: string, inputs: readonly string[]): AgentOptions {
  const read: AgentOptions = { name: undefined, inputs: {}, options: [], problems: [] };
  const lines = text.split("\n").map((line) => line.trim());
  for (const line of lines.filter((each) => each !== "")) {
    const [, given = "", written = ""] = /^--([a-z-]+)(?:[\s=]+(.+))?$/.exec(line) ?? [];
    // Quotation marks around a value are what a shell would need.
    const value = /^(["'])((?:(?!\1).)+)\1$/.exec(written)?.[2] ?? written;
    // Only a command has options of its own.
    const isOne = given === "setup" || given === "check" || !/\s--[a-z]/.test(written);
    const name = isOne ? stepOptions.find((option) => option === given) : undefined;
    const isAgain = given === "name" ? read.name !== undefined : Object.hasOwn(read.inputs, given);
    // Other options are parsed later, as those of a command line.
    if (isAgain) read.problems.push(say`must have --${given} only once`);
    else if (isOne && given === "name" && /^[\w.-]{1,50}$/.test(value)) read.name = value;
    else if (isOne && inputs.includes(given) && value !== "") read.inputs[given] = value;
    else if (name !== undefined) read.options.push({ name, value, line });
    else {
      const known = ["name", ...inputs, ...stepOptions].map((one) => `--${one}`).join(", ");
      read.problems.push(say`must have one of ${known} in each line, with its value, not ${line}`);
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
  return { ...withoutSecrets(environment, more), NODE_USE_ENV_PROXY: "1" };
}

/** The first message to the program: sent, so that it has no secrets in an environment that others can read. */
export interface AgentConfig {
  /** Of the step. */
  environment: NodeJS.ProcessEnv;
  /** As those of `service/action.yml`. */
  inputs: Readonly<Record<string, string>>;
  /** That the service accepts. */
  apiKey: string;
}

/**
 * What the program is asked to do, in one message after another. `answer`: to say what is known of jobs; `run`: to run agents,
 * too; `check`: to find out what would keep it from that; a number: to end, and to save what later runs continue for at most so
 * many milliseconds, whatever it is doing.
 */
export type AgentRequest = "answer" | "run" | "check" | number;

/** The reply to each request but the last, which has none. `url`: of the service; empty after `check`. */
export type AgentReply = { url: string } | { title: string; text: Text };
