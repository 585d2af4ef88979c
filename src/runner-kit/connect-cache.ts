import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Cache, CacheEntryError } from "./cache.ts";
import { type CacheFolder, createCacheFolder, restoredFile } from "./cache-folder.ts";
import { type Operation, runCacheProcess } from "./run-cache-process.ts";

export interface CacheOptions {
  /** For a restore with its retries, in milliseconds. Default: 10,000. */
  restoreTimeoutMs?: number;
  /** For a save, in milliseconds. Default: 5,000. */
  saveTimeoutMs?: number;
  /** The file that the cache process runs. Default: the action's, which hands over to `cache-process.ts`. */
  program?: string;
}

/**
 * The file that every entry consists of. A restore only finds entries whose path is spelled the same. It is relative, so
 * that runners with different folders share their entries.
 */
const entryFile = "agent-job.json";
/** Longer texts are neither saved nor read. */
const maxBytes = 64 * 1024;
/** Delays before the retries of a restore. The library retries some errors on its own, but not all. */
const retryDelaysMs = [500, 1000];

/** Returns the Actions cache that the runner's environment variables describe. */
export function connectCache(environment: NodeJS.ProcessEnv, options: CacheOptions = {}): Cache {
  const { restoreTimeoutMs = 10_000, saveTimeoutMs = 5000, program = process.argv[1] ?? "" } = options;
  const run = (operation: Operation, key: string, { path }: CacheFolder, signal: AbortSignal) =>
    runCacheProcess({ operation, key, file: entryFile, folder: path, program, environment, signal });

  return {
    restore: async (prefix) => {
      using folder = createCacheFolder(environment.RUNNER_TEMP);
      const signal = AbortSignal.timeout(restoreTimeoutMs);
      let lastError: unknown;
      for (const delayMs of [0, ...retryDelaysMs]) {
        await setTimeout(delayMs, undefined, { signal }).catch(() => {});
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
      using folder = createCacheFolder(environment.RUNNER_TEMP);
      writeFileSync(join(folder.path, entryFile), text);
      const isSaved = await run("save", key, folder, AbortSignal.timeout(saveTimeoutMs));
      if (!isSaved) throw new Error("The cache entry was not saved");
    },
  };
}

/** Reads the file that a restore wrote. Anyone who can write the cache decides its contents. */
function readEntry({ path }: CacheFolder): string {
  const file = join(path, entryFile);
  const status = restoredFile(file);
  if (!status) throw new CacheEntryError("The cache entry is not a regular file");
  if (status.size > maxBytes) throw new CacheEntryError(`The cache entry is longer than ${maxBytes} bytes`);
  return readFileSync(file, "utf8");
}

/** Returns whether `tar` ran and failed, going by the library's message. */
function isTarError(error: unknown): error is Error {
  return error instanceof Error && / failed with error: The process /.test(error.message);
}
