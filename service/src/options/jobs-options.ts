import { errorMessage } from "../error-message.ts";
import type { JobsCommand } from "../jobs/run-jobs-command.ts";
import { type JobStatus, parseTurnId } from "../model.ts";
import { parseArguments } from "./arguments.ts";
import { type PostgresPlace, parsePostgres, postgresOptions } from "./postgres-options.ts";

/** A command for the jobs of a store: a file, or one in Postgres. */
export interface JobsOptions {
  command: JobsCommand;
  store: { file: string } | PostgresPlace;
}

const statuses: readonly JobStatus[] = ["active", "completed", "failed", "archived"];

/** Parses a command line that begins with `jobs`. Returns `undefined` if it does not, or what is wrong with it. */
export function parseJobsOptions(args: readonly string[]): JobsOptions | undefined | { error: string } {
  if (args[0] !== "jobs") return undefined;
  try {
    const given = parseArguments(args.slice(1), [...postgresOptions, "project"], true);
    const { positionals, value } = given;
    const store = value("store");
    if (!store) throw new Error("jobs requires --store, the same as that of the service.");
    const projects = value("project");
    const command = parseCommand(positionals, projects);
    if (projects !== undefined && command.command !== "list") throw new Error("--project is an option of jobs list.");
    return { command, store: parsePostgres(given) ?? { file: store } };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

function parseCommand(
  [command, first, second, ...more]: readonly string[],
  projects: readonly string[] | undefined,
): JobsCommand {
  const isJob = /^job_[\da-f-]{36}$/.test(first ?? "");
  if (command === "list" && second === undefined) {
    const status = statuses.find((one) => one === first);
    if (first !== undefined && status === undefined) throw new Error(`jobs list takes one of ${statuses.join(", ")}.`);
    return { command, projects, status };
  }
  if (command === "stop" && isJob && first !== undefined && more.length === 0) {
    const turn = second === undefined ? undefined : parseTurnId(second);
    if (second !== undefined && turn === undefined) throw new Error(`${second} is not a turn.`);
    return { command, job: first, turn };
  }
  if (command === "retry" && isJob && first !== undefined && second === undefined) return { command, job: first };
  throw new Error("jobs must be followed by list, by stop and the id of a job, or by retry and the id of a job.");
}
