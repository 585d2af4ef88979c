import { type ChildProcess, fork } from "node:child_process";
import { copyFileSync, lstatSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Operation, Reply } from "../../action/runner/cache.ts";

/** Files in the repository's Actions cache. A key can be saved once; a restore takes the newest with a prefix. */
export interface CacheEntries {
  /** @throws if it cannot be saved: read-only token, used key, full, slow */
  save(key: string, file: string): Promise<void>;
  /**
   * Restores the newest entry whose key has this prefix. Untrusted: whoever can write the cache decides what is in it.
   *
   * @param file - does not exist yet
   * @returns whether there is an entry
   * @throws if that is unknown after retries
   */
  restore(prefix: string, file: string): Promise<boolean>;
}

export interface CacheEntriesOptions {
  /** The variables by which `@actions/cache` finds the cache service. */
  environment: Readonly<Record<string, string>>;
  /** A folder for temporary files, without spaces in its path. Default: the system's. */
  folder?: string;
  /** The file that the cache process runs. Default: that of this process, which hands over to `cache-process.ts`. */
  program?: string;
  /** Before the retries of a restore. Default: 1 s and 3 s. */
  retryDelaysMs?: readonly number[];
}

/** Every entry consists of this file. A restore only finds entries whose path is spelled the same. */
const entryName = "agent-job-service";
/** For one attempt. */
const timeoutMs = 120_000;
const maxLogLength = 64 * 1024;

/**
 * Returns the Actions cache of a runner. Each operation runs `@actions/cache` in a process of its own, in an empty folder:
 * `src/action/runner/cache.ts`, which does the same for small texts, says why.
 */
export function connectCacheEntries(options: CacheEntriesOptions): CacheEntries {
  const { environment, folder = tmpdir(), program = process.argv[1] ?? "", retryDelaysMs = [1000, 3000] } = options;
  const inFolder = async <T>(use: (path: string) => Promise<T>): Promise<T> => {
    const path = realpathSync(mkdtempSync(join(folder, "cache-")));
    try {
      return await use(path);
    } finally {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    }
  };
  return {
    save: (key, file) =>
      inFolder(async (path) => {
        copyFileSync(file, join(path, entryName));
        if (!(await run(program, "save", key, path, environment))) throw new Error("the cache entry was not saved");
      }),
    restore: async (prefix, file) => {
      for (const delayMs of [...retryDelaysMs, undefined]) {
        try {
          return await inFolder(async (path) => {
            if (!(await run(program, "restore", prefix, path, environment))) return false;
            const status = lstatSync(join(path, entryName), { throwIfNoEntry: false });
            if (!status?.isFile() || status.nlink > 1) return false;
            copyFileSync(join(path, entryName), file);
            return true;
          });
        } catch (error) {
          if (delayMs === undefined) throw error;
          await setTimeout(delayMs);
        }
      }
      return false;
    },
  };
}

/**
 * Runs an operation in a cache process and returns whether it found or saved an entry.
 *
 * @throws if the library threw or logged an error, or did not end in time
 */
async function run(
  program: string,
  operation: Operation,
  key: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<boolean> {
  const child = fork(program, ["cache", operation, key, entryName], {
    cwd: folder,
    env: {
      ...process.env,
      ...environment,
      GITHUB_WORKSPACE: folder,
      RUNNER_TEMP: folder,
      // The library lets tar write anywhere. This makes GNU tar skip everything that is not directly in the folder.
      TAR_OPTIONS: "--exclude=*/*",
    },
    execArgv: [],
    stdio: ["ignore", "pipe", "ignore", "ipc"],
    detached: true,
  });
  let log = "";
  let reply: Reply | undefined;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-maxLogLength);
  });
  child.on("message", (message) => {
    reply = message as Reply;
  });
  const signal = AbortSignal.timeout(timeoutMs);
  signal.addEventListener("abort", () => kill(child), { once: true });
  await new Promise<unknown>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const error = reply && "error" in reply ? reply.error : lastWarning(log);
  if (error !== undefined) throw new Error(withoutSecrets(error, environment));
  if (reply === undefined || "error" in reply)
    throw new Error(signal.aborted ? "the cache service did not respond in time" : "the cache process ended early");
  return reply.isDone;
}

/** Kills a cache process, and `tar` if it is running. */
function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Returns the error that the library logged last, which it does instead of throwing; `undefined` if it logged none. */
function lastWarning(log: string): string | undefined {
  const lines = log.matchAll(
    /^(?:::(?:warning|error)[^:]*::|(?=Cache (?:restore|save) skipped: |Failed to save: ))(.*)/gm,
  );
  return [...lines]
    .at(-1)?.[1]
    ?.replaceAll(/%0[AD]/g, " ")
    .replaceAll("%25", "%")
    .trim();
}

/** Addresses may be signed, and so are secrets, too. */
function withoutSecrets(text: string, { ACTIONS_RUNTIME_TOKEN: token }: Readonly<Record<string, string>>): string {
  const shown = text.replace(/\bhttps?:\/\/\S+/g, "[address]");
  return token ? shown.replaceAll(token, "***") : shown;
}
