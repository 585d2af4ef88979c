import { isKeyName } from "../access/key-file.ts";
import type { KeyCommand } from "../access/run-key-command.ts";
import { errorMessage } from "../error-message.ts";
import { parseArguments } from "./arguments.ts";

/** Parses a command line that begins with `key`. Returns `undefined` if it does not, or what is wrong with it. */
export function parseKeyOptions(args: readonly string[]): KeyCommand | undefined | { error: string } {
  if (args[0] !== "key") return undefined;
  try {
    const { positionals, has, value } = parseArguments(
      args.slice(1),
      ["keys", "project", "scope", "expires-days"],
      true,
    );
    const [command, name, ...more] = positionals;
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
  } catch (error) {
    return { error: errorMessage(error) };
  }
}
