import { appendFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { createCacheClient } from "../../../src/runner-kit/cache-client.ts";

/** Files in the repository's Actions cache. A key can be saved once; a restore returns the newest entry with a prefix. */
export interface CacheEntries {
  /**
   * @throws {CacheReadOnlyError} if the run may not write the cache
   * @throws on other failures: used key, full, slow
   */
  save(key: string, file: string): Promise<void>;
  /**
   * Restores the newest entry with a key prefix. Untrusted: anyone who can write the cache controls its content.
   *
   * @param file - the target. After an error, it may be incomplete
   * @returns whether there is an entry
   * @throws if that is unknown after retries
   */
  restore(prefix: string, file: string): Promise<boolean>;
}

/** For a whole file, including retries. */
const timeoutMs = 120_000;

/**
 * Returns a runner's Actions cache.
 *
 * @param environment - the variables that locate it
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
