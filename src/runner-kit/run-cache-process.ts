import { type ChildProcess, fork } from "node:child_process";
import { createRedactor } from "./redact.ts";

/** What the cache process does. */
export type Operation = "restore" | "save";

/** The cache process's last message. `isDone` is `false` if there was no entry to restore, or none was saved. */
export type Reply = { isDone: boolean } | { error: string };

export interface CacheOperation {
  operation: Operation;
  /** The key of the entry. A restore takes the newest entry whose key has this prefix. */
  key: string;
  /** The file that the entry consists of, in `folder`. A restore only finds entries whose path is spelled the same. */
  file: string;
  /** Absolute, empty but for a file to save, and without spaces. */
  folder: string;
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
 * - logs errors instead of throwing them, and logs text from the service. The log is read for errors and never printed.
 * - depends on the working directory, `GITHUB_WORKSPACE` and `RUNNER_TEMP`. An empty folder stands for all of them, so
 *   that an entry is one file without a path, wherever the runner's folders are.
 * - cannot be aborted, starts `tar`, and may throw outside of its promises. A process group can be killed.
 * - takes tens of megabytes of memory, which are free again when the process ends.
 *
 * @returns whether an entry was restored or saved
 * @throws if the library threw or logged an error, or at the timeout. The message contains no secret
 */
export async function runCacheProcess(options: CacheOperation): Promise<boolean> {
  const { operation, key, file, folder, program, environment, signal } = options;
  const child = fork(program, ["cache", operation, key, file], {
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
    signal.addEventListener("abort", () => {
      kill(child);
      resolve(undefined);
    });
  });

  const redact = redactorFor(log, environment.ACTIONS_RUNTIME_TOKEN);
  if (!reply && signal.aborted) {
    throw new Error(redact(`${failedAttempt(log) ?? "The cache service did not respond"}, until the timeout`));
  }
  const error = reply && "error" in reply ? reply.error : loggedError(log);
  if (error !== undefined) throw new Error(redact(error));
  if (!reply || "error" in reply) throw new Error(`The cache process ended with ${child.signalCode ?? child.exitCode}`);
  return reply.isDone;
}

const hasProcessGroups = process.platform !== "win32";

/** Kills a cache process, and `tar` if it is running. */
function kill(child: ChildProcess): void {
  child.stdout?.destroy();
  try {
    if (hasProcessGroups && child.pid) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It has ended.
  }
}

function processEnvironment(environment: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
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
