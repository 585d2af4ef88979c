import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { errorMessage } from "../error-message.ts";
import { PerProject } from "../per-project.ts";
import { text as textOf, variableName } from "./kinds.ts";
import { createProjectSettings, type ProjectInput, type ProjectSettings } from "./project-settings.ts";
import { byKey, type KeyedName, kindOf, type OptionValues, withKeys } from "./table.ts";

/** The projects of a service. */
export interface Configuration {
  projects: readonly string[];
  /** Without a configuration, the same for all projects of the store. */
  settings: PerProject<ProjectSettings>;
  /** Environment variables with secrets of the service, which no other program gets. */
  secretVariables: readonly string[];
}

/** In URLs of the API, and in the keys of JSON. */
const projectId = /^[A-Za-z0-9][\w.-]{0,99}$/;

type KeySchemas = { [Name in KeyedName]: z.ZodMiniOptional<z.ZodMiniType<OptionValues[Name]>> };

/** The keys of a project, with the meaning of their options on the command line. */
const projectKeys = {
  // The cast is from a type to the same one, which TypeScript cannot see in a mapped type.
  ...byKey<KeySchemas>(<Name extends KeyedName>(name: Name) => z.optional(kindOf(name).json) as KeySchemas[Name]),
  repository: kindOf("repository").json,
  github: z.optional(textOf("OWNER/NAME").json),
  githubApi: z.optional(textOf("a URL").json),
  githubTokenEnv: z.optional(variableName()),
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

/** Names the unknown keys of an object, or says that an object was expected. */
function withKnownKeys(keys: readonly string[]) {
  const error: z.core.$ZodErrorMap = (issue) => {
    if (issue.code !== "unrecognized_keys") return "an object";
    return `only the keys ${keys.join(", ")}, not ${(issue.keys as string[]).join(", ")}`;
  };
  return { error };
}

/**
 * Reads a configuration from a JSON file: several projects, each with its own repository and agents.
 *
 * @throws if the file cannot be read or is not valid; the message names each path in the file and what is expected there
 */
export function readConfiguration(file: string, environment: NodeJS.ProcessEnv): Configuration {
  let data: unknown;
  let text: string;
  try {
    text = readFileSync(file, "utf8");
    data = JSON.parse(text);
  } catch (error) {
    const problem = error instanceof SyntaxError ? `${file} is not JSON` : "The --config file cannot be read";
    throw new Error(`${problem}: ${errorMessage(error)}`);
  }
  const twice = duplicateKey(text);
  if (twice !== undefined) throw invalid(file, [`${twice}: duplicate key`]);
  return parseConfiguration(file, data, environment);
}

function parseConfiguration(file: string, data: unknown, environment: NodeJS.ProcessEnv): Configuration {
  const parsed = z.safeParse(schema, data);
  if (!parsed.success) throw invalid(file, parsed.error.issues.map(describe));
  const projects = Object.entries(parsed.data.projects);
  const secretVariables = [...new Set(projects.flatMap(([, { githubTokenEnv }]) => githubTokenEnv ?? []))];
  const problems: string[] = [];
  const settings = projects.flatMap(([project, input]) => {
    try {
      checkProject(input);
      return [[project, createProjectSettings(input, environment, secretVariables)] as const];
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
function checkProject({ memoryMb, diskMb }: ProjectInput): void {
  if (process.platform !== "linux" && [memoryMb, diskMb].some((one) => one !== undefined))
    throw new Error("--memory-mb and --disk-mb require Linux.");
}

function describe({ path, message, ...issue }: z.core.$ZodIssue): string {
  const at = path.map(String).join(".") || "the file";
  // What is wrong with a key is reported within.
  const [inner] = issue.code === "invalid_key" ? issue.issues : [];
  return inner === undefined ? `${at}: expected ${message}` : `${at}: ${inner.message}`;
}

function invalid(file: string, problems: readonly string[]): Error {
  return new Error(`${file} is not valid.\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
}

/**
 * Returns the path of the first duplicate key in valid JSON, such as `projects.docs`; `undefined` if there is none. `JSON.parse` would
 * silently take the last one.
 */
export function duplicateKey(json: string): string | undefined {
  /** The objects and lists around the current position. A list has no keys. */
  const around: { keys: Set<string> | undefined; path: string; key: string }[] = [];
  for (const [token, text] of json.matchAll(/("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    const inner = around.at(-1);
    if (token === "{" || token === "[") {
      const path = [inner?.path, inner?.key].filter(Boolean).join(".");
      around.push({ keys: token === "{" ? new Set() : undefined, path, key: "" });
    } else if (token === "}" || token === "]") around.pop();
    else if (text !== undefined && inner?.keys !== undefined) {
      inner.key = JSON.parse(text) as string;
      if (inner.keys.has(inner.key)) return [inner.path, inner.key].filter(Boolean).join(".");
      inner.keys.add(inner.key);
    }
  }
  return undefined;
}
