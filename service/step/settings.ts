import { type AgentSettings, agentKeys, editor, forkAdvice } from "../../src/runner-kit/agent-service.ts";
import { say, type Text, trusted } from "../../src/runner-kit/text.ts";
import { presetPackage } from "../src/agents/presets.ts";
import { errorMessage } from "../src/error-message.ts";
import { type CommandLineOptions, parseOptions } from "../src/options/options.ts";
import type { ProjectSettings } from "../src/options/project-settings.ts";
import { kindOf } from "../src/options/table.ts";
import { SetupError } from "./setup/setup-error.ts";

/** What the action asks for, and what it means for the service. */
export interface Settings
  extends Pick<
    AgentSettings,
    "projectId" | "isOwnRepository" | "isPrivate" | "install" | "isQuiet" | "remember" | "agentVersion"
  > {
  /** Variables that the options depend on, such as the token. */
  variables: Record<string, string>;
  /** Of the service. */
  service: CommandLineOptions;
  /** Of its only project. */
  options: ProjectSettings;
  /** Package and program of the agent, if it is one that the service knows. */
  agentPackage: ReturnType<typeof presetPackage>;
  token: string;
  /** When agents have to have ended, in milliseconds since the settings were read. */
  endsAfterMs: number;
  /** Whether that is the token that GitHub made for the workflow. */
  isWorkflowToken: boolean;
}

/** @throws SetupError that names everything that is wrong with the options */
export function readSettings(given: AgentSettings, environment: NodeJS.ProcessEnv): Settings {
  const {
    agent,
    projectId,
    repository,
    githubToken: token,
    workflowToken,
    remember,
    install,
    agentVersion,
    apiKey,
  } = given;
  const serverUrl = environment.GITHUB_SERVER_URL || "https://github.com";
  const apiUrl = environment.GITHUB_API_URL || "https://api.github.com";
  const problems: Text[] = [];
  const isEditor = agent === editor;
  // A variable that is not set has an empty value. For a list, it could lift a limit.
  const known = given.options.filter(({ name, value }) => value !== "" || kindOf(name).given !== "once");
  const valueFor = (name: string): string | undefined => known.find((one) => one.name === name)?.value;
  const network = valueFor("agent-network") ?? "model";
  // The editor has no model.
  const isReplaced = isEditor && network === "model";
  const ofEditor = valueFor("sandbox") === "none" ? "full" : "none";
  const used = isReplaced ? known.filter(({ name }) => name !== "agent-network") : known;
  const written = used.flatMap(({ name, value, line }) => {
    const isFlag = kindOf(name).given === "never";
    if (isFlag === (value === "")) return [isFlag ? `--${name}` : `--${name}=${value}`];
    problems.push(say`\`agent-options\` must have ${isFlag ? `--${name} alone` : `a value of --${name}`}, not ${line}`);
    return [];
  });
  if (!(agent in agentKeys) && network === "model" && valueFor("model-host") === undefined)
    problems.push(
      say`\`--agent-network\` is model, and the model of a command is unknown: name its host with --model-host HOST in \`agent-options\`, or set --agent-network full or none`,
    );
  const agentPackage = presetPackage(agent);
  if (agentVersion !== undefined && (agentPackage === undefined || !install))
    problems.push(
      agentPackage === undefined
        ? say`\`--agent-version\` is for an agent with a name, which the step installs`
        : say`\`--agent-version\` cannot be used together with \`--install false\`: install that version in a step before this one`,
    );
  const defaults = {
    sandbox: "bwrap",
    "agent-network": isReplaced ? ofEditor : "model",
    "time-limit-minutes": String(given.minutes),
  };
  const args = [
    `--repository=${serverUrl}/${repository}.git`,
    ...(isEditor ? [] : [`--agent=${agent}`]),
    ...Object.entries(defaults).flatMap(([name, value]) =>
      used.some((one) => one.name === name) ? [] : [`--${name}=${value}`],
    ),
    ...written,
  ];
  if (problems.length > 0) throw invalid(problems);
  const variables: Record<string, string> = {
    GITHUB_TOKEN: token,
    ...(workflowToken !== "" && { GH_TOKEN: workflowToken }),
    ...(agent === "copilot" && { COPILOT_GITHUB_TOKEN: environment.COPILOT_GITHUB_TOKEN || workflowToken }),
    AGENT_SERVICE_KEY: apiKey,
    GITHUB_SERVER_URL: serverUrl,
    GITHUB_API_URL: apiUrl,
  };
  const service = readOptions(args, { ...environment, ...variables });
  const options = service.settings.get(repository);
  if (options === undefined) throw new Error("the service has no settings of its project");
  return {
    variables,
    service,
    options,
    agentPackage: agentPackage && { ...agentPackage, version: agentVersion ?? agentPackage.version },
    projectId,
    isOwnRepository: given.isOwnRepository,
    isPrivate: given.isPrivate,
    token,
    endsAfterMs: given.minutes * 60_000,
    isWorkflowToken: token === workflowToken,
    install,
    isQuiet: given.isQuiet,
    agentVersion,
    remember,
  };
}

function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): CommandLineOptions {
  try {
    return parseOptions(args, environment);
  } catch (error) {
    const problem = inWordsOfInputs(errorMessage(error));
    throw invalid([/ requires .* in the environment/.test(problem) ? missingKey(problem) : say`${problem}`]);
  }
}

/** Names the options of the service that are inputs of the action. */
export function inWordsOfInputs(problem: string): string {
  // Coding agents have options of these names, too.
  return problem.startsWith("--agent-args must not have ")
    ? problem
    : problem.replace(/--(?=(agent|setup|check)\b(?!-))/g, "");
}

function missingKey(problem: string): Text {
  return say`${problem.replace(/\.$/, "")} of this step: set it with \`env:\`, from a secret. ${trusted(forkAdvice)}`;
}

function invalid(problems: readonly Text[]): SetupError {
  const list = problems.flatMap((problem) => (problems.length === 1 ? problem : ["\n- ", ...problem]));
  return new SetupError("Invalid options of the agent", [
    ...list,
    "\nNothing was started. If you change the workflow file, start a new run: a re-run keeps this run's.",
  ]);
}
