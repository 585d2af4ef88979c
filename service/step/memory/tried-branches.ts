import type { Repository } from "../../src/git/repository.ts";
import { thisMachine } from "../../src/machine.ts";
import { jobOfBranch } from "../../src/model.ts";
import type { GitHubPullRequests } from "../../src/pulls/github.ts";
import { namedTurns } from "../../src/pulls/turn-trailers.ts";
import { dayMs } from "../../src/time.ts";
import type { RebuiltJobsOptions } from "./rebuilt-jobs.ts";

export interface TriedBranchesOptions extends Pick<RebuiltJobsOptions, "targetBranch" | "isWorkflowToken" | "machine"> {
  repository: Pick<Repository, "branchHeads" | "targetBranch" | "branchHead" | "commitsOfBranch" | "deleteBranches">;
  pullRequests: Pick<GitHubPullRequests, "ownAccount" | "onlyCreatedAt">;
}

/** Jobs with older starts are not recognized. */
const maxCommits = 500;
/** Checked per run; each takes two requests. */
const maxBranches = 10;

/**
 * Deletes branches that lost runs left without a commit: a turn creates its branch before its agent runs, see `tryBranch`, and without the
 * Actions cache its job is forgotten. A day-old branch that was never moved and never had a pull request is not needed: a run that still
 * works on it creates it again when it pushes.
 *
 * @returns the deleted branches
 * @throws if GitHub cannot be asked now, or rejects a deletion
 */
export async function deleteTriedBranches(options: TriedBranchesOptions): Promise<readonly string[]> {
  const { repository, pullRequests, isWorkflowToken, machine = thisMachine } = options;
  const ofJobs = [...(await repository.branchHeads())].filter(([branch]) => jobOfBranch(branch) !== undefined);
  const target = await repository.branchHead(await repository.targetBranch(options.targetBranch));
  if (ofJobs.length === 0 || target === undefined) return [];
  const commits = await repository.commitsOfBranch(target, maxCommits);
  // A merged job's commit can be there, too.
  const starts = new Set(commits.flatMap(({ commit, message }) => (namedTurns(message).length === 0 ? commit : [])));
  const empty = ofJobs.filter(([, head]) => starts.has(head)).slice(0, maxBranches);
  const account = empty.length === 0 ? undefined : await pullRequests.ownAccount(isWorkflowToken);
  if (account === undefined) return [];
  const obsolete = new Map<string, string>();
  for (const [branch, head] of empty) {
    const createdAt = await pullRequests.onlyCreatedAt(branch, head, account);
    if (createdAt !== undefined && machine.wallTime() - createdAt > dayMs) obsolete.set(branch, head);
  }
  return obsolete.size === 0 ? [] : repository.deleteBranches(obsolete);
}
