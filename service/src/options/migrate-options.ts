import { errorMessage } from "../error-message.ts";
import { parseArguments } from "./arguments.ts";
import { type PostgresPlace, parsePostgres, postgresOptions } from "./postgres-options.ts";

/** Parses a command line that begins with `migrate`. Returns `undefined` if it does not, or what is wrong with it. */
export function parseMigrateOptions(args: readonly string[]): PostgresPlace | undefined | { error: string } {
  if (args[0] !== "migrate") return undefined;
  try {
    const place = parsePostgres(parseArguments(args.slice(1), postgresOptions));
    if (place === undefined) throw new Error("migrate requires --store postgres://..., whose tables it creates.");
    return place;
  } catch (error) {
    return { error: errorMessage(error) };
  }
}
