/** A pull or merge request that is safe to show and to link to. */
export interface PullRequest {
  /** An absolute `http(s)` URL without credentials. */
  url: string;
  /** Its number on its platform, or empty if the URL does not end in one. */
  number: string;
}

export type PullRequestState = "open" | "merged" | "closed" | "unknown";

/** What GitHub says of a pull request. `head`: its newest commit; empty if that is unknown. */
export interface ReadPullRequest {
  state: PullRequestState;
  head: string;
}

/** A pull request's newest commit before a message. */
export interface HeadBefore {
  /** Default: that of the pull request that the job's record names. */
  url?: string | undefined;
  head: string;
}

/** GitHub, Gitea, Bitbucket, Azure DevOps and GitLab, in this order. */
const numberedPath = /^[^?#]*\/(?:pull|pulls|pull-requests|pullrequest|merge_requests)\/(\d+)\/?$/;

/** Far longer than on any platform. A longer URL would fill the log and the summary. */
const maxUrlLength = 4096;

/** Parses a `prLink`: only an absolute `http(s)` URL without credentials is ever published as a link. */
export function parsePullRequest(prLink: string): PullRequest | undefined {
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(prLink) || !URL.canParse(prLink)) return undefined;
  const { href } = new URL(prLink);
  // Also empty credentials, which `URL` silently drops.
  const hasCredentials = /^[^/]*[/\\]+[^/?#\\]*@/.test(prLink);
  if (href.length > maxUrlLength || hasCredentials) return undefined;
  return { url: href, number: numberedPath.exec(href)?.[1] ?? "" };
}

/** Returns the place of a pull request; `undefined` if it is not on the GitHub server of `serverUrl`. */
export function locatePullRequest(
  { url }: PullRequest,
  serverUrl: string,
): { owner: string; repo: string; number: number } | undefined {
  const { origin, pathname } = new URL(url);
  const [, owner, repo, number] = /^\/([^/]+)\/([^/]+)\/pull\/(\d+)\/?$/.exec(pathname) ?? [];
  if (origin !== URL.parse(serverUrl)?.origin || !owner || !repo) return undefined;
  return { owner, repo, number: Number(number) };
}
