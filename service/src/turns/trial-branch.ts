import { errorMessage } from "../error-message.ts";
import { GitError } from "../git/git.ts";
import type { TurnResult } from "../model.ts";
import { isRemoteOutage } from "./outages.ts";
import { describeRefusal, HostRefused } from "./refusal.ts";
import { removeUncounted, undoPush } from "./uncounted-commits.ts";
import type { Work } from "./work.ts";

/**
 * Creates the job's branch before its agent runs, unless it is there, so that a rule that forbids it costs nothing.
 *
 * @throws with why the turn fails as the message, or the error of an outage
 */
export async function tryBranch(work: Work): Promise<void> {
  const { start, context } = work;
  const { branch, head, remoteHead } = start;
  const { repository, confirmOwner, log } = context;
  if (remoteHead !== undefined) return;
  await confirmOwner();
  try {
    await repository.push(head, branch, undefined);
  } catch (error) {
    if (!(error instanceof GitError) || isRemoteOutage(error)) throw error;
    await repository.fetch([branch]);
    const found = await repository.branchHead(branch);
    if (found === undefined) {
      log(errorMessage(error));
      throw new HostRefused(describeRefusal(error, branch, "branch"), { cause: error });
    }
    // Others have pushed to it, which shows as well that it can be there.
    if (found !== head) return;
  }
  work.tried = head;
}

/**
 * Takes from the job's branch what was pushed and does not count, if the turn ended otherwise: see `findCounted`. Removes a branch that
 * was only tried.
 */
export async function cleanBranch(work: Work, result: TurnResult): Promise<void> {
  const { turn, context, start, tried, pushed } = work;
  const { store, repository, log } = context;
  const { branch } = start;
  if (pushed === "recorded") return;
  try {
    if (result === "taken-over" && pushed !== undefined)
      // It may have been recorded although this was reported as failed, and never will be from now on.
      return await undoPush(pushed, (await store.jobs.find(turn.job))?.head ?? null, repository);
    if (result !== "completed" && result !== "failed") return;
    let remoteHead = tried;
    // A push that was refused may have left the branch as it was tried, and an earlier attempt may have pushed since: a worker that lost
    // the turn, or a push that was reported as failed.
    if (pushed !== undefined || turn.attempts > 0) {
      await repository.fetch([branch]);
      remoteHead = await repository.branchHead(branch);
    }
    if (remoteHead !== undefined && remoteHead === tried) await repository.push(undefined, branch, tried);
    else await removeUncounted({ ...start, remoteHead }, context, turn);
  } catch (error) {
    log(
      `A commit that does not count may be on the job's branch. The next turn removes it, or the service within an hour: ${errorMessage(error)}`,
    );
  }
}
