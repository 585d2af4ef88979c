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
import { shownPrompt } from "../turn-name.ts";
import type { TurnContext } from "../turn-ports.ts";
import { begunTurn, isMadeHere, type Position, type Work, type WorkContext } from "../work.ts";

/**
 * Opens or updates the job's pull request, and stores its link.
 *
 * @throws with the turn's failure as the message, or on an outage
 */
export async function publish(work: Work, head: string, isEarlier = false): Promise<Position> {
  const { turn, context, pullRequest } = work;
  const { store, repository, pullRequests, machine, job, log } = context;
  const start = work.isOwn ? work.start : { ...work.start, isContinued: true };
  const { branch, base, targetBranch, isContinued } = start;
  const madeBy = await makerOf(work, head, isEarlier);
  const { answer, asked, costUsd, checkResult, checkOutput } = madeBy;
  const shown = checkResult ?? (checkOutput ? ("not-run" as const) : undefined);
  const prompt = await shownPrompt(madeBy, context);
  // Without its target branch, a pull request cannot be merged.
  const { isMerged, bases } = pullRequest;
  const hasTarget = bases.length === 0 || bases[0] === targetBranch;
  const existing = isContinued && !isMerged && hasTarget ? job.pullRequest : null;
  // Omits the link of a merged pull request, which the next turn would take for this work, and the turn if only others have pushed. Also
  // detects whether another worker has taken the turn over, before anything is opened.
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
    isShared: await isShared(work, head),
    check: shown
      ? {
          result: shown,
          command: await new SecretPatterns(context.secrets ?? []).remove(context.commands?.check ?? ""),
          output: checkOutput ?? "",
        }
      : undefined,
    ...(await findNotes(start, head, madeBy, context)),
    protectedFiles: await findFlaggedChanges(context, await repository.changedFiles(base, head), base),
    // GitHub does not know about leases, and may answer after this one expires.
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
    const there = await repository.branchHead(branch);
    if (there === undefined) throw new TakenAway(head, branch, true);
    if (hasNoCommits(error) && (await repository.commits(there, head)).length > 0)
      throw new TakenAway(head, branch, false);
    throw new HostRefused(describeRefusal(error, branch, "pull request"), { cause: error });
  });
  if (link === undefined) return { stage: "published" };
  const { arePages = false } = pullRequests;
  if (arePages || link !== existing) await store.runningTurns.setPullRequest(turn, link, head, arePages);
  log(`Pull request: ${link}`);
  return { stage: "published" };
}

/**
 * Reads the pull request again before another is opened, because a person may have closed it since the turn began.
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

/** Returns the turn that made a branch head, with its agent's message and cost. */
async function makerOf(
  { turn, context, maker, isOwn, start }: Work,
  head: string,
  isEarlier: boolean,
): Promise<StoredTurn> {
  if (isOwn && !isEarlier) return maker;
  const found = await lastOnBranch({ ...start, head }, context);
  if (isOwn) return found ?? begunTurn(maker);
  const one = found === undefined || found.id === maker.id ? maker : found;
  // The stored prompt may be truncated.
  return one.promptHash === hashPrompt(turn.prompt)
    ? { ...one, prompt: turn.prompt, asked: turn.asked ?? one.asked }
    : one;
}

/** Returns the last turn with a commit on the branch; `undefined` if only others have commits there. */
async function lastOnBranch(
  { base, head }: Pick<Start, "base" | "head">,
  { turns, repository }: Pick<WorkContext, "turns" | "repository">,
): Promise<StoredTurn | undefined> {
  const commits = await repository.commits(base, head);
  return turns.findLast((turn) => commits.some(({ message }) => isCommitOf(turn, message)));
}

/** Returns whether a branch contains a commit that was merged without a pull request. */
async function isMergedInto(branch: string, head: string, repository: TurnContext["repository"]): Promise<boolean> {
  await repository.fetch([branch]);
  const target = await repository.branchHead(branch);
  return target !== undefined && (await repository.commits(target, head)).length === 0;
}

/** Returns whether the branch has commits of turns that the job did not have when this one started: another machine made them. */
async function isShared({ context, start }: Work, head: string): Promise<boolean> {
  const { turns, job, repository } = context;
  const named = (await repository.commits(start.base, head)).flatMap(({ message }) => namedTurns(message));
  return named.some((one) => one.job === job.id && !turns.some(({ identity }) => identity === one.identity));
}

/** Reads the notes on a turn's change from its commit message, which other machines can read, too. */
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
