import type { Heads } from "./clone-refs.ts";

/** Where a turn starts: a commit, and the branch that its own commit is pushed to. */
export interface Start {
  branch: string;
  /** The commit to check out. */
  head: string;
  targetBranch: string;
  /** The merge base of `head` and the target branch. */
  base: string;
  /** The head of the branch in the repository; `undefined` if the branch does not exist. */
  remoteHead: string | undefined;
  /** Whether the turn continues the job's work, or else starts over from the target branch. */
  isContinued: boolean;
  /** Whether it starts over because the job's work is nowhere. Default: there is none, or it is merged. */
  isLost?: boolean | undefined;
  /**
   * A commit on top of `head` that the agent starts from, whose files that instruct agents are the ones of the project's own branch. It
   * is never pushed. Default: `head` has the right ones.
   */
  instructed?: string | undefined;
  /** What the agent does not find in its worktree, and why, each in a line. Default: nothing is missing. */
  lacks?: readonly string[] | undefined;
  /** What the job's log should say about it. */
  notes: string[];
}

export interface StartOptions {
  /** Whether the job's last pull request is merged. */
  isMerged: boolean;
  /** The last commit that it was merged with. What the job has pushed on top of it is not merged. Default: unknown. */
  mergedHead?: string | undefined;
  /** The last commit that was pushed for the job; `null` before the first one. */
  lastPushed: string | null;
  /** The project's own. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** Branches that the pull request targets instead, the first one that exists. Default: none. */
  bases?: readonly string[] | undefined;
  /** The commits that the service has pushed for the job, as the store recorded it. Default: none. */
  own?: ReadonlySet<string> | undefined;
  /**
   * Returns the paths that instruct agents. With another base than the project's, or after others have pushed to the job's
   * branch, these files are the project's. Default: they are as the start has them.
   */
  instructions?: ((paths: readonly string[]) => readonly string[]) | undefined;
}

/** What is asked of a repository to find a start. */
export interface StartRepository {
  fetch(branches: readonly string[]): Promise<void>;
  branchHeads(): Promise<Heads>;
  targetBranch(chosen?: string): Promise<string>;
  isMerged(commit: string, branch: string): Promise<boolean>;
  commits(base: string, head: string): Promise<{ commit: string }[]>;
  /** Returns whether the clone has a commit. */
  has(commit: string): Promise<boolean>;
  /** Fetches a commit, which its host may keep without a branch, or does nothing. @throws GitError in an outage */
  fetchCommit(commit: string): Promise<void>;
  isAncestor(ancestor: string, descendant: string): Promise<boolean>;
  /** Returns the merge base of two commits; `undefined` if they have no common history. */
  mergeBase(one: string, other: string): Promise<string | undefined>;
  /** Returns whether `target` contains all changes between two commits, however they were merged. `base` is the merge base of both. */
  isMergedSince(base: string, commit: string, target: string): Promise<boolean>;
  /** Returns whether a commit only merges what `target` has, as Git does without anyone's hand. */
  isCleanMerge(commit: string, target: string): Promise<boolean>;
  /** Returns a commit that has the files of another one where these match; see `withFilesOf`. */
  withFilesOf(head: string, from: string, matching: (paths: readonly string[]) => readonly string[]): Promise<string>;
}

/**
 * Fetches, and finds where a turn of a job starts: at the head of the job's branch, with whatever others pushed there; at the job's last
 * commit if the branch was deleted; and at the head of the target branch if there is no work yet, or all of it is merged.
 *
 * @throws if the job's work and the target branch have no common history, so that no pull request can be made of it
 */
export async function findStart(repository: StartRepository, branch: string, options: StartOptions): Promise<Start> {
  const { lastPushed, targetBranch: chosen, bases = [], instructions, own: pushed = new Set() } = options;
  // The repository may have got another default branch.
  await repository.fetch([branch, ...bases, ...(chosen === undefined ? [] : [chosen])]);
  const heads = await repository.branchHeads();
  const own = await repository.targetBranch(chosen);
  const ownHead = heads.get(own);
  if (ownHead === undefined) throw new Error(`the branch ${own} has no commit`);
  const [first = own] = bases;
  const targetBranch = [...bases, own].find((one) => heads.has(one)) ?? own;
  if (first !== targetBranch && lastPushed === null)
    throw new Error(`the branch ${first}, which the job was to start from, no longer exists`);
  const targetHead = heads.get(targetBranch) ?? ownHead;
  const branches = { repository, branch, remoteHead: heads.get(branch), targetBranch, targetHead, lastPushed };
  const start = await startOn(branches, options);
  if (first !== targetBranch)
    start.notes.push(`The branch ${first} no longer exists. The pull request is opened against ${targetBranch}.`);
  if (instructions === undefined) return start;
  const { base, head } = start;
  /** Whether all commits after the base are among those that the service has pushed, or only merge the target branch. */
  const isPushed = async (): Promise<boolean> => {
    const others = base === head ? [] : await repository.commits(base, head);
    for (const { commit } of others)
      if (!pushed.has(commit) && !(await repository.isCleanMerge(commit, ownHead))) return false;
    return true;
  };
  if (targetBranch === own && (await isPushed())) return start;
  const instructed = await repository.withFilesOf(head, ownHead, instructions);
  if (instructed === head) return start;
  const others = targetBranch === own ? `${branch}, which others have pushed to` : targetBranch;
  start.notes.push(`Files that instruct agents come from ${own}, not from ${others}.`);
  return { ...start, instructed };
}

