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

/** Older starts of jobs are not recognized. */
const maxCommits = 500;
/** How many branches are looked at in a run. Each takes two requests. */
const maxBranches = 10;

/**
 * Deletes the branches that lost runs have left without a commit: a turn creates its branch before its agent runs, see `tryBranch`, and
 * without the Actions cache nobody knows the job any more. A branch that is a day old, was never moved, and never had a pull request has
 * nothing that anyone needs: a run that still works creates it again with its push.
 *
 * @returns the branches that are gone
 * @throws if GitHub cannot be asked now, or does not let any be deleted
 */
export async function deleteTriedBranches(options: TriedBranchesOptions): Promise<readonly string[]> {
  const { repository, pullRequests, isWorkflowToken, machine = thisMachine } = options;
  const ofJobs = [...(await repository.branchHeads())].filter(([branch]) => jobOfBranch(branch) !== undefined);
  const target = await repository.branchHead(await repository.targetBranch(options.targetBranch));
  if (ofJobs.length === 0 || target === undefined) return [];
  const commits = await repository.commitsOfBranch(target, maxCommits);
  // The commit of a job can be there, too, once it is merged.
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
