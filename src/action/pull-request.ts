/** A pull or merge request that can be shown and linked to. */
export interface PullRequest {
  /** An absolute `http(s)` URL without credentials. */
  url: string;
  /** As its platform numbers it, or empty where the URL does not end in that number. */
  number: string;
}

/** GitHub, Gitea, Bitbucket, Azure DevOps and GitLab, in this order. */
const numberedPath = /\/(?:pull|pulls|pull-requests|pullrequest|merge_requests)\/(\d+)\/?$/;

/**
 * The pull request behind a record's `prLink`, or `undefined` where that is no absolute `http(s)` URL or holds
 * credentials: nothing else is ever given out as a link.
 */
export function parsePullRequest(prLink: string): PullRequest | undefined {
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(prLink) || !URL.canParse(prLink)) return undefined;
  const url = new URL(prLink);
  if (url.username || url.password) return undefined;
  return { url: url.href, number: numberedPath.exec(url.pathname)?.[1] ?? "" };
}
