import { type ChildProcess, fork } from "node:child_process";
import { lstatSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../client/clock.ts";
import { createRedactor } from "../../client/redact.ts";

/** Small texts in the repository's Actions cache. A key can be saved once; a restore takes the newest with a prefix. */
export interface Cache {
  /**
   * Returns the text that was saved last under a key with this prefix; `undefined` if there is none. Untrusted text.
   *
   * @throws {CacheEntryError} if there is an entry, but it is not a text that `save` can have saved
   * @throws if the service cannot be read after retries
   */
  restore(prefix: string): Promise<string | undefined>;
  /**
   * Saves a text. Not retried: it is unknown whether the key is used, so save again under another one.
   *
   * @throws if it cannot be saved: read-only token, used key, full, slow
   */
  save(key: string, text: string): Promise<void>;
}

/** Thrown when an entry was found that is unusable, and will be until a newer one is saved. */
export class CacheEntryError extends Error {
  override readonly name = "CacheEntryError";
}

export interface CacheOptions {
  /** For a restore with its retries, in milliseconds. Default: 10,000. */
  restoreTimeoutMs?: number;
  /** For a save, in milliseconds. Default: 5,000. */
  saveTimeoutMs?: number;
  /** The file that the cache process runs. Default: the action's, which hands over to `cache-process.ts`. */
  program?: string;
}

/** What the cache process does. */
export type Operation = "restore" | "save";

/** The cache process's last message. `isDone` is `false` if there was no entry to restore, or none was saved. */
export type Reply = { isDone: boolean } | { error: string };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The file that every entry consists of. A restore only finds entries whose path is spelled the same. It is relative, so
 * that runners with different folders share their entries.
 */
const entryFile = "agent-job.json";
/** Longer texts are neither saved nor read. */
const maxBytes = 64 * 1024;
/** Delays before the retries of a restore. The library retries some errors on its own, but not all. */
const retryDelaysMs = [500, 1000];
/** How much of the cache process's log is kept. The end tells why it failed. */
const maxLogLength = 64 * 1024;

/** Returns whether the runner offers a cache service that can be read, by the rules of `@actions/cache`. */
export function hasCacheService(environment: Environment): boolean {
  const isWriteOnly = ["none", "write-only"].includes(environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() ?? "");
  const isV2 = Boolean(environment.ACTIONS_CACHE_SERVICE_V2) && !isEnterpriseServer(environment.GITHUB_SERVER_URL);
  // act offers v1 without a token.
  const isOffered = isV2
    ? environment.ACTIONS_RESULTS_URL && environment.ACTIONS_RUNTIME_TOKEN
    : environment.ACTIONS_CACHE_URL;
  return Boolean(isOffered) && !isWriteOnly;
}

function isEnterpriseServer(serverUrl: string | undefined): boolean {
  const hostname = URL.parse(serverUrl || "https://github.com")?.hostname ?? "";
  return hostname !== "github.com" && !hostname.endsWith(".ghe.com") && !hostname.endsWith(".localhost");
}

/**
 * Returns the Actions cache that the runner's environment variables describe. Each operation runs `@actions/cache` in a
 * process of its own, because the library
 *
 * - logs errors instead of throwing them, and logs text from the service. The log is read for errors and never printed.
 * - depends on the working directory, `GITHUB_WORKSPACE` and `RUNNER_TEMP`. An empty folder stands for all of them, so
 *   that an entry is one file without a path, wherever the runner's folders are.
 * - cannot be aborted, starts `tar`, and may throw outside of its promises. A process group can be killed.
 * - takes tens of megabytes of memory, which are free again while the step waits for the job.
 */
export function connectCache(environment: Environment, options: CacheOptions = {}): Cache {
  const { restoreTimeoutMs = 10_000, saveTimeoutMs = 5000, program = process.argv[1] ?? "" } = options;
  const run = (operation: Operation, key: string, folder: Folder, signal: AbortSignal) =>
    runProcess([program, operation, key], folder.path, environment, signal);

  return {
    restore: async (prefix) => {
      using folder = temporaryFolder(environment);
      const signal = AbortSignal.timeout(restoreTimeoutMs);
      let lastError: unknown;
      for (const delayMs of [0, ...retryDelaysMs]) {
        await systemClock.sleep(delayMs, signal);
        if (signal.aborted) break;
        try {
          return (await run("restore", prefix, folder, signal)) ? readEntry(folder) : undefined;
        } catch (error) {
          if (error instanceof CacheEntryError) throw error;
          if (isTarError(error)) throw new CacheEntryError(error.message);
          // What went wrong before says more than that time is up.
          if (!signal.aborted || lastError === undefined) lastError = error;
        }
      }
      throw lastError;
    },
    save: async (key, text) => {
      if (Buffer.byteLength(text) > maxBytes) throw new Error(`The text is longer than ${maxBytes} bytes`);
      using folder = temporaryFolder(environment);
      writeFileSync(join(folder.path, entryFile), text);
      const isSaved = await run("save", key, folder, AbortSignal.timeout(saveTimeoutMs));
      if (!isSaved) throw new Error("The cache entry was not saved");
    },
  };
}

interface Folder extends Disposable {
  path: string;
}

/** Creates an empty folder, which is deleted when it is disposed of. */
function temporaryFolder({ RUNNER_TEMP }: Environment): Folder {
  // The library does not quote paths for tar.
  const parent = RUNNER_TEMP && !/\s/.test(RUNNER_TEMP) ? RUNNER_TEMP : tmpdir();
  const path = realpathSync(mkdtempSync(join(parent, "agent-job-cache-")));
  return {
    path,
    [Symbol.dispose]: () => {
      try {
        rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      } catch {
        // The runner empties RUNNER_TEMP after the job.
      }
    },
  };
}

/** Reads what a restore wrote. Whoever can write the cache decides what that is. */
function readEntry({ path }: Folder): string {
  const file = join(path, entryFile);
  const status = lstatSync(file, { throwIfNoEntry: false });
  if (!status?.isFile() || status.nlink > 1) throw new CacheEntryError("The cache entry is not a regular file");
  if (status.size > maxBytes) throw new CacheEntryError(`The cache entry is longer than ${maxBytes} bytes`);
  return readFileSync(file, "utf8");
}

/**
 * Runs an operation in a cache process and returns `isDone` of its reply.
 *
 * @throws if the library threw or logged an error, or at the timeout, which `signal` stands for
 */
async function runProcess(
  [program, ...command]: [program: string, operation: Operation, key: string],
  folder: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<boolean> {
  const child = fork(program, ["cache", ...command, entryFile], {
    cwd: folder,
    env: processEnvironment(environment, folder),
    execArgv: [],
    stdio: ["ignore", "pipe", "ignore", "ipc"],
    detached: hasProcessGroups,
  });
  let log = "";
  let reply: Reply | undefined;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-maxLogLength);
  });
  child.on("message", (message) => {
    reply = message as Reply;
  });
  await new Promise<unknown>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
    signal.addEventListener("abort", resolve, { once: true });
    if (signal.aborted) resolve(undefined);
  });
  if (signal.aborted) kill(child);

  const redact = redactorFor(log, environment.ACTIONS_RUNTIME_TOKEN);
  if (!reply && signal.aborted) {
    throw new Error(redact(`${failedAttempt(log) ?? "The cache service did not respond"}, until the timeout`));
  }
  const error = reply && "error" in reply ? reply.error : loggedError(log);
  if (error !== undefined) throw new Error(redact(error));
  if (!reply || "error" in reply) throw new Error(`The cache process ended with ${child.signalCode ?? child.exitCode}`);
  return reply.isDone;
}

