import type { Start } from "../git/find-start.ts";
import type { Repository } from "../git/repository.ts";
import type { StoredJob, Turn } from "../model.ts";
import { type NamedTurn, namedTurns, triedTurn } from "../pulls/turn-trailers.ts";
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

/** What the judgement of a branch depends on. */
export interface BranchPorts {
  repository: Pick<Repository, "commits">;
  store: Pick<Store, "jobs" | "turns">;
}

/** What the removal of commits depends on. */
export interface RemovalPorts extends BranchPorts {
  repository: BranchPorts["repository"] & Pick<Repository, "push">;
  job: Pick<StoredJob, "id" | "head">;
  /** Throws if another worker has taken the turn over. Default: no turn removes them. */
  confirmOwner?: (() => Promise<void>) | undefined;
}

/** A branch as far as it counts. */
export interface CountedBranch {
  /** Its head without the commits that do not count; `undefined` if all of the job's commits on it do not. */
  head: string | undefined;
  /** The turns whose commits on top of `head` do not count. */
  uncounted: readonly number[];
}

/**
 * Returns what of a branch counts.
 *
 * @param head - the head of the branch, as of the last fetch
 * @param base - the commit from which on the branch is looked at
 * @param own - the turn that looks, if its own commits do not count either. Default: they do
 */
export async function findCounted(
  job: Pick<StoredJob, "id" | "head">,
  { head, base }: { head: string; base: string },
  { repository, store }: BranchPorts,
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
  // In this order: an ended turn records nothing any more, so the job read after it has all that it recorded.
  const ended = new Set(
    (await store.turns.ofJob(job.id)).flatMap(({ identity, state, startedAt, kept }) =>
      // One that never ran here pushed nothing here: its commit is from before the store was restored from a backup. What is kept may be
      // just being published, and people may have amended it since.
      (state === "completed" || state === "failed") && startedAt !== null && kept === null ? [identity] : [],
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
 * Removes from a branch the commits that do not count, unless it moves meanwhile.
 *
 * @param start - with the head of the branch as of the last fetch
 * @param own - the turn that removes them, if its own commits do not count either. Default: they do
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

/** A push of a turn's commit. */
export interface Push {
  branch: string;
  commit: string;
  /** What of the branch counted before; `undefined` if there was no branch, or nothing of it counted. */
  before: string | undefined;
  /** The last commit of the job that the store had when the turn began. */
  lastRecorded: string | null;
}

/**
 * Takes back a push, unless the branch has moved since, or the commit counts. If others have recorded another commit since, the branch
 * gets that.
 *
 * @param recorded - the last commit of the job that the store has; `null` if it has none
 */
export async function undoPush(
  { branch, commit, before, lastRecorded }: Push,
  recorded: string | null,
  repository: Pick<Repository, "push">,
): Promise<void> {
  const counted = recorded === null || recorded === lastRecorded ? before : recorded;
  if (recorded !== commit && counted !== commit) await repository.push(counted, branch, commit);
}

/** Returns the turn of a job that made a commit; `undefined` if a person did, or several turns were squashed. */
function turnOf(message: string, job: string): NamedTurn | undefined {
  const [first, ...more] = namedTurns(message);
  return first?.job === job && more.length === 0 ? first : undefined;
}
