import type { Start } from "../git/find-start.ts";
import type { Repository } from "../git/repository.ts";
import type { StoredJob, Turn } from "../model.ts";
import { type NamedTurn, namedTurns, triedTurn } from "../pulls/turn-trailers.ts";
import type { KeptCommits } from "../store/kept-commits.ts";
import type { Store } from "../store/store.ts";

/*
 * Which commits on the branch of a job count.
 *
 * No check before a push keeps a worker from pushing after it has lost its lease: it may be paused in the middle of `git push`. So
 * a commit counts only once the owner of its turn has recorded it in the store, which needs the lease. `job.head` is the last one.
 *
 * - A worker that learns, when it records its commit, that it has lost the lease takes the commit from the branch again.
 * - A worker that takes a turn over, and finds a commit of the turn that was not recorded, puts a copy with an id of its own in its
 *   place. So the worker that lost the turn can always take its commit back: nobody else continues with that id.
 * - A worker can also die between the two. So a turn removes commits of turns that ended without recording them before it starts,
 *   and after it has ended, if it is not its first attempt. What arrives even later is removed within an hour: see `BranchCleaner`.
 *
 * All of this depends on the head of the branch being still the commit that was judged (`--force-with-lease`). What judges a commit
 * of the own turn reads the branch first and confirms the lease then: whoever pushed that commit had lost the turn before.
 *
 * What people do with the branch counts: commits below theirs, commits of turns that the store does not know, and everything if they
 * have rewritten the branch. A commit that they amend, and that still names its turn, is the turn's.
 */

export interface BranchPorts {
  repository: Pick<Repository, "commits">;
  store: Pick<Store, "jobs" | "turns">;
  /** Default: commits are kept elsewhere, too. */
  keptCommits?: Pick<KeptCommits, "isOnlyPlace"> | undefined;
}

export interface RemovalPorts extends BranchPorts {
  repository: BranchPorts["repository"] & Pick<Repository, "push">;
  job: Pick<StoredJob, "id" | "head">;
  /** Throws if another worker has taken the turn over. Default: no turn is involved. */
  confirmOwner?: (() => Promise<void>) | undefined;
}

export interface CountedBranch {
  /** The head without uncounted commits; `undefined` if none of the job's commits count. */
  head: string | undefined;
  /** The turns whose commits on top of `head` do not count. */
  uncounted: readonly number[];
}

/**
 * Returns the counted part of a branch.
 *
 * @param head - the branch head as of the last fetch
 * @param base - the commit at which the search stops
 * @param own - the calling turn, if its own commits do not count either. Default: they count
 */
export async function findCounted(
  job: Pick<StoredJob, "id" | "head">,
  { head, base }: { head: string; base: string },
  { repository, store, keptCommits }: BranchPorts,
  own?: Turn,
): Promise<CountedBranch> {
  const all = { head, uncounted: [] };
  if (head === job.head) return all;
  const commits = (await repository.commits(base, head)).map(({ commit, message }) => ({
    commit,
    turn: turnOf(message, job.id),
    tried: triedTurn(message, job.id),
  }));
  const tried = commits.at(-1)?.tried;
  if (tried !== undefined) return { head: commits.at(-2)?.commit, uncounted: [tried] };
  if (commits.at(-1)?.turn === undefined) return all;
  // Order matters: an ended turn records nothing more, so the job read after it has everything it recorded.
  const ended = new Set(
    (await store.turns.ofJob(job.id)).flatMap(({ identity, state, startedAt, kept }) =>
      // A turn that never ran here pushed nothing here: its commit predates a restored backup. Kept work may be in the middle of
      // publishing, and people may have amended it. Where each runner has a store of its own, one that counts as lost may still work.
      (state === "completed" || state === "failed") && startedAt !== null && kept === null && !keptCommits?.isOnlyPlace
        ? [identity]
        : [],
    ),
  );
  const recorded = (await store.jobs.find(job.id))?.head ?? null;
  const last = commits.findIndex(({ commit }) => commit === recorded);
  const isRewritten = recorded !== null && last < 0 && recorded !== base;
  if (isRewritten) return all;
  const counted = commits.slice(0, last + 1);
  const kept = new Set(counted.map(({ turn }) => turn?.identity));
  const isUncounted = (turn: NamedTurn | undefined): boolean =>
    turn !== undefined && !kept.has(turn.identity) && (turn.identity === own?.identity || ended.has(turn.identity));
  const above = commits.slice(last + 1);
  const lastKept = above.findLastIndex(({ turn }) => !isUncounted(turn));
  const below = above[lastKept] ?? counted.at(-1);
  return {
    head: below?.commit ?? (recorded === base ? base : undefined),
    uncounted: above.slice(lastKept + 1).flatMap(({ turn }) => turn?.turn ?? []),
  };
}

/**
 * Removes uncounted commits from a branch, unless it moves meanwhile.
 *
 * @param start - with the branch head as of the last fetch
 * @param own - the calling turn, if its own commits do not count either. Default: they count
 * @returns the turns whose commits were removed
 */
export async function removeUncounted(
  { branch, remoteHead, base }: Pick<Start, "branch" | "remoteHead" | "base">,
  ports: RemovalPorts,
  own?: Turn,
): Promise<readonly number[]> {
  const { repository, job, confirmOwner } = ports;
  if (remoteHead === undefined) return [];
  const counted = await findCounted(job, { head: remoteHead, base }, ports, own);
  if (counted.uncounted.length === 0) return [];
  await confirmOwner?.();
  await repository.push(counted.head, branch, remoteHead);
  return counted.uncounted;
}

export interface Push {
  branch: string;
  commit: string;
  /** The counted head before; `undefined` if there was none. */
  before: string | undefined;
  /** The job's last commit in the store when the turn began. */
  lastRecorded: string | null;
}

/**
 * Reverts a push, unless the branch has moved or the commit counts. If another commit was recorded since, the branch is set to that.
 *
 * @param recorded - the job's last commit in the store; `null` if there is none
 */
export async function undoPush(
  { branch, commit, before, lastRecorded }: Push,
  recorded: string | null,
  repository: Pick<Repository, "push">,
): Promise<void> {
  const counted = recorded === null || recorded === lastRecorded ? before : recorded;
  if (recorded !== commit && counted !== commit) await repository.push(counted, branch, commit);
}

/** Returns the turn that made a commit; `undefined` for a person's commit or a squash of several turns. */
function turnOf(message: string, job: string): NamedTurn | undefined {
  const [first, ...more] = namedTurns(message);
  return first?.job === job && more.length === 0 ? first : undefined;
}
