import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { defaultIssuer, parseIssuer, parseTrustRule, type TrustRule } from "./access/trust-rule.ts";
import { type Agent, builtInEditor, shellAgent } from "./agents/agent.ts";
import type { Limits } from "./agents/limits.ts";
import { type NetworkKind, networkKinds } from "./agents/network/agent-network.ts";
import { presetAgent, presetNames } from "./agents/presets.ts";
import { type SandboxKind, sandboxKinds } from "./agents/sandbox/create-sandbox.ts";
import { errorMessage } from "./error-message.ts";
import type { GitHubRepository } from "./pulls/github/github-repository.ts";

export const help = `Usage: npm run service -- [api|worker] --repository PATH-OR-URL [options]
       npm run service -- --store FILE --backup FILE
       npm run service -- --store FILE --export postgres://...
       npm run service -- key add NAME --keys FILE [--project ID]... [--expires-days N]
       npm run service -- key list --keys FILE
       npm run service -- key revoke NAME --keys FILE

Runs an agent job service on this machine. For each job, an agent works on a branch of its own in a clone of the
repository. The service commits and pushes the agent's changes and opens a pull request.

With a Postgres store, it runs on any number of machines: api serves only the API and the pages, worker only runs agents.
Give all of them the same options. Without either word, the service does both.

  --repository PATH-OR-URL  the repository, as git clone accepts it; the service must be able to push to it
  --base BRANCH             branch that jobs start from and pull requests are opened against
                            (default: the repository's default branch)
  --agent NAME              one of ${presetNames.slice(0, -1).join(", ")} and ${presetNames.at(-1)}: a coding agent that is installed, with its key in
                            the environment; see docs/agents.md
  --agent COMMAND           any shell command, such as /path/to/agent.sh. It gets the prompt on stdin and in the file
                            named by AGENT_PROMPT_FILE, and runs in a clone of the repository. Exit code 0 means that
                            the agent completed its work
                            (default: the built-in editor, which adds pages and sections, replaces phrases and fixes
                            links)
  --agent-follow-up COMMAND the command for follow-up messages (default: the same)
  --agent-env NAME          also give agents this environment variable; may be repeated
  --agent-reads PATH        also let agents read this file or folder in their sandbox; may be repeated
  --sandbox bwrap|none      run agents with bubblewrap, so that they reach only their job's files, or with all rights of the
                            service (default: bwrap, except for the built-in editor)
  --agent-network full|model|none
                            what agents reach from a sandbox: everything, only their model, or nothing (default: full)
  --model-host HOST[:PORT]  also let agents reach this host, if only their model; may be repeated
  --model NAME              the model that a named agent uses (default: the agent's own default); shown as the model of
                            jobs (default: the name, or the first word of the command)
  --agents N                how many agents this service or worker runs at a time (default: number of CPU cores)
  --agents-per-project N    how many agents run for one project at a time, over all workers (default: any number)
  --memory-mb N             kill an agent if its processes together use more memory (default: unlimited)
  --processes N             kill an agent if it has more processes at a time (default: unlimited)
  --disk-mb N               kill an agent if its job's files are larger (default: unlimited)
  --time-limit-minutes N    stop an agent after this time (default: 30)
  --largest-change-mb N     fail a turn whose changed files are larger than this together (default: 20)
  --keep-worktrees N        let this many jobs keep their worktree for their next turn, which then starts faster; they take
                            disk space (default: 5; always 0 with --sandbox none)
  --project ID              project of the service; may be repeated (default: demo)
  --keys FILE               accept the API keys of this file, which key add creates; it is read again when it changes
  --trust [PROJECT=]OWNER/NAME[:REF|:environment:NAME]
                            accept the OpenID Connect tokens of this GitHub repository's workflows in place of a key: for all
                            projects or one; on all branches and tags, one ref (a * at its end stands for anything), or in
                            an environment; may be repeated
  --trust-issuer URL        who issues these tokens (default: ${defaultIssuer}); with GitHub
                            Enterprise Server https://HOST/_services/token
  --port N                  port to listen on (default: any free port)
  --listen ADDRESS          address to listen on, such as 0.0.0.0 in a container (default: 127.0.0.1); requires --public-url,
                            because others must use TLS
  --public-url URL          https URL at which a reverse proxy serves the service, such as https://agents.example.com;
                            used in links to pages (default: it can be reached only on this machine); also http for a proxy on
                            this machine
  --store FILE              keep jobs, messages and rate limits in this SQLite file, and the clone, the homes of agents
                            and the logs next to it
                            (default: nothing is kept when the service stops)
  --store postgres://...    keep them in this Postgres database, for services on several machines. PGHOST, PGUSER, PGPASSWORD
                            and the like complete the URL
  --folder DIRECTORY        with Postgres: keep the clone, the homes of agents and the logs here; one for each process
                            (default: a new one, which is removed when the service stops)
  --drain-minutes N         when the service is told to stop (SIGTERM), let the running agents finish for this long, and start no
                            more; a second signal stops them (default: stop them at once)
  --archive-after-days N    also archive jobs that have been idle for this long, not only those whose pull request is closed
                            or merged
  --delete-after-days N     delete jobs that have been idle for this long, archived or not, with their homes, logs and pages
                            (default: never)
  --repository-moved        the store's repository has moved to --repository; its jobs go on there
  --backup FILE             copy the --store to this new file and exit; a service may run on the store meanwhile
  --export postgres://...   copy the --store to this Postgres database, which has no jobs, and exit; no service may run on the
                            file
  --log-format text|json    print the log for people, or as JSON, one object per line, which requires AGENT_SERVICE_KEY or --keys
                            (default: text)
  --health-port N           let a worker answer /healthz and /metrics on this port, at the address of --listen; the API answers
                            them on its own port (default: it does not listen)
  --github OWNER/NAME       open pull requests in this GitHub repository (default: the one of a github.com URL if
                            GITHUB_TOKEN is set; otherwise pull requests are pages of the service)
  --github-api URL          base URL of the GitHub REST API (default: https://api.github.com)
  --help                    show this help

Environment variables: AGENT_SERVICE_KEY is an API key for all projects (default: without --keys, the service generates one and
prints it).
GITHUB_TOKEN is used to push over HTTPS and to open pull requests. Neither is passed to agents.
`;

