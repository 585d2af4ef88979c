import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Of the form `https://host/path` or `git@host:path`: with a colon before the first slash. */
function isUrl(repository: string): boolean {
  return /^[^/\\]+:/.test(repository);
}

/** The repository as its users know it. */
export function nameOf(address: string): string {
  return isUrl(address) ? address.replace(/\.git$/, "") : pathToFileURL(address).href;
}

/** The address without credentials, and what tells them to Git, for one host, in no file and no list of processes. */
export function loginTo(
  repository: string,
  token: string | undefined,
): { address: string; environment: Record<string, string> } {
  if (!isUrl(repository)) return { address: resolve(repository), environment: {} };
  if (!URL.canParse(repository) || !/^https?:$/.test(new URL(repository).protocol))
    return { address: repository, environment: {} };
  const url = new URL(repository);
  const credentials = url.username
    ? `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    : token && `x-access-token:${token}`;
  url.username = "";
  url.password = "";
  const login = credentials && Buffer.from(credentials).toString("base64");
  const environment: Record<string, string> = login
    ? {
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: `http.${url.origin}/.extraheader`,
        GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${login}`,
      }
    : {};
  return { address: url.href, environment };
}
