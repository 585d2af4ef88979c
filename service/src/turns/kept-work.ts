import type { Start } from "../git/find-start.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { KeptWork, StoredTurn, Turn } from "../model.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import { hasMade, leavesKept, undecided } from "../store/made.ts";
import { checkChange, NotAllowed } from "./check-change.ts";
import { loadKept } from "./kept-commits.ts";
import { placeOn } from "./stages/make.ts";
import { moveOnto, placeEmpty } from "./stages/push.ts";
import { turnName } from "./turn-name.ts";
import { type Evidence, maxAttempts, type Placed, type Work, type WorkContext } from "./work.ts";

/*
 * What GitHub refused, a push or a pull request, is paid for. It is kept, its turn fails, and the next turn of the job takes it up where
 * that one stood, before its own agent runs: with the same prompt, no agent runs at all.
 */

/**
 * Returns the earlier turn whose kept work is still unpublished; `undefined` if there is none. Skips later turns that could not publish it,
 * except for their progress, and turns that leave it, or only ran beside it.
 */
export function findKeptTurn({ id }: Pick<Turn, "id">, turns: readonly StoredTurn[]): StoredTurn | undefined {
  const done = turns.filter(
    (one) => one.id < id && (one.state === "completed" || one.attempts > 0 || one.kept !== null) && !leavesKept(one),
  );
  const chain = undecided(done, ({ kept }) => kept === null || kept === "unfinished");
  // The first one, if the database lost its attempt count.
  const maker = chain.findLast(hasMade) ?? chain[0];
  const { kept = null, endedAt = null } = chain.at(-1) ?? {};
  return maker && { ...maker, kept, endedAt };
}

/** Thrown if a person closed the pull request after the work was kept. A new request to the job publishes the work. */
export class ClosedSince extends Error {
  readonly kept: KeptWork | null;

  constructor(message: string, kept: KeptWork | null) {
    super(message);
    this.kept = kept;
  }
}

/** Returns whether a turn starts over although nothing says that what was pushed is merged. */
export async function isGone(work: Work): Promise<boolean> {
  const { start, context, pullRequest } = work;
  if (start.isContinued) return false;
  if (start.isLost) return !(pullRequest.isMerged && (await isAmended(work)));
  return context.job.head === null && !pullRequest.isMerged;
}

/** Returns whether the branch has another commit that names the turn instead of the job's last one. */
async function isAmended({ maker, start: { remoteHead }, context: { job, repository } }: Work): Promise<boolean> {
  if (job.head === null || remoteHead === undefined) return false;
  // The clone may lack the job's last commit.
  const commits = await repository.commits(job.head, remoteHead).catch(() => []);
  return commits.some(({ message }) => isCommitOf(maker, message));
}

/** Looks for an earlier turn's kept work on GitHub. */
export async function keptOnGitHub(work: Work): Promise<Evidence> {
  const { turn, maker, start, pullRequest, context } = work;
  const { closedAt } = pullRequest;
  // A runner would not remember that it has said so, and its run was asked for since: the next one would say the same. A lost turn that it
  // restores was not.
  const canTell = !context.keptCommits?.isOnlyPlace || turn.attempts >= maxAttempts;
  if (canTell && closedAt !== undefined && closedAt > (maker.endedAt ?? 0)) return { github: "closed" };
  if (maker.kept !== "pull-request" && maker.head === null) return {};
  if (await isGone(work)) return { github: "gone" };
  if (!start.isContinued) return { github: "merged" };
  const own = await checkPushed(maker, start, context);
  return own === undefined ? { github: "gone" } : { github: "pushed", place: async () => placePushed(work, own) };
}

/** Looks for it in the clone, and among commits that other machines stored. */
export async function keptElsewhere(work: Work): Promise<Evidence> {
  const { context, last, maker } = work;
  const found = last && isCommitOf(maker, last.message) ? last : await loadKept(maker, context);
  if (found !== undefined && isCommitOf(maker, found.message))
    return { kept: "made", place: () => placeUnpushed(work, found) };
  context.log(
    `The commit of ${turnName(maker.id)}, whose push was refused, is not on this machine, so its work is done again.`,
  );
  return {};
}

function placePushed(work: Work, own: Pick<JobCommit, "commit" | "parent">): Work {
  const { start, maker } = work;
  const { head, remoteHead } = start;
  const isPushed = remoteHead !== undefined;
  const placed: Placed = {
    commit: head,
    parent: head,
    before: head,
    expected: remoteHead,
    counted: undefined,
    isPushed,
  };
  // A check result counts only for the turn's own commit, not for commits on top of it or amended versions.
  const isChecked = maker.checkResult !== null && [null, own.commit].includes(maker.head);
  if (isChecked) return { ...work, at: { stage: "checked", placed } };
  return { ...work, at: { stage: "made", placed: { ...placed, own: own.commit, before: own.parent } } };
}

async function placeUnpushed(work: Work, found: JobCommit): Promise<Work | undefined> {
  const { context, start, maker } = work;
  const { log } = context;
  const name = turnName(maker.id);
  const { commit: made, message } = found;
  const commit = await moveOnto(work, found);
  if (commit === undefined) {
    log(`The commit ${made} of ${name} conflicts with what others have pushed since, so an agent is run.`);
    work.conflicting = { maker, found };
    return undefined;
  }
  const empty = commit === start.head ? await placeEmpty(work, found.parent) : undefined;
  if (empty !== undefined) return { ...work, at: empty };
  // Options and the branch may have changed since.
  await checkEarlier(
    [context, start.head, commit, textsOf(maker, message), log],
    "whose push was refused. Allow it, and send the prompt to this job again",
  );
  return { ...work, at: { stage: "made", placed: placeOn(work, commit) } };
}

/**
 * Checks what the job's turns pushed without a pull request. Other people's commits are not checked.
 *
 * @returns the kept turn's commit; `undefined` if somebody removed it from the branch
 */
async function checkPushed(
  kept: StoredTurn,
  { branch, base, head }: Start,
  context: WorkContext,
): Promise<Omit<JobCommit, "message"> | undefined> {
  const { turns, repository, log } = context;
  let own: Omit<JobCommit, "message"> | undefined;
  let before = base;
  for (const one of await repository.commits(base, head)) {
    const { commit, message } = one;
    // Where the target branch was merged since, the one before it in the list, or the base, has changes of others.
    const { parent = before } = one;
    const maker = turns.find((turn) => isCommitOf(turn, message));
    if (maker !== undefined)
      await checkEarlier(
        [context, parent, commit, textsOf(maker, message), log],
        `and is on ${branch}, without a pull request. Allow it and send the prompt again, or delete that branch and start a new job`,
      );
    if (maker?.id === kept.id) own = { commit, parent };
    before = commit;
  }
  return own;
}

/** Checks a change that was made with earlier options. @param what - names its request and the next step */
function checkEarlier(change: Parameters<typeof checkChange>, what: string): Promise<void> {
  return checkChange(...change).catch((error: unknown) => {
    if (!(error instanceof NotAllowed)) throw error;
    throw new Error(`${error.message}. It was made for an earlier request, ${what}.`, { cause: error });
  });
}

/** Returns the texts published with a turn's commit, by display name. */
function textsOf({ answer }: StoredTurn, message: string): Record<string, string> {
  return { "the message of the commit": message, "the agent's last message": answer ?? "" };
}
