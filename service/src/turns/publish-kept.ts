import { errorMessage } from "../error-message.ts";
import type { Start } from "../git/find-start.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { Repository } from "../git/repository.ts";
import type { RunningTurn, StoredJob, StoredTurn, Turn } from "../model.ts";
import { hashPrompt } from "../prompt-hash.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import type { KeptCommits } from "../store/kept-commits.ts";
import { KeptUnreadable, LeaseLost } from "../store-errors.ts";
import { checkChange, NotAllowed } from "./check-change.ts";
import type { LastPullRequest } from "./last-pull-request.ts";
import { openPullRequest } from "./open-pull-request.ts";
import { isStoreOutage } from "./outages.ts";
import type { Checked } from "./project-commands.ts";
import { moveOnto, type PushPorts, pushCommit } from "./push-commit.ts";
import { isForSecret } from "./refusal.ts";
import { turnName } from "./turn-name.ts";
import type { TurnContext } from "./turn-ports.ts";

/*
 * What GitHub refused, a push or a pull request, is paid for. It is kept, its turn fails, and the next turn of the job publishes it before
 * its own agent runs: with the same prompt, no agent runs at all.
 */

/**
 * Returns the earlier turn whose work is kept, and was not published since; `undefined` if there is none. Turns after it that could not
 * publish it are passed over, except for what they have achieved, and so are turns that failed before anything was done.
 */
export function findKeptTurn({ id }: Pick<Turn, "id">, turns: readonly StoredTurn[]): StoredTurn | undefined {
  const done = turns.filter(
    (one) => one.id < id && (one.state === "completed" || one.attempts > 0 || one.kept !== null),
  );
  const chain = done.slice(done.findLastIndex((one) => one.kept === null) + 1);
  // The first one, if the database has lost the count of its attempts.
  const maker = chain.findLast(({ attempts }) => attempts > 0) ?? chain[0];
  const { kept = null, endedAt = null } = chain.at(-1) ?? {};
  return maker && { ...maker, kept, endedAt };
}

/**
 * What became of kept work. `nothing`: nothing of it is left that could be published, so that it is as if it had not been made. `merged`:
 * without the service.
 */
export type KeptResult = { end: "nothing" | "merged"; checked?: undefined } | { end: "published"; checked: Checked };

/** Thrown if a person has closed the pull request since the work was kept. It stays kept, and is published if its job is asked again. */
export class ClosedSince extends Error {}

/** What a turn starts with. */
export interface TurnStart {
  start: Start;
  /** The last commit made for the job. */
  last: JobCommit | undefined;
  pullRequest: LastPullRequest;
}

interface KeptContext extends TurnContext, Omit<PushPorts, "store" | "repository"> {}

/**
 * Publishes what is kept of an earlier turn: pushes its commit, on top of what others have pushed since, and opens the pull request.
 *
 * @param onRecorded - called when the commit has been recorded in the store, so that it counts
 * @param check - checks the commit against the one before, if it is not pushed yet, or nobody knows what its check showed
 * @throws ClosedSince
 * @throws with why GitHub refuses it again as the message, or why the change may not be published any longer
 */
export async function publishKept(
  kept: StoredTurn,
  turn: RunningTurn,
  job: StoredJob,
  { start, last, pullRequest }: TurnStart,
  onRecorded: () => void,
  check: (commit: string, before: string) => Promise<Checked>,
  context: KeptContext,
): Promise<KeptResult> {
  const { log } = context;
  const { closedAt } = pullRequest;
  if (closedAt !== undefined && closedAt > (kept.endedAt ?? 0)) {
    context.progress.kept = kept.kept ?? undefined;
    throw new ClosedSince(
      `The work of ${turnName(kept.id)} is kept, and not published: ${job.pullRequest} was closed since. No agent was run. To have the work in another pull request, send a prompt to job ${job.id} again.`,
    );
  }
  const isPushed = kept.kept === "pull-request" || kept.head !== null;
  if (isPushed && start.isLost) {
    log(`The commit of ${turnName(kept.id)} is gone with its branch, so its work is done again.`);
    return { end: "nothing" };
  }
  if (isPushed && !start.isContinued) {
    log(`The work of ${turnName(kept.id)} is on ${start.targetBranch} already.`);
    return { end: "merged" };
  }
  const own = isPushed ? await checkPushed(kept, start, context) : undefined;
  const isDeleted = start.remoteHead === undefined;
  const { checkResult, checkOutput } = kept;
  let checked: Checked = { checkResult: checkResult ?? undefined, checkOutput: checkOutput ?? undefined };
  const checkIt = async (commit: string, before = start.head): Promise<void> => {
    checked = await check(commit, before);
  };
  // A result counts for the turn's own commit alone: neither for what others have pushed on top, nor for what they have made of it.
  if (isPushed && own === undefined) checked = {};
  else if (own !== undefined && (checkResult === null || ![null, own.commit].includes(kept.head)))
    await checkIt(own.commit, own.parent);
  const head = !isPushed
    ? await pushKept(kept, job, { start, last }, checkIt, context)
    : isDeleted
      ? await pushCommit(start.head, kept, start, last, { ...context, onMoved: checkIt })
      : start.head;
  if (head === undefined) return { end: "nothing" };
  log(`Publishing what is kept of ${turnName(kept.id)}.`);
  const pushed = { ...start, head, isContinued: true };
  const found = (await lastOnBranch(pushed, context)) ?? kept;
  const checkOfHead = { checkResult: checked.checkResult ?? null, checkOutput: checked.checkOutput ?? null };
  const maker = found.id === kept.id ? { ...found, ...checkOfHead } : found;
  // Only its beginning may be known here.
  const madeBy = maker.promptHash === hashPrompt(turn.prompt) ? { ...maker, prompt: turn.prompt } : maker;
  await openPullRequest(turn, job, { start: pushed, head, madeBy, pullRequest, onRecorded }, context);
  return { end: "published", checked };
}

