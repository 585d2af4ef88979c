import type { AgentSessions, AgentTurn, ModelEndpoint } from "../agent.ts";
import type { AgentOptions } from "../agent-args.ts";
import type { AgentReport } from "../agent-report.ts";
import type { AgentEvent } from "../events.ts";
import { anthropicApi, openAiApi } from "../model-api.ts";

/** What installs an agent. */
export interface AgentPackage {
  registry: "npm" | "pypi";
  name: string;
  /** The one that the tests run. */
  version: string;
}

/** Returns the value of a variable of the service; empty if it is not set. */
export type Variables = (name: string) => string;

/** Where an agent can reach a model, by the variables of the service. */
export interface PresetModel extends Omit<ModelEndpoint, "url" | "folder"> {
  /** Without a base URL in `baseUrlVariable`. */
  url: string | ((variables: Variables) => string);
  folder?: (variables: Variables) => string;
  /** The variable with headers for a gateway. Default: there is none. */
  headersVariable?: string;
  /** The variable with which people choose it. Default: its key. */
  switch?: string;
  /** Variables besides the key without which it cannot be used, which are no secrets. */
  requires?: Readonly<Record<string, RegExp>>;
  /** Variables without secrets that the agent gets if they are set. */
  passes?: readonly string[];
}

/** A command-line agent that the service knows how to run and understand. */
export interface Preset {
  program: string;
  package: AgentPackage;
  /** Where it can reach a model, in order of preference: the first one whose key is set is used. */
  models: readonly PresetModel[];
  environment: Readonly<Record<string, string>>;
  /** Its options that people may give. Default: none. */
  options?: AgentOptions;
  /** Its option for the highest cost of a turn in US dollars. Default: it has none. */
  costOption?: string;
  /** As in `Agent`. */
  unpacksTo?: string;
  sessions: AgentSessions;
  /**
   * Returns the script for `/bin/sh` that runs it. Stdin is the prompt, which is also in the file named by
   * `AGENT_PROMPT_FILE`. `"$@"` stands for the arguments that choose a model, and people's own.
   */
  script(turn: AgentTurn): string;
  /**
   * Reads the end of the agent's stdout.
   *
   * @param final - its final event; `undefined` if it has none, or prints no events
   */
  readReport(stdout: string, final: AgentEvent | undefined): AgentReport;
}

/** For an agent that does not say how its turn ended. */
export const noResult: AgentReport = { message: undefined, error: undefined, hasEnded: false };

/** Returns a function that makes the header of a key. */
export const bearer = (key: string): [string, string] => ["authorization", `Bearer ${key}`];

/** Anthropic's API with an API key. `baseUrlVariable` and the path in its URL differ between agents. */
export function anthropic(url: string, baseUrlVariable: string): PresetModel {
  return {
    url,
    baseUrlVariable,
    keyVariable: "ANTHROPIC_API_KEY",
    headersVariable: "ANTHROPIC_CUSTOM_HEADERS",
    api: anthropicApi,
    header: (key) => ["x-api-key", key],
  };
}

/** OpenAI's API with an API key. */
export function openAi(baseUrlVariable: string, keyVariable: string): PresetModel {
  return {
    url: "https://api.openai.com/v1",
    baseUrlVariable,
    keyVariable,
    headersVariable: "OPENAI_CUSTOM_HEADERS",
    api: openAiApi,
    header: bearer,
  };
}
