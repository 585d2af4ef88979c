import { isKeyName } from "../access/key-file.ts";
import type { KeyCommand } from "../access/run-key-command.ts";
import { errorMessage } from "../error-message.ts";
import type { JobsCommand } from "../jobs/run-jobs-command.ts";
import { type JobStatus, parseTurnId } from "../model.ts";
import { type Arguments, parseArguments } from "./arguments.ts";
import { type CommandHelp, formatHelp } from "./help.ts";
import { type CommandLineOptions, type Role, readOptions } from "./options.ts";
import { isPostgres, type PostgresPlace, parseSchema, parseStore } from "./store-place.ts";
import { type OptionHelp, type OptionName, options, serviceOptions } from "./table.ts";

/** A command of the service's program. */
export type Command =
  | { kind: "help"; text: string }
  | { kind: "invalid"; error: string }
  | { kind: "keys"; command: KeyCommand }
  /** Copies the store, a file, to a new file or to a Postgres database. */
  | { kind: "copy"; store: string; target: { file: string } | { url: string; schema: string | undefined } }
  | { kind: "jobs"; command: JobsCommand; store: { file: string } | PostgresPlace }
  | { kind: "migrate"; postgres: PostgresPlace }
  | { kind: "serve"; options: CommandLineOptions };

/** The command of one kind. */
export type CommandOf<Kind extends Command["kind"]> = Extract<Command, { kind: Kind }>;

/** A command as people write it, and what it means. */
interface Definition<Names extends OptionName> extends CommandHelp {
  /** With what they do in this command. */
  options: Readonly<Record<Names, OptionHelp>>;
  /** Whether it has words besides options. Default: no. */
  hasWords?: boolean;
  /** @throws with what is wrong as the message */
  read(given: Arguments<Names>, environment: NodeJS.ProcessEnv): Command;
}

interface ParsedCommand {
  usage: readonly string[];
  parse(args: readonly string[], environment: NodeJS.ProcessEnv): Command;
}

function define<Names extends OptionName>(definition: Definition<Names>): ParsedCommand {
  const { usage, hasWords, read } = definition;
  const names = Object.keys(definition.options) as Names[];
  return {
    usage,
    parse: (args, environment) => {
      const given = parseArguments<Names | "help">(args, [...names, "help"], hasWords);
      return given.value("help") ? { kind: "help", text: formatHelp(definition) } : read(given, environment);
    },
  };
}

const schema = options.schema.help;

const commands: Readonly<Record<string, ParsedCommand>> = {
  backup: define({
    usage: ["backup FILE --store FILE"],
    about: ["Copies a store to a new file. A service may use the store meanwhile."],
    options: { store: { FILE: "the store to copy" } },
    hasWords: true,
    read: ({ positionals: [file, ...more], value }) => {
      const [store, ...stores] = value("store") ?? [];
      if (!file || !store || more.length > 0 || stores.length > 0)
        throw new Error("backup requires a file, and with --store the store to copy.");
      if (isPostgres(store)) throw new Error("backup copies a file. Use pg_dump for Postgres.");
      return { kind: "copy", store, target: { file } };
    },
  }),
  export: define({
    usage: ["export postgres://... --store FILE [--schema NAME]"],
    about: ["Copies a store to a Postgres database that has no jobs yet. No service may use the file meanwhile."],
    options: { store: { FILE: "the store to copy" }, schema },
    hasWords: true,
    read: ({ positionals: [url = "", ...more], value }) => {
      const [store, ...stores] = value("store") ?? [];
      if (!isPostgres(url) || !store || isPostgres(store) || more.length > 0 || stores.length > 0)
        throw new Error("export requires a postgres:// URL, and with --store the file to copy.");
      return { kind: "copy", store, target: { url, schema: parseSchema(value("schema")) } };
    },
  }),
  migrate: define({
    usage: ["migrate --store postgres://... [--schema NAME]"],
    about: [
      "Creates the tables of a Postgres store and exits, so that the database user of the service needs no right to create them.",
    ],
    options: { store: { "postgres://...": "the store of the service" }, schema },
    read: (given) => {
      const place = parseStore(given);
      if (place === undefined || "file" in place)
        throw new Error("migrate requires --store postgres://..., whose tables it creates.");
      return { kind: "migrate", postgres: place };
    },
  }),
  jobs: define({
    usage: [
      "jobs list [active|completed|failed|archived] --store STORE [--project ID]... [--format json]",
      "jobs show JOB --store STORE [--format json]",
      "jobs patch JOB --store STORE",
      "jobs stop JOB [TURN] --store STORE",
      "jobs retry JOB --store STORE",
    ],
    about: [
      "Lists the newest jobs of a store with their turns, shows a job with the end of its log, prints what is kept of it and on no branch, for git apply, stops a turn of a job, or runs its last turn again, which has failed. A service may use the store meanwhile.",
    ],
    options: {
      store: { STORE: "the store of the service" },
      schema,
      project: { ID: "list only jobs of this project; may be repeated" },
      format: options.format.help,
    },
    hasWords: true,
    read: (given) => {
      const store = parseStore(given);
      if (store === undefined) throw new Error("jobs requires --store, the same as the service's.");
      const projects = given.value("project");
      const isJson = given.value("format") === "json";
      const command = readJobsCommand(given.positionals, projects, isJson);
      const reads = command.command === "list" || command.command === "show";
      if (isJson && !reads) throw new Error("--format is an option of jobs list and jobs show.");
      if (projects !== undefined && command.command !== "list") throw new Error("--project is an option of jobs list.");
      return { kind: "jobs", command, store };
    },
  }),
  key: define({
    usage: [
      "key add NAME --keys FILE [--project ID]... [--scope read] [--expires-days N]",
      "key list --keys FILE",
      "key revoke NAME --keys FILE",
    ],
    about: ["Adds an API key to a file and prints it, lists the keys of the file, or revokes one."],
    options: {
      keys: { FILE: "the file of the service's --keys; key add creates it" },
      project: { ID: "let the key have access to this project; may be repeated (default: to all)" },
      scope: options.scope.help,
      "expires-days": options["expires-days"].help,
    },
    hasWords: true,
    read: (given) => ({ kind: "keys", command: readKeyCommand(given) }),
  }),
};