/** Returns whether `tar` ran and failed, going by the library's message. */
function isTarError(error: unknown): error is Error {
  return error instanceof Error && / failed with error: The process /.test(error.message);
}

const hasProcessGroups = process.platform !== "win32";

/** Kills a cache process, and `tar` if it is running. */
function kill(child: ChildProcess): void {
  child.stdout?.destroy();
  try {
    if (hasProcessGroups && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It has ended.
  }
}

function processEnvironment(environment: Environment, folder: string): NodeJS.ProcessEnv {
  // The inputs contain the API key, and tar does not need it.
  const inherited = Object.entries(environment).filter(([name]) => !/^INPUT_/i.test(name));
  return {
    ...Object.fromEntries(inherited),
    GITHUB_WORKSPACE: folder,
    RUNNER_TEMP: folder,
    // Debugging makes the library list archives and caches, which only costs time here.
    RUNNER_DEBUG: "",
    // The library lets tar write anywhere. This makes GNU tar skip everything that is not directly in the folder.
    TAR_OPTIONS: "--exclude=*/*",
  };
}

/** Returns the error that the library logged last; `undefined` if it logged none. */
function loggedError(log: string): string | undefined {
  const lines = log.matchAll(
    /^(?:::(?:warning|error)[^:]*::|(?=Cache (?:restore|save) skipped: |Failed to save: ))(.*)/gm,
  );
  const last = [...lines].at(-1)?.[1];
  return last === undefined ? undefined : unescapeCommand(last);
}

/** Returns the error of the last attempt that the library retries; `undefined` if there was none. */
function failedAttempt(log: string): string | undefined {
  const last = [...log.matchAll(/Attempt \d+ of \d+ failed with error: (.*)/g)].at(-1)?.[1];
  return last === undefined ? undefined : unescapeCommand(last);
}

/** Returns a function that redacts the runtime token and what the library asks the runner to mask. */
function redactorFor(log: string, token = ""): (text: string) => string {
  const masked = [...log.matchAll(/^::add-mask::(.*)/gm)].map(([, secret = ""]) => unescapeCommand(secret));
  const redactors = [token, ...new Set(masked)].map(createRedactor);
  return (text) => redactors.reduce((redacted, redact) => redact(redacted), text);
}

/** Decodes the data of a workflow command. */
function unescapeCommand(data: string): string {
  return data.replaceAll("%0D", "\r").replaceAll("%0A", "\n").replaceAll("%25", "%").trimEnd();
}
