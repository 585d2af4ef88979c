/** A pull or merge request that can be shown and linked to. */
export interface PullRequest {
  /** An absolute `http(s)` URL without credentials. */
  url: string;
  /** As its platform numbers it, or empty where the URL does not end in that number. */
  number: string;
}

/** GitHub, Gitea, Bitbucket, Azure DevOps and GitLab, in this order. */
const numbered = /^[^?#]*\/(?:pull|pulls|pull-requests|pullrequest|merge_requests)\/(\d+)\/?$/;

/** Far more than any platform's; a longer one would fill the log and the summary. */
const longestUrl = 4096;

/**
 * The pull request behind a record's `prLink`, or `undefined` where that is no absolute `http(s)` URL or holds
 * credentials: nothing else is ever given out as a link.
 */
export function parsePullRequest(prLink: string): PullRequest | undefined {
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(prLink) || !URL.canParse(prLink)) return undefined;
  const { href } = new URL(prLink);
  if (href.length > longestUrl || hasCredentials(prLink)) return undefined;
  return { url: href, number: numbered.exec(href)?.[1] ?? "" };
}

/** True for empty ones too, which `URL` leaves out without a word. */
function hasCredentials(url: string): boolean {
  return /^[^/]*[/\\]+[^/?#\\]*@/.test(url);
}
