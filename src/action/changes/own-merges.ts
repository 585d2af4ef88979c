import { GitHubError } from "../runner/github-error.ts";
import type { Commit } from "./changes.ts";
import type { Comparison, Repository } from "./repository.ts";

/** A part of a range: what came after `base`, up to `head`. */
export interface Segment {
  base: string;
  head: string;
}

/**
 * Cuts what some pull requests brought out of a range, so that a merged refresh does not start the next one. Looks at the
 * commits that were made on, or merged into, the branch of `head`: a merge commit, a squashed commit, or the commits of a
 * rebase.
 *
 * @param onMessages - called with a pull request that GitHub did not show, and that the messages of commits name
 * @returns the parts that are left, oldest first; `undefined` if none of the pull requests was merged in this range, or if
 *   it has more commits than are listed
 */
export async function withoutMergesOf(
  pullRequests: readonly number[],
  { commits, commitCount }: Comparison,
  repository: Repository,
  onMessages: (number: number) => void,
): Promise<Segment[] | undefined> {
  // Without all commits, the way back from the newest one is not known.
  const branch = commits.length < commitCount ? [] : firstParents(commits);
  const own = new Set<Commit>();
  for (const each of await Promise.all(
    pullRequests.map((number) => commitsOf(number, branch, repository, onMessages)),
  )) {
    for (const commit of each) own.add(commit);
  }
  if (own.size === 0) return undefined;

  const segments: Segment[] = [];
  let head: string | undefined;
  for (const commit of branch) {
    if (own.has(commit)) {
      if (head !== undefined) segments.unshift({ base: commit.sha, head });
      head = undefined;
    } else head ??= commit.sha;
  }
  const start = branch.at(-1)?.parents[0];
  if (head !== undefined && start !== undefined) segments.unshift({ base: start, head });
  return segments;
}

/** Returns the commits from the newest one along first parents, newest first. */
function firstParents(commits: readonly Commit[]): Commit[] {
  const bySha = new Map(commits.map((commit) => [commit.sha, commit]));
  const parents = new Set(commits.flatMap((commit) => commit.parents));
  const branch: Commit[] = [];
  let next = commits.findLast(({ sha }) => !parents.has(sha));
  while (next) {
    branch.push(next);
    next = bySha.get(next.parents[0] ?? "");
  }
  return branch;
}

/** Returns the commits on the branch that a pull request brought; none if it was not merged there. */
async function commitsOf(
  number: number,
  branch: readonly Commit[],
  repository: Repository,
  onMessages: (number: number) => void,
): Promise<Commit[]> {
  let mergeCommit: string | undefined;
  try {
    ({ mergeCommit } = await repository.pullRequest(number));
  } catch (error) {
    if (!isHidden(error)) throw error;
    // Without pull-requests: read. The messages that GitHub proposes name the pull request.
    const named = branch.filter(({ message }) => mergedPullRequest(message)?.number === number);
    if (named.length > 0) onMessages(number);
    return named;
  }
  const last = branch.findIndex(({ sha }) => sha === mergeCommit);
  const merge = branch[last];
  if (!merge) return [];
  if (merge.parents.length > 1) return [merge];
  const messages = await repository.pullRequestMessages(number).catch((error: unknown) => {
    if (!isHidden(error)) throw error;
    return [];
  });
  messages.reverse();
  const rebased = branch.slice(last, last + messages.length);
  return rebased.every(({ message }, index) => message === messages[index]) && rebased.length > 0 ? rebased : [merge];
}

/** Returns whether GitHub says that the token may not see something. A rate limit is no `403` here. */
function isHidden(error: unknown): boolean {
  return error instanceof GitHubError && (error.status === 403 || error.status === 404);
}

/** Returns the pull request that a commit merged, by the message that GitHub proposes for it. */
export function mergedPullRequest(message: string): { number: number; title: string } | undefined {
  const [subject = "", ...body] = message.split("\n");
  const [, merged] = /^Merge pull request #(\d+) from /.exec(subject) ?? [];
  if (merged !== undefined) return { number: Number(merged), title: body.find((line) => line.trim() !== "") ?? "" };
  const [, title, squashed] = /^(.*) \(#(\d+)\)$/.exec(subject) ?? [];
  return squashed === undefined ? undefined : { number: Number(squashed), title: title ?? "" };
}
