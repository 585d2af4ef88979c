import { resolve } from "node:path";

/** An executable and its arguments. It is started without a shell. */
export interface AgentCommand {
  file: string;
  args: readonly string[];
}

/** Where an agent reaches its model, and how a proxy outside its sandbox adds the key. */
export interface ModelEndpoint {
  /** The model's API, such as `https://api.example.com`. */
  url: string;
  /** The variable that points the agent to another base URL. */
  baseUrlVariable: string;
  /** The variable that holds the key. The agent's own holds a dummy. */
  keyVariable: string;
  /** Returns the request header that carries the key. */
  header(key: string): [name: string, value: string];
}

/** An agent: how its program is started, and what it may have. */
export interface Agent {
  /** Shown as `model` in job records. */
  model: string;
  /** Returns the command for a job's first turn, or for a later one, which continues the conversation. */
  command(turn: { isFollowUp: boolean }): AgentCommand;
  /** Set in the agent's environment. */
  environment: Readonly<Record<string, string>>;
  /** Variables of the service's environment that the agent gets if they are set, such as its key. */
  passes: readonly string[];
  /** Programs that it runs besides that of its command: paths, or names to look up. A sandbox shows their installation. */
  programs: readonly string[];
  /** Other files and folders that it may read in a sandbox, as absolute paths. */
  reads: readonly string[];
  /** Undefined if unknown: then a proxy cannot add the key. */
  modelEndpoint?: ModelEndpoint | undefined;
  /** Hosts, as `host` or `host:port`, that the agent may reach when its network is limited to its model. */
  hosts: readonly string[];
  /** Whether it is code of the service itself, which needs no sandbox. */
  isTrusted: boolean;
}

/** Returns an agent that is a shell command of the operator. The prompt never becomes part of the command. */
export function shellAgent(command: string): Agent {
  const words = command.trim().split(/\s+/);
  // Skips variable assignments in front of the command, because they may hold secrets.
  const program = words.find((word) => !/^\w+=/.test(word));
  return {
    model: program ?? "agent",
    command: () => ({ file: "/bin/sh", args: ["-c", command] }),
    environment: {},
    passes: [],
    programs: program === undefined ? [] : [program],
    reads: [],
    hosts: [],
    isTrusted: false,
  };
}

const editorFolder = resolve(import.meta.dirname, "../editor");

/** The default agent: a small editor for Markdown pages, which needs neither a model nor a network. */
export const builtInEditor: Agent = {
  model: "documentation-editor",
  command: () => ({ file: process.execPath, args: [resolve(editorFolder, "main.ts")] }),
  environment: {},
  passes: [],
  programs: [],
  reads: [editorFolder],
  hosts: [],
  isTrusted: true,
};
