import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { defaultIssuer, parseIssuer, parseTrustRule, type TrustRule } from "../access/trust-rule.ts";
import { errorMessage } from "../error-message.ts";
import { parsePublicUrl } from "../http/public-url.ts";
import { PerProject } from "../per-project.ts";
import { type Arguments, parseArguments } from "./arguments.ts";
import { byKey } from "./config-keys.ts";
import { type PostgresPlace, parsePostgres } from "./postgres-options.ts";
import {
  createProjectSettings,
  type ProjectInput,
  type ProjectSettings,
  type ProjectValues,
} from "./project-settings.ts";
import { type OptionName, optionsOf } from "./table.ts";

/** The options from the command line, the environment and the configuration. */
export interface CommandLineOptions {
  /** Default: the API and a worker. */
  role: "api" | "worker" | undefined;
  /** All projects of the service. */
  projects: readonly string[];
  /** Without a configuration, the same for all projects of the store. */
  settings: PerProject<ProjectSettings>;
  /** Environment variables with secrets of the service, which no other program gets. */
  secretVariables: readonly string[];
  /** For all projects. */
  apiKey: string | undefined;
  /** A file of more API keys. */
  keys: string | undefined;
  /** The repositories whose workflows need no key. */
  trust: TrustRule[];
  /** The issuer of workflow tokens. */
  trustIssuer: string;
  port: number;
  /** The port at which a worker answers `/healthz`. Default: none. */
  healthPort: number | undefined;
  /** Where the API answers `/metrics` without a key. Default: nowhere. */
  metricsListen: { address: string; port: number } | undefined;
  logFormat: "text" | "json";
  listen: string | undefined;
  publicUrl: string | undefined;
  /** A file. */
  store: string | undefined;
  postgres: PostgresPlace | undefined;
  /** For a Postgres store. */
  folder: string | undefined;
  drainMs: number;
  agents: number;
  /** How many jobs of a repository keep their worktree for their next turn. */
  keptWorktrees: number;
  archiveAfterDays: number | undefined;
  deleteAfterDays: number | undefined;
  isRepositoryMoved: boolean;
}

const serviceOptions = [...optionsOf("project"), ...optionsOf("service")];

/** The options in a configuration. */
export type Configuration = Pick<CommandLineOptions, "projects" | "settings" | "secretVariables">;

/**
 * Reads the configuration in a file.
 *
 * @throws if it cannot be read or is not valid, with what is wrong as the message
 */
export type ReadConfiguration = (file: string, environment: NodeJS.ProcessEnv) => Configuration;

/**
 * Parses the command line. Returns `help` if it asks for help, or what is wrong with it.
 *
 * @param readConfiguration - default: there is no `--config`
 */
