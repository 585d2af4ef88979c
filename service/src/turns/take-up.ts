import { GitError } from "../git/git.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { RunningTurn, StoredJob } from "../model.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import { parseMade } from "../store/made.ts";
import { checkChange } from "./check-change.ts";
import { loadKept } from "./kept-commits.ts";
import { ClosedSince, findKeptTurn, isGone, keptElsewhere, keptOnGitHub } from "./kept-work.ts";
import { findStartOf, readLastPullRequest } from "./last-pull-request.ts";
import { TakenAway } from "./refusal.ts";
import { placeOn, unchanged } from "./stages/make.ts";
import { ConflictError, moveOnto, placeEmpty, replace } from "./stages/push.ts";
import { standingOf } from "./standing.ts";
import { untilStopped } from "./turn-deadline.ts";
import { turnName } from "./turn-name.ts";
import { removeUncounted } from "./uncounted-commits.ts";
import { type Evidence, type Placed, type Position, type RunContext, unchecked, type Work } from "./work.ts";

/** Finds where a turn starts, after removing uncounted commits from its branch. */
export async function takeUp(turn: RunningTurn, job: StoredJob, run: RunContext): Promise<Work> {
  const turns = await run.store.turns.ofJob(turn.job);
  const maker = turns.find(({ id }) => id === turn.id);
  if (maker === undefined) throw new Error("the store does not have this turn");
  const context = { ...run, job, turns, committer: undefined };
  const pullRequest = await readLastPullRequest(job, context);
  const { repository, stop } = context;
  for (let isFirst = true; ; isFirst = false) {
    // Other turns may share this fetch, so it is not killed. A turn whose agent has run may already have a commit that counts, so it is too
    // late to stop it.
    const [start, last] = await untilStopped(
      Promise.all([findStartOf(context, pullRequest), repository.lastCommitOf(job.id)]),
      turn.attempts === 0 ? stop : undefined,
    );
    const work: Work = {
      turn,
      context: { ...context, committer: run.committers?.of(start) },
      maker,
      isOwn: true,
      start,
      last,
      pullRequest,
      at: { stage: "begun" },
      // Created by an earlier attempt: the job has never pushed, and the branch has nothing that its target lacks.
      tried: !start.isContinued && job.head === null ? start.remoteHead : undefined,
      pushed: undefined,
    };
    if (await isClean(work, isFirst)) return work;
  }
}

/** Removes uncounted commits from a branch. Returns whether there were none. */
async function isClean({ start, context }: Work, isFirst: boolean): Promise<boolean> {
  try {
    const removed = await removeUncounted(start, context);
    if (removed.length === 0) return true;
    context.log(
      `The commit of ${removed.map(turnName).join(", ")} is removed from ${start.branch}, because the turn ended without it.`,
    );
  } catch (error) {
    // Somebody may have pushed to the branch meanwhile.
    if (!isFirst || !(error instanceof GitError)) throw error;
  }
  return false;
}

type Source = (work: Work) => Evidence | Promise<Evidence>;

/**
 * Determines where a turn stands: at its own work, at an earlier turn's kept work, or at its beginning.
 *
 * @param isPublished - whether kept work is to be published
 * @throws with the turn's failure as the message, or on an outage
 */
export async function findPosition(work: Work, isPublished: boolean): Promise<Work> {
  const { turn, context } = work;
  const own = await follow(work, [onBranch, inClone, inStore]);
  if (own !== undefined) return own;
  const kept = isPublished ? undefined : findKeptTurn(turn, context.turns);
  if (kept === undefined) return work;
  const adopted = { ...work, maker: kept, isOwn: false };
  const found = await follow(adopted, [keptOnGitHub, keptElsewhere]);
  work.conflicting = adopted.conflicting;
  return found ?? work;
}

/** Asks sources until one says what became of the turn that made some work. Returns `undefined` if an agent has to run. */
async function follow(work: Work, sources: readonly Source[]): Promise<Work | undefined> {
  const { context, maker, isOwn, start, pullRequest } = work;
  const { job, log } = context;
  const name = turnName(maker.id);
  for (const source of sources) {
    const { place, ...facts } = await source(work);
    const standing = standingOf(facts);
    switch (standing) {
      case "published":
        return { ...work, at: { stage: "published" } };
      case "merged": {
        const where = pullRequest.isMerged && isOwn ? job.pullRequest : start.targetBranch;
        log(`The work of ${isOwn ? "the turn" : name} is on ${where} already.`);
        return { ...work, maker: isOwn ? maker : { ...maker, ...unchecked }, at: { stage: "published" } };
      }
      case "closed":
        throw new ClosedSince(
          `The work of ${name} is kept, and not published: ${job.pullRequest} was closed since. No agent was run. To have the work in another pull request, send a prompt to job ${job.id} again.`,
          maker.kept,
        );
      case "taken away":
        if (isOwn) throw new TakenAway(maker.head ?? "", start.branch, start.remoteHead === undefined);
        log(`The commit of ${name} is gone from its branch, so its work is done again.`);
        return undefined;
      case "made":
      case "pushed": {
        const placed = await place?.();
        if (placed !== undefined && !isOwn) log(`Publishing what is kept of ${name}.`);
        return placed;
      }
      case "no change":
        return { ...work, at: unchanged(work) };
      case "failed":
        return { ...work, at: { stage: "failed", made: parseMade(maker.made) ?? {} } };
      case "none":
        break;
      default:
        throw new Error(`no source of a running turn says ${standing}`);
    }
  }
  return undefined;
}

