import { parseArgs } from "node:util";
import { errorMessage } from "../error-message.ts";

/** What `--backup` or `--export` asks for: a copy of a store. */
export interface CopyOptions {
  /** A file. */
  store: string;
  /** A new file, or the URL of a Postgres database. */
  target: { file: string } | { url: string };
}

/** Parses a command line with `--backup` or `--export`. Returns `undefined` if it has neither, or what is wrong with it. */
export function parseCopyOptions(args: string[]): CopyOptions | undefined | { error: string } {
  if (!args.some((arg) => /^--(backup|export)(=|$)/.test(arg))) return undefined;
  try {
    const options = { backup: { type: "string" }, export: { type: "string" }, store: { type: "string" } } as const;
    const { backup: file, export: url, store } = parseArgs({ args, options }).values;
    if (file !== undefined && url !== undefined) throw new Error("--backup and --export cannot be used together.");
    if (url !== undefined) {
      if (!/^postgres(ql)?:/.test(url) || !store)
        throw new Error("--export requires a postgres:// URL, and with --store the file to copy.");
      return { store, target: { url } };
    }
    if (!file || !store) throw new Error("--backup requires a file, and with --store the store to copy.");
    if (/^postgres(ql)?:/.test(store)) throw new Error("--backup copies a file. Use pg_dump for Postgres.");
    return { store, target: { file } };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}