/** What the command line and the environment configure. */
export interface CommandLineOptions {
  /** Default: the API and a worker. */
  role: "api" | "worker" | undefined;
  repository: string;
  targetBranch: string | undefined;
  agent: Agent;
  network: NetworkKind;
  /** Hosts that agents may reach if their network is `model`. */
  modelHosts: string[];
  /** Undefined: none, because the agent is trusted. */
  sandbox: SandboxKind | undefined;
  /** For all projects. */
  apiKey: string | undefined;
  /** A file of more API keys. */
  keys: string | undefined;
  /** The repositories whose workflows need no key. */
  trust: TrustRule[];
  /** Who issues the tokens of workflows. */
  trustIssuer: string;
  projects: string[];
  port: number;
  /** Where a worker answers `/healthz`. Default: nowhere. */
  healthPort: number | undefined;
  logFormat: "text" | "json";
  listen: string | undefined;
  publicUrl: string | undefined;
  /** A file. */
  store: string | undefined;
  /** The URL of a Postgres store. */
  postgres: string | undefined;
  /** For a Postgres store. */
  folder: string | undefined;
  drainMs: number;
  agents: number;
  agentsPerProject: number | undefined;
  timeLimitMs: number;
  limits: Limits;
  largestChangeBytes: number;
  /** How many jobs keep their worktree for their next turn. */
  keptWorktrees: number;
  archiveAfterDays: number | undefined;
  deleteAfterDays: number | undefined;
  isRepositoryMoved: boolean;
  github: GitHubRepository | undefined;
}

