import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Setting } from "./settings.ts";

/** Matches `https://host/path` and `git@host:path`: a colon before the first slash. */
function isUrl(repository: string): boolean {
  return /^[^/\\]+:/.test(repository);
}

/** Returns the repository as job records name it: its URL without `.git`, or a `file:` URL. */
export function repositoryName(address: string): string {
  return isUrl(address) ? address.replace(/\.git$/, "") : pathToFileURL(address).href;
}

/**
 * Separates a repository's address from its credentials. They become a setting for that host only, so that they are in no
 * file and no process list.
 *
 * @param token - used for an http(s) URL without credentials
 */
export function resolveAddress(
  repository: string,
  token: string | undefined,
): { address: string; settings: Setting[] } {
  if (!isUrl(repository)) return { address: resolve(repository), settings: [] };
  if (!URL.canParse(repository) || !/^https?:/.test(new URL(repository).protocol))
    return { address: repository, settings: [] };
  const url = new URL(repository);
  const credentials = url.username
    ? `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    : token && `x-access-token:${token}`;
  url.username = "";
  url.password = "";
  const authorization = credentials && Buffer.from(credentials).toString("base64");
  const settings: Setting[] = authorization
    ? [[`http.${url.origin}/.extraheader`, `AUTHORIZATION: basic ${authorization}`]]
    : [];
  return { address: url.href, settings };
}
