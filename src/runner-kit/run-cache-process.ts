import { type ChildProcess, fork } from "node:child_process";
import { CacheReadOnlyError, cacheAccess } from "./cache.ts";
import { createRedactor } from "./redact.ts";

/** What the cache process does. */
export type Operation = "restore" | "save";

/**
 * The cache process's last message. `isDone` is `false` if there was no entry to restore. `isReadOnly`: the cache service
 * denied a save, because this run may not write.
 */
export type Reply = { isDone: boolean } | { error: string; isReadOnly?: boolean };

export interface CacheOperation {
  operation: Operation;
  /** The key of the entry. A restore takes the newest entry whose key has this prefix. */
  key: string;
  /** The file to save, or to write. After a restore that fails, it may have a part. */
  file: string;
  /** The file that the process runs: one that hands over to `cache-process.ts` if the first argument is `cache`. */
  program: string;
  /** With the variables by which the library finds the cache service. */
  environment: NodeJS.ProcessEnv;
  /** The timeout. Not aborted yet. */
  signal: AbortSignal;
}

/** How much of the process's log is kept. The end tells why it failed. */
const maxLogLength = 64 * 1024;

/**
 * Runs an operation of `@actions/cache` in a process of its own, because the library
 *
 * - logs text from the service, and secrets for the runner to mask. The log is read for both and never printed.
 * - cannot be aborted, and may throw outside of its promises.
 * - takes tens of megabytes of memory, which are free again when the process ends.
 *
 * @returns `false` if there is no entry to restore
 * @throws {CacheReadOnlyError} if the run may not write the cache
 * @throws if the process failed, or at the timeout. The message contains no secret
 */
export async function runCacheProcess(options: CacheOperation): Promise<boolean> {
  const { operation, key, file, program, environment, signal } = options;
  checkAccess(operation, environment);
  const child = fork(program, ["cache", operation, key, file], {
    env: processEnvironment(environment),
    execArgv: [],
    stdio: ["ignore", "pipe", "ignore", "ipc"],
    // A signal to the action's process group would end a save otherwise.
    detached: process.platform !== "win32",
    // A console of its own, for the same reason: a runner cancels a step with Ctrl+C for all processes of the console.
    windowsHide: true,
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
    signal.addEventListener("abort", () => {
      kill(child);
      resolve(undefined);
    });
  });

  const redact = redactorFor(log, environment.ACTIONS_RUNTIME_TOKEN);
  if (!reply && signal.aborted) {
    throw new Error(redact(`${failedAttempt(log) ?? "The cache service did not respond"}, until the timeout`));
  }
  if (!reply) throw new Error(`The cache process ended with ${child.signalCode ?? child.exitCode}`);
  if ("isDone" in reply) return reply.isDone;
  const error = redact(reply.error);
  throw reply.isReadOnly ? new CacheReadOnlyError(error) : new Error(error);
}

/** Throws if the runner already says that the cache service would deny the operation. */
function checkAccess(operation: Operation, environment: NodeJS.ProcessEnv): void {
  const { ACTIONS_CACHE_MODE: mode } = environment;
  const access = cacheAccess(environment);
  if (!mode || access === "write" || (access === "read" && operation === "restore")) return;
  const message = `The Actions cache has the mode ${JSON.stringify(mode)} in this run, which does not permit to ${operation}`;
  throw operation === "save" ? new CacheReadOnlyError(message) : new Error(message);
}

function kill(child: ChildProcess): void {
  child.stdout?.destroy();
  child.kill("SIGKILL");
}

function processEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // The inputs contain the API key, which the process does not need.
  const inherited = Object.entries(environment).filter(([name]) => !/^INPUT_/i.test(name));
  // Debugging makes the library log whole responses and list other entries, which only costs time here.
  return { ...Object.fromEntries(inherited), RUNNER_DEBUG: "" };
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
