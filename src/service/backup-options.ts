import { parseArgs } from "node:util";
import { errorMessage } from "./error-message.ts";

/** What `--backup` asks for: a copy of a store in a new file. */
export interface BackupOptions {
  store: string;
  file: string;
}

/** Parses a command line with `--backup`. Returns `undefined` if it has none, or what is wrong with it. */
export function parseBackupOptions(args: string[]): BackupOptions | undefined | { error: string } {
  if (!args.some((arg) => /^--backup(=|$)/.test(arg))) return undefined;
  try {
    const { values } = parseArgs({ args, options: { backup: { type: "string" }, store: { type: "string" } } });
    const { backup: file, store } = values;
    if (!file || !store) throw new Error("--backup requires a file, and with --store the store to copy.");
    return { store, file };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}
