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

/** What an option does, by the name of its value: several if the value has several meanings. */
export type OptionHelp = Readonly<Record<string, string>>;

/** An option of the command line. */
export interface Option<T> {
  /** `project`: each project can have its own value. `command`: only for commands that do not run the service. */
  of: "project" | "service" | "command";
  /** The key of a project in the `--config` file. Default: the file does not have the option. */
  key?: string;
  kind: Kind<T>;
  help: OptionHelp;
}

const ofProject = <const Key extends string, T>(key: Key, kind: Kind<T>, help: OptionHelp) =>
  ({ of: "project", key, kind, help }) as const;
const ofService = <T>(kind: Kind<T>, help: OptionHelp) => ({ of: "service", kind, help }) as const;
const ofCommand = <T>(kind: Kind<T>, help: OptionHelp) => ({ of: "command", kind, help }) as const;

const presets = `${presetNames.slice(0, -1).join(", ")} and ${presetNames.at(-1)}`;

/** All options, in the order of the help. */
export const options = {
  repository: ofProject("repository", text("a URL or path, as git clone accepts it"), {
    "PATH-OR-URL":
      "the repository, as git clone accepts it; the service must be able to push to it. If it is on github.com, or on the server that GITHUB_SERVER_URL names, and GITHUB_TOKEN is set, pull requests are opened on GitHub; otherwise they are pages of the service",
  }),
  config: ofService(text("a file"), {
    FILE: 'several projects, each with its own repository and agents, in a JSON file; see "Several repositories" in service/docs/operating.md. It replaces the options of a repository, of its agents and --project',
  }),
  base: ofProject("base", text("the name of a branch"), {
    BRANCH:
      "branch that jobs start from and pull requests are opened against (default: the repository's default branch)",
  }),
  "branch-prefix": ofProject("branchPrefix", text("the beginning of a branch's name"), {
    PREFIX: "begin the branches of new jobs with this, such as docs/agent- (default: agent/)",
  }),
  "title-prefix": ofProject("titlePrefix", text("the beginning of a title"), {
    TEXT: "begin the titles of commits and pull requests with this, such as docs:, after which a title begins with a small letter",
  }),
  draft: ofProject("draft", flag, { "": "open pull requests on GitHub as drafts, as far as the account has them" }),
  agent: ofProject("agent", text("the name of an agent, or a shell command"), {
    NAME: `one of ${presets}: a coding agent that is installed, with its key in the environment; see service/docs/agents.md`,
    COMMAND:
      "any shell command, such as /path/to/agent.sh. It gets the prompt on stdin and in the file named by AGENT_PROMPT_FILE, and runs in a clone of the repository. Exit code 0 means that the agent completed its work. For a follow-up message, the file named by AGENT_HISTORY_FILE has the earlier turns; for the first turn, it is empty (default: the built-in editor, which adds pages and sections, replaces phrases and fixes links)",
  }),
  "agent-env": ofProject("agentEnv", variableNames, {
    NAME: "also give agents this environment variable; may be repeated",
  }),
  "agent-env-public": ofProject("agentEnvPublic", variableNames, {
    NAME: "the same for a variable whose value is no secret, so that a change may have it; may be repeated",
  }),
  "agent-reads": ofProject("agentReads", texts("a path"), {
    PATH: "also let agents read this file or folder in their sandbox; may be repeated",
  }),
  sandbox: ofProject("sandbox", choice(sandboxKinds), {
    "bwrap|none":
      "run agents with bubblewrap, so that they reach only their job's files, or with all rights of the service (default: bwrap, except for the built-in editor)",
  }),
  "agent-network": ofProject("agentNetwork", choice(networkKinds), {
    "full|model|none":
      "what sandboxed agents can reach: everything, only their model, or nothing (default: model for a named agent, otherwise full)",
  }),
  "model-host": ofProject("modelHosts", texts("HOST or HOST:PORT"), {
    "HOST[:PORT]": "with --agent-network model, also let agents reach this host; may be repeated",
  }),
  "agent-model-tools": ofProject("agentModelTools", flag, {
    "": "with --agent-network model, let agents use tools of the model's provider, such as web search, which lead out of the sandbox",
  }),
  model: ofProject("model", text("the name of a model"), {
    NAME: "the model that a named agent uses (default: the agent's own default); shown as the model of jobs (default: the name, or the first word of the command)",
  }),
  "agent-args": ofProject("agentArgs", text("arguments"), {
    ARGUMENTS:
      "options that are added to the command of claude or codex, such as --agent-args='--effort high --max-turns 40', split as a shell splits words",
  }),
  "max-cost-usd": ofProject("maxCostUsd", amount, {
    N: "let claude end a turn that costs more US dollars than this, by its own estimate; the turn fails",
  }),
  agents: ofService(integer(1, 1000), {
    N: "how many agents this service or worker runs at a time (default: number of CPU cores)",
  }),
  "agents-per-project": ofProject("agents", integer(1, 1000), {
    N: "how many agents run for one project at a time, over all workers (default: any number)",
  }),
  "memory-mb": ofProject("memoryMb", linuxLimit, {
    N: "kill an agent if its processes together use more memory (default: unlimited). With this limit, it can have at most 2000 processes",
  }),
  "disk-mb": ofProject("diskMb", linuxLimit, {
    N: "kill an agent if the files of its job are larger (default: unlimited)",
  }),
  "time-limit-minutes": ofProject("timeLimitMinutes", amount, {
    N: "stop an agent after this time (default: 30)",
  }),
  "largest-change-mb": ofProject("largestChangeMb", amount, {
    N: "fail a turn whose changed files are together larger than this (default: 20). A turn may also change at most 50 files per MB, and always 1000",
  }),
  "protected-files": ofProject("protectedFiles", choice(protectedFilesKinds), {
    "flag|refuse|allow":
      "name changed files that run code or instruct agents, such as workflows and AGENTS.md, first in the pull request and in the log, or fail the turn, or do neither (default: flag)",
  }),
  protect: ofProject("protect", texts("a path or a name, with * for any part of a name"), {
    PATTERN: "also protect these files, such as deploy/ or *.sh; may be repeated",
  }),
  only: ofProject("only", texts("a pattern for paths"), {
    PATTERN:
      "let agents change only these files, such as docs/**, and take back what else they change; may be repeated. A later !PATTERN excludes files again, as in a workflow's paths",
  }),
  setup: ofProject("setup", text("a shell command"), {
    COMMAND:
      "run this before each agent, such as npm ci, on the files of the project's own branch, in the sandbox; what it leaves in ignored files is there for the agent and for --check",
  }),
  "setup-host": ofProject("setupHosts", texts("HOST or HOST:PORT"), {
    "HOST[:PORT]":
      "let --setup also reach this host, besides the registries of npm, PyPI and RubyGems; none of a private network; may be repeated",
  }),
  check: ofProject("check", text("a shell command"), {
    COMMAND:
      "run this on the commit of each turn, such as npm run build, in the sandbox, without a network, before it is pushed; if the commit breaks it, the agent gets one more go",
  }),
  "commit-as": ofProject("commitAs", text("NAME <EMAIL>"), {
    IDENTITY:
      "author and committer of commits, as NAME <EMAIL> (default: the bot of GITHUB_TOKEN; with a person's token or without one, Agent)",
  }),
  "sign-off": ofProject("signOff", flag, {
    "": "sign commits off, in the name of who commits; requires --commit-as or the token of a bot",
  }),
  trailer: ofProject("trailers", texts("KEY: VALUE"), {
    LINE: "add this trailer to commits, such as Assisted-by: NAME; may be repeated",
  }),
  project: {
    of: "project",
    kind: texts("the id of a project"),
    help: { ID: "project of the service; may be repeated (default: demo)" },
  },
  keys: ofService(text("a file"), {
    FILE: "accept the API keys of this file, which key add creates; it is read again when it changes",
  }),
  trust: ofService(texts("a repository"), {
    "[PROJECT=]OWNER[@ID]/NAME[@ID][:REF|:environment:NAME]":
      "accept the OpenID Connect tokens of this GitHub repository's workflows in place of a key: for all projects or one; on all branches and tags, one ref (a * at its end stands for anything), or in an environment; with the ids of owner and repository, which nobody can take over; may be repeated",
  }),
  "trust-issuer": ofService(text("a URL"), {
    URL: `who issues these tokens (default: ${defaultIssuer}); with GitHub Enterprise Server https://HOST/_services/token`,
  }),
  port: ofService(integer(0, 65_535), { N: "port to listen on (default: any free port)" }),
  listen: ofService(text("an IP address"), {
    ADDRESS:
      "address to listen on, such as 0.0.0.0 in a container (default: 127.0.0.1); requires --public-url, because others must use TLS",
  }),
  "public-url": ofService(text("a URL"), {
    URL: "https URL at which a reverse proxy serves the service, such as https://agents.example.com or https://example.com/agents; used in links to pages (default: it can be reached only on this machine); also http for a proxy on this machine",
  }),
  store: ofService(texts("a file or a URL"), {
    FILE: "keep jobs, messages and rate limits in this SQLite file, and the clone, the homes of agents and the logs next to it (default: nothing is kept when the service stops)",
    "postgres://...":
      "keep them in this Postgres database, for services on several machines. PGHOST, PGUSER, PGPASSWORD and the like complete the URL. If it names a pooler in transaction mode, give a second --store with the URL of the database itself, for notifications and migrations. Each process keeps its clone, homes and logs in the folder that STATE_DIRECTORY names (default: a new one, which is removed when the service stops)",
  }),
  schema: ofService(text("the name of a schema"), {
    NAME: "with Postgres: the schema of the tables, beside which the queue has NAME_queue; several deployments can have the same database (default: agent_jobs, and agent_jobs_queue)",
  }),
  "drain-minutes": ofService(amount, {
    N: "when the service is told to stop (SIGTERM), start no more agents, and let the running ones finish for this long; a second signal stops them (default: stop them at once)",
  }),
  "delete-after-days": ofService(amountOrNever, {
    N: "delete jobs that have been idle for this long, with their homes, logs and pages, and archive them after half this time; never, if N is the word never (default: 400)",
  }),
  "repository-moved": ofService(flag, {
    "": "the store's repository has moved to --repository, or its projects' repositories to the ones in --config; jobs continue there",
  }),
  "log-format": ofService(choice(["text", "json"]), {
    "text|json":
      "print the log for people, or as JSON, one object per line, which requires AGENT_SERVICE_KEY or --keys (default: text)",
  }),
  "metrics-listen": ofService(text("PORT or ADDRESS:PORT"), {
    "PORT|ADDRESS:PORT":
      "answer /metrics and /healthz here too, without a key, for a network that no reverse proxy publishes; a worker answers them nowhere else (default address: 127.0.0.1)",
  }),
  help: ofService(flag, { "": "show this help" }),
  format: ofCommand(choice(["text", "json"]), {
    "text|json": "print lines for people, or one line of JSON for programs (default: text)",
  }),
  scope: ofCommand(choice(["read"]), { read: "let the key only read (default: it may do everything)" }),
  "expires-days": ofCommand(integer(1, 3650), { N: "let the key expire after this time (default: never)" }),
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

/** The options of the service itself. */
export const serviceOptions = optionNames.filter((name) => options[name].of !== "command");

/** The options that a project has in a configuration, too. */
export type KeyedName = {
  [Name in OptionName]: (typeof options)[Name] extends { key: string } ? Name : never;
}[OptionName];

const isKeyed = (name: OptionName): name is KeyedName => "key" in options[name];

/** Something for each key of a project in a configuration. */
export type ByKey<T extends Record<KeyedName, unknown>> = {
  [Name in KeyedName as (typeof options)[Name]["key"]]: T[Name];
};

/** Returns an object with the keys of a project in a configuration. */
export function byKey<T extends Record<KeyedName, unknown>>(make: <Name extends KeyedName>(name: Name) => T[Name]) {
  const entries = optionNames.filter(isKeyed).map((name) => [options[name].key, make(name)]);
  // `Object.fromEntries` does not know which key has which type.
  return Object.fromEntries(entries) as ByKey<T>;
}

/** Returns a message with the keys of a configuration in place of options: `agentNetwork` for `--agent-network`. */
export function withKeys(message: string): string {
  return optionNames
    .filter(isKeyed)
    .reduce((text, name) => text.replaceAll(new RegExp(`--${name}(?![\\w-])`, "g"), options[name].key), message);
}
