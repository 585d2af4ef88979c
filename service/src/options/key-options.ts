import { parseArgs } from "node:util";
import { isKeyName } from "../access/key-file.ts";
import { errorMessage } from "../error-message.ts";

/** What `key add`, `key list` or `key revoke` asks for. */
export type KeyOptions =
  | { command: "add"; file: string; name: string; projects: "all" | string[]; expiresDays: number | undefined }
  | { command: "list"; file: string }
  | { command: "revoke"; file: string; name: string };

const maxDays = 3650;

/** Parses a command line that begins with `key`. Returns `undefined` if it does not, or what is wrong with it. */
export function parseKeyOptions(args: string[]): KeyOptions | undefined | { error: string } {
  if (args[0] !== "key") return undefined;
  try {
    const { values, positionals } = parseArgs({
      args: args.slice(1),
      allowPositionals: true,
      options: {
        keys: { type: "string" },
        project: { type: "string", multiple: true },
        "expires-days": { type: "string" },
      },
    });
    const [command, name, ...more] = positionals;
    const { keys: file, project: projects, "expires-days": days } = values;
    if (more.length > 0) throw new Error(`key ${command} takes one name.`);
    if (!file) throw new Error("key requires --keys FILE.");
    if (command !== "add" && (projects ?? days) !== undefined)
      throw new Error("--project and --expires-days are options of key add.");
    if (command === "list" && name === undefined) return { command, file };
    if (command !== "add" && command !== "revoke") throw new Error("key must be followed by add, list or revoke.");
    if (name === undefined || !isKeyName(name))
      throw new Error(`key ${command} requires a name of up to 64 letters, digits, ".", "_" and "-".`);
    if (command === "revoke") return { command, file, name };
    return { command, file, name, projects: projects ?? "all", expiresDays: parseDays(days) };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

function parseDays(text: string | undefined): number | undefined {
  const days = Number(text);
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text) || days < 1 || days > maxDays)
    throw new Error(`--expires-days must be an integer from 1 to ${maxDays}.`);
  return days;
}
