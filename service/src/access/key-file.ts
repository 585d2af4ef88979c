import { open, stat } from "node:fs/promises";
import * as z from "zod/mini";
import { errorMessage } from "../error-message.ts";

// The hashes need neither salt nor a slow function, as hashes of passwords do: the keys are random, with 192 bits, so that
// nobody can find one by trying, however fast.

const name = z
  .string()
  .check(z.regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "must be up to 64 letters, digits, '.', '_' and '-'"));
const time = z.iso.datetime("must be a time, such as 2026-01-31T00:00:00Z");

const projectList = 'must be "all" or a list of projects';

const storedKey = z.strictObject({
  /** Unique in the file. */
  name,
  /** The hash of the key, in hexadecimal. */
  sha256: z.string().check(z.regex(/^[\da-f]{64}$/, "must be 64 hexadecimal digits")),
  projects: z.union([z.literal("all"), z.array(z.string()).check(z.minLength(1, projectList))], projectList),
  /** Default: everything. */
  scope: z.optional(z.literal("read", 'must be "read"')),
  created: time,
  /** Default: never. */
  expires: z.optional(time),
});

const keyFile = z.strictObject({ version: z.literal(1, "must be 1"), keys: z.array(storedKey) });

export type StoredKey = z.infer<typeof storedKey>;

export interface KeyFileContent {
  keys: readonly StoredKey[];
  /** Changes whenever the file does; see `stampOf`. */
  stamp: string;
  mode: number;
  uid: number;
  gid: number;
}

/** Some thousand keys. */
const maxBytes = 1_000_000;

/** Whether a key can have this name. */
export function isKeyName(text: string): boolean {
  return z.safeParse(name, text).success;
}

/** Whether a key has expired, at a time in milliseconds. */
export function isExpired({ expires }: Pick<StoredKey, "expires">, now: number): boolean {
  return expires !== undefined && Date.parse(expires) <= now;
}

/**
 * Reads a file of keys.
 *
 * @throws if it cannot be read, others can write it, or its content is not valid; the message names the file
 */
export async function readKeyFile(file: string): Promise<KeyFileContent> {
  // Opening something else, such as a pipe, could wait for ever.
  if (!(await stat(file)).isFile()) throw new Error(`${file} is not a file`);
  await using handle = await open(file);
  // The stats of the open file: another file may have replaced it by now.
  const stats = await handle.stat({ bigint: true });
  const mode = Number(stats.mode) & 0o777;
  // Anyone who can write it could add a key. Reading it helps nobody.
  if ((mode & 0o022) !== 0) throw new Error(`${file} can be written by others. Run: chmod go-w ${file}`);
  if (stats.size > maxBytes) throw new Error(`${file} has more than ${maxBytes} bytes`);
  const keys = parseKeys(await handle.readFile("utf8"), file);
  return { keys, stamp: stampOf(stats), mode, uid: Number(stats.uid), gid: Number(stats.gid) };
}

/** Returns a text that changes when a file is written, replaced or made accessible to others. */
export async function readStamp(file: string): Promise<string> {
  return stampOf(await stat(file, { bigint: true }));
}

/** Returns the text of a file of keys. */
export function formatKeys(keys: readonly StoredKey[]): string {
  return `${JSON.stringify({ version: 1, keys }, undefined, 2)}\n`;
}

interface Stats {
  dev: bigint;
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: Stats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

function parseKeys(text: string, file: string): StoredKey[] {
  const { data, error } = z.safeParse(keyFile, parseJson(text, file));
  if (error !== undefined) {
    const [issue] = error.issues;
    const path = issue?.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
    throw new Error(`${file} is not a file of keys: ${path?.replace(/^\./, "") || "the file"} ${problemOf(issue)}`);
  }
  for (const field of ["name", "sha256"] as const) {
    const values = data.keys.map((key) => key[field]);
    const repeated = data.keys.find((key, index) => values.indexOf(key[field]) !== index);
    if (repeated !== undefined) throw new Error(`${file} has two keys with the ${field} of ${repeated.name}`);
  }
  return data.keys;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is not JSON: ${errorMessage(error)}`);
  }
}

function problemOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === "unrecognized_keys") return `has an unknown field: ${issue.keys.join(", ")}`;
  if (issue?.code === "invalid_type") return `must be ${issue.expected}`;
  return issue?.message ?? "is not valid";
}
