import { errorMessage } from "../error-message.ts";
import type { Start } from "../git/find-start.ts";
import type { RunningTurn, StoredJob, StoredTurn } from "../model.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import { pullRequestTitle } from "../pulls/pull-request-title.ts";
import type { Change } from "../pulls/pull-requests.ts";
import { LeaseLost } from "../store-errors.ts";
import { findFlaggedChanges } from "./check-change.ts";
import type { LastPullRequest } from "./last-pull-request.ts";
import { isRemoteOutage, isStoreOutage } from "./outages.ts";
import type { TurnContext } from "./turn-ports.ts";

/** The words and the cost of a turn's agent, as they are stored. */
export type AgentWords = Pick<StoredTurn, "answer" | "costUsd">;

/** What a turn has brought to the job's branch. */
export interface TurnWork {
  start: Start;
  /** The commit of the turn on the job's branch; `undefined` if it changed nothing. */
  head: string | undefined;
  /** The words and the cost of its agent. */
  words: AgentWords;
  /** The job's last pull request. */
  pullRequest: LastPullRequest;
  /** Called when the commit of the turn has been recorded in the store, so that it counts. */
  onRecorded: () => void;
}

/**
 * Opens the pull request of a job after a turn, or brings the open one up to date, and stores its link. A turn without a commit
 * does so only for the work of an earlier one whose pull request could not be opened.
 *
 * @throws with why the turn fails as the message, or the error of an outage
 */
export async function openPullRequest(
  turn: RunningTurn,
  job: StoredJob,
  { start, head: own, words, pullRequest: { isMerged, bases }, onRecorded }: TurnWork,
  context: TurnContext,
): Promise<void> {
  const { store, repository, pullRequests, machine, log } = context;
  const head = own ?? (await findUnopenedWork(job, start, context));
  if (head === undefined) return;
  const { branch, base, targetBranch, isContinued } = start;
  const { prompt, answer, costUsd } =
    own !== undefined
      ? { ...turn, ...words }
      : ((await lastChange(base, head, context)).last ?? { ...turn, answer: null, costUsd: null });
  // One whose target is gone cannot be merged any longer.
  const hasTarget = bases.length === 0 || bases[0] === targetBranch;
  const existing = isContinued && !isMerged && hasTarget ? job.pullRequest : null;
  // Without the link of a merged pull request, whose work the next turn would take this for otherwise. This shows whether another
  // worker has taken the turn over, so nothing may have been opened before.
  await store.runningTurns.recordPush(turn, existing, head, own);
  onRecorded();
  const change: Change = {
    jobId: job.id,
    title: pullRequestTitle(prompt, answer, machine.wallTime()),
    prompt,
    answer,
    costUsd,
    branch,
    targetBranch,
    base,
    head,
    existing,
    protectedFiles: await findFlaggedChanges(context, await repository.changedFiles(base, head)),
    // GitHub does not know leases, and may answer after this one has expired.
    confirmOwner: () => store.runningTurns.confirmLease(turn),
  };
  const link = await pullRequests.open(change).catch((error: unknown) => {
    // Pages are in the store, which can be used again later.
    if (error instanceof LeaseLost || isStoreOutage(error) || isRemoteOutage(error)) throw error;
    throw new Error(
      `The work is on the branch ${branch}, but its pull request could not be opened. The next message to the job ` +
        `whose turn completes opens it. ${errorMessage(error)}`,
      { cause: error },
    );
  });
  const { arePages = false } = pullRequests;
  if (arePages || link !== existing) await store.runningTurns.setPullRequest(turn, link, head, arePages);
  log(`Pull request: ${link}`);
}

/** Returns the last turn whose commit is on the branch, which says what the change is about, and the turns after it. */
async function lastChange(base: string, head: string, { turns, repository }: TurnContext) {
  const commits = await repository.commits(base, head);
  const index = turns.findLastIndex((turn) => commits.some(({ message }) => isCommitOf(turn, message)));
  return { last: turns[index], later: turns.slice(index + 1) };
}

/** Returns the commit of an earlier turn that pushed it, and failed because its pull request could not be opened. */
async function findUnopenedWork(
  job: StoredJob,
  { base, head, isContinued }: Start,
  context: TurnContext,
): Promise<string | undefined> {
  if (!isContinued) return undefined;
  if (job.pullRequest === null) return head;
  const { last, later } = await lastChange(base, head, context);
  return last?.state === "failed" && later.every(({ state }) => state !== "completed") ? head : undefined;
}
