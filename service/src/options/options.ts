import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { defaultIssuer, parseIssuer, parseTrustRule, type TrustRule } from "../access/trust-rule.ts";
import { parsePublicUrl } from "../http/public-url.ts";
import { PerProject } from "../per-project.ts";
import { findKey } from "../service-secrets.ts";
import { type Arguments, parseArguments } from "./arguments.ts";
import { type Configuration, readConfiguration } from "./config-file.ts";
import { apiKeyVariable, createProjectSettings, type ProjectInput, type ProjectValues } from "./project-settings.ts";
import { type PostgresPlace, parseStore } from "./store-place.ts";
import { byKey, type OptionName, options, serviceOptions } from "./table.ts";

/** What one process of the service does. `undefined`: it is the API and a worker. */
export type Role = "api" | "worker" | undefined;

/** The options from the command line, the environment and the configuration. */
export interface CommandLineOptions extends Configuration {
  role: Role;
  /** For all projects. */
  apiKey: string | undefined;
  /** A file of more API keys. */
  keys: string | undefined;
  /** The repositories whose workflows need no key. */
  trust: TrustRule[];
  /** The issuer of workflow tokens. */
  trustIssuer: string;
  port: number;
  /** Where `/metrics` and `/healthz` are answered without a key. Default: nowhere. */
  metricsListen: { address: string; port: number } | undefined;
  logFormat: "text" | "json";
  listen: string | undefined;
  publicUrl: string | undefined;
  store: string | undefined;
  postgres: PostgresPlace | undefined;
  /** For a Postgres store. Default: a new one, which is removed when the service stops. */
  folder: string | undefined;
  drainMs: number;
  agents: number;
  deleteAfterDays: number | undefined;
  isRepositoryMoved: boolean;
}

/**
 * Parses the command line of a service that has both roles.
 *
 * @throws with what is wrong with it as the message
 */
export function parseOptions(args: readonly string[], environment: NodeJS.ProcessEnv): CommandLineOptions {
  return readOptions(parseArguments(args, serviceOptions), environment, undefined);
}

/**
 * Returns the values of the service's options.
 *
 * @throws with what is wrong with them as the message
 */
export function readOptions(
  given: Arguments<OptionName>,
  environment: NodeJS.ProcessEnv,
  role: Role,
): CommandLineOptions {
  const { value } = given;
  const configuration = findConfiguration(given, environment);
  const apiKey = findKey(apiKeyVariable, environment)?.value;
  const place = parseStore(given);
  const postgres = place !== undefined && "url" in place ? place : undefined;
  const settings = configuration.settings.values;
  if (postgres !== undefined && settings.some(({ timeLimitMs }) => timeLimitMs > longestPostgresTurnMs))
    throw new Error("--time-limit-minutes must be at most 1380 with a Postgres store.");
  const publicUrl = given.has("public-url") ? parsePublicUrl(value("public-url") ?? "") : undefined;
  const access = parseAccess(given, configuration.projects);
  const logFormat = value("log-format") ?? "text";
  // Logs are shipped to where a key must not be.
  if (logFormat === "json" && role === undefined && apiKey === undefined && access.keys === undefined)
    throw new Error("--log-format json requires AGENT_SERVICE_KEY or --keys, because a generated key is printed.");
  if (role !== undefined) {
    if (postgres === undefined)
      throw new Error(`${role} requires --store postgres://..., the store that all processes share.`);
    if (publicUrl === undefined && settings.some(({ github }) => github === undefined))
      throw new Error(`${role} requires --public-url, because pull requests are pages of the service.`);
    if (role === "api" && apiKey === undefined && access.keys === undefined && access.trust.length === 0)
      throw new Error("api requires AGENT_SERVICE_KEY, --keys or --trust, the same for all API processes.");
  }
  return {
    role,
    ...configuration,
    apiKey,
    ...access,
    port: value("port") ?? 0,
    metricsListen: parseMetricsListen(value("metrics-listen")),
    logFormat,
    listen: parseAddress(value("listen"), publicUrl),
    publicUrl,
    store: place !== undefined && "file" in place ? place.file : undefined,
    postgres,
    folder: postgres && stateDirectory(environment),
    drainMs: (value("drain-minutes") ?? 0) * 60_000,
    agents: value("agents") ?? availableParallelism(),
    deleteAfterDays: retentionDays(value("delete-after-days")),
    isRepositoryMoved: value("repository-moved") ?? false,
  };
}

/** Returns the first folder: systemd separates several with colons (its documentation, "StateDirectory="). */
function stateDirectory({ STATE_DIRECTORY = "" }: NodeJS.ProcessEnv): string | undefined {
  return STATE_DIRECTORY.split(":")[0] || undefined;
}

/** Longer than a year, so that last year's jobs can be looked up. */
const defaultRetentionDays = 400;

function retentionDays(given = defaultRetentionDays): number | undefined {
  return given === Number.POSITIVE_INFINITY ? undefined : given;
}

function findConfiguration(given: Arguments<OptionName>, environment: NodeJS.ProcessEnv): Configuration {
  const [file, repository] = [given.value("config"), given.value("repository")];
  if (file !== undefined) {
    const other = serviceOptions.find((name) => options[name].of === "project" && given.has(name));
    if (other !== undefined)
      throw new Error(`--${other} cannot be used with --config, because the file has the options of each project.`);
    return readConfiguration(file, environment);
  }
  if (!repository) throw new Error("--repository is required, or --config.");
  const input: ProjectInput = { ...byKey<ProjectValues>(given.value), repository };
  const settings = createProjectSettings(input, environment);
  const names = given.value("project") ?? [];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`--project ${twice} is given twice.`);
  return { projects: names.length > 0 ? names : ["demo"], settings: PerProject.same(settings), secretVariables: [] };
}

/** The queue of a Postgres store ends a turn after a day. */
const longestPostgresTurnMs = 1380 * 60_000;

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

function parseMetricsListen(text: string | undefined) {
  if (text === undefined) return undefined;
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
