import { type Cache, CacheEntryError } from "./cache.ts";
import { type CacheClientOptions, createCacheClient } from "./cache-client.ts";

/** Longer texts are neither saved nor read. */
const maxBytes = 64 * 1024;

/** Returns the runner's Actions cache. Default: 10 s for a restore, 5 s for a save. */
export function connectCache(environment: NodeJS.ProcessEnv, options: Partial<CacheClientOptions> = {}): Cache {
  const client = createCacheClient(environment, { restoreTimeoutMs: 10_000, saveTimeoutMs: 5000, ...options });
  return {
    restore: async (prefix) => {
      let parts: Buffer[] = [];
      const receive = () => {
        parts = [];
        let size = 0;
        return (part: Buffer) => {
          size += part.length;
          if (size > maxBytes) throw new CacheEntryError(`The cache entry is longer than ${maxBytes} bytes`);
          parts.push(part);
        };
      };
      return (await client.restore(prefix, receive)) ? Buffer.concat(parts).toString() : undefined;
    },
    save: async (key, text) => {
      const bytes = Buffer.from(text);
      if (bytes.length > maxBytes) throw new Error(`The text is longer than ${maxBytes} bytes`);
      await client.save(key, { size: bytes.length, read: (start, end) => bytes.subarray(start, end) });
    },
  };
}
