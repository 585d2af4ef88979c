import {
  agentKeys,
  agentProblem,
  editor,
  forkAdvice,
  projectOf,
  readAgentOptions,
} from "../../src/runner-kit/agent-service.ts";
import { say, type Text, trusted } from "../../src/runner-kit/text.ts";
import { presetPackage } from "../src/agents/presets.ts";
import { errorMessage } from "../src/error-message.ts";
import { type CommandLineOptions, parseOptions } from "../src/options/options.ts";
import type { ProjectSettings } from "../src/options/project-settings.ts";
import { kindOf } from "../src/options/table.ts";
import { SetupError } from "./setup/setup-error.ts";

/** The inputs of the step, and what they mean for the service. */
export interface Settings {
  /** Arguments of the service's command line. */
  args: string[];
  /** Variables that they depend on. */
  variables: Record<string, string>;
  /** What the service makes of them. */
  options: ProjectSettings & Pick<CommandLineOptions, "apiKey">;
  /** Package and program of the agent, if it is one that the service knows. */
  agentPackage: ReturnType<typeof presetPackage>;
  /** The same in each run, so that sessions find their jobs: the repository, by its id if it is the workflow's own, and the agent, or its name. */
  projectId: string;
  /** `OWNER/NAME`. */
  repository: string;
  token: string;
  /** When agents have to have ended, in milliseconds since the settings were read. Default: whenever their limit says. */
  endsAfterMs: number;
  /** Whether that is the token that GitHub made for the workflow. */
  isWorkflowToken: boolean;
  install: boolean;
  remember: boolean;
}

/** The defaults of the inputs, as in `service/action.yml`. */
export const inputDefaults = {
  agent: "",
  repository: "",
  base: "",
  "github-token": "",
  sandbox: "bwrap",
  "agent-network": "model",
  "time-limit-minutes": "30",
  remember: "true",
  install: "true",
  options: "",
  "workflow-token": "",
};

type InputName = keyof typeof inputDefaults;

/**
 * Reads the inputs. An empty one means its default.
 *
 * @param apiKey - of the service
 * @throws SetupError that names everything that is wrong with them
 */
export function readSettings(
  input: (name: string) => string,
  environment: NodeJS.ProcessEnv,
  apiKey: string,
): Settings {
  const read = (name: InputName): string => input(name) || inputDefaults[name];
  const problems: Text[] = [];
  const agent = read("agent");
  const repository = read("repository") || (environment.GITHUB_REPOSITORY ?? "");
  const serverUrl = environment.GITHUB_SERVER_URL || "https://github.com";
  const apiUrl = environment.GITHUB_API_URL || "https://api.github.com";
  const token = read("github-token");
  const wrong = agentProblem(agent, environment, "options");
  if (wrong) problems.push(["`agent` ", ...wrong]);
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) problems.push(say`\`repository\` must be OWNER/NAME, not ${repository}`);
  if (token === "") problems.push(say`\`github-token\` is empty. Check the secret's name. ${trusted(forkAdvice)}`);
  const flag = (name: InputName): boolean => {
    const value = read(name).toLowerCase();
    if (!["true", "false"].includes(value)) problems.push(say`\`${name}\` must be true or false, not ${value}`);
    return value === "true";
  };
  const [remember, install] = [flag("remember"), flag("install")];
  const more = readAgentOptions(read("options"), []);
  for (const problem of more.problems) problems.push(say`\`options\` ${problem}`);
  const further = more.options.flatMap(({ name, value, line }) => {
    const isFlag = kindOf(name).given === "never";
    if (isFlag === (value === "")) return [isFlag ? `--${name}` : `--${name}=${value}`];
    problems.push(say`\`options\` must have ${isFlag ? `--${name} alone` : `a value of --${name}`}, not ${line}`);
    return [];
  });
  const isEditor = agent === editor;
  const isCommand = !(agent in agentKeys);
  const sandbox = read("sandbox");
  // The editor has no model.
  const ofEditor = sandbox === "none" ? "full" : "none";
  const network = isEditor && read("agent-network") === "model" ? ofEditor : read("agent-network");
  if (isCommand && !wrong && network === "model" && !further.some((argument) => argument.startsWith("--model-host=")))
    problems.push(
      say`\`agent-network\` is model, and the model of a command is unknown: name its host with --model-host HOST in \`options\`, or set \`agent-network\` to full or none`,
    );
  const args = [
    `--repository=${serverUrl}/${repository}.git`,
    ...(isEditor ? [] : [`--agent=${agent}`]),
    ...given("base", read("base")),
    `--sandbox=${sandbox}`,
    `--agent-network=${network}`,
    `--time-limit-minutes=${read("time-limit-minutes")}`,
    ...further,
  ];
  if (problems.length > 0) throw invalid(problems);
  const workflowToken = read("workflow-token");
  const variables: Record<string, string> = {
    GITHUB_TOKEN: token,
    ...(workflowToken !== "" && { GH_TOKEN: workflowToken }),
    ...(agent === "copilot" && { COPILOT_GITHUB_TOKEN: environment.COPILOT_GITHUB_TOKEN || workflowToken }),
    AGENT_SERVICE_KEY: apiKey,
    GITHUB_SERVER_URL: serverUrl,
    GITHUB_API_URL: apiUrl,
  };
  const options = readOptions(args, { ...environment, ...variables });
  const project = options.settings.get(repository);
  if (project === undefined) throw new Error("the service has no settings of its project");
  return {
    args,
    variables,
    options: { ...project, apiKey: options.apiKey },
    agentPackage: presetPackage(agent),
    projectId: projectOf(repository, agent, environment, more.name),
    repository,
    token,
    endsAfterMs: Number(input("minutes-left") || Number.POSITIVE_INFINITY) * 60_000,
    isWorkflowToken: token === workflowToken,
    install,
    remember,
  };
}

function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): CommandLineOptions {
  try {
    return parseOptions(args, environment);
  } catch (error) {
    // The options have the names of the inputs.
    const problem = errorMessage(error).replace(/--(?=[a-z])/g, "");
    throw invalid([/ requires .* in the environment/.test(problem) ? missingKey(problem) : say`${problem}`]);
  }
}

const given = (name: InputName, value: string): string[] => (value === "" ? [] : [`--${name}=${value}`]);

function missingKey(problem: string): Text {
  return say`${problem.replace(/\.$/, "")} of this step: set it with \`env:\`, from a secret. ${trusted(forkAdvice)}`;
}

function invalid(problems: readonly Text[]): SetupError {
  const list = problems.flatMap((problem) => (problems.length === 1 ? problem : ["\n- ", ...problem]));
  return new SetupError("Invalid inputs of the agent service", [
    ...list,
    "\nNothing was started. If you change the workflow file, start a new run: a re-run keeps this run's.",
  ]);
}
