import type { AgentTurn, ModelEndpoint } from "../agent.ts";
import type { AgentReport } from "../agent-report.ts";
import { anthropicApi, openAiApi } from "../model-api.ts";

/** What installs an agent. */
export interface AgentPackage {
  registry: "npm" | "pypi";
  name: string;
  /** The one that the tests run. */
  version: string;
}

/** A command-line agent that the service knows how to run and understand. */
export interface Preset {
  /** The program's name. */
  program: string;
  package: AgentPackage;
  /** Where it can reach a model, in order of preference: the first one whose key is set is used. */
  models: readonly ModelEndpoint[];
  environment: Readonly<Record<string, string>>;
  /** As that of `Agent`. */
  unpacksTo?: string;
  /**
   * Returns the script for `/bin/sh` that runs it. Stdin is the prompt, which is also in the file named by
   * `AGENT_PROMPT_FILE`. `"$@"` stands for the arguments that choose a model.
   */
  script(turn: AgentTurn): string;
  readReport(stdout: string): AgentReport;
}

/** An event that an agent prints as a line of JSON. */
export type AgentEvent = Readonly<Record<string, unknown>>;

/** Parses the lines of JSON in an agent's output. The first line may be cut off, and others may not be JSON. */
export function parseEvents(stdout: string): AgentEvent[] {
  return stdout.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return [];
    try {
      return [JSON.parse(line) as AgentEvent];
    } catch {
      return [];
    }
  });
}

/** Returns the string at a path in an event; `undefined` if there is none. */
export function stringIn(event: AgentEvent | undefined, ...path: readonly string[]): string | undefined {
  const value = valueIn(event, path);
  return typeof value === "string" ? value : undefined;
}

/** Returns the number at a path in an event; `undefined` if there is none. */
export function numberIn(event: AgentEvent | undefined, ...path: readonly string[]): number | undefined {
  const value = valueIn(event, path);
  return typeof value === "number" ? value : undefined;
}

function valueIn(event: AgentEvent | undefined, path: readonly string[]): unknown {
  let value: unknown = event;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as AgentEvent)[name];
  }
  return value;
}

/** For an agent that exits with 0 without saying how its turn ended. */
export const noResult: AgentReport = { message: undefined, error: "it ended without a result" };

/** Anthropic's API with an API key. `baseUrlVariable` and the path in its URL differ between agents. */
export function anthropic(url: string, baseUrlVariable: string): ModelEndpoint {
  return {
    url,
    baseUrlVariable,
    keyVariable: "ANTHROPIC_API_KEY",
    api: anthropicApi,
    header: (key) => ["x-api-key", key],
  };
}

/** OpenAI's API with an API key. */
export function openAi(baseUrlVariable: string, keyVariable: string): ModelEndpoint {
  const header = (key: string): [string, string] => ["authorization", `Bearer ${key}`];
  return { url: "https://api.openai.com/v1", baseUrlVariable, keyVariable, api: openAiApi, header };
}
