import { errorMessage } from "../../error-message.ts";
import type { JobCommit } from "../../git/job-commits.ts";
import { isResourceExhausted } from "../../processes/resource-exhausted.ts";
import { isCommitOf } from "../../pulls/commit-message.ts";
import { parseMade } from "../../store/made.ts";
import { tellEnd } from "../begin-and-end.ts";
import { changedAlreadyNote } from "../log-notes.ts";
import { isRemoteOutage, isStoreOutage } from "../outages.ts";
import { PushRefused } from "../refusal.ts";
import { titleOf } from "../turn-name.ts";
import { findCounted } from "../uncounted-commits.ts";
import { isMadeHere, lastWords, type Placed, type Position, setMade, type Work } from "../work.ts";
import { unchanged } from "./make.ts";

/** The branch moves repeatedly if others push, or if a worker that lost its turn pushes and reverts it. */
const maxMoves = 4;

/**
 * Pushes a turn's commit. If the branch has moved, the commit is moved on top of it and checked again.
 *
 * @throws with the turn's failure as the message, or on an outage
 */
export async function push(work: Work, placed: Placed): Promise<Position> {
  const { context, start, turn, last } = work;
  const { repository, committer, confirmOwner, job, log } = context;
  const { branch } = start;
  const { commit, parent, expected, isPushed, isKept, isFinal } = placed;
  if (isPushed) return { stage: "pushed", head: commit };
  const refuse = (error: unknown): never => {
    if (isStoreOutage(error) || isRemoteOutage(error) || isResourceExhausted(error)) throw error;
    log(errorMessage(error));
    throw new PushRefused(error, branch);
  };
  // A commit of a deleted branch is not modified.
  const isAsItIs = committer === undefined || isFinal || commit === parent;
  const pushed = isAsItIs ? commit : await committer.make(commit).catch(refuse);
  const earlier = last === undefined || [commit, parent, start.head].includes(last.commit) ? undefined : last.commit;
  if (pushed !== commit || !isKept) await repository.keep(pushed, turn.job, earlier);
  await confirmOwner();
  work.pushed = { branch, commit: pushed, before: placed.counted, lastRecorded: job.head };
  try {
    await repository.push(pushed, branch, expected);
  } catch (error) {
    await repository.fetch([branch]).catch(refuse);
    const newHead = await repository.branchHead(branch);
    // It may have arrived although its answer was lost, and be below what people have pushed since.
    const hasArrived = newHead !== undefined && (await repository.commits(newHead, pushed)).length === 0;
    if (!hasArrived) {
      // A worker that lost its turn may have reverted its push meanwhile.
      const hasMovedBack = newHead === expected && errorMessage(error).includes("(stale info)");
      if (newHead === expected && !hasMovedBack) return refuse(error);
      if ((placed.moves ?? 0) >= maxMoves) throw error;
      return move(work, placed, newHead, pushed, error);
    }
  }
  if (isMadeHere(work) && work.maker.answer !== null) log(lastWords(work.maker));
  return { stage: "pushed", head: pushed };
}

/** Moves a turn's commit onto the current branch head, where it counts as made but not as checked. */
async function move(
  work: Work,
  placed: Placed,
  newHead: string | undefined,
  pushed: string,
  cause: unknown,
): Promise<Position> {
  const { context, start, turn } = work;
  const { commit, parent, moves = 0 } = placed;
  const { base, head, branch } = start;
  // `undefined` if nothing on the branch counts.
  const counted =
    newHead === undefined ? undefined : (await findCounted(context.job, { head: newHead, base }, context, turn)).head;
  const onto = counted ?? head;
  const rebased = onto === parent ? commit : await context.repository.rebase(commit, parent, onto);
  if (rebased === undefined) throw new ConflictError(branch, pushed, cause);
  // `commit === parent`: the work of earlier turns, which is in more than one commit.
  const isEmpty = rebased === onto && commit !== parent;
  if (isEmpty && (await isByOthers(work, parent, [onto, newHead]))) return leaveToOthers(work, branch);
  const there: Placed = { commit: rebased, parent: onto, before: onto, expected: newHead, counted, moves: moves + 1 };
  if (rebased === commit) return { stage: "checked", placed: there };
  return replace(work, there);
}

