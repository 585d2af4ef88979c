import type { Start } from "../git/find-start.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { KeptWork, StoredTurn, Turn } from "../model.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import { checkChange, NotAllowed } from "./check-change.ts";
import { loadKept } from "./kept-commits.ts";
import { placeOn } from "./stages/make.ts";
import { moveOnto } from "./stages/push.ts";
import { turnName } from "./turn-name.ts";
import type { Placed, Work, WorkContext } from "./work.ts";

/*
 * What GitHub refused, a push or a pull request, is paid for. It is kept, its turn fails, and the next turn of the job takes it up where
 * that one stood, before its own agent runs: with the same prompt, no agent runs at all.
 */

/**
 * Returns the earlier turn whose work is kept, and was not published since; `undefined` if there is none. Turns after it that could not
 * publish it are passed over, except for what they have achieved, and so are turns that failed before anything was done.
 */
export function findKeptTurn({ id }: Pick<Turn, "id">, turns: readonly StoredTurn[]): StoredTurn | undefined {
  const done = turns.filter(
    (one) => one.id < id && (one.state === "completed" || one.attempts > 0 || one.kept !== null),
  );
  const chain = done.slice(done.findLastIndex(({ kept }) => kept === null || kept === "unfinished") + 1);
  // The first one, if the database has lost the count of its attempts.
  const maker = chain.findLast(({ attempts }) => attempts > 0) ?? chain[0];
  const { kept = null, endedAt = null } = chain.at(-1) ?? {};
  return maker && { ...maker, kept, endedAt };
}

/** Thrown if a person has closed the pull request since the work was kept. It stays kept, and is published if its job is asked again. */
export class ClosedSince extends Error {
  readonly kept: KeptWork | null;

  constructor(message: string, kept: KeptWork | null) {
    super(message);
    this.kept = kept;
  }
}

/**
 * Returns where the work stands that is kept of an earlier turn.
 *
 * @param work - of the turn that takes it up
 * @returns `undefined` if nothing of it is left that could be published, so that it is as if it had not been made
 * @throws ClosedSince
 * @throws with why the change may not be published any longer as the message
 */
export async function standingOfKept(kept: StoredTurn, work: Work): Promise<Work | undefined> {
  const { context, start, pullRequest } = work;
  const { log, job } = context;
  const name = turnName(kept.id);
  const { closedAt } = pullRequest;
  if (closedAt !== undefined && closedAt > (kept.endedAt ?? 0))
    throw new ClosedSince(
      `The work of ${name} is kept, and not published: ${job.pullRequest} was closed since. No agent was run. To have the work in another pull request, send a prompt to job ${job.id} again.`,
      kept.kept,
    );
  const adopted: Work = { ...work, maker: kept, isOwn: false };
  const isPushed = kept.kept === "pull-request" || kept.head !== null;
  if (isPushed && start.isLost) {
    log(`The commit of ${name} is gone with its branch, so its work is done again.`);
    return undefined;
  }
  if (isPushed && !start.isContinued) {
    log(`The work of ${name} is on ${start.targetBranch} already.`);
    return { ...adopted, maker: { ...kept, checkResult: null, checkOutput: null }, at: { stage: "published" } };
  }
  const found = isPushed ? await standingOfPushed(adopted) : await standingOfUnpushed(adopted);
  work.conflicting = adopted.conflicting;
  if (found !== undefined) log(`Publishing what is kept of ${name}.`);
  return found;
}

async function standingOfPushed(work: Work): Promise<Work> {
  const { context, start, maker } = work;
  const { head, remoteHead } = start;
  const own = await checkPushed(maker, start, context);
  const isPushed = remoteHead !== undefined;
  const placed: Placed = {
    commit: head,
    parent: head,
    before: head,
    expected: remoteHead,
    counted: undefined,
    isPushed,
  };
  // A result counts for the turn's own commit alone: neither for what others have pushed on top, nor for what they have made of it.
  if (own === undefined)
    return { ...work, maker: { ...maker, checkResult: null, checkOutput: null }, at: { stage: "checked", placed } };
  const isChecked = maker.checkResult !== null && [null, own.commit].includes(maker.head);
  if (isChecked) return { ...work, at: { stage: "checked", placed } };
  return { ...work, at: { stage: "made", placed: { ...placed, own: own.commit, before: own.parent } } };
}

async function standingOfUnpushed(work: Work): Promise<Work | undefined> {
  const { context, start, last, maker } = work;
  const { log } = context;
  const name = turnName(maker.id);
  const found = last && isCommitOf(maker, last.message) ? last : await loadKept(maker, context);
  if (found === undefined || !isCommitOf(maker, found.message)) {
    log(`The commit of ${name}, whose push was refused, is not on this machine, so its work is done again.`);
    return undefined;
  }
  const { commit: made, message } = found;
  const commit = await moveOnto(work, found);
  if (commit === undefined) {
    log(`The commit ${made} of ${name} conflicts with what others have pushed since, so an agent is run.`);
    work.conflicting = { maker, found };
    return undefined;
  }
  // Options may have changed since, and what is on the branch.
  await checkEarlier(
    [context, start.head, commit, textsOf(maker, message), log],
    "whose push was refused. Allow it, and send the prompt to this job again",
  );
  return { ...work, at: { stage: "made", placed: placeOn(work, commit) } };
}

/**
 * Checks what the job's turns have pushed, which no pull request has. What others have pushed is theirs.
 *
 * @returns the commit of the kept turn; `undefined` if others have taken it from the branch
 */
async function checkPushed(
  kept: StoredTurn,
  { branch, base, head }: Start,
  context: WorkContext,
): Promise<Omit<JobCommit, "message"> | undefined> {
  const { turns, repository, log } = context;
  let own: Omit<JobCommit, "message"> | undefined;
  let parent = base;
  for (const { commit, message } of await repository.commits(base, head)) {
    const maker = turns.find((turn) => isCommitOf(turn, message));
    if (maker !== undefined)
      await checkEarlier(
        [context, parent, commit, textsOf(maker, message), log],
        `and is on ${branch}, without a pull request. Allow it and send the prompt again, or delete that branch and start a new job`,
      );
    if (maker?.id === kept.id) own = { commit, parent };
    parent = commit;
  }
  return own;
}

/** Checks a change that was made with the options of then. @param what - of its request, and what to do */
function checkEarlier(change: Parameters<typeof checkChange>, what: string): Promise<void> {
  return checkChange(...change).catch((error: unknown) => {
    if (!(error instanceof NotAllowed)) throw error;
    throw new Error(`${error.message}. It was made for an earlier request, ${what}.`, { cause: error });
  });
}

/** Returns what is published with a turn's commit, by its name for people. */
function textsOf({ answer }: StoredTurn, message: string): Record<string, string> {
  return { "the message of the commit": message, "the agent's last message": answer ?? "" };
}