const service = (role: Role): ParsedCommand =>
  define({
    usage: [
      "[api|worker] --repository PATH-OR-URL [options]",
      "[api|worker] --config FILE [options]",
      ...Object.values(commands).flatMap(({ usage }) => usage),
    ],
    about: [
      "Runs an agent job service on this machine. For each job, an agent works on a branch of its own in a clone of the repository. The service commits and pushes the agent's changes and opens a pull request.",
      "With a Postgres store, it runs on any number of machines: api only serves the API and the pages, worker only runs agents. Give all of them the same options. Without either word, the service does both. The other commands work on a store or on a key file; each has its own --help.",
    ],
    options: Object.fromEntries(serviceOptions.map((name) => [name, options[name].help])) as Record<
      OptionName,
      OptionHelp
    >,
    notes: [
      "Environment variables: AGENT_SERVICE_KEY is an API key for all projects (default: without --keys, the service generates one and prints it). GITHUB_TOKEN is used to push over HTTPS and to open pull requests; a project of --config can have a token of its own. Agents get none of them. Each can be in a file in place of its variable, and so can the key of a model: the file that NAME_FILE names, or NAME in $CREDENTIALS_DIRECTORY. Files are read again when they change, except the one for AGENT_SERVICE_KEY. GITHUB_SERVER_URL and GITHUB_API_URL name a GitHub other than github.com.",
    ],
    read: (given, environment) => ({ kind: "serve", options: readOptions(given, environment, role) }),
  });

/** Parses the command line of the service's program. */
export function parseCommandLine(args: readonly string[], environment: NodeJS.ProcessEnv): Command {
  const [word = "", ...others] = args;
  try {
    if (word === "" || word.startsWith("-")) return service(undefined).parse(args, environment);
    if (word === "api" || word === "worker") return service(word).parse(others, environment);
    const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (command === undefined)
      throw new Error(`Unknown command ${word}. The commands are api, worker, ${Object.keys(commands).join(", ")}.`);
    return command.parse(others, environment);
  } catch (error) {
    return { kind: "invalid", error: errorMessage(error) };
  }
}

const statuses: readonly JobStatus[] = ["active", "completed", "failed", "archived"];

function readJobsCommand(
  [command, first, second, ...more]: readonly string[],
  projects: readonly string[] | undefined,
  isJson: boolean,
): JobsCommand {
  const isJob = /^job_[\da-f-]{36}$/.test(first ?? "");
  if (command === "list" && second === undefined) {
    const status = statuses.find((one) => one === first);
    if (first !== undefined && status === undefined) throw new Error(`jobs list takes one of ${statuses.join(", ")}.`);
    return { command, projects, status, isJson };
  }
  if (command === "show" && isJob && first !== undefined && second === undefined)
    return { command, job: first, isJson };
  if (command === "stop" && isJob && first !== undefined && more.length === 0) {
    const turn = second === undefined ? undefined : parseTurnId(second);
    if (second !== undefined && turn === undefined) throw new Error(`${second} is not a turn.`);
    return { command, job: first, turn };
  }
  if ((command === "retry" || command === "patch") && isJob && first !== undefined && second === undefined)
    return { command, job: first };
  if (["show", "patch", "stop", "retry"].includes(command ?? "") && first !== undefined && !isJob)
    throw new Error(`${first} is not the id of a job.`);
  throw new Error("jobs must be followed by list, show JOB, patch JOB, stop JOB or retry JOB.");
}

function readKeyCommand({
  positionals: [command, name, ...more],
  has,
  value,
}: Arguments<"keys" | "project" | "scope" | "expires-days">): KeyCommand {
  const file = value("keys");
  if (more.length > 0) throw new Error(`key ${command} takes one name.`);
  if (!file) throw new Error("key requires --keys FILE.");
  if (command !== "add" && (has("project") || has("scope") || has("expires-days")))
    throw new Error("--project, --scope and --expires-days are options of key add.");
  if (command === "list" && name === undefined) return { command, file };
  if (command !== "add" && command !== "revoke") throw new Error("key must be followed by add, list or revoke.");
  if (name === undefined || !isKeyName(name))
    throw new Error(`key ${command} requires a name of up to 64 letters, digits, ".", "_" and "-".`);
  if (command === "revoke") return { command, file, name };
  const projects = value("project") ?? "all";
  return { command, file, name, projects, scope: value("scope"), expiresDays: value("expires-days") };
}
