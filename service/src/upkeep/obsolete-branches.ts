import { errorMessage } from "../error-message.ts";
import type { Repository } from "../git/repository.ts";
import type { JobWithBranch } from "../model.ts";
import type { PullRequestPlatform } from "../pulls/pull-requests.ts";
import type { Store } from "../store/store.ts";
import { dayMs, hourMs } from "../time.ts";
import { listOf } from "./list-of.ts";

type MergeReads = "targetBranch" | "fetch" | "commitsOfBranch" | "isCleanMerge";

/** What is used of a project. */
export interface BranchOwner {
  repository: Pick<Repository, "branchHead" | "deleteBranches" | MergeReads>;
  pullRequests: Pick<PullRequestPlatform, "obsoleteFrom">;
  /** The project's own. Default: the repository's default branch. */
  targetBranch?: string | undefined;
}

export interface ObsoleteBranchesOptions<Owner extends BranchOwner> {
  store: Pick<Store, "idleJobs">;
  /** Returns a project whose branches may be deleted now; `undefined` for others. */
  ownerOf: (project: string) => Owner | undefined;
  /** Lists the branches of a project. Returns whether it could. */
  list: (owner: Owner) => Promise<boolean>;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

/** How many branches of a project are looked at in an hour. On GitHub, each takes three requests. */
const maxBranches = 200;
/** How many jobs are read at a time. */
const pageSize = 1000;
/** When a branch is looked at again that cannot be deleted now. */
const againMs = 7 * dayMs;
/** When one is looked at again that could not be judged. */
const retryMs = dayMs;
/** How many merges of the target branch a branch can have after its job's last commit. */
const maxMerges = 400;

/**
 * Deletes the branches of archived jobs whose pull request was merged, or was closed 30 days ago: otherwise a repository would get a
 * branch with each job. A branch stays while it has commits that others may have pushed, and while a pull request or a job needs it. A later
 * turn of the job does not need it.
 *
 * @param now - milliseconds since 1970
 */
export async function deleteObsoleteBranches<Owner extends BranchOwner>(
  { store, ownerOf, list, signal, log }: ObsoleteBranchesOptions<Owner>,
  now: number,
): Promise<void> {
  const due = new Map<string, JobWithBranch[]>();
  let last: JobWithBranch | undefined;
  do {
    const page = await store.idleJobs.withDueBranch(now, pageSize, last);
    last = page.length === pageSize ? page.at(-1) : undefined;
    for (const [project, jobs] of Map.groupBy(page, (job) => job.project))
      due.set(project, [...(due.get(project) ?? []), ...jobs].slice(0, maxBranches));
  } while (last !== undefined && !signal.aborted);
  for (const [project, jobs] of due) {
    const owner = ownerOf(project);
    if (owner === undefined || signal.aborted || !(await store.idleJobs.beginBranches(project, now, hourMs))) continue;
    if (!(await list(owner))) continue;
    try {
      await deleteOf(jobs, owner, { store, signal, log }, now);
    } catch (error) {
      if (!signal.aborted)
        log(`Cannot delete the branches of jobs that have ended, trying again later: ${errorMessage(error)}`);
    }
  }
}

async function deleteOf(
  jobs: readonly JobWithBranch[],
  owner: BranchOwner,
  { store, signal, log }: Pick<ObsoleteBranchesOptions<BranchOwner>, "store" | "signal" | "log">,
  now: number,
): Promise<void> {
  const { repository, pullRequests } = owner;
  const obsolete = new Map<string, JobWithBranch>();
  try {
    for (const job of jobs) {
      if (signal.aborted) return;
      const { id, branch, pullRequest: link } = job;
      const found = await repository.branchHead(branch);
      if (found === undefined) {
        await store.idleJobs.setBranchDue(id, null);
        continue;
      }
      // What fails for all of them, such as a rate limit, is asked once in an hour.
      await store.idleJobs.setBranchDue(id, now + retryMs);
      const isOwn = await hasOnlyOwn(job, found, owner);
      const from = isOwn ? await pullRequests.obsoleteFrom({ link, branch, head: found }) : undefined;
      if (from !== undefined && from <= now && (await store.idleJobs.isBranchUnused(job)))
        obsolete.set(branch, { ...job, head: found });
      else await store.idleJobs.setBranchDue(id, from !== undefined && from > now ? from : now + againMs);
    }
  } finally {
    const heads = new Map([...obsolete].map(([branch, { head }]) => [branch, head]));
    const gone = heads.size === 0 || signal.aborted ? [] : await repository.deleteBranches(heads);
    for (const branch of gone) {
      const job = obsolete.get(branch);
      if (job !== undefined) await store.idleJobs.setBranchDue(job.id, null);
    }
    if (gone.length > 0) log(`Deleted, pull request merged or closed for 30 days: ${listOf(gone)}`);
  }
}

/**
 * Returns whether a branch has only its job's last commit and, on top of it, clean merges of the target branch: a turn merges that before its
 * agent, which may then change nothing.
 *
 * @param found - the head of the branch
 */
async function hasOnlyOwn(
  { branch, head, base }: JobWithBranch,
  found: string,
  { repository, targetBranch: chosen }: BranchOwner,
): Promise<boolean> {
  if (found === head) return true;
  const target = base ?? (await repository.targetBranch(chosen));
  await repository.fetch([branch, target]);
  const targetHead = await repository.branchHead(target);
  const commits = await repository.commitsOfBranch(found, maxMerges + 1);
  const last = commits.findIndex(({ commit }) => commit === head);
  if (last === -1 || targetHead === undefined) return false;
  for (const { commit } of commits.slice(0, last))
    if (!(await repository.isCleanMerge(commit, targetHead))) return false;
  return true;
}
