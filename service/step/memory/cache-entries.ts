import { appendFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { createCacheClient } from "../../../src/runner-kit/cache-client.ts";

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

/** For a file with all its blocks and retries. */
const timeoutMs = 120_000;

/**
 * Returns the Actions cache of a runner.
 *
 * @param environment - with the variables by which actions find it
 * @param blockBytes - see `CacheClientOptions`
 */
export function connectCacheEntries(environment: NodeJS.ProcessEnv, blockBytes?: number): CacheEntries {
  const client = createCacheClient(environment, {
    restoreTimeoutMs: timeoutMs,
    saveTimeoutMs: timeoutMs,
    blockBytes,
  });
  return {
    save: async (key, file) => {
      await using handle = await open(file);
      const { size } = await handle.stat();
      const read = async (start: number, end: number): Promise<Buffer> => {
        const block = Buffer.alloc(end - start);
        await handle.read(block, 0, block.length, start);
        return block;
      };
      await client.save(key, { size, read });
    },
    restore: (prefix, file) =>
      client.restore(prefix, () => {
        writeFileSync(file, "");
        return (part) => appendFileSync(file, part);
      }),
  };
}
