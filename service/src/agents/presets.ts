import { findKey, findSecret } from "../service-secrets.ts";
import type { Agent, ModelEndpoint } from "./agent.ts";
import { readAgentArguments } from "./agent-args.ts";
import { eventFormats } from "./event-lines.ts";
import { aider } from "./presets/aider.ts";
import { claude } from "./presets/claude.ts";
import { codex } from "./presets/codex.ts";
import { copilot } from "./presets/copilot.ts";
import { gemini } from "./presets/gemini.ts";
import { opencode } from "./presets/opencode.ts";
import type { AgentPackage, Preset, PresetModel } from "./presets/preset.ts";
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

/** More than Claude Code sends at once, with its subagents: it runs ten tools at a time, and asks a small model beside them. */
const maxOpenRequests = 16;

/** Some agents take a prompt that starts with `/` or `!` for a command of their own. */
const promptPrefix = "The task:\n\n";

/**
 * Returns the agent of a preset.
 *
 * @param environment - the service's, which has the key
 * @param model - passed to the agent; default: the agent's own default
 * @param more - what else is passed to it
 * @throws if there is no key, the base URL in the environment is not valid, or the agent takes no such arguments
 */
export function presetAgent(
  name: string,
  environment: NodeJS.ProcessEnv,
  model?: string | undefined,
  { agentArgs, maxCostUsd }: { agentArgs?: string | undefined; maxCostUsd?: number | undefined } = {},
): Agent | undefined {
  const preset = presets.get(name);
  if (preset === undefined) return undefined;
  const { program, models, environment: own, costOption, unpacksTo, sessions, script, readReport } = preset;
  const { endpoint: modelEndpoint, passes } = modelOf(name, models, environment);
  if (maxCostUsd !== undefined && costOption === undefined)
    throw new Error(`--max-cost-usd is for claude: ${name} has no such limit.`);
  const added = [
    ...(model === undefined ? [] : ["--model", model]),
    ...(maxCostUsd === undefined ? [] : [costOption ?? "", String(maxCostUsd)]),
    ...(agentArgs === undefined ? [] : readAgentArguments(name, agentArgs, preset.options)),
  ];
  return {
    kind: name,
    model: model ?? name,
    command: (turn) => ({ file: "/bin/sh", args: ["-c", script(turn), program, ...added] }),
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
    passes,
    // The program counts only its own requests, not those of what it runs.
    modelEndpoint: { ...modelEndpoint, ...(maxCostUsd !== undefined && { maxOpenRequests }) },
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

/** Whether Claude Code takes a value for true. */
const isOn = (value: string): boolean => /^(?:1|true|yes|on)$/i.test(value);

/** @throws if no model can be used, with the variable that is missing or wrong */
function modelOf(
  agent: string,
  all: readonly PresetModel[],
  environment: NodeJS.ProcessEnv,
): { endpoint: ModelEndpoint; passes: string[] } {
  const variables = (name: string): string => environment[name]?.trim() ?? "";
  const chosen = all.find(({ switch: name }) => name !== undefined && isOn(variables(name)))?.switch;
  const models = all.filter(({ switch: name }) => name === chosen);
  const model = models.find(({ keyVariable }) => findKey(keyVariable, environment) !== undefined);
  if (model === undefined) {
    const keys = models.map(({ keyVariable }) => keyVariable).join(" or ");
    const cloud = chosen === undefined ? "" : ` with ${chosen}`;
    throw new Error(`--agent ${agent}${cloud} requires ${keys} in the environment.`);
  }
  const { url, folder, requires = {}, headersVariable = "", switch: own, passes = [], ...rest } = model;
  const { keyVariable, baseUrlVariable, secretVariables = [] } = rest;
  for (const name of secretVariables) findKey(name, environment);
  const baseUrl = variables(baseUrlVariable);
  for (const [name, pattern] of Object.entries(requires)) {
    const value = findSecret(name, environment)?.value ?? "";
    // A base URL has it already.
    if (value === "" && name === "ANTHROPIC_FOUNDRY_RESOURCE" && baseUrl !== "") continue;
    if (value === "") throw new Error(`${own} needs ${name}, too, which is not set.`);
    if (!pattern.test(value)) throw new Error(`${name} is not valid: ${value}.`);
  }
  const found = baseUrl || (typeof url === "string" ? url : url(variables));
  if (!/^https?:\S+$/i.test(found) || !URL.canParse(found)) throw new Error(`${baseUrlVariable} must be a URL.`);
  const headers = readHeaders(headersVariable, variables(headersVariable));
  return {
    endpoint: {
      ...rest,
      secretVariables: [...secretVariables, headersVariable].filter(Boolean),
      url: found,
      ...(folder && { folder: folder(variables) }),
      ...(Object.keys(headers).length > 0 && { headers }),
    },
    passes: [
      ...new Set([
        keyVariable,
        baseUrlVariable,
        ...secretVariables,
        headersVariable,
        own ?? "",
        ...Object.keys(requires),
        ...passes,
      ]),
    ].filter(Boolean),
  };
}

/** Reads headers as Claude Code does: `Name: value` in each line. @throws if a line is none. The message has nothing of it */
function readHeaders(variable: string, text: string): Record<string, string> {
  const lines = text.split(/\r?\n|\\n/).filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*([\t -~]*?)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`${variable} must have NAME: VALUE in each line.`);
      return [name, value];
    }),
  );
}
