import type { ListedJob } from "../model.ts";

/** Where a link of a job's pull request leads. */
export interface PullRequestLink {
  href: string;
  /** `Pull request #7`, or without a number. */
  text: string;
}

/**
 * Returns the link to a job's last pull request; `undefined` if it has none that a browser can open.
 *
 * @param basePath - see `basePathOf`
 */
export function pullRequestLink(
  { pullRequest, lastPage }: Pick<ListedJob, "pullRequest" | "lastPage">,
  basePath: string,
): PullRequestLink | undefined {
  // The address of the service may have changed since the link was made.
  if (lastPage !== null && pullRequest?.endsWith(`/pull/${lastPage}`))
    return { href: `${basePath}/pull/${lastPage}`, text: `Pull request #${lastPage}` };
  if (pullRequest === null || !/^https?:\/\//i.test(pullRequest)) return undefined;
  const number = /\/(\d{1,9})$/.exec(pullRequest)?.[1];
  return { href: pullRequest, text: number === undefined ? "Pull request" : `Pull request #${number}` };
}
