import { defaultIssuer } from "../access/trust-rule.ts";
import { networkKinds } from "../agents/network/network-kind.ts";
import { presetNames } from "../agents/presets.ts";
import { sandboxKinds } from "../agents/sandbox/create-sandbox.ts";
import { protectedFilesKinds } from "../pulls/protected-files.ts";
import {
  amount,
  amountOrNever,
  choice,
  flag,
  integer,
  type Kind,
  linuxLimit,
  text,
  texts,
  variableNames,
} from "./kinds.ts";

/** An option of the command line. */
export interface Option<T> {
  /** `project`: each project can have its own value. `command`: only for commands that do not run the service. */
  of: "project" | "service" | "command";
  /** The key of a project in the `--config` file. Default: the file does not have the option. */
  key?: string;
  kind: Kind<T>;
  /** The lines of its help, by the name of its value. Empty: only the usage of a command shows it. */
  help: Readonly<Record<string, readonly string[]>>;
}

const presets = `${presetNames.slice(0, -1).join(", ")} and ${presetNames.at(-1)}`;

/** All options, in the order of the help. */
export const options = {
  repository: {
    of: "project",
    key: "repository",
    kind: text("a URL or path, as git clone accepts it"),
    help: { "PATH-OR-URL": ["the repository, as git clone accepts it; the service must be able to push to it"] },
  },
  config: {
    of: "service",
    kind: text("a file"),
    help: {
      FILE: [
        'several projects, each with its own repository and agents, in a JSON file; see "Several repositories"',
        "in service/docs/operating.md. It replaces the options of a repository, of its agents and --project",
      ],
    },
  },
  base: {
    of: "project",
    key: "base",
    kind: text("the name of a branch"),
    help: {
      BRANCH: [
        "branch that jobs start from and pull requests are opened against",
        "(default: the repository's default branch)",
      ],
    },
  },
  agent: {
    of: "project",
    key: "agent",
    kind: text("the name of an agent, or a shell command"),
    help: {
      NAME: [
        `one of ${presets}: a coding agent that is installed, with its key in`,
        "the environment; see service/docs/agents.md",
      ],
      COMMAND: [
        "any shell command, such as /path/to/agent.sh. It gets the prompt on stdin and in the file",
        "named by AGENT_PROMPT_FILE, and runs in a clone of the repository. Exit code 0 means that",
        "the agent completed its work",
        "(default: the built-in editor, which adds pages and sections, replaces phrases and fixes",
        "links)",
      ],
    },
  },
  "agent-follow-up": {
    of: "project",
    key: "agentFollowUp",
    kind: text("a shell command"),
    help: { COMMAND: ["the command for follow-up messages (default: the same)"] },
  },
  "agent-env": {
    of: "project",
    key: "agentEnv",
    kind: variableNames,
    help: { NAME: ["also give agents this environment variable; may be repeated"] },
  },
  "agent-reads": {
    of: "project",
    key: "agentReads",
    kind: texts("a path"),
    help: { PATH: ["also let agents read this file or folder in their sandbox; may be repeated"] },
  },
  sandbox: {
    of: "project",
    key: "sandbox",
    kind: choice(sandboxKinds),
    help: {
      "bwrap|none": [
        "run agents with bubblewrap, so that they reach only their job's files, or with all rights of the",
        "service (default: bwrap, except for the built-in editor)",
      ],
    },
  },
  "agent-network": {
    of: "project",
    key: "agentNetwork",
    kind: choice(networkKinds),
    help: {
      "full|model|none": [
        "what agents reach from a sandbox: everything, only their model, or nothing (default: model for an",
        "agent that is named, otherwise full)",
      ],
    },
  },
  "model-host": {
    of: "project",
    key: "modelHosts",
    kind: texts("HOST or HOST:PORT"),
    help: { "HOST[:PORT]": ["also let agents reach this host, if only their model; may be repeated"] },
  },
  "agent-model-tools": {
    of: "project",
    key: "agentModelTools",
    kind: flag,
    help: {
      "": [
        "let agents that reach only their model use tools of its provider, such as a search of the web: a way",
        "out of the sandbox",
      ],
    },
  },
  model: {
    of: "project",
    key: "model",
    kind: text("the name of a model"),
    help: {
      NAME: [
        "the model that a named agent uses (default: the agent's own default); shown as the model of",
        "jobs (default: the name, or the first word of the command)",
      ],
    },
  },
  agents: {
    of: "service",
    kind: integer(1, 1000),
    help: { N: ["how many agents this service or worker runs at a time (default: number of CPU cores)"] },
  },
  "agents-per-project": {
    of: "project",
    key: "agents",
    kind: integer(1, 1000),
    help: { N: ["how many agents run for one project at a time, over all workers (default: any number)"] },
  },
  "memory-mb": {
    of: "project",
    key: "memoryMb",
    kind: linuxLimit,
    help: { N: ["kill an agent if its processes together use more memory (default: unlimited)"] },
  },
  processes: {
    of: "project",
    key: "processes",
    kind: linuxLimit,
    help: { N: ["kill an agent if it has more processes at a time (default: unlimited)"] },
  },
  "disk-mb": {
    of: "project",
    key: "diskMb",
    kind: linuxLimit,
    help: { N: ["kill an agent if its job's files are larger (default: unlimited)"] },
  },
  "time-limit-minutes": {
    of: "project",
    key: "timeLimitMinutes",
    kind: amount,
    help: { N: ["stop an agent after this time (default: 30)"] },
  },
  "largest-change-mb": {
    of: "project",
    key: "largestChangeMb",
    kind: amount,
    help: { N: ["fail a turn whose changed files are larger than this together (default: 20)"] },
  },
  "largest-change-files": {
    of: "project",
    key: "largestChangeFiles",
    kind: integer(1, 100_000),
    help: { N: ["fail a turn that changes more files than this (default: 1000)"] },
  },
  "protected-files": {
    of: "project",
    key: "protectedFiles",
    kind: choice(protectedFilesKinds),
    help: {
      "flag|refuse|allow": [
        "name changed files that run code or instruct agents, such as workflows and AGENTS.md, first in the",
        "pull request and in the log, or fail the turn, or do neither (default: flag)",
      ],
    },
  },
  protect: {
    of: "project",
    key: "protect",
    kind: texts("a path or a name, with * for any part of a name"),
    help: { PATTERN: ["also protect these files, such as deploy/ or *.sh; may be repeated"] },
  },
  "keep-worktrees": {
    of: "service",
    kind: integer(0, 1000),
    help: {
      N: [
        "let this many jobs of a repository keep their worktree for their next turn, which then starts faster;",
        "they take disk space (default: 5; always 0 with --sandbox none). If checkouts are slow, at most as",
        "many are prepared for new jobs",
      ],
    },
  },
  project: {
    of: "project",
    kind: texts("the id of a project"),
    help: { ID: ["project of the service; may be repeated (default: demo)"] },
  },
  keys: {
    of: "service",
    kind: text("a file"),
    help: { FILE: ["accept the API keys of this file, which key add creates; it is read again when it changes"] },
  },
  trust: {
    of: "service",
    kind: texts("a repository"),
    help: {
      "[PROJECT=]OWNER[@ID]/NAME[@ID][:REF|:environment:NAME]": [
        "accept the OpenID Connect tokens of this GitHub repository's workflows in place of a key: for all",
        "projects or one; on all branches and tags, one ref (a * at its end stands for anything), or in",
        "an environment; with the ids of owner and repository, which nobody can take over; may be repeated",
      ],
    },
  },
  "trust-issuer": {
    of: "service",
    kind: text("a URL"),
    help: {
      URL: [
        `who issues these tokens (default: ${defaultIssuer}); with GitHub`,
        "Enterprise Server https://HOST/_services/token",
      ],
    },
  },
  port: { of: "service", kind: integer(0, 65_535), help: { N: ["port to listen on (default: any free port)"] } },
  listen: {
    of: "service",
    kind: text("an IP address"),
    help: {
      ADDRESS: [
        "address to listen on, such as 0.0.0.0 in a container (default: 127.0.0.1); requires --public-url,",
        "because others must use TLS",
      ],
    },
  },
  "public-url": {
    of: "service",
    kind: text("a URL"),
    help: {
      URL: [
        "https URL at which a reverse proxy serves the service, such as https://agents.example.com or",
        "https://example.com/agents; used in links to pages (default: it can be reached only on this machine);",
        "also http for a proxy on this machine",
      ],
    },
  },
  store: {
    of: "service",
    kind: text("a file or a URL"),
    help: {
      FILE: [
        "keep jobs, messages and rate limits in this SQLite file, and the clone, the homes of agents",
        "and the logs next to it",
        "(default: nothing is kept when the service stops)",
      ],
      "postgres://...": [
        "keep them in this Postgres database, for services on several machines. PGHOST, PGUSER, PGPASSWORD",
        "and the like complete the URL",
      ],
    },
  },
  "store-direct-url": {
    of: "service",
    kind: text("a URL"),
    help: {
      "postgresql://...": [
        "the same database without the pooler that --store names, if that is one in transaction mode; for",
        "notifications and migrations (default: --store)",
      ],
    },
  },
  schema: {
    of: "service",
    kind: text("the name of a schema"),
    help: {
      NAME: [
        "with Postgres: the schema of the tables, beside which the queue has NAME_queue; several deployments can",
        "have the same database (default: agent_jobs, and agent_jobs_queue)",
      ],
    },
  },
  folder: {
    of: "service",
    kind: text("a folder"),
    help: {
      DIRECTORY: [
        "with Postgres: keep the clone, the homes of agents and the logs here; one for each process",
        "(default: a new one, which is removed when the service stops)",
      ],
    },
  },
  "drain-minutes": {
    of: "service",
    kind: amount,
    help: {
      N: [
        "when the service is told to stop (SIGTERM), let the running agents finish for this long, and start no",
        "more; a second signal stops them (default: stop them at once)",
      ],
    },
  },
  "archive-after-days": {
    of: "service",
    kind: amount,
    help: {
      N: [
        "also archive jobs that have been idle for this long, not only those whose pull request is closed",
        "or merged",
      ],
    },
  },
  "delete-after-days": {
    of: "service",
    kind: amountOrNever,
    help: {
      N: [
        "delete jobs that have been idle for this long, archived or not, with their homes, logs and pages, or",
        "never if it is the word never (default: 400)",
      ],
    },
  },
  "repository-moved": {
    of: "service",
    kind: flag,
    help: {
      "": [
        "the store's repository has moved to --repository, or those of projects to the ones in --config;",
        "their jobs go on there",
      ],
    },
  },
  backup: {
    of: "command",
    kind: text("a file"),
    help: { FILE: ["copy the --store to this new file and exit; a service may run on the store meanwhile"] },
  },
  export: {
    of: "command",
    kind: text("a URL"),
    help: {
      "postgres://...": [
        "copy the --store to this Postgres database, which has no jobs, and exit; no service may run on the",
        "file",
      ],
    },
  },
  "log-format": {
    of: "service",
    kind: choice(["text", "json"]),
    help: {
      "text|json": [
        "print the log for people, or as JSON, one object per line, which requires AGENT_SERVICE_KEY or --keys",
        "(default: text)",
      ],
    },
  },
  "health-port": {
    of: "service",
    kind: integer(0, 65_535),
    help: {
      N: [
        "let a worker answer /healthz and /metrics on this port, at the address of --listen; the API answers",
        "them on its own port (default: it does not listen)",
      ],
    },
  },
  "metrics-listen": {
    of: "service",
    kind: text("PORT or ADDRESS:PORT"),
    help: {
      "PORT|ADDRESS:PORT": [
        "answer /metrics and /healthz here too, without a key, for a network that no reverse proxy publishes",
        "(default address: 127.0.0.1)",
      ],
    },
  },
  github: {
    of: "project",
    key: "github",
    kind: text("OWNER/NAME"),
    help: {
      "OWNER/NAME": [
        "open pull requests in this GitHub repository (default: the one of a github.com URL if",
        "GITHUB_TOKEN is set; otherwise pull requests are pages of the service)",
      ],
    },
  },
  "github-api": {
    of: "project",
    key: "githubApi",
    kind: text("a URL"),
    help: { URL: ["base URL of the GitHub REST API (default: https://api.github.com)"] },
  },
  help: { of: "service", kind: flag, help: { "": ["show this help"] } },
  scope: { of: "command", kind: choice(["read"]), help: {} },
  "expires-days": { of: "command", kind: integer(1, 3650), help: {} },
} as const satisfies Readonly<Record<string, Option<unknown>>>;

export type OptionName = keyof typeof options;

/** The value of each option. */
export type OptionValues = {
  [Name in OptionName]: (typeof options)[Name] extends { kind: Kind<infer Value> } ? Value : never;
};

const typed: { readonly [Name in OptionName]: { kind: Kind<OptionValues[Name]> } } = options;

export function kindOf<Name extends OptionName>(name: Name): Kind<OptionValues[Name]> {
  return typed[name].kind;
}

export const optionNames = Object.keys(options) as OptionName[];

/** Returns the names of options that each project has, or the service, or only a command. */
export function optionsOf(owner: Option<unknown>["of"]): OptionName[] {
  return optionNames.filter((name) => options[name].of === owner);
}
