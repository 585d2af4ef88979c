/** A pull or merge request that is safe to show and to link to. */
export interface PullRequest {
  /** An absolute `http(s)` URL without credentials. */
  url: string;
  /** Its number on its platform, or empty if the URL does not end in one. */
  number: string;
}

/** The state of a pull request on its platform; `unknown` if it cannot be read. */
export type PullRequestState = "open" | "merged" | "closed" | "unknown";

/** GitHub, Gitea, Bitbucket, Azure DevOps and GitLab, in this order. */
const numberedPath = /^[^?#]*\/(?:pull|pulls|pull-requests|pullrequest|merge_requests)\/(\d+)\/?$/;

/** Far longer than on any platform. A longer URL would fill the log and the summary. */
const maxUrlLength = 4096;

/**
 * Parses a record's `prLink`. Returns `undefined` unless it is an absolute `http(s)` URL without credentials: nothing
 * else is ever published as a link.
 */
export function parsePullRequest(prLink: string): PullRequest | undefined {
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(prLink) || !URL.canParse(prLink)) return undefined;
  const { href } = new URL(prLink);
  if (href.length > maxUrlLength || hasCredentials(prLink)) return undefined;
  return { url: href, number: numberedPath.exec(href)?.[1] ?? "" };
}

/** Also finds empty credentials, which `URL` silently drops. */
function hasCredentials(url: string): boolean {
  return /^[^/]*[/\\]+[^/?#\\]*@/.test(url);
}

/**
 * Returns the place of a pull request on a GitHub server; `undefined` if it is on another server.
 *
 * @param serverUrl - `GITHUB_SERVER_URL`
 */
export function locatePullRequest(
  { url }: PullRequest,
  serverUrl: string,
): { owner: string; repo: string; number: number } | undefined {
  const { origin, pathname } = new URL(url);
  const [, owner, repo, number] = /^\/([^/]+)\/([^/]+)\/pull\/(\d+)\/?$/.exec(pathname) ?? [];
  if (origin !== URL.parse(serverUrl)?.origin || !owner || !repo) return undefined;
  return { owner, repo, number: Number(number) };
}
