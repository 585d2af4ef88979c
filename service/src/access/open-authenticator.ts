import {
  type Access,
  type Authenticator,
  checkKind,
  hashKey,
  invalidKey,
  isToken,
  signInAs,
  singleKeyName,
  unauthorized,
} from "../http/authentication.ts";
import { type Machine, thisMachine } from "../machine.ts";
import { dayMs } from "../time.ts";
import { isExpired, type StoredKey } from "./key-file.ts";
import { KeyFileReader } from "./key-file-reader.ts";
import type { TrustRule } from "./trust-rule.ts";
import type { WorkflowTokens } from "./workflow-tokens.ts";

export interface AccessOptions {
  /** A key for all projects. Default: none. */
  apiKey: string | undefined;
  /** A file of more keys. Default: none. */
  keys: string | undefined;
  /** The repositories whose workflows need no key. */
  trust: readonly TrustRule[];
  /** The issuer of workflow tokens. */
  trustIssuer: string;
  projects: readonly string[];
  /** Returns the URL of the service. Tokens must be for its origin. */
  baseUrl: () => string;
  /** Default: this machine. */
  machine?: Machine;
  log: (line: string) => void;
}

/**
 * Returns an authenticator for any number of keys, and for tokens of workflows.
 *
 * @throws if the file of keys does not exist or cannot be used
 */
export async function openAuthenticator(options: AccessOptions): Promise<Authenticator> {
  const { apiKey, keys: file, trust, projects, machine = thisMachine, log } = options;
  const onRead = (keys: readonly StoredKey[]) => warnOfProjects(keys, projects, log);
  return new ManyKeys({
    ownKey: apiKey === undefined ? undefined : { name: singleKeyName, sha256: hashKey(apiKey), projects: "all" },
    file: file === undefined ? undefined : await KeyFileReader.open({ file, machine, log, onRead }),
    tokens: trust.length === 0 ? undefined : await openTokens(options, machine),
    projects,
    machine,
    uses: new UseLog(machine, log),
  });
}

/** Only a service that trusts workflows loads the code that verifies their tokens. */
async function openTokens(options: AccessOptions, machine: Machine): Promise<WorkflowTokens> {
  const { trust: rules, trustIssuer: issuer, projects, baseUrl, log } = options;
  const audience = () => new URL(baseUrl()).origin;
  const { WorkflowTokens } = await import("./workflow-tokens.ts");
  return new WorkflowTokens({ issuer, audience, rules, projects, machine, log });
}

/** A key of a file, or the one of the environment. */
type Key = Omit<StoredKey, "created">;

interface Sources {
  ownKey: Key | undefined;
  file: KeyFileReader | undefined;
  tokens: WorkflowTokens | undefined;
  projects: readonly string[];
  machine: Machine;
  uses: UseLog;
}

class ManyKeys implements Authenticator {
  readonly #sources: Sources;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  async authenticate(text: string | undefined): Promise<Access> {
    checkKind(text);
    const { machine, uses } = this.#sources;
    const key = await this.#find(hashKey(text));
    if (key !== undefined && isExpired(key, machine.wallTime()))
      throw unauthorized(`The API key ${key.name} expired on ${key.expires?.slice(0, 10)}`);
    const access = key === undefined ? await this.#verify(text) : this.#accessBy(key);
    uses.add(access.name);
    return access;
  }

  async accessOf(text: string): Promise<Access | undefined> {
    const { ownKey, file, machine } = this.#sources;
    const keys = [...(ownKey ? [ownKey] : []), ...((await file?.keys()) ?? [])];
    const key = keys.find(({ name, sha256 }) => signInAs(name, sha256) === text);
    return key === undefined || isExpired(key, machine.wallTime()) ? undefined : this.#accessBy(key);
  }

  /** Finds a key by its hash. The duration reveals something about the hash of the sent text, and nothing about a key. */
  async #find(sha256: string): Promise<Key | undefined> {
    const { ownKey, file } = this.#sources;
    return ownKey?.sha256 === sha256 ? ownKey : file?.find(sha256);
  }

  #verify(text: string): Promise<Access> {
    const { tokens } = this.#sources;
    if (tokens === undefined || !isToken(text)) throw invalidKey(text);
    return tokens.verify(text);
  }

  /** Leaves out projects that the service does not have. */
  #accessBy({ name, sha256, projects: allowed, scope }: Key): Access {
    const { projects } = this.#sources;
    const usable = allowed === "all" ? projects : projects.filter((project) => allowed.includes(project));
    return { name, projects: usable, signInAs: signInAs(name, sha256), ...(scope === "read" && { isReadOnly: true }) };
  }
}

/** Logs each client's first request of a day, so that the operator knows which keys are still in use. */
class UseLog {
  readonly #machine: Machine;
  readonly #log: (line: string) => void;
  /** The day of the last line, by name. There are only as many names as keys and trusted repositories. */
  readonly #days = new Map<string, number>();

  constructor(machine: Machine, log: (line: string) => void) {
    this.#machine = machine;
    this.#log = log;
  }

  add(name: string): void {
    const day = Math.floor(this.#machine.wallTime() / dayMs);
    if (this.#days.get(name) === day) return;
    this.#days.set(name, day);
    this.#log(`First request of the day by: ${name}`);
  }
}

function warnOfProjects(keys: readonly StoredKey[], projects: readonly string[], log: (line: string) => void): void {
  for (const { name, projects: allowed } of keys) {
    const unknown = allowed === "all" ? [] : allowed.filter((project) => !projects.includes(project));
    if (unknown.length > 0)
      log(`The API key ${name} is for projects that this service does not have: ${unknown.join(", ")}`);
  }
}
