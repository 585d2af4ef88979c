import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createCacheFolder, restoredFile } from "../../../src/runner-kit/cache-folder.ts";
import { type Operation, runCacheProcess } from "../../../src/runner-kit/run-cache-process.ts";

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
  /** A folder for temporary files, unless its path has spaces. Default: the system's. */
  folder?: string;
  /** The file that the cache process runs: one that hands over to `cache-process.ts` if its first argument is `cache`. */
  program: string;
  /** Waits before a retry. Default: with a timer. */
  sleep?: (ms: number) => Promise<void>;
}

/** Every entry consists of this file. */
const entryName = "agent-job-service";
/** Before the retries of a restore. */
const retryDelaysMs = [1000, 3000];
/** For one attempt. */
const timeoutMs = 120_000;

/** Returns the Actions cache of a runner. */
export function connectCacheEntries(options: CacheEntriesOptions): CacheEntries {
  const { environment, folder, program, sleep = setTimeout } = options;
  const run = (operation: Operation, key: string, path: string) =>
    runCacheProcess({
      operation,
      key,
      file: entryName,
      folder: path,
      program,
      environment: { ...process.env, ...environment },
      signal: AbortSignal.timeout(timeoutMs),
    });
  const restore = async (prefix: string, file: string): Promise<boolean> => {
    using own = createCacheFolder(folder);
    const restored = join(own.path, entryName);
    if (!(await run("restore", prefix, own.path)) || !restoredFile(restored)) return false;
    copyFileSync(restored, file);
    return true;
  };
  return {
    save: async (key, file) => {
      using own = createCacheFolder(folder);
      copyFileSync(file, join(own.path, entryName));
      if (!(await run("save", key, own.path))) throw new Error("the cache entry was not saved");
    },
    restore: async (prefix, file) => {
      for (const delayMs of retryDelaysMs) {
        try {
          return await restore(prefix, file);
        } catch {
          await sleep(delayMs);
        }
      }
      return restore(prefix, file);
    },
  };
}
