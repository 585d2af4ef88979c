import type { KeyCommand } from "../access/run-key-command.ts";
import { readConfiguration } from "./config-file.ts";
import { type CopyOptions, parseCopyOptions } from "./copy-options.ts";
import { help } from "./help.ts";
import { type JobsOptions, parseJobsOptions } from "./jobs-options.ts";
import { parseKeyOptions } from "./key-options.ts";
import { parseMigrateOptions } from "./migrate-options.ts";
import { type CommandLineOptions, parseOptions } from "./options.ts";
import type { PostgresPlace } from "./postgres-options.ts";

/** A command of the service's program. */
export type Command =
  | { kind: "help"; text: string }
  | { kind: "invalid"; error: string }
  | { kind: "keys"; command: KeyCommand }
  | { kind: "copy"; copy: CopyOptions }
  | { kind: "jobs"; jobs: JobsOptions }
  | { kind: "migrate"; postgres: PostgresPlace }
  | { kind: "serve"; options: CommandLineOptions };

/** The command of one kind. */
export type CommandOf<Kind extends Command["kind"]> = Extract<Command, { kind: Kind }>;

/** Parses the command line of the service's program. */
export function parseCommandLine(args: readonly string[], environment: NodeJS.ProcessEnv): Command {
  const command = parseKeyOptions(args);
  if (command !== undefined) return "error" in command ? { kind: "invalid", ...command } : { kind: "keys", command };
  const copy = parseCopyOptions(args);
  if (copy !== undefined) return "error" in copy ? { kind: "invalid", ...copy } : { kind: "copy", copy };
  const jobs = parseJobsOptions(args);
  if (jobs !== undefined) return "error" in jobs ? { kind: "invalid", ...jobs } : { kind: "jobs", jobs };
  const postgres = parseMigrateOptions(args);
  if (postgres !== undefined)
    return "error" in postgres ? { kind: "invalid", ...postgres } : { kind: "migrate", postgres };
  const options = parseOptions(args, environment, readConfiguration);
  if (options === "help") return { kind: "help", text: help };
  return "error" in options ? { kind: "invalid", ...options } : { kind: "serve", options };
}