/** What a repository that was just fetched says about the branches. */
interface Branches {
  repository: StartRepository;
  branch: string;
  remoteHead: string | undefined;
  targetBranch: string;
  targetHead: string;
  lastPushed: string | null;
}

async function startOn(branches: Branches, { isMerged, mergedHead }: StartOptions): Promise<Start> {
  const { repository, branch, remoteHead, targetBranch, targetHead, lastPushed } = branches;
  const notes: string[] = [];
  const start = { branch, targetBranch, remoteHead, notes };
  const startOver: Start = { ...start, head: targetHead, base: targetHead, isContinued: false };
  const head = remoteHead ?? (await findOrFetch(repository, lastPushed));
  const mayHaveMore = mergedHead !== undefined && mergedHead !== lastPushed;
  const isLost = head === undefined && lastPushed !== null && (!isMerged || mayHaveMore);
  if (isLost)
    notes.push(
      `${branch} was deleted, and neither this machine nor the repository has ${lastPushed}, the job's last commit. The turn starts over from ${targetBranch}.`,
    );
  if (head === undefined) return { ...startOver, ...(isLost && { isLost }) };
  const rewritten = remoteHead === undefined ? undefined : await rewrittenCommit(repository, remoteHead, lastPushed);
  const startWithout = (isGone: boolean): Start => {
    if (!isGone) return startOver;
    notes.push(
      `Someone rewrote ${branch}: it contains neither ${lastPushed}, the job's last commit, nor anything else that is not on ${targetBranch}. The turn starts over from ${targetBranch}.`,
    );
    return { ...startOver, isLost: true };
  };
  if (isMerged && mergedHead === remoteHead)
    // It may have been taken out of the branch before the merge.
    return startWithout(rewritten !== undefined && !(await repository.isMerged(rewritten, targetBranch)));
  // What others pushed after a merge is not overwritten, nor is what the job has pushed on top.
  if (isMerged && (remoteHead === undefined || remoteHead === lastPushed)) {
    const isKnown = mayHaveMore && (await repository.has(mergedHead));
    if (!isKnown || !(await repository.isAncestor(mergedHead, head))) return startOver;
  }
  const base = await repository.mergeBase(head, targetHead);
  if (base === undefined) throw await explainUnrelated(branches, head, rewritten);
  if (await repository.isMergedSince(base, head, targetHead)) {
    const isKept = remoteHead === undefined || lastPushed === null || (await repository.has(lastPushed));
    const isThere = rewritten === undefined ? isKept : await repository.isMerged(rewritten, targetBranch);
    return startWithout(!isThere && (!isMerged || mayHaveMore));
  }
  if (remoteHead === undefined)
    notes.push(
      `The branch ${branch} was deleted. The turn continues the job's last commit ${head} and creates it again.`,
    );
  else if (rewritten !== undefined)
    notes.push(
      `Someone rewrote ${branch}: it no longer contains ${lastPushed}, the job's last commit. The turn continues what is there now.`,
    );
  return { ...start, head, base, isContinued: true };
}

/** Returns why no pull request can be made of a job's work that has no history in common with the target branch. */
async function explainUnrelated(branches: Branches, head: string, rewritten: string | undefined): Promise<Error> {
  const { repository, branch, remoteHead, targetBranch, targetHead } = branches;
  if (rewritten !== undefined && (await repository.mergeBase(rewritten, targetHead)) !== undefined)
    return new Error(
      `Someone replaced ${branch} by another history, which has no commit in common with ${targetBranch}, so no pull request can be made of it. No agent was run, and the job's last commit ${rewritten} is kept in the service's clone. To continue that, delete ${branch} and send the message again. To continue what is on ${branch} now, first rebase it onto ${targetBranch}.`,
    );
  return new Error(
    `${targetBranch} was replaced by another history, which has no commit in common with the work of this job. No agent was run, and the work is kept${remoteHead === undefined ? ` as ${head} in the service's clone` : ` on ${branch}`}. Create a new job, or push to ${branch} a version of it that starts from ${targetBranch}, and send the message again.`,
  );
}

/** Returns the commit if the clone has it. It does not if its folder was removed. */
async function findKept(repository: StartRepository, commit: string | null): Promise<string | undefined> {
  return commit !== null && (await repository.has(commit)) ? commit : undefined;
}

/** Returns the commit if the clone has it, or gets it: GitHub keeps the commits of a pull request whose branch is deleted. */
async function findOrFetch(repository: StartRepository, commit: string | null): Promise<string | undefined> {
  const kept = await findKept(repository, commit);
  if (kept !== undefined || commit === null) return kept;
  await repository.fetchCommit(commit);
  return findKept(repository, commit);
}

/** Returns the job's last commit if the branch no longer contains it and the clone still has it, or gets it. */
async function rewrittenCommit(
  repository: StartRepository,
  head: string,
  lastPushed: string | null,
): Promise<string | undefined> {
  const kept = head === lastPushed ? undefined : await findOrFetch(repository, lastPushed);
  return kept !== undefined && !(await repository.isAncestor(kept, head)) ? kept : undefined;
}
