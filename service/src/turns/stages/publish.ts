import { errorMessage } from "../../error-message.ts";
import type { Start } from "../../git/find-start.ts";
import type { StoredTurn, Turn } from "../../model.ts";
import { hashPrompt } from "../../prompt-hash.ts";
import { type CommitNotes, isCommitOf, readNotes } from "../../pulls/commit-message.ts";
import { hasNoCommits } from "../../pulls/github/github-error.ts";
import { pullRequestTitle } from "../../pulls/pull-request-title.ts";
import type { Change } from "../../pulls/pull-requests.ts";
import { namedTurns } from "../../pulls/turn-trailers.ts";
import { SecretPatterns } from "../../secret-patterns.ts";
import { LeaseLost } from "../../store-errors.ts";
import { findFlaggedChanges } from "../check-change.ts";
import { ClosedSince } from "../kept-work.ts";
import { isRemoteOutage, isStoreOutage } from "../outages.ts";
import { describeRefusal, HostRefused, TakenAway } from "../refusal.ts";
import type { TurnContext } from "../turn-ports.ts";
import { begunTurn, isMadeHere, type Position, type Work, type WorkContext } from "../work.ts";

/**
 * Opens the pull request of a job, or brings the open one up to date, and stores its link.
 *
 * @throws with why the turn fails as the message, or the error of an outage
 */
export async function publish(work: Work, head: string, isEarlier = false): Promise<Position> {
  const { turn, context, pullRequest } = work;
  const { store, repository, pullRequests, machine, job, log } = context;
  const start = work.isOwn ? work.start : { ...work.start, isContinued: true };
  const { branch, base, targetBranch, isContinued } = start;
  const madeBy = await makerOf(work, head, isEarlier);
  const { answer, asked, costUsd, checkResult, checkOutput } = madeBy;
  const prompt = await withoutSecrets(madeBy.prompt, context);
  // One whose target is gone cannot be merged any longer.
  const { isMerged, bases } = pullRequest;
  const hasTarget = bases.length === 0 || bases[0] === targetBranch;
  const existing = isContinued && !isMerged && hasTarget ? job.pullRequest : null;
  // Without the link of a merged pull request, whose work the next turn would take this for otherwise. This shows whether another
  // worker has taken the turn over, so nothing may have been opened before.
  // Without a turn that made it, if only others have pushed.
  const recorded = isEarlier && madeBy.id === turn.id ? undefined : madeBy.id;
  await store.runningTurns.recordPush(turn, existing, head, recorded, { checkResult, checkOutput });
  work.pushed &&= "recorded";
  const change: Change = {
    jobId: job.id,
    title: pullRequestTitle(prompt, answer, machine.wallTime(), context.titlePrefix),
    prompt,
    answer,
    asked,
    costUsd,
    branch,
    targetBranch,
    base,
    head,
    existing,
    isDraft: context.opensDrafts,
    check: checkResult
      ? {
          result: checkResult,
          command: await withoutSecrets(context.commands?.check ?? "", context),
          output: checkOutput ?? "",
        }
      : undefined,
    ...(await findNotes(start, head, madeBy, context)),
    protectedFiles: await findFlaggedChanges(context, await repository.changedFiles(base, head)),
    // GitHub does not know leases, and may answer after this one has expired.
    confirmOwner: () => store.runningTurns.confirmLease(turn),
    confirmNew: existing === null ? undefined : () => confirmNotClosed(work, existing, head),
  };
  const link = await pullRequests.open(change).catch(async (error: unknown) => {
    // Pages are in the store, which can be used again later.
    if (error instanceof LeaseLost || error instanceof ClosedSince || isStoreOutage(error) || isRemoteOutage(error))
      throw error;
    log(errorMessage(error));
    if (hasNoCommits(error) && (await isMergedInto(targetBranch, head, repository))) return undefined;
    await repository.fetch([branch]);
    if ((await repository.branchHead(branch)) === undefined) throw new TakenAway(head, branch, true);
    throw new HostRefused(describeRefusal(error, branch, "pull request"), { cause: error });
  });
  if (link === undefined) return { stage: "published" };
  const { arePages = false } = pullRequests;
  if (arePages || link !== existing) await store.runningTurns.setPullRequest(turn, link, head, arePages);
  log(`Pull request: ${link}`);
  return { stage: "published" };
}

/**
 * Asks once more for the pull request that was open, or unknown, when the turn began, because a person can have closed it since.
 *
 * @throws ClosedSince
 */
async function confirmNotClosed(work: Work, link: string, head: string): Promise<void> {
  const { context, start, maker, pullRequest, isOwn } = work;
  const { state, closedAt = 0 } = await context.pullRequests.read({ link, branch: start.branch, head });
  const isInterrupted = isOwn && !isMadeHere(work) && closedAt > (maker.startedAt ?? closedAt);
  if (state !== "closed" || (pullRequest.closedAt !== undefined && !isInterrupted)) return;
  throw new ClosedSince(
    `${link} was closed while the turn ran, so its commit is on ${start.branch}, and in no pull request. To have it in another one, send a prompt to job ${context.job.id} again.`,
    "pull-request",
  );
}

/** Returns the turn that made the head of a branch, with the words and the cost of its agent. */
async function makerOf(
  { turn, context, maker, isOwn, start }: Work,
  head: string,
  isEarlier: boolean,
): Promise<StoredTurn> {
  if (isOwn && !isEarlier) return maker;
  const found = await lastOnBranch({ ...start, head }, context);
  if (isOwn) return found ?? begunTurn(maker);
  const one = found === undefined || found.id === maker.id ? maker : found;
  // Only its beginning may be known here.
  return one.promptHash === hashPrompt(turn.prompt) ? { ...one, prompt: turn.prompt } : one;
}

/** Returns the last turn whose commit is on the branch; `undefined` if only others have commits there. */
async function lastOnBranch(
  { base, head }: Pick<Start, "base" | "head">,
  { turns, repository }: Pick<WorkContext, "turns" | "repository">,
): Promise<StoredTurn | undefined> {
  const commits = await repository.commits(base, head);
  return turns.findLast((turn) => commits.some(({ message }) => isCommitOf(turn, message)));
}

/** Whether a branch has all of a commit, because somebody has merged that without a pull request. */
async function isMergedInto(branch: string, head: string, repository: TurnContext["repository"]): Promise<boolean> {
  await repository.fetch([branch]);
  const target = await repository.branchHead(branch);
  return target !== undefined && (await repository.commits(target, head)).length === 0;
}

/** Returns a prompt or a command without secrets of the service: a workflow can have put one into it. */
const withoutSecrets = (text: string, { secrets = [] }: Pick<TurnContext, "secrets">): Promise<string> =>
  new SecretPatterns(secrets).remove(text);

/** Returns what people should know of a turn's change: its commit tells, also on another machine. */
async function findNotes(
  { base }: Start,
  head: string,
  { id }: Pick<Turn, "id">,
  { repository }: Pick<TurnContext, "repository">,
): Promise<CommitNotes> {
  const messages = (await repository.commits(base, head)).map(({ message }) => message);
  const own = messages.findLast((message) => namedTurns(message).some(({ turn }) => turn === id));
  return own === undefined ? {} : readNotes(own);
}