/**
 * Looks for the turn's commit on the job's branch, or for the recorded commit on top of it: after restoring a backup, an earlier turn can
 * come later. If neither is recorded, a copy replaces it: see `findCounted`.
 */
async function onBranch(work: Work): Promise<Evidence> {
  const { turn, context, maker, start } = work;
  const { repository, job, keptCommits } = context;
  const { base, head, remoteHead, isContinued } = start;
  const commits = isContinued && remoteHead !== undefined ? await repository.commits(base, head) : [];
  const index = commits.findIndex(({ message }) => isCommitOf(turn, message));
  const own = commits[index];
  if (own === undefined) {
    if (maker.head === null) return {};
    // It counts but was removed from the branch.
    return { github: isContinued || (await isGone(work)) ? "gone" : "merged" };
  }
  const recorded = commits.slice(index).find(({ commit }) => commit === job.head);
  const at = (position: Position): Work => ({ ...work, at: position });
  if (recorded === undefined && own.commit === remoteHead) {
    const before = commits[index - 1]?.commit ?? base;
    const place = async (): Promise<Work> => {
      const commit = await repository.copy(own.commit);
      const counted = before === base ? undefined : before;
      return at(await positionOf(work, own.commit, { commit, parent: before, before, expected: remoteHead, counted }));
    };
    return { kept: "made", place };
  }
  // Commits that people pushed on top are not replaced.
  const pushed = recorded?.commit ?? own.commit;
  if (maker.stage === "published" && job.pullRequest !== null) return { github: "published" };
  const place = async (): Promise<Work> => {
    // A runner that was lost after its push has lost the check result, too.
    const isDone = maker.checkResult === null ? !keptCommits?.isOnlyPlace : await isMade(work, own.commit);
    if (isDone) return at({ stage: "pushed", head: pushed });
    const before = commits[commits.findIndex(({ commit }) => commit === pushed) - 1]?.commit ?? base;
    const placed = { commit: pushed, parent: before, before, expected: remoteHead, counted: undefined, isPushed: true };
    return at(await replace(work, placed));
  };
  return { github: "pushed", place };
}

/**
 * Looks for the turn's commit in the clone, and among commits that another machine stored during an outage or before a check. It is moved
 * onto the current start.
 */
async function inClone(work: Work): Promise<Evidence> {
  const { turn, start, last } = work;
  const isHere = last !== undefined && isCommitOf(turn, last.message);
  const found = isHere ? last : await restoreOwn(work);
  if (found === undefined) return {};
  const place = async (): Promise<Work> => {
    const commit = await moveOnto(work, found);
    if (commit === undefined) throw new ConflictError(start.branch, found.commit);
    const empty = commit === start.head ? await placeEmpty(work, found.parent) : undefined;
    if (empty !== undefined) return { ...work, at: empty };
    const placed = placeOn(work, commit);
    const isSame = found.parent === start.head;
    const at = await (isSame ? positionOf(work, found.commit, placed) : replace(work, placed));
    return { ...work, at };
  };
  return { kept: "made", place };
}

async function restoreOwn({ turn, maker, last, context }: Work): Promise<JobCommit | undefined> {
  const { repository, log } = context;
  if (turn.attempts === 0) return undefined;
  const found = await loadKept({ ...turn, made: maker.made }, context);
  if (found === undefined) return undefined;
  if (!isCommitOf(turn, found.message)) {
    if (last !== undefined) await repository.keep(last.commit, turn.job);
    return undefined;
  }
  const texts = { "the message of the commit": found.message };
  await checkChange(context, found.parent, found.commit, texts, log);
  log(`The commit of ${turnName(turn.id)} was made on another machine, which did not push it.`);
  return found;
}

/** Looks for the agent's stored result if there is no commit. A recorded commit that cannot be found is made again. */
function inStore({ maker }: Work): Evidence {
  const made = maker.stage === "begun" ? undefined : parseMade(maker.made);
  if (made === undefined || made.commit !== undefined) return {};
  return { stored: made.reason === undefined ? "nothing" : "failed" };
}

/** Returns the position of a commit that was found as `found`. A check without a result was stopped, or could not run: it runs again. */
async function positionOf(work: Work, found: string, placed: Placed): Promise<Position> {
  if (!(await isMade(work, found))) return replace(work, placed);
  return { stage: work.maker.checkResult === null ? "made" : "checked", placed };
}

/**
 * Returns whether a commit has the same content as the recorded one, which may have been checked: a person may have amended it, or a worker
 * may have died while storing it. If the clone lacks the recorded one, the commit is checked again.
 */
async function isMade({ maker, context }: Work, found: string): Promise<boolean> {
  const { commit } = parseMade(maker.made) ?? {};
  if (commit === undefined || commit === found) return commit === found;
  const differing = context.repository.changedFiles(commit, found);
  return differing.then(
    (files) => files.length === 0,
    () => false,
  );
}
