import { message } from "../../runner-kit/text.ts";
import type { Run } from "../run.ts";
import { ownRepository } from "../runner/environment.ts";
import { GitHubError } from "../runner/github-error.ts";
import type { Commit, Comparison, Repository } from "./repository.ts";

/**
 * Cuts what pull requests and the commits of jobs brought out of a range, so that a merged refresh does not start the next one. Returns the parts that
 * are left, oldest first; `undefined` if none was merged there, or not all commits are listed.
 */
export async function withoutMergesOf(
  pullRequests: readonly number[],
  jobs: readonly string[],
  { commits, commitCount }: Comparison,
  repository: Repository,
  { log, ports }: Pick<Run, "log" | "ports">,
): Promise<{ base: string; head: string }[] | undefined> {
  // Without all commits, the way back from the newest one is not known.
  const branch = commits.length < commitCount ? [] : firstParents(commits);
  const brought = await Promise.all(pullRequests.map((number) => commitsOf(number, branch, repository, log)));
  const { owner } = ownRepository(ports.environment);
  const known = new Set(brought.flat());
  const made = branch.map(async (commit) => {
    if (known.has(commit) || !isOf(jobs, owner, commit)) return [];
    const isFromFork = await repository.isFromFork(commit.sha).catch(noneIfHidden(false));
    return isFromFork ? [] : [commit];
  });
  const own = new Set([...known, ...(await Promise.all(made)).flat()]);
  if (own.size === 0) return undefined;

  const segments: { base: string; head: string }[] = [];
  let head: string | undefined;
  for (const commit of branch) {
    if (own.has(commit)) {
      if (head !== undefined) segments.unshift({ base: commit.sha, head });
      head = undefined;
    } else head ??= commit.sha;
  }
  const oldest = branch.at(-1);
  const start = oldest?.parents[0] ?? oldest?.sha;
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
  log: Run["log"],
): Promise<Commit[]> {
  let mergeCommit: string | undefined;
  try {
    ({ mergeCommit } = await repository.pullRequest(number));
  } catch (error) {
    if (!isHidden(error)) throw error;
    // Without pull-requests: read. The messages that GitHub proposes name the pull request.
    const named = branch.filter((commit) => mergedPullRequest(commit.message)?.number === number);
    if (named.length > 0)
      log.notice(message`
        Own changes by commit messages
        GitHub does not show pull request #${number} to this step, so the messages of commits decide what it brought: that does not count as a change. To let the action read it, give the job pull-requests: read.`);
    return named;
  }
  const last = branch.findIndex(({ sha }) => sha === mergeCommit);
  const merge = branch[last];
  if (!merge) return [];
  if (merge.parents.length > 1) return [merge];
  const messages = await repository.pullRequestMessages(number).catch(noneIfHidden<string[]>([]));
  messages.reverse();
  const rebased = branch.slice(last, last + messages.length);
  return rebased.every((commit, index) => commit.message === messages[index]) && rebased.length > 0 ? rebased : [merge];
}

/** Returns whether a commit says that jobs made it, or that it merged a job's branch, which is no fork's. */
function isOf(own: readonly string[], owner: string, { jobs, message, parents }: Commit): boolean {
  const [subject = ""] = message.split("\n");
  const [, from] = /^Merge pull request #\d+ from ([^/]+)\/./.exec(subject) ?? [];
  if (parents.length > 1 && from === owner && own.some((job) => subject.endsWith(`/${job}`))) return true;
  return jobs.length > 0 && jobs.every((one) => own.includes(one));
}

/** Returns a handler that takes what the token may not see for a value. */
const noneIfHidden =
  <T>(value: T) =>
  (error: unknown): T => {
    if (!isHidden(error)) throw error;
    return value;
  };

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
