import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { networkKinds } from "../agents/network/agent-network.ts";
import { sandboxKinds } from "../agents/sandbox/create-sandbox.ts";
import { errorMessage } from "../error-message.ts";
import { PerProject } from "../per-project.ts";
import type { Configuration, ReadConfiguration } from "./options.ts";
import { createProjectSettings, type ProjectInput } from "./project-settings.ts";

/** In URLs of the API, and in the keys of JSON. */
const projectId = /^[A-Za-z0-9][\w.-]{0,99}$/;
const variableName = /^[A-Za-z_]\w*$/;
/** In minutes or megabytes, as on the command line. */
const maxAmount = 10_000;

/** A value that is not as `expected` says is an error that says so. */
const text = (expected: string) => z.string(expected).check(z.minLength(1, expected));
const texts = (expected: string) => z.array(text(expected), `a list, each ${expected}`);
const integer = (max: number) => {
  const expected = `an integer from 1 to ${max}`;
  return z.int(expected).check(z.gte(1, expected), z.lte(max, expected));
};
const amount = () => {
  const expected = `a number greater than 0 and at most ${maxAmount}`;
  return z.number(expected).check(z.gt(0, expected), z.lte(maxAmount, expected));
};
const limit = () => integer(1_000_000_000);
const choice = <const T extends readonly string[]>(choices: T) =>
  z.enum(choices, choices.map((one) => JSON.stringify(one)).join(" or "));
const variable = () => {
  const expected = "the name of an environment variable";
  return z.string(expected).check(z.regex(variableName, expected));
};

/** The keys of a project, with the meaning of the options that have the same name on the command line. */
const projectKeys = {
  repository: text("a URL or path, as git clone accepts it"),
  base: z.optional(text("the name of a branch")),
  agent: z.optional(text("the name of an agent, or a shell command")),
  agentFollowUp: z.optional(text("a shell command")),
  agentEnv: z.optional(z.array(variable(), "a list of names of environment variables")),
  agentReads: z.optional(texts("a path")),
  sandbox: z.optional(choice(sandboxKinds)),
  agentNetwork: z.optional(choice(networkKinds)),
  modelHosts: z.optional(texts("HOST or HOST:PORT")),
  model: z.optional(text("the name of a model")),
  agents: z.optional(integer(1000)),
  memoryMb: z.optional(limit()),
  processes: z.optional(limit()),
  diskMb: z.optional(limit()),
  timeLimitMinutes: z.optional(amount()),
  largestChangeMb: z.optional(amount()),
  github: z.optional(text("OWNER/NAME")),
  githubApi: z.optional(text("a URL")),
  githubTokenEnv: z.optional(variable()),
};

const schema = z.strictObject(
  {
    projects: z
      .record(
        z.string().check(z.regex(projectId, "a project is named by letters, digits, and . _ - after the first one")),
        z.strictObject(projectKeys, withKnownKeys(Object.keys(projectKeys))),
        "an object with a key for each project",
      )
      .check(z.refine((projects) => Object.keys(projects).length > 0, "at least one project")),
  },
  withKnownKeys(["projects"]),
);

/** Says what is wrong with an object: which keys are unknown, or that it is none. */
function withKnownKeys(keys: readonly string[]) {
  const error: z.core.$ZodErrorMap = (issue) => {
    if (issue.code !== "unrecognized_keys") return "an object";
    return `only the keys ${keys.join(", ")}; ${(issue.keys as string[]).join(", ")} is none of them`;
  };
  return { error };
}

/**
 * Reads a configuration from a JSON file: several projects, each with its own repository and agents.
 *
 * @throws if the file cannot be read or is not valid; the message names each path in the file and what is expected there
 */
export const readConfiguration: ReadConfiguration = (file, environment) => {
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const problem = error instanceof SyntaxError ? `${file} is not JSON` : "The --config file cannot be read";
    throw new Error(`${problem}: ${errorMessage(error)}`);
  }
  return parseConfiguration(file, data, environment);
};

function parseConfiguration(
  file: string,
  data: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): Configuration {
  const parsed = z.safeParse(schema, data);
  if (!parsed.success) throw invalid(file, parsed.error.issues.map(describe));
  const projects = Object.entries(parsed.data.projects);
  const secretVariables = [...new Set(projects.flatMap(([, { githubTokenEnv }]) => githubTokenEnv ?? []))];
  const problems: string[] = [];
  const settings = projects.flatMap(([project, input]) => {
    try {
      checkProject(input, ["AGENT_SERVICE_KEY", "GITHUB_TOKEN", ...secretVariables]);
      return [[project, createProjectSettings(input, environment)] as const];
    } catch (error) {
      problems.push(`projects.${project}: ${withKeys(errorMessage(error))}`);
      return [];
    }
  });
  if (problems.length > 0) throw invalid(file, problems);
  return {
    projects: settings.map(([project]) => project),
    settings: PerProject.of(new Map(settings)),
    secretVariables,
  };
}

/** Checks what a schema cannot. */
function checkProject({ agentEnv = [], memoryMb, processes, diskMb }: ProjectInput, secrets: readonly string[]): void {
  const secret = agentEnv.find((name) => secrets.includes(name));
  if (secret !== undefined) throw new Error(`--agent-env must not name ${secret}, which no agent may have.`);
  if (process.platform !== "linux" && [memoryMb, processes, diskMb].some((one) => one !== undefined))
    throw new Error("--memory-mb, --processes and --disk-mb require Linux.");
}

function describe({ path, message, ...issue }: z.core.$ZodIssue): string {
  const at = path.map(String).join(".") || "the file";
  // What is wrong with a key is reported within.
  const [inner] = issue.code === "invalid_key" ? issue.issues : [];
  return inner === undefined ? `${at}: expected ${message}` : `${at}: ${inner.message}`;
}

/** Names options by their keys: `--agent-network` by `agentNetwork`. */
function withKeys(message: string): string {
  return message.replace(/--([a-z]+(?:-[a-z]+)*)/g, (_, option: string) =>
    option.replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase()),
  );
}

function invalid(file: string, problems: readonly string[]): Error {
  return new Error(`${file} is not valid.\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
}
