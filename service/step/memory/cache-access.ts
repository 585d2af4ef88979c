import { hasCacheService } from "../../../src/runner-kit/cache.ts";

/** What this run may do with the repository's Actions cache, as far as the runner tells. */
export type CacheAccess = "write" | "read" | "none";

/**
 * Returns what a run may do with the Actions cache. An older runner does not tell whether it can be written: that counts as
 * writable until a write is denied. GitHub's documentation, "Dependency caching reference".
 */
export function cacheAccess(environment: NodeJS.ProcessEnv): CacheAccess {
  if (!hasCacheService(environment)) return "none";
  return environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() === "read" ? "read" : "write";
}
