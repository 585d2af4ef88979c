import { errorMessage } from "../error-message.ts";
import { parseArguments } from "./arguments.ts";
import { isPostgres, parseSchema } from "./postgres-options.ts";

/** The copy of a store that `--backup` or `--export` requests. */
export interface CopyOptions {
  /** A file. */
  store: string;
  /** A new file, or the URL of a Postgres database. */
  target: { file: string } | { url: string; schema: string | undefined };
}

/** Parses a command line with `--backup` or `--export`. Returns `undefined` if it has neither, or what is wrong with it. */
export function parseCopyOptions(args: readonly string[]): CopyOptions | undefined | { error: string } {
  if (!args.some((arg) => /^--(backup|export)(=|$)/.test(arg))) return undefined;
  try {
    const { value } = parseArguments(args, ["backup", "export", "store", "schema"]);
    const [file, url, store] = [value("backup"), value("export"), value("store")];
    if (file !== undefined && url !== undefined) throw new Error("--backup and --export cannot be used together.");
    if (url !== undefined) {
      if (!isPostgres(url) || !store)
        throw new Error("--export requires a postgres:// URL, and with --store the file to copy.");
      return { store, target: { url, schema: parseSchema(value("schema")) } };
    }
    if (!file || !store) throw new Error("--backup requires a file, and with --store the store to copy.");
    if (isPostgres(store)) throw new Error("--backup copies a file. Use pg_dump for Postgres.");
    return { store, target: { file } };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}
