import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** A secret of the service, such as a model's key: in a variable, or in a file that is read each time, so that it can be replaced. */
export interface ServiceSecret {
  /** The variable that has it, even if it is in a file. */
  name: string;
  /** Undefined if it is in the variable. */
  file: string | undefined;
  /** Its value now; the last one if the file can no longer be read. */
  readonly value: string;
  /** All values that this process has had: an agent that runs may still have one that was replaced. */
  values(): Iterable<string>;
}

/** Names of variables that have secrets. */
const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;

/** Returns whether a variable has a secret, by its name. */
export const isSecretName = (name: string): boolean => secretName.test(name);

/** Shorter ones would be found in ordinary text. Real keys are far longer. */
export const minSecretLength = 8;
/** The lines of a value that are secrets by themselves. */
const minLineLength = 16;

/** Names of variables that say which region, project, resource or model is used. */
const publicName = /(?:^|_)(?:REGION|LOCATION|PROJECT(?:_ID)?|RESOURCE|MODEL)$/i;
/** Words of letters, with dashes between them, such as `eu-central` and `service_account`. */
const words = /^(?:[A-Z]?[a-z]{1,20}|[A-Z]{1,20})(?:[-_](?:[A-Z]?[a-z]{1,20}|[A-Z]{1,20}))*$/;
/** An address without a user, whose path has only words and versions: others can be what gives access. */
const address =
  /^(?:[a-z]{2,9}:\/\/[a-z\d.-]+|localhost|(?:\d{1,3}\.){3}\d{1,3}|(?:[a-z\d-]{1,20}\.)+[a-z]{2,12})(?::\d{1,5})?(?:\/(?:[a-z]{1,20}(?:-[a-z]{1,20})*|[\w.-]{0,6}))*$/;

/** Returns whether a value that an agent gets is no secret, by the name and the value. */
export function isPublicValue(name: string, value: string): boolean {
  return address.test(value) || (!isSecretName(name) && (publicName.test(name) || words.test(value)));
}

/**
 * Returns the texts of which each gives a secret away: the value, a password in it, the strings of a value in JSON, and the long lines of one
 * with several.
 */
export function textsOfSecret(value: string): string[] {
  const text = value.trim();
  const json = /^[{[]/.test(text) ? parseJson(text) : undefined;
  const lines = text.split(/\r?\n|\\n/).map((line) => line.trim());
  const parts =
    json !== undefined
      ? stringsIn(json).flatMap(([key, one]) => (isPublicValue(key, one.trim()) ? [] : textsOfSecret(one)))
      : lines.length > 1
        ? lines.filter((line) => line.length >= minLineLength && !isPublicLine(line))
        : [passwordOf(text)];
  return [...new Set([text, ...parts])].filter(({ length }) => length >= minSecretLength);
}

/** Such as the first line of a key, and settings that are none. */
function isPublicLine(line: string): boolean {
  const setting = /^(?:export\s+)?["']?([\w.-]+)["']?\s*[=:]\s*["']?(.*?)["']?,?$/;
  const [, name = "", value = line] = setting.exec(line) ?? [];
  return /^-----[A-Z ]+-----$/.test(value) || isPublicValue(name, value);
}

/** Returns the password of a URL; empty if it has none. */
export function passwordOf(url: string): string {
  const [, password = ""] = /^(?:[a-z][a-z\d+.-]*:\/\/)?[^\s:@/]*:([^\s@/]+)@/i.exec(url) ?? [];
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** Returns the strings in JSON, each with the key that it belongs to. */
function stringsIn(json: unknown, key = ""): [key: string, text: string][] {
  if (typeof json === "string") return [[key, json]];
  if (typeof json !== "object" || json === null) return [];
  return Object.entries(json).flatMap(([name, one]) => stringsIn(one, Array.isArray(json) ? key : name));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The values that were in each file, the current one last. */
const valuesOf = new Map<string, Set<string>>();

/**
 * Finds a secret: in the variable `NAME`, in the file that `NAME_FILE` names, or in the file `NAME` of systemd's `$CREDENTIALS_DIRECTORY`.
 *
 * @returns `undefined` if there is none
 * @throws if there are two, or the file cannot be used. The message names the file, and nothing that is in it
 */
export function findSecret(name: string, environment: NodeJS.ProcessEnv): ServiceSecret | undefined {
  const value = environment[name]?.trim();
  const file = findFile(name, environment);
  if (file === undefined) return value ? { name, file, value, values: () => [value] } : undefined;
  if (value) throw new Error(`${name} is set, and ${file} has it, too: remove one of them.`);
  readSecretFile(name, file);
  const values = (): Set<string> => {
    try {
      readSecretFile(name, file);
    } catch {
      // The last value stays in use, and who watches the file says so.
    }
    return valuesOf.get(file) ?? new Set();
  };
  return {
    name,
    file,
    get value() {
      return [...values()].at(-1) ?? "";
    },
    values,
  };
}

/**
 * Finds a secret that is sent in a header of HTTP; see `findSecret`.
 *
 * @throws also if its value is not valid there. The message has nothing of it
 */
export function findKey(name: string, environment: NodeJS.ProcessEnv): ServiceSecret | undefined {
  const found = findSecret(name, environment);
  if (found !== undefined && !isOneLine.test(found.value))
    throw new Error(`${name} has a line break, a space or another character that no key has: paste it again.`);
  return found;
}

/** What else there is would not be valid in a header of HTTP. */
const isOneLine = /^[!-~]+$/;

/**
 * Reads a file with a secret, and remembers the value.
 *
 * @throws if the file cannot be used
 */
export function readSecretFile(name: string, file: string): void {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new Error(`${file}, which has ${name}, cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  if (!isOneLine.test(text)) throw new Error(`${file} must have ${name} in one line of ASCII, and nothing else.`);
  const values = valuesOf.get(file) ?? new Set();
  values.delete(text);
  valuesOf.set(file, values.add(text));
}

function findFile(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const named = environment[`${name}_FILE`];
  if (named) return resolve(named);
  const folder = environment.CREDENTIALS_DIRECTORY;
  const credential = folder ? join(folder, name) : undefined;
  return credential !== undefined && existsSync(credential) ? credential : undefined;
}
