import { basename, dirname } from "node:path";
import { ownFile } from "../own-file.ts";
import type { AgentReport } from "./agent-report.ts";
import type { EventFormat } from "./event-lines.ts";
import type { AgentEvent } from "./events.ts";
import type { ModelApi } from "./model-api.ts";
import { readResult } from "./result-file.ts";

/** An executable and its arguments. It is started without a shell. */
export interface AgentCommand {
  file: string;
  args: readonly string[];
}

/** A request to a model, as a proxy sends it. */
export interface ModelRequest {
  method: string;
  url: URL;
  body: string;
}

/** Where an agent reaches its model, and how a proxy outside its sandbox adds the key. */
export interface ModelEndpoint {
  /** The model's API, such as `https://api.example.com`. */
  url: string;
  /** The path below `url` that all requests of agents begin with. Default: any. */
  folder?: string;
  /** The variable that points the agent to another base URL. */
  baseUrlVariable: string;
  /** The variable that holds the key. The agent's own holds a dummy. */
  keyVariable: string;
  /** Other variables with secrets that belong to the key. Agents get none of them. */
  secretVariables?: readonly string[];
  /** The dummy, for an agent that looks at its key. Default: a text that says what it is. */
  dummyKey?: string;
  /** Variables that make the agent send its requests without a credential. */
  environment?: Readonly<Record<string, string>>;
  /** What agents may ask of it through a proxy. */
  api: ModelApi;
  /** How many requests of one run of an agent a proxy leaves open. Default: any number. */
  maxOpenRequests?: number;
  /** Returns the request header that carries the key. */
  header(key: string): [name: string, value: string];
  /**
   * Returns the headers that carry the credential, in place of `header`.
   *
   * @param secret - returns the value of a variable
   */
  sign?(request: ModelRequest, secret: (name: string) => string): Promise<Record<string, string>>;
  /** Headers that a gateway requires besides, with secrets in them. */
  headers?: Readonly<Record<string, string>>;
}

/** Returns the headers that a request gets outside of the sandbox, in lower case. @param secret - as in `sign` */
export async function credentialHeaders(
  { keyVariable, header, sign, headers }: ModelEndpoint,
  request: ModelRequest,
  secret: (name: string) => string,
): Promise<Record<string, string>> {
  const own = (await sign?.(request, secret)) ?? Object.fromEntries([header(secret(keyVariable))]);
  const lower = Object.entries({ ...headers, ...own }).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries(lower);
}

export interface AgentSessions {
  files: string;
  /** How much of its id is in the name of a session's file, in characters. Default: all of it. */
  idLength?: number;
}

/** What an agent's command depends on. */
export interface AgentTurn {
  /** Whether an earlier turn of the job exists, whose conversation the agent continues. */
  isFollowUp: boolean;
  /** Whether the service confines the agent, so that it needs no restrictions of its own. */
  isSandboxed: boolean;
}

/** An agent: how its program is started and understood, and what it may have. */
export interface Agent {
  /** Its kind, of which there are few: a preset's name, `command` or `built-in`. */
  kind: string;
  /** Shown as `model` in job records. */
  model: string;
  command(turn: AgentTurn): AgentCommand;
  /** Put before the prompt, so that the program takes no prompt for a command of its own. */
  promptPrefix: string;
  /** How it prints events, of which the log shows what people can follow. Default: its stdout is for people. */
  eventFormat?: EventFormat | undefined;
  /** Whether its prompt tells of earlier turns if it has no session of them, because it does not read `AGENT_HISTORY_FILE`. Default: no. */
  isToldHistory?: boolean;
  /**
   * Reads the end of the agent's stdout.
   *
   * @param result - what the agent wrote to the file named by `AGENT_RESULT_FILE`, if it did
   * @param final - its final event, if it prints events and has ended with one
   */
  readReport(stdout: string, result?: string, final?: AgentEvent): AgentReport;
  environment: Readonly<Record<string, string>>;
  /** Variables of the service's environment that the agent gets if they are set, such as its key. */
  passes: readonly string[];
  /** Programs that it runs besides its command's own: paths, or names to look up. A sandbox shows their installation. */
  programs: readonly string[];
  /** The command that installs the first of them. */
  install?: string | undefined;
  /** Where it keeps its sessions. Default: unknown, or it needs none. */
  sessions?: AgentSessions | undefined;
  /** The variable with the folder into which its first program unpacks itself when it prints its version. Default: it is ready to run. */
  unpacksTo?: string | undefined;
  /** Other files and folders that it may read in a sandbox, as absolute paths. */
  reads: readonly string[];
  /** Undefined if unknown: then a proxy cannot add the key. */
  modelEndpoint?: ModelEndpoint | undefined;
  /** Hosts, as `host` or `host:port`, that the agent may reach when its network is limited to its model. */
  hosts: readonly string[];
  /** Whether it is code of the service itself, which needs no sandbox. */
  isTrusted: boolean;
}

/** For an agent that the service knows nothing about: the exit code says how its turn went, and a file may say more. */
const unknownProgram = {
  promptPrefix: "",
  readReport: (_stdout: string, result?: string) => readResult(result),
  environment: {},
  passes: [],
  programs: [],
  reads: [],
  hosts: [],
};

/** Returns an agent that is a shell command of the operator. The prompt never becomes part of the command. */
export function shellAgent(command: string): Agent {
  const program = programOf(command);
  return {
    ...unknownProgram,
    kind: "command",
    model: basename(program ?? "agent"),
    command: () => ({ file: "/bin/sh", args: ["-c", command] }),
    programs: program === undefined ? [] : [program],
    isTrusted: false,
  };
}

/** Returns the first program of a shell command, without quotes. Skips variable assignments in front of it, because they may hold secrets. */
function programOf(command: string): string | undefined {
  const words = command.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  return words.find((word) => !/^\w+=/.test(word))?.replaceAll(/(['"])(.*?)\1/gs, "$2");
}

/**
 * Returns a command of a project, such as one that checks its docs, as what runs agents takes it. All its output is its report.
 *
 * @param reads - files that it may read in its sandbox, besides the installations of the programs that it names
 */
export function projectCommand(command: string, reads: readonly string[]): Agent {
  // A path could be any folder, unless it is what the command begins with.
  const words = command.split(/[\s;&|()<>]+/).filter((word) => /^[\w.+-]+$/.test(word));
  const programs = new Set([programOf(command) ?? "", ...words]);
  return {
    ...unknownProgram,
    kind: "command",
    model: "",
    command: () => ({ file: "/bin/sh", args: ["-c", 'exec /bin/sh -c "$1" 2>&1', "sh", command] }),
    readReport: (stdout) => ({ message: stdout, error: undefined }),
    programs: [...programs].filter(Boolean),
    reads,
    isTrusted: false,
  };
}

const editor = ownFile("editor/main.ts");

/** The default agent: a small editor for Markdown pages, which needs neither a model nor a network. */
export const builtInEditor: Agent = {
  ...unknownProgram,
  kind: "built-in",
  model: "documentation-editor",
  command: () => ({ file: process.execPath, args: [editor] }),
  reads: [dirname(editor)],
  isTrusted: true,
};
