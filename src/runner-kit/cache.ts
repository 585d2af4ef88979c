/** Small texts in the repository's Actions cache. A key can be saved once; a restore takes the newest with a prefix. */
export interface Cache {
  /**
   * Returns the text that was saved last under a key with this prefix; `undefined` if there is none. Untrusted text.
   *
   * @throws {CacheEntryError} if there is an entry, but it is not a text that `save` can have saved
   * @throws if the service cannot be read after retries
   */
  restore(prefix: string): Promise<string | undefined>;
  /**
   * Saves a text. Not retried: it is unknown whether the key is used, so save again under another one.
   *
   * @throws if it cannot be saved: read-only token, used key, full, slow
   */
  save(key: string, text: string): Promise<void>;
}

/** Thrown when an entry was found that is unusable, and will be until a newer one is saved. */
export class CacheEntryError extends Error {
  override readonly name = "CacheEntryError";
}

/**
 * What a step may do with the Actions cache. `absent`: the runner offers none. `none`: it offers one that the step may not
 * read. Whoever may write it here may read it, too.
 */
export type CacheAccess = "absent" | "none" | "read" | "write";

/**
 * Returns what the runner allows, by the rules of `@actions/cache`. `ACTIONS_CACHE_MODE` is absent on older runners. GitHub's
 * documentation: "Dependency caching reference", on events with a read-only cache.
 */
export function cacheAccess(environment: NodeJS.ProcessEnv): CacheAccess {
  const isV2 = Boolean(environment.ACTIONS_CACHE_SERVICE_V2) && !isEnterpriseServer(environment.GITHUB_SERVER_URL);
  // act offers v1 without a token.
  const isOffered = isV2
    ? environment.ACTIONS_RESULTS_URL && environment.ACTIONS_RUNTIME_TOKEN
    : environment.ACTIONS_CACHE_URL;
  if (!isOffered) return "absent";
  switch (environment.ACTIONS_CACHE_MODE?.trim().toLowerCase()) {
    case "none":
    case "write-only":
      return "none";
    case "read":
      return "read";
    default:
      return "write";
  }
}

/** Returns whether the runner offers a cache that can be read. */
export function hasCacheService(environment: NodeJS.ProcessEnv): boolean {
  return ["read", "write"].includes(cacheAccess(environment));
}

function isEnterpriseServer(serverUrl: string | undefined): boolean {
  const hostname = URL.parse(serverUrl || "https://github.com")?.hostname ?? "";
  return hostname !== "github.com" && !hostname.endsWith(".ghe.com") && !hostname.endsWith(".localhost");
}
