import { errorMessage } from "../error-message.ts";
import { parseArguments } from "./arguments.ts";

/** The copy of a store that `--backup` or `--export` requests. */
export interface CopyOptions {
  /** A file. */
  store: string;
  /** A new file, or the URL of a Postgres database. */
  target: { file: string } | { url: string };
}

/** Parses a command line with `--backup` or `--export`. Returns `undefined` if it has neither, or what is wrong with it. */
export function parseCopyOptions(args: readonly string[]): CopyOptions | undefined | { error: string } {
  if (!args.some((arg) => /^--(backup|export)(=|$)/.test(arg))) return undefined;
  try {
    const { value } = parseArguments(args, ["backup", "export", "store"]);
    const [file, url, store] = [value("backup"), value("export"), value("store")];
    if (file !== undefined && url !== undefined) throw new Error("--backup and --export cannot be used together.");
    if (url !== undefined) {
      if (!isPostgres(url) || !store)
        throw new Error("--export requires a postgres:// URL, and with --store the file to copy.");
      return { store, target: { url } };
    }
    if (!file || !store) throw new Error("--backup requires a file, and with --store the store to copy.");
    if (isPostgres(store)) throw new Error("--backup copies a file. Use pg_dump for Postgres.");
    return { store, target: { file } };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

/** Whether a store is the URL of a Postgres database, and not a file. */
export function isPostgres(store: string): boolean {
  return /^postgres(ql)?:/.test(store);
}
