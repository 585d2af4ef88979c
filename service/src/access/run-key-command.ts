import { hashKey } from "../http/authentication.ts";
import { dayMs } from "../time.ts";
import { editKeyFile } from "./edit-key-file.ts";
import { generateKey } from "./generate-key.ts";
import { isExpired, readKeyFile, type StoredKey } from "./key-file.ts";

/** What to do with the keys of a file. */
export type KeyCommand =
  | {
      command: "add";
      file: string;
      name: string;
      projects: "all" | string[];
      /** Default: everything. */
      scope?: "read" | undefined;
      expiresDays: number | undefined;
    }
  | { command: "list"; file: string }
  | { command: "revoke"; file: string; name: string };

export interface CommandOutput {
  /** For programs: on stdout. */
  text: string;
  /** For people: on stderr, so that the output of `key add` is nothing but the key. */
  note: string;
}

/**
 * Adds, lists or revokes keys of a file.
 *
 * @param now - milliseconds since 1970
 * @throws if the command fails; then the file is unchanged
 */
export async function runKeyCommand(options: KeyCommand, now: number): Promise<CommandOutput> {
  const { file } = options;
  if (options.command === "add") return addKey(options, now);
  if (options.command === "list") return { text: listKeys((await readKeyFile(file)).keys, now), note: "" };
  const { name } = options;
  await editKeyFile(file, (keys) => without(keys, name, file));
  return {
    text: "",
    note: `Revoked ${name}. Services that have the file notice within a second, and end its sessions.\n`,
  };
}

async function addKey(options: KeyCommand & { command: "add" }, now: number): Promise<CommandOutput> {
  const { file, name, projects, scope, expiresDays } = options;
  const key = generateKey();
  const stored: StoredKey = {
    name,
    sha256: hashKey(key),
    projects,
    ...(scope !== undefined && { scope }),
    created: timeOf(now),
    ...(expiresDays !== undefined && { expires: timeOf(now + expiresDays * dayMs) }),
  };
  await editKeyFile(file, (keys) => withKey(keys, stored, file), []);
  const validity = stored.expires === undefined ? "" : `, until ${stored.expires.slice(0, 10)}`;
  return {
    text: `${key}\n`,
    note: `Added ${name} ${scope === "read" ? "to read " : "for "}${listOf(projects)}${validity}. The key is not shown again.\n`,
  };
}

function withKey(keys: readonly StoredKey[], added: StoredKey, file: string): StoredKey[] {
  if (keys.some(({ name }) => name === added.name))
    throw new Error(`${file} already has a key ${added.name}. Revoke it first, or choose another name`);
  return [...keys, added];
}

function without(keys: readonly StoredKey[], revoked: string, file: string): StoredKey[] {
  const others = keys.filter(({ name }) => name !== revoked);
  if (others.length === keys.length) throw new Error(`${file} has no key ${revoked}`);
  return others;
}

function listKeys(keys: readonly StoredKey[], now: number): string {
  const rows = keys.map((key) => [
    key.name,
    `${listOf(key.projects)}${key.scope === "read" ? " (only reads)" : ""}`,
    key.created.slice(0, 10),
    `${key.expires?.slice(0, 10) ?? "never"}${isExpired(key, now) ? " (expired)" : ""}`,
    // Enough to recognize a key whose hash someone has.
    key.sha256.slice(0, 8),
  ]);
  const table = [["name", "projects", "created", "expires", "sha256"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
  const lines = table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return `${lines.join("\n")}\n`;
}

const listOf = (projects: "all" | readonly string[]) => (projects === "all" ? "all projects" : projects.join(", "));

/** Without milliseconds, which nobody needs. */
const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