/** Returns the position of a commit that replaces the one that was made, whose check no longer counts. */
export async function replace(work: Work, placed: Placed): Promise<Position> {
  const { context, maker } = work;
  // `setMade` does not check the lease.
  await context.confirmOwner();
  if (context.commands?.check !== undefined || maker.checkResult !== null)
    context.log(
      `The turn continues with the commit ${placed.commit}. What a check showed of an earlier one does not count for it.`,
    );
  await setMade(work, { ...parseMade(maker.made), commit: placed.commit });
  context.onChecked?.();
  return { stage: "made", placed };
}

/**
 * Returns whether others have made the change that became empty when it was moved: a push that was reported as failed may have arrived.
 *
 * @param parent - of the turn's commit
 * @param heads - what may have it
 */
export async function isByOthers(
  { maker, context }: Work,
  parent: string,
  heads: readonly (string | undefined)[],
): Promise<boolean> {
  for (const head of heads) {
    const commits = head === undefined ? [] : await context.repository.commits(parent, head);
    if (commits.some(({ message }) => isCommitOf(maker, message))) return false;
  }
  return true;
}

/** Returns where a turn stands whose commit is empty on its start; `undefined` if it goes on with its own commit, which is there. */
export async function placeEmpty(work: Work, parent: string): Promise<Position | undefined> {
  const { head, remoteHead, isContinued } = work.start;
  if (await isByOthers(work, parent, [head, remoteHead])) return leaveToOthers(work);
  return isContinued ? undefined : { stage: "published" };
}

/**
 * Records that a turn has no change: what its commit was moved onto has the same one. The commit there is not the turn's, which must not
 * claim it.
 *
 * @param where - the branch that has it. Default: the one that the turn starts from
 */
export async function leaveToOthers(work: Work, where = startBranch(work.start)): Promise<Position> {
  const { context, maker } = work;
  const { confirmOwner, log } = context;
  // `setMade` does not check the lease.
  await confirmOwner();
  const note = `${changedAlreadyNote} ${where} has it already, by another commit.`;
  log(note);
  if (isMadeHere(work) && maker.answer !== null) log(lastWords(maker));
  // It can be repeated.
  const words = (maker.answer ?? "").replace(note, "").trim();
  await setMade(work, {}, { answer: `${words}\n\n${note}`.trim() });
  if (work.isOwn) await tellEnd(work, { left: "nothing" });
  return unchanged(work);
}

const startBranch = ({ isContinued, branch, targetBranch }: Work["start"]): string =>
  isContinued ? branch : targetBranch;

/**
 * Copies an unpublished commit onto the turn's start, with the current title, since rules may have changed, and with a new id: another
 * worker that judged the old id as uncounted may still remove it.
 *
 * @returns `undefined` on a conflict, and the start itself if that has the change already
 */
export async function moveOnto(
  { start: { head }, context, maker }: Work,
  { commit, parent }: Pick<JobCommit, "commit" | "parent">,
): Promise<string | undefined> {
  const { repository } = context;
  const title = await titleOf(maker, context);
  return parent === head ? repository.copy(commit, title) : repository.rebase(commit, parent, head, title);
}

/** Thrown when others changed the same lines as the turn. Its commit is in the clone. */
export class ConflictError extends Error {
  readonly #what: string;

  constructor(branch: string, commit: string, cause?: unknown) {
    const what = `${branch} was changed while the turn ran, in a way that conflicts with its change. What is on the branch was left alone, and the turn's commit`;
    super(
      `${what} is kept as ${commit}. Send the prompt again: if the commit conflicts no longer, it is pushed; otherwise its work is done again on what is on the branch then.`,
      { cause },
    );
    this.#what = what;
  }

  /** Returns the turn's failure if its commit is lost. @param why - continues a sentence */
  whenLost(why: string): string {
    return `${this.#what} is lost with this runner: ${why}. Send the prompt again: its work is done again on what is on the branch then.`;
  }
}
