/** Small texts in the repository's Actions cache. A key can be saved once; a restore takes the newest with a prefix. */
export interface Cache {
  /**
   * Returns the untrusted text saved last under a key with this prefix; `undefined` if there is none.
   * @throws {CacheEntryError} if `save` cannot have saved it, or another error if the service cannot be read
   */
  restore(prefix: string): Promise<string | undefined>;
  /**
   * Saves a text under a key that was not used. Not retried: save again under another one.
   *
   * @throws {CacheReadOnlyError} if the run may not write the cache, or another error if it cannot be saved
   */
  save(key: string, text: string): Promise<void>;
}

/** Thrown when an entry was found that is unusable, and will be until a newer one is saved. */
export class CacheEntryError extends Error {
  override readonly name = "CacheEntryError";
}

/** The run may not write the cache, because of its event. GitHub: "Dependency caching reference". */
export class CacheReadOnlyError extends Error {
  override readonly name = "CacheReadOnlyError";
}

/** `absent`: the runner offers no cache; `none`: it cannot be read, and so is of no use. */
export type CacheAccess = "absent" | "none" | "read" | "write";

/** Returns the access that the runner announces, by the rules of `@actions/cache`. Older runners announce none. */
export function cacheAccess(environment: NodeJS.ProcessEnv): CacheAccess {
  const { ACTIONS_RESULTS_URL, ACTIONS_RUNTIME_TOKEN, ACTIONS_CACHE_URL } = environment;
  const isV2 = cacheProtocol(environment) === "v2";
  // act offers v1 without a token.
  if (!(isV2 ? ACTIONS_RESULTS_URL && ACTIONS_RUNTIME_TOKEN : ACTIONS_CACHE_URL)) return "absent";
  const mode = environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() ?? "";
  return accessOfMode[mode] ?? "write";
}

const accessOfMode: Readonly<Record<string, CacheAccess>> = { none: "none", "write-only": "none", read: "read" };

/** Returns whether the runner offers a cache service that can be read. */
export function hasCacheService(environment: NodeJS.ProcessEnv): boolean {
  return ["read", "write"].includes(cacheAccess(environment));
}

/** Returns whether the cache keeps nothing for a re-run, so that a missing entry says nothing. */
export function isForgetful(environment: NodeJS.ProcessEnv): boolean {
  return ["none", "read"].includes(cacheAccess(environment));
}

/** Returns the protocol of the cache service, by the rules of `@actions/cache`. */
export function cacheProtocol(environment: NodeJS.ProcessEnv): "v1" | "v2" {
  const hostname = URL.parse(environment.GITHUB_SERVER_URL || "https://github.com")?.hostname ?? "";
  const isEnterpriseServer = !/^github\.com$|\.ghe\.com$|\.localhost$/.test(hostname);
  return environment.ACTIONS_CACHE_SERVICE_V2 && !isEnterpriseServer ? "v2" : "v1";
}