export function parseOptions(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  readConfiguration?: ReadConfiguration,
): CommandLineOptions | "help" | { error: string } {
  try {
    const role = parseRole(args[0]);
    const given = parseArguments(role === undefined ? args : args.slice(1), serviceOptions);
    const { value } = given;
    if (value("help")) return "help";
    const configuration = findConfiguration(given, environment, readConfiguration);
    if (/[^!-~]/.test(environment.AGENT_SERVICE_KEY ?? ""))
      throw new Error("AGENT_SERVICE_KEY must be printable ASCII without spaces, to be valid in an HTTP header.");
    const [store, folder, keys] = [value("store"), value("folder"), value("keys")];
    const givenUrl = value("public-url");
    const publicUrl = givenUrl === undefined ? undefined : parsePublicUrl(givenUrl);
    const postgres = parsePostgres(given);
    const settings = configuration.settings.values;
    if (postgres !== undefined && settings.some(({ timeLimitMs }) => timeLimitMs > longestPostgresTurnMs))
      throw new Error("--time-limit-minutes must be at most 1380 with a Postgres store.");
    const logFormat = value("log-format") ?? "text";
    // Logs are shipped to where a key must not be.
    if (logFormat === "json" && role === undefined && !environment.AGENT_SERVICE_KEY && !keys)
      throw new Error("--log-format json requires AGENT_SERVICE_KEY or --keys, because a generated key is printed.");
    if (given.has("health-port") && role !== "worker")
      throw new Error("--health-port is for a worker. The API answers /healthz on its own port.");
    const isOnGitHub = settings.every(({ github }) => github !== undefined);
    const hasAccess = Boolean(environment.AGENT_SERVICE_KEY || keys || given.has("trust"));
    checkRole(role, { postgres, isOnGitHub, publicUrl, hasAccess, folder });
    return {
      role,
      ...configuration,
      apiKey: environment.AGENT_SERVICE_KEY || undefined,
      ...parseAccess(given, configuration.projects),
      port: value("port") ?? 0,
      healthPort: value("health-port"),
      metricsListen: parseMetricsListen(value("metrics-listen"), role),
      logFormat,
      listen: parseAddress(value("listen"), publicUrl),
      publicUrl,
      store: postgres === undefined ? store : undefined,
      postgres,
      folder,
      drainMs: (value("drain-minutes") ?? 0) * 60_000,
      agents: value("agents") ?? availableParallelism(),
      keptWorktrees: value("keep-worktrees") ?? 5,
      archiveAfterDays: value("archive-after-days"),
      deleteAfterDays: retentionDays(value("delete-after-days")),
      isRepositoryMoved: value("repository-moved") ?? false,
    };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

/** Longer than a year, so that last year's jobs can be looked up. */
const defaultRetentionDays = 400;

function retentionDays(given = defaultRetentionDays): number | undefined {
  return given === Number.POSITIVE_INFINITY ? undefined : given;
}

function findConfiguration(
  given: Arguments<OptionName>,
  environment: NodeJS.ProcessEnv,
  readConfiguration: ReadConfiguration | undefined,
): Configuration {
  const [file, repository] = [given.value("config"), given.value("repository")];
  if (file !== undefined) {
    const other = optionsOf("project").find((name) => given.has(name));
    if (other !== undefined)
      throw new Error(`--config and --${other} exclude each other: the file has the options of each project.`);
    if (readConfiguration === undefined) throw new Error("--config is not available here.");
    return readConfiguration(file, environment);
  }
  if (!repository) throw new Error("--repository is required, or --config.");
  const input: ProjectInput = { ...byKey<ProjectValues>(given.value), repository };
  const settings = createProjectSettings(input, environment);
  const names = given.value("project") ?? [];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`--project ${twice} is given twice.`);
  return { projects: given.value("project") ?? ["demo"], settings: PerProject.same(settings), secretVariables: [] };
}

/** The queue of a Postgres store ends turns that take a day. */
const longestPostgresTurnMs = 1380 * 60_000;

function parseRole(word: string | undefined): "api" | "worker" | undefined {
  if (!word || word.startsWith("-")) return undefined;
  if (word === "api" || word === "worker") return word;
  throw new Error(`${word} is neither api nor worker.`);
}

interface RoleSettings {
  postgres: PostgresPlace | undefined;
  /** Whether no pull request is a page of the service. */
  isOnGitHub: boolean;
  publicUrl: string | undefined;
  hasAccess: boolean;
  folder: string | undefined;
}

function checkRole(
  role: "api" | "worker" | undefined,
  { postgres, isOnGitHub, publicUrl, hasAccess, folder }: RoleSettings,
) {
  if (folder !== undefined && postgres === undefined) throw new Error("--folder requires a --store in Postgres.");
  if (role === undefined) return;
  if (postgres === undefined) throw new Error(`${role} requires --store postgres://..., which other processes share.`);
  if (!isOnGitHub && publicUrl === undefined)
    throw new Error(`${role} requires --public-url, because pull requests are pages of the service.`);
  if (role === "api" && !hasAccess)
    throw new Error("api requires AGENT_SERVICE_KEY, --keys or --trust, the same for all of them.");
}

function parseAccess(
  { value }: Arguments<OptionName>,
  projects: readonly string[],
): Pick<CommandLineOptions, "keys" | "trust" | "trustIssuer"> {
  const [keys, rules = [], issuer] = [value("keys"), value("trust"), value("trust-issuer")];
  if (keys === "") throw new Error("--keys is empty.");
  if (issuer !== undefined && rules.length === 0) throw new Error("--trust-issuer requires --trust.");
  const trust = rules.map(parseTrustRule);
  const unknown = trust.find(({ project }) => project !== undefined && !projects.includes(project));
  if (unknown !== undefined) throw new Error(`--trust ${unknown.text}: there is no --project ${unknown.project}.`);
  return { keys, trust, trustIssuer: parseIssuer(issuer ?? defaultIssuer) };
}

function parseMetricsListen(text: string | undefined, role: "api" | "worker" | undefined) {
  if (text === undefined) return undefined;
  if (role === "worker") throw new Error("--metrics-listen is for the API. A worker has --health-port.");
  const [, address = "127.0.0.1", port] = /^(?:\[?([\da-fA-F.:]+?)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535 || isIP(address) === 0)
    throw new Error("--metrics-listen must be PORT or ADDRESS:PORT, such as 127.0.0.1:9100 or [::1]:9100.");
  return { address, port: Number(port) };
}

function parseAddress(address: string | undefined, publicUrl: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  if (isIP(address) === 0) throw new Error("--listen must be an IP address, such as 0.0.0.0.");
  if (publicUrl === undefined) throw new Error("--listen requires --public-url, because others must use TLS.");
  return address;
}
