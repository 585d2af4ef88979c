import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** A secret of the service, such as a model's key: in a variable, or in a file that is read each time, so that it can be replaced. */
export interface ServiceSecret {
  /** The variable that has it, also if it is in a file. */
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

/** The values that were in each file, the current one last. */
const valuesOf = new Map<string, Set<string>>();

/**
 * Finds a secret: in the variable `NAME`, in the file that `NAME_FILE` names, or in the file `NAME` of systemd's
 * `$CREDENTIALS_DIRECTORY`.
 *
 * @returns `undefined` if there is none
 * @throws if there are two, or the file cannot be used. The message names the file, and has nothing of what is in it
 */
export function findSecret(name: string, environment: NodeJS.ProcessEnv): ServiceSecret | undefined {
  const value = environment[name];
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
  // What else there is would not be valid in a header of HTTP.
  if (!/^[!-~]+$/.test(text)) throw new Error(`${file} must have ${name} in one line of ASCII, and nothing else.`);
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
