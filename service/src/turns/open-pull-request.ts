import { errorMessage } from "../error-message.ts";
import type { Start } from "../git/find-start.ts";
import type { RunningTurn, StoredJob, Turn } from "../model.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import type { Change } from "../pulls/pull-requests.ts";
import type { Store } from "../store/store.ts";
import { findProtectedChanges } from "./check-change.ts";
import type { LastPullRequest } from "./last-pull-request.ts";
import { isRemoteOutage, isStoreOutage } from "./outages.ts";
import type { TurnContext } from "./turn-ports.ts";

/** What a turn has brought to the job's branch. */
export interface TurnWork {
  start: Start;
  /** The commit of the turn on the job's branch; `undefined` if it changed nothing. */
  head: string | undefined;
  /** As it was when the turn began. */
  lastPullRequest: LastPullRequest;
  /** Throws if another worker has taken the turn over. */
  confirmOwner: () => Promise<void>;
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
  { start, head: own, lastPullRequest: { isMerged, bases }, confirmOwner }: TurnWork,
  context: TurnContext,
): Promise<void> {
  const { store, pullRequests, log } = context;
  const head = own ?? (await findUnopenedWork(job, start, context));
  if (head === undefined) return;
  const { branch, base, targetBranch, isContinued } = start;
  const { prompt, answer } =
    own !== undefined
      ? await storedTurn(turn, store)
      : ((await lastChange(job, base, head, context))?.turn ?? { ...turn, answer: null });
  // One whose target is gone can no longer be merged.
  const hasTarget = bases.length === 0 || bases[0] === targetBranch;
  const existing = isContinued && !isMerged && hasTarget ? job.pullRequest : null;
  // Otherwise the next turn would take this work for the merged pull request's.
  if (existing !== job.pullRequest) await store.runningTurns.clearPullRequest(turn, head);
  const change: Change = {
    jobId: job.id,
    title: commitTitle(prompt),
    prompt,
    answer,
    branch,
    targetBranch,
    base,
    head,
    existing,
    protectedFiles: await findProtectedChanges(context, base, head),
  };
  await confirmOwner();
  const link = await pullRequests.open(change).catch((error: unknown) => {
    // Pages are in the store, which can be used again later.
    if (isStoreOutage(error) || isRemoteOutage(error)) throw error;
    throw new Error(
      `The work is on the branch ${branch}, but its pull request could not be opened. The next message to the job ` +
        `whose turn completes opens it. ${errorMessage(error)}`,
      { cause: error },
    );
  });
  await store.runningTurns.setPullRequest(turn, link, head);
  log(`Pull request: ${link}`);
}

/** Returns a turn with its answer, as stored. */
async function storedTurn(turn: Turn, store: Store): Promise<{ prompt: string; answer: string | null }> {
  return (await store.turns.ofJob(turn.job)).find(({ id }) => id === turn.id) ?? { ...turn, answer: null };
}

/** Returns the last turn whose commit is on the branch, which says what the change is about, and that commit. */
async function lastChange({ id }: StoredJob, base: string, head: string, { store, repository }: TurnContext) {
  const commits = await repository.commits(base, head);
  const changes = (await store.turns.ofJob(id)).flatMap((turn) =>
    commits.filter(({ message }) => isCommitOf(turn, message)).map(({ commit }) => ({ turn, commit })),
  );
  return changes.at(-1);
}

/** Returns the commit of an earlier turn that pushed it, and failed because its pull request could not be opened. */
async function findUnopenedWork(
  job: StoredJob,
  { base, head, isContinued }: Start,
  context: TurnContext,
): Promise<string | undefined> {
  if (!isContinued) return undefined;
  if (job.pullRequest === null) return head;
  const last = await lastChange(job, base, head, context);
  return last !== undefined && last.turn.state === "failed" && last.commit !== job.head ? head : undefined;
}