/** Parses the command line. Returns `help` if it asks for help, or what is wrong with it. */
export function parseOptions(
  args: string[],
  environment: Readonly<Record<string, string | undefined>>,
): CommandLineOptions | "help" | { error: string } {
  try {
    const role = parseRole(args[0]);
    const { values } = parseArgs({
      args: role === undefined ? args : args.slice(1),
      options: {
        repository: { type: "string" },
        base: { type: "string" },
        agent: { type: "string" },
        "agent-follow-up": { type: "string" },
        "agent-env": { type: "string", multiple: true },
        "agent-reads": { type: "string", multiple: true },
        sandbox: { type: "string" },
        "agent-network": { type: "string" },
        "model-host": { type: "string", multiple: true },
        model: { type: "string" },
        agents: { type: "string" },
        "agents-per-project": { type: "string" },
        "time-limit-minutes": { type: "string" },
        "memory-mb": { type: "string" },
        processes: { type: "string" },
        "disk-mb": { type: "string" },
        "largest-change-mb": { type: "string" },
        "keep-worktrees": { type: "string" },
        project: { type: "string", multiple: true },
        keys: { type: "string" },
        trust: { type: "string", multiple: true },
        "trust-issuer": { type: "string" },
        port: { type: "string" },
        "health-port": { type: "string" },
        "log-format": { type: "string" },
        listen: { type: "string" },
        "public-url": { type: "string" },
        store: { type: "string" },
        folder: { type: "string" },
        "drain-minutes": { type: "string" },
        "archive-after-days": { type: "string" },
        "delete-after-days": { type: "string" },
        "repository-moved": { type: "boolean", default: false },
        github: { type: "string" },
        "github-api": { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return "help";
    const { repository, store, project = ["demo"] } = values;
    if (!repository) throw new Error("--repository is required.");
    if (/[^!-~]/.test(environment.AGENT_SERVICE_KEY ?? ""))
      throw new Error("AGENT_SERVICE_KEY must be printable ASCII without spaces, to be valid in an HTTP header.");
    const agent = parseAgent(values, environment);
    const sandbox = parseChoice("--sandbox", values.sandbox, sandboxKinds) ?? (agent.isTrusted ? undefined : "bwrap");
    const network = parseChoice("--agent-network", values["agent-network"], networkKinds) ?? "full";
    if (network !== "full" && sandbox !== "bwrap")
      throw new Error(`--agent-network ${network} requires --sandbox bwrap.`);
    const github = parseGitHubRepository(repository, values, environment.GITHUB_TOKEN);
    const publicUrl = parsePublicUrl(values["public-url"]);
    const timeLimitMs = parsePositive("--time-limit-minutes", values["time-limit-minutes"] ?? "30") * 60_000;
    const postgres = /^postgres(ql)?:/.test(store ?? "") ? store : undefined;
    if (postgres !== undefined && timeLimitMs > longestPostgresTurnMs)
      throw new Error("--time-limit-minutes must be at most 1380 with a Postgres store.");
    const logFormat = parseChoice("--log-format", values["log-format"], ["text", "json"]) ?? "text";
    // Logs are shipped to where a key must not be.
    if (logFormat === "json" && role === undefined && !environment.AGENT_SERVICE_KEY && !values.keys)
      throw new Error("--log-format json requires AGENT_SERVICE_KEY or --keys, because a generated key is printed.");
    if (values["health-port"] !== undefined && role !== "worker")
      throw new Error("--health-port is for a worker. The API answers /healthz on its own port.");
    const hasAccess = Boolean(environment.AGENT_SERVICE_KEY || values.keys || values.trust);
    checkRole(role, { postgres, github, publicUrl, hasAccess, folder: values.folder });
    return {
      role,
      repository,
      targetBranch: values.base,
      agent: {
        ...agent,
        passes: [...agent.passes, ...(values["agent-env"] ?? [])],
        reads: [...agent.reads, ...(values["agent-reads"] ?? []).map((path) => resolve(path))],
      },
      sandbox,
      network,
      modelHosts: values["model-host"] ?? [],
      apiKey: environment.AGENT_SERVICE_KEY || undefined,
      ...parseAccess(values, project),
      projects: project,
      port: parseInteger("--port", values.port ?? "0", 0, 65_535),
      healthPort:
        values["health-port"] === undefined
          ? undefined
          : parseInteger("--health-port", values["health-port"], 0, 65_535),
      logFormat,
      listen: parseAddress(values.listen, publicUrl),
      publicUrl,
      store: postgres === undefined ? store : undefined,
      postgres,
      folder: values.folder,
      drainMs:
        values["drain-minutes"] === undefined ? 0 : parsePositive("--drain-minutes", values["drain-minutes"]) * 60_000,
      agents: parseInteger("--agents", values.agents ?? String(availableParallelism()), 1, 1000),
      agentsPerProject:
        values["agents-per-project"] === undefined
          ? undefined
          : parseInteger("--agents-per-project", values["agents-per-project"], 1, 1000),
      timeLimitMs,
      limits: {
        memoryMb: parseLimit("--memory-mb", values["memory-mb"]),
        processes: parseLimit("--processes", values.processes),
        diskMb: parseLimit("--disk-mb", values["disk-mb"]),
      },
      largestChangeBytes: parsePositive("--largest-change-mb", values["largest-change-mb"] ?? "20") * 1_000_000,
      keptWorktrees: parseInteger("--keep-worktrees", values["keep-worktrees"] ?? "5", 0, 1000),
      archiveAfterDays: parseDays("--archive-after-days", values["archive-after-days"]),
      deleteAfterDays: parseDays("--delete-after-days", values["delete-after-days"]),
      isRepositoryMoved: values["repository-moved"],
      github,
    };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

/** The queue of a Postgres store ends what takes a day. */
const longestPostgresTurnMs = 1380 * 60_000;

function parseRole(word: string | undefined): "api" | "worker" | undefined {
  if (!word || word.startsWith("-")) return undefined;
  if (word === "api" || word === "worker") return word;
  throw new Error(`${word} is neither api nor worker.`);
}

interface RoleSettings {
  postgres: string | undefined;
  github: GitHubRepository | undefined;
  publicUrl: string | undefined;
  hasAccess: boolean;
  folder: string | undefined;
}

function checkRole(
  role: "api" | "worker" | undefined,
  { postgres, github, publicUrl, hasAccess, folder }: RoleSettings,
) {
  if (folder !== undefined && postgres === undefined) throw new Error("--folder requires a --store in Postgres.");
  if (role === undefined) return;
  if (postgres === undefined) throw new Error(`${role} requires --store postgres://..., which other processes share.`);
  if (github === undefined && publicUrl === undefined)
    throw new Error(`${role} requires --public-url, because pull requests are pages of the service.`);
  if (role === "api" && !hasAccess)
    throw new Error("api requires AGENT_SERVICE_KEY, --keys or --trust, the same for all of them.");
}

function parseAccess(
  values: { keys?: string | undefined; trust?: string[] | undefined; "trust-issuer"?: string | undefined },
  projects: readonly string[],
): Pick<CommandLineOptions, "keys" | "trust" | "trustIssuer"> {
  const { keys, trust: rules = [], "trust-issuer": issuer } = values;
  if (keys === "") throw new Error("--keys is empty.");
  if (issuer !== undefined && rules.length === 0) throw new Error("--trust-issuer requires --trust.");
  const trust = rules.map(parseTrustRule);
  const unknown = trust.find(({ project }) => project !== undefined && !projects.includes(project));
  if (unknown !== undefined) throw new Error(`--trust ${unknown.text}: there is no --project ${unknown.project}.`);
  return { keys, trust, trustIssuer: parseIssuer(issuer ?? defaultIssuer) };
}

function parseChoice<T extends string>(option: string, text: string | undefined, choices: readonly T[]): T | undefined {
  const choice = choices.find((one) => one === text);
  if (text !== undefined && choice === undefined) throw new Error(`${option} must be ${choices.join(" or ")}.`);
  return choice;
}

function parseAgent(
  values: { agent?: string | undefined; "agent-follow-up"?: string | undefined; model?: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): Agent {
  const { agent: command, "agent-follow-up": followUp, model } = values;
  if (command?.trim() === "") throw new Error("--agent is empty.");
  if (followUp?.trim() === "") throw new Error("--agent-follow-up is empty.");
  const preset = command === undefined ? undefined : presetAgent(command, environment, model);
  if (followUp !== undefined && (command === undefined || preset !== undefined))
    throw new Error("--agent-follow-up requires a shell command as --agent.");
  if (preset !== undefined) return preset;
  const agent = command === undefined ? builtInEditor : shellAgent(command, followUp);
  return model === undefined ? agent : { ...agent, model };
}

function parseGitHubRepository(
  repository: string,
  values: { github?: string | undefined; "github-api"?: string | undefined },
  token: string | undefined,
): GitHubRepository | undefined {
  const match = /^(?:https:\/\/(?:[^@/]*@)?|ssh:\/\/git@|git@)github\.com[/:]([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(
    repository,
  );
  const name = values.github ?? match?.[1];
  const parts = name?.split("/") ?? [];
  if (values.github !== undefined && (parts.length !== 2 || parts.includes("")))
    throw new Error("--github must be OWNER/NAME.");
  if (values.github !== undefined && !token) throw new Error("--github requires GITHUB_TOKEN in the environment.");
  if (name === undefined || !token) return undefined;
  const apiUrl = (values["github-api"] ?? "https://api.github.com").replace(/\/+$/, "");
  if (!URL.canParse(apiUrl)) throw new Error("--github-api must be a URL.");
  return { apiUrl, owner: parts[0] ?? "", name: parts[1] ?? "", token };
}

/** Returns the origin: pages link each other with paths from the root. */
function parsePublicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Over http, the API key would be sent in plain text.
  const isLocal = url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (!(url?.protocol === "https:" || isLocal) || url.href !== `${url.origin}/`)
    throw new Error("--public-url must be an https URL without a path, such as https://agents.example.com.");
  return url.origin;
}

function parseAddress(address: string | undefined, publicUrl: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  if (isIP(address) === 0) throw new Error("--listen must be an IP address, such as 0.0.0.0.");
  if (publicUrl === undefined) throw new Error("--listen requires --public-url, because others must use TLS.");
  return address;
}

function parseInteger(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`${option} must be an integer from ${min} to ${max}.`);
  return value;
}

function parseLimit(option: string, text: string | undefined): number | undefined {
  if (text !== undefined && process.platform !== "linux") throw new Error(`${option} requires Linux.`);
  return text === undefined ? undefined : parseInteger(option, text, 1, 1_000_000_000);
}

function parseDays(option: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : parsePositive(option, text);
}

/** In minutes, days or megabytes. A timer takes at most 35,791 minutes. */
const maxAmount = 10_000;

function parsePositive(option: string, text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > maxAmount)
    throw new Error(`${option} must be a number greater than 0 and at most ${maxAmount}.`);
  return value;
}
