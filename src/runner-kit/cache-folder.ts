import { lstatSync, mkdtempSync, realpathSync, rmSync, type Stats } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty folder for one entry of the Actions cache. It is deleted when it is disposed of. */
export interface CacheFolder extends Disposable {
  readonly path: string;
}

/**
 * Creates an empty folder.
 *
 * @param parent - ignored if its path has spaces. Default: the system's folder for temporary files
 */
export function createCacheFolder(parent: string | undefined): CacheFolder {
  // The library does not quote paths for tar.
  const usable = parent && !/\s/.test(parent) ? parent : tmpdir();
  const path = realpathSync(mkdtempSync(join(usable, "agent-job-cache-")));
  return {
    path,
    [Symbol.dispose]: () => {
      try {
        rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      } catch {
        // The runner empties its folder for temporary files after the job.
      }
    },
  };
}

/** Returns the status of a restored file; `undefined` unless it is a regular one. Anyone who can write the cache decides that. */
export function restoredFile(file: string): Stats | undefined {
  const status = lstatSync(file, { throwIfNoEntry: false });
  return status?.isFile() && status.nlink === 1 ? status : undefined;
}
