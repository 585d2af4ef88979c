import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Cache, CacheEntryError } from "./cache.ts";
import { type Operation, runCacheProcess } from "./run-cache-process.ts";

export interface CacheOptions {
  /** For a restore with its retries, in milliseconds. Default: 10,000. */
  restoreTimeoutMs?: number;
  /** For a save, in milliseconds. Default: 5,000. */
  saveTimeoutMs?: number;
  /** The file that the cache process runs. Default: the action's, which hands over to `cache-process.ts`. */
  program?: string;
}

/** Longer texts are neither saved nor read. */
const maxBytes = 64 * 1024;
/** Delays before the retries of a restore. The library retries some errors on its own, but not all. */
const retryDelaysMs = [500, 1000];

/** Returns the Actions cache that the runner's environment variables describe. */
export function connectCache(environment: NodeJS.ProcessEnv, options: CacheOptions = {}): Cache {
  const { restoreTimeoutMs = 10_000, saveTimeoutMs = 5000, program = process.argv[1] ?? "" } = options;
  const run = (operation: Operation, key: string, file: string, signal: AbortSignal) =>
    runCacheProcess({ operation, key, file, program, environment, signal });

  return {
    restore: async (prefix) => {
      using folder = createFolder(environment.RUNNER_TEMP);
      const signal = AbortSignal.timeout(restoreTimeoutMs);
      let lastError: unknown;
      for (const delayMs of [0, ...retryDelaysMs]) {
        await setTimeout(delayMs, undefined, { signal }).catch(() => {});
        if (signal.aborted) break;
        try {
          return (await run("restore", prefix, folder.file, signal)) ? readEntry(folder.file) : undefined;
        } catch (error) {
          if (error instanceof CacheEntryError) throw error;
          // What went wrong before says more than that time is up.
          if (!signal.aborted || lastError === undefined) lastError = error;
        }
      }
      throw lastError;
    },
    save: async (key, text) => {
      if (Buffer.byteLength(text) > maxBytes) throw new Error(`The text is longer than ${maxBytes} bytes`);
      using folder = createFolder(environment.RUNNER_TEMP);
      writeFileSync(folder.file, text);
      await run("save", key, folder.file, AbortSignal.timeout(saveTimeoutMs));
    },
  };
}

/** Reads the file that a restore wrote. Anyone who can write the cache decides its contents. */
function readEntry(file: string): string {
  if (statSync(file).size > maxBytes) throw new CacheEntryError(`The cache entry is longer than ${maxBytes} bytes`);
  return readFileSync(file, "utf8");
}

/** Creates a folder for a file, which does not exist yet. Both are deleted when it is disposed of. */
function createFolder(parent: string | undefined): Disposable & { file: string } {
  const path = mkdtempSync(join(parent || tmpdir(), "agent-job-cache-"));
  return {
    file: join(path, "entry"),
    [Symbol.dispose]: () => {
      try {
        rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      } catch {
        // The runner empties its folder for temporary files after the job.
      }
    },
  };
}
