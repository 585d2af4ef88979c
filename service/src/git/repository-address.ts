import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Setting, Settings } from "./settings.ts";

const noSettings: Settings = () => [];

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
 * @param token - returns what is used now for an http(s) URL without credentials
 */
export function resolveAddress(
  repository: string,
  token: (() => string) | undefined,
): { address: string; settings: Settings } {
  if (!isUrl(repository)) return { address: resolve(repository), settings: noSettings };
  if (!URL.canParse(repository) || !/^https?:/.test(new URL(repository).protocol))
    return { address: repository, settings: noSettings };
  const url = new URL(repository);
  const own = url.username ? `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` : undefined;
  url.username = "";
  url.password = "";
  const basic = (credentials: string): Setting => [
    `http.${url.origin}/.extraheader`,
    `AUTHORIZATION: basic ${Buffer.from(credentials).toString("base64")}`,
  ];
  if (own !== undefined) return { address: url.href, settings: () => [basic(own)] };
  return { address: url.href, settings: token ? () => [basic(`x-access-token:${token()}`)] : noSettings };
}
