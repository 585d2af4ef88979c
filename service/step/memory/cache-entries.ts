import { setTimeout } from "node:timers/promises";
import { type Operation, runCacheProcess } from "../../../src/runner-kit/run-cache-process.ts";

/** Files in the repository's Actions cache. A key can be saved once; a restore takes the newest with a prefix. */
export interface CacheEntries {
  /**
   * @throws {CacheReadOnlyError} if the run may not write the cache
   * @throws if it cannot be saved: used key, full, slow
   */
  save(key: string, file: string): Promise<void>;
  /**
   * Restores the newest entry whose key has this prefix. Untrusted: whoever can write the cache decides what is in it.
   *
   * @param file - where to write it. After an error, it may have a part
   * @returns whether there is an entry
   * @throws if that is unknown after retries
   */
  restore(prefix: string, file: string): Promise<boolean>;
}

export interface CacheEntriesOptions {
  /** The variables by which `@actions/cache` finds the cache service. */
  environment: Readonly<Record<string, string>>;
  /** The file that the cache process runs: one that hands over to `cache-process.ts` if its first argument is `cache`. */
  program: string;
  /** Waits before a retry. Default: with a timer. */
  sleep?: (ms: number) => Promise<void>;
}

/** Before the retries of a restore. */
const retryDelaysMs = [1000, 3000];
/** For one attempt. */
const timeoutMs = 120_000;

/** Returns the Actions cache of a runner. */
export function connectCacheEntries(options: CacheEntriesOptions): CacheEntries {
  const { environment, program, sleep = setTimeout } = options;
  const run = (operation: Operation, key: string, file: string) =>
    runCacheProcess({
      operation,
      key,
      file,
      program,
      environment: { ...process.env, ...environment },
      signal: AbortSignal.timeout(timeoutMs),
    });
  return {
    save: async (key, file) => {
      await run("save", key, file);
    },
    restore: async (prefix, file) => {
      for (const delayMs of retryDelaysMs) {
        try {
          return await run("restore", prefix, file);
        } catch {
          await sleep(delayMs);
        }
      }
      return run("restore", prefix, file);
    },
  };
}
