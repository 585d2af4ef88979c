import { mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { isInPath, withoutSecrets } from "../../../src/runner-kit/agent-service.ts";
import { say, trusted } from "../../../src/runner-kit/text.ts";
import { installCommand, type presetPackage } from "../../src/agents/presets.ts";
import { errorMessage } from "../../src/error-message.ts";
import { runProgram } from "./programs.ts";
import { SetupError } from "./setup-error.ts";

/** Configuration of the package managers, such as another registry. */
const packageManagers = /^(npm_config_|PIP_)/i;

export interface InstallAgentOptions {
  agent: NonNullable<ReturnType<typeof presetPackage>>;
  /** Whether the step may install it. */
  isAllowed: boolean;
  /** Whether its version was chosen: then, one in `PATH` may be another one. Default: no. */
  isChosen?: boolean;
  /** Where it is installed. */
  folder: string;
  environment: NodeJS.ProcessEnv;
  info: (line: string) => void;
  /** Ends the installation. */
  signal: AbortSignal;
}

/**
 * Installs an agent, unless it is in `PATH`: in a folder of the step, so that nothing else on the runner changes.
 *
 * @returns the `PATH` in which the agent is
 * @throws SetupError if it is missing and cannot be installed
 */
export async function installAgent(options: InstallAgentOptions): Promise<string> {
  const { agent, isAllowed, isChosen = false, folder, environment, info, signal } = options;
  const { PATH = "" } = environment;
  if (!isChosen && isInPath(agent.program, PATH)) {
    info(`Using ${agent.program} in PATH; the version that was tested is ${agent.version}`);
    return PATH;
  }
  const command = installCommand(agent);
  if (!isAllowed)
    throw new SetupError(
      "The agent is not installed",
      say`${trusted(agent.program)} was not found in PATH, and \`--install\` is false. Run \`${trusted(command)}\` in a step before this one, or remove \`--install false\` from \`agent-options\`. Nothing was started.`,
    );
  info(
    `Installing ${agent.name} ${agent.version}, ${isChosen ? "as agent-options says" : "the version that was tested"}`,
  );
  mkdirSync(folder, { recursive: true });
  const env = installerEnvironment(environment);
  const { name, version } = agent;
  try {
    if (agent.registry === "npm") {
      const args = ["install", "--global", "--no-audit", "--no-fund", `--prefix=${folder}`, `${name}@${version}`];
      await runProgram("npm", args, { env, cwd: folder, signal });
    } else {
      await runProgram("python3", ["-m", "venv", folder], { env, signal });
      await runProgram(join(folder, "bin/pip"), ["install", "--quiet", `${name}==${version}`], { env, signal });
    }
  } catch (error) {
    throw new SetupError(
      "The agent cannot be installed",
      say`${errorMessage(error)}\nInstall it in a step before this one with \`${trusted(command)}\`. Nothing was started.`,
    );
  }
  return [join(folder, "bin"), PATH].join(delimiter);
}

/** Returns the environment for programs that install others, whose authors need no secrets. */
export function installerEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  return withoutSecrets(environment, (name) => packageManagers.test(name));
}