/** Returns the last turn whose commit is on the branch; `undefined` if only others have commits there. */
export async function lastOnBranch(
  { base, head }: Pick<Start, "base" | "head">,
  { turns, repository }: Pick<TurnContext, "turns" | "repository">,
): Promise<StoredTurn | undefined> {
  const commits = await repository.commits(base, head);
  return turns.findLast((turn) => commits.some(({ message }) => isCommitOf(turn, message)));
}

/**
 * Checks what the job's turns have pushed, which no pull request has. What others have pushed is theirs.
 *
 * @returns the commit of the kept turn; `undefined` if others have taken it from the branch
 */
async function checkPushed(
  kept: StoredTurn,
  { branch, base, head }: Start,
  context: KeptContext,
): Promise<JobCommit | undefined> {
  const { turns, repository, log } = context;
  let own: JobCommit | undefined;
  let parent = base;
  for (const { commit, message } of await repository.commits(base, head)) {
    const maker = turns.find((turn) => isCommitOf(turn, message));
    if (maker !== undefined)
      await checkEarlier(
        [context, parent, commit, textsOf(maker, message), log],
        `and is on ${branch}, without a pull request. Allow it and send the prompt again, or delete that branch and start a new job`,
      );
    if (maker?.id === kept.id) own = { commit, message, parent };
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

/** Pushes a kept commit. Returns `undefined` if there is none, or what others have pushed conflicts with it. */
async function pushKept(
  kept: StoredTurn,
  job: StoredJob,
  { start, last }: Omit<TurnStart, "pullRequest">,
  check: (commit: string, before?: string) => Promise<void>,
  context: KeptContext,
): Promise<string | undefined> {
  const { repository, log } = context;
  const name = turnName(kept.id);
  const found = last && isCommitOf(kept, last.message) ? last : await loadKept(job.id, context);
  if (found === undefined || !isCommitOf(kept, found.message)) {
    log(`The commit of ${name}, whose push was refused, is not on this machine, so its work is done again.`);
    return undefined;
  }
  const { commit: made, message } = found;
  const commit = await moveOnto(start.head, found, repository);
  if (commit === undefined) {
    log(`The commit ${made} of ${name} conflicts with what others have pushed since, so its work is done again.`);
    return undefined;
  }
  // Options may have changed since, and what is on the branch.
  await checkEarlier(
    [context, start.head, commit, textsOf(kept, message), log],
    "whose push was refused. Allow it, and send the prompt to this job again",
  );
  await check(commit);
  return pushCommit(commit, kept, start, found, { ...context, onMoved: check });
}

/**
 * Brings back a turn's own commit, which another machine has stored while the repository's host could not be reached, or before its check.
 * Its agent is not run again.
 *
 * @param last - the last commit made for the job on this machine
 * @returns `undefined` if there is none, or this machine has made it
 */
export async function restoreOwn(
  turn: RunningTurn,
  last: JobCommit | undefined,
  context: KeptContext,
): Promise<JobCommit | undefined> {
  const { repository, log } = context;
  const isHere = last !== undefined && isCommitOf(turn, last.message);
  if (turn.attempts === 0 || isHere) return undefined;
  const found = await loadKept(turn.job, context);
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

/** Brings back the commit that is stored for a job; `undefined` if there is none that can be used. @throws KeptUnreadable */
async function loadKept(
  job: string,
  { repository, keptCommits, log }: Pick<TurnContext, "repository" | "keptCommits" | "log">,
): Promise<JobCommit | undefined> {
  const bundle = await keptCommits?.load(job).catch((error: unknown) => {
    throw isStoreOutage(error) ? error : new KeptUnreadable(errorMessage(error));
  });
  const found = bundle && (await repository.unbundle(job, bundle));
  if (bundle && !found)
    log(`The commit that is stored for ${job} is damaged, or its start is gone: it is passed over.`);
  return found;
}

/** What keeping a commit depends on. */
interface KeepPorts {
  repository: Pick<Repository, "bundle">;
  keptCommits?: KeptCommits | undefined;
  log: (text: string) => void;
}

/**
 * Stores the last commit of a turn's job, which is not pushed, for other machines, unless it may have a secret.
 *
 * @param refused - why the turn failed; `undefined` if it has not
 * @returns why it is lost with this machine; `undefined` if its clone keeps it, or it is stored
 */
export async function keepForOthers(
  turn: RunningTurn,
  refused: unknown,
  { repository, keptCommits, log }: KeepPorts,
): Promise<string | undefined> {
  if (keptCommits === undefined) return undefined;
  try {
    if (isForSecret(refused)) throw new Error("GitHub says that it has a secret, so that it is saved nowhere else");
    await keptCommits.save(turn, await repository.bundle(turn.job));
    return undefined;
  } catch (error) {
    if (error instanceof LeaseLost || isStoreOutage(error)) throw error;
    log(`The commit is only on this machine: ${errorMessage(error)}`);
    return keptCommits.isOnlyPlace ? errorMessage(error) : undefined;
  }
}
