import { join } from "node:path";
import type { AgentPackage } from "../../src/agents/presets/preset.ts";
import { presetPackage } from "../../src/agents/presets.ts";
import type { ModelReply, ModelRequest } from "./scripted-model.ts";

/** A command-line agent as the tests install and use it. */
export interface AgentUnderTest {
  name: string;
  /** Prints the version that is installed. */
  versionCommand: readonly string[];
  /** The key and the base URL that lead it to the scripted model. */
  environment(modelUrl: string): Record<string, string>;
  /** Returns the model's reply that makes the agent write a file. */
  write(request: ModelRequest, path: string, content: string): ModelReply;
  /** Returns the model's reply that makes the agent run a shell command. Default: it has no tool for that. */
  run?(request: ModelRequest, command: string): ModelReply;
}

const shell = (path: string, content: string): string =>
  `mkdir -p "$(dirname '${path}')"; echo '${content}' > '${path}'`;

/** Returns a call of the first of these tools that the agent offers. */
function call(request: ModelRequest, tools: Record<string, Record<string, unknown> | string>): ModelReply {
  const name = request.tools.find((tool) => tool in tools);
  const input = name === undefined ? undefined : tools[name];
  if (name === undefined || input === undefined) throw new Error(`no known tool in ${request.tools.join(", ")}`);
  return { text: "I will write the file.", tool: { name, input } };
}

export const agents: readonly AgentUnderTest[] = [
  {
    name: "claude",
    versionCommand: ["claude", "--version"],
    environment: (url) => ({ ANTHROPIC_API_KEY: "key-of-no-value", ANTHROPIC_BASE_URL: url }),
    write: (request, path, content) => call(request, { Write: { file_path: path, content } }),
    run: (request, command) => call(request, { Bash: { command, description: "Start it" } }),
  },
  {
    name: "codex",
    versionCommand: ["codex", "--version"],
    environment: (url) => ({ CODEX_API_KEY: "key-of-no-value", OPENAI_BASE_URL: `${url}/v1` }),
    write: (request, path, content) =>
      call(request, {
        exec: `text(await tools.exec_command(${JSON.stringify({ cmd: shell(path, content) })}))`,
        exec_command: { cmd: shell(path, content) },
      }),
    run: (request, command) =>
      call(request, {
        exec: `text(await tools.exec_command(${JSON.stringify({ cmd: command })}))`,
        exec_command: { cmd: command },
      }),
  },
  {
    name: "gemini",
    versionCommand: ["gemini", "--version"],
    environment: (url) => ({ GEMINI_API_KEY: "key-of-no-value", GOOGLE_GEMINI_BASE_URL: url }),
    write: (request, path, content) => call(request, { write_file: { file_path: path, content } }),
    run: (request, command) => call(request, { run_shell_command: { command } }),
  },
  {
    name: "opencode",
    versionCommand: ["opencode", "--version"],
    environment: (url) => ({ ANTHROPIC_API_KEY: "key-of-no-value", ANTHROPIC_BASE_URL: `${url}/v1` }),
    write: (request, path, content) => call(request, { write: { filePath: path, content } }),
    run: (request, command) => call(request, { bash: { command, description: "Start it" } }),
  },
  {
    name: "aider",
    versionCommand: ["aider", "--version"],
    environment: (url) => ({ OPENAI_API_KEY: "key-of-no-value", OPENAI_API_BASE: `${url}/v1` }),
    // It offers no tools: the model's text has the change.
    write: (_request, path, content) => ({
      text: `${path}\n\`\`\`\n<<<<<<< SEARCH\n=======\n${content}\n>>>>>>> REPLACE\n\`\`\`\n\nDone: ${content}.`,
    }),
  },
  {
    name: "copilot",
    versionCommand: ["copilot", "--version"],
    environment: (url) => ({ COPILOT_GITHUB_TOKEN: "ghs_key-of-no-value", COPILOT_API_URL: url }),
    write: (request, path, content) => call(request, { create: { path, file_text: content } }),
  },
];

/** Returns the package that has an agent, in the version that the tests run. */
export function packageOf({ name }: AgentUnderTest): AgentPackage {
  const found = presetPackage(name);
  if (found === undefined) throw new Error(`no preset ${name}`);
  return found;
}

/** Where an agent is installed in the cache folder. */
export const folderOf = (cache: string, { name }: AgentUnderTest): string => join(cache, name);

/** Returns the folder of an installed agent's program, for `PATH`. */
export function programFolder(cache: string, agent: AgentUnderTest): string {
  return join(folderOf(cache, agent), packageOf(agent).registry === "npm" ? "node_modules/.bin" : "bin");
}

/** The cache folder: `AGENTS_CACHE`, or one in the user's cache. */
export function cacheFolder(): string {
  const { AGENTS_CACHE, XDG_CACHE_HOME, HOME = "" } = process.env;
  return AGENTS_CACHE ?? join(XDG_CACHE_HOME || join(HOME, ".cache"), "agent-job-action", "agents");
}
