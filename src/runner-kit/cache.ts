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
   * @throws {CacheReadOnlyError} if the run may not write the cache
   * @throws if it cannot be saved: used key, full, slow
   */
  save(key: string, text: string): Promise<void>;
}

/** Thrown when an entry was found that is unusable, and will be until a newer one is saved. */
export class CacheEntryError extends Error {
  override readonly name = "CacheEntryError";
}

/**
 * Thrown when the runner or the cache service says that this run may not write the cache. GitHub decides that by the event
 * that started the run, so it does not change within a run. See GitHub's documentation: "Dependency caching reference".
 */
export class CacheReadOnlyError extends Error {
  override readonly name = "CacheReadOnlyError";
}

/**
 * What a run can do with the Actions cache. `absent`: the runner offers none. `none`: it offers one that cannot be read, and
 * without reading there is no use for what was written.
 */
export type CacheAccess = "absent" | "none" | "read" | "write";

/**
 * Returns the access to the cache that the runner announces, by the rules of `@actions/cache`. `write` if it does not say, which older
 * runners do not: then only a save can tell.
 */
export function cacheAccess(environment: NodeJS.ProcessEnv): CacheAccess {
  if (!isOffered(environment)) return "absent";
  const mode = environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() ?? "";
  return accessOfMode[mode] ?? "write";
}

const accessOfMode: Readonly<Record<string, CacheAccess>> = { none: "none", "write-only": "none", read: "read" };

/** Returns whether the runner offers a cache service that can be read. */
export function hasCacheService(environment: NodeJS.ProcessEnv): boolean {
  return ["read", "write"].includes(cacheAccess(environment));
}

/**
 * Returns whether the runner offers a cache that keeps nothing for a re-run: this run may not read it, or may not write it.
 * A missing entry then says nothing about an earlier attempt.
 */
export function isForgetful(environment: NodeJS.ProcessEnv): boolean {
  return ["none", "read"].includes(cacheAccess(environment));
}

/** Returns the protocol of the cache service, by the rules of `@actions/cache`. */
export function cacheProtocol(environment: NodeJS.ProcessEnv): "v1" | "v2" {
  const isV2 = environment.ACTIONS_CACHE_SERVICE_V2 && !isEnterpriseServer(environment.GITHUB_SERVER_URL);
  return isV2 ? "v2" : "v1";
}

function isOffered(environment: NodeJS.ProcessEnv): boolean {
  const { ACTIONS_RESULTS_URL, ACTIONS_RUNTIME_TOKEN, ACTIONS_CACHE_URL } = environment;
  // act offers v1 without a token.
  return Boolean(
    cacheProtocol(environment) === "v2" ? ACTIONS_RESULTS_URL && ACTIONS_RUNTIME_TOKEN : ACTIONS_CACHE_URL,
  );
}

function isEnterpriseServer(serverUrl: string | undefined): boolean {
  const hostname = URL.parse(serverUrl || "https://github.com")?.hostname ?? "";
  return hostname !== "github.com" && !hostname.endsWith(".ghe.com") && !hostname.endsWith(".localhost");
}
