import { findKey } from "../service-secrets.ts";
import type { Agent } from "./agent.ts";
import { eventFormats } from "./event-lines.ts";
import { aider } from "./presets/aider.ts";
import { claude } from "./presets/claude.ts";
import { codex } from "./presets/codex.ts";
import { copilot } from "./presets/copilot.ts";
import { gemini } from "./presets/gemini.ts";
import { opencode } from "./presets/opencode.ts";
import type { AgentPackage, Preset } from "./presets/preset.ts";
import { readableError } from "./readable-error.ts";

/** The agents that `--agent` knows by name. */
const presets: ReadonlyMap<string, Preset> = new Map(
  Object.entries({ claude, codex, gemini, opencode, aider, copilot }),
);

export const presetNames: readonly string[] = [...presets.keys()];

/** Returns the program of a preset and the package that has it; `undefined` if there is no such preset. */
export function presetPackage(name: string): ({ program: string } & AgentPackage) | undefined {
  const preset = presets.get(name);
  return preset && { program: preset.program, ...preset.package };
}

/** Returns the command that installs the tested version of an agent. */
export function installCommand({ registry, name, version }: AgentPackage): string {
  return registry === "npm" ? `npm install --global ${name}@${version}` : `pip install ${name}==${version}`;
}

/** Some agents take a prompt that starts with `/` or `!` for a command of their own. */
const promptPrefix = "The task:\n\n";

/**
 * Returns the agent of a preset.
 *
 * @param environment - the service's, which has the key
 * @param model - passed to the agent; default: the agent's own default
 * @throws if there is no key, or the base URL in the environment is not valid
 */
export function presetAgent(
  name: string,
  environment: NodeJS.ProcessEnv,
  model?: string | undefined,
): Agent | undefined {
  const preset = presets.get(name);
  if (preset === undefined) return undefined;
  const { program, models, environment: own, unpacksTo, sessions, script, readReport } = preset;
  const modelEndpoint = models.find(({ keyVariable }) => findKey(keyVariable, environment) !== undefined);
  if (modelEndpoint === undefined) {
    const keys = models.map(({ keyVariable }) => keyVariable).join(" or ");
    throw new Error(`--agent ${name} requires ${keys} in the environment.`);
  }
  const { baseUrlVariable, keyVariable } = modelEndpoint;
  const url = environment[baseUrlVariable]?.trim() || modelEndpoint.url;
  if (!URL.canParse(url)) throw new Error(`${baseUrlVariable} must be a URL.`);
  return {
    kind: name,
    model: model ?? name,
    command: (turn) => {
      const modelArguments = model === undefined ? [] : ["--model", model];
      return { file: "/bin/sh", args: ["-c", script(turn), program, ...modelArguments] };
    },
    promptPrefix,
    eventFormat: eventFormats.find((format) => format === name),
    readReport: (stdout, _result, final) => {
      const report = readReport(stdout, final);
      const { error } = report;
      return {
        ...report,
        ...(final !== undefined && { hasEnded: true }),
        ...(error !== undefined && { error: readableError(error) }),
      };
    },
    isToldHistory: true,
    environment: own,
    passes: [keyVariable, baseUrlVariable],
    modelEndpoint: { ...modelEndpoint, url },
    programs: [program],
    install: installCommand(preset.package),
    unpacksTo,
    sessions,
    reads: [],
    // None: its model is reached through the service, which adds the key. A direct way would let it use another key.
    hosts: [],
    isTrusted: false,
  };
}
