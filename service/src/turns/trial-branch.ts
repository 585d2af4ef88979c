import { errorMessage } from "../error-message.ts";
import { GitError } from "../git/git.ts";
import type { TurnResult } from "../model.ts";
import { commitMessage } from "../pulls/commit-message.ts";
import { trialIdentity } from "../pulls/turn-trailers.ts";
import { isRemoteOutage, outlast } from "./outages.ts";
import { describeRefusal, HostRefused } from "./refusal.ts";
import { titleOf } from "./turn-name.ts";
import { removeUncounted, undoPush } from "./uncounted-commits.ts";
import type { Work } from "./work.ts";

/**
 * Creates the job's branch before its agent runs, so that a branch rule costs nothing. If there are commit rules, also pushes an empty
 * commit with the turn's message and author, and removes it at once. Does nothing if neither can be in the way.
 *
 * @throws with the turn's failure as the message, or on an outage
 */
export async function tryBranch(work: Work): Promise<void> {
  const { start, context, turn } = work;
  const { branch, head, remoteHead } = start;
  const { repository, committer, job, confirmOwner, branchRights, machine, log } = context;
  if (remoteHead !== undefined) return;
  const told = { ...turn, identity: trialIdentity, request: "" };
  const trial = await committer?.trial(head, commitMessage(told, [], job, {}, await titleOf(turn, context)));
  if (trial === undefined && branchRights?.areProven(machine.now())) return;
  const created = trial ?? head;
  await confirmOwner();
  try {
    await repository.push(created, branch, undefined);
  } catch (error) {
    if (!(error instanceof GitError) || isRemoteOutage(error)) throw error;
    await repository.fetch([branch]);
    const found = await repository.branchHead(branch);
    if (found === undefined) {
      log(errorMessage(error));
      throw new HostRefused(describeRefusal(error, branch, "branch"), { cause: error });
    }
    // Others have pushed to it, so the branch is allowed.
    if (found !== created) return;
  }
  branchRights?.prove(machine.now());
  work.tried = created;
  if (trial === undefined) return;
  const isForced = await repository.push(head, branch, trial).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof GitError) || isRemoteOutage(error)) throw error;
      return false;
    },
  );
  if (!isForced) {
    await repository.push(undefined, branch, trial);
    await repository.push(head, branch, undefined);
  }
  work.tried = head;
}

/**
 * Removes uncounted commits from the job's branch if the turn did not complete, see `findCounted`, and the branch if it was only a trial.
 */
export async function cleanBranch(work: Work, result: TurnResult): Promise<void> {
  const { turn, context, start, tried, pushed } = work;
  const { store, repository, branchRights, machine, signal, log } = context;
  const { branch } = start;
  if (result === "failed") branchRights?.doubt();
  if (pushed === "recorded") return;
  try {
    if (result === "taken-over" && pushed !== undefined)
      // It may have been recorded although the store reported a failure; from now on it cannot be.
      return await undoPush(pushed, (await store.jobs.find(turn.job))?.head ?? null, repository);
    if (result !== "completed" && result !== "failed") return;
    const clean = async (): Promise<void> => {
      let remoteHead = tried;
      // A rejected push may have left the trial branch, and an earlier attempt may have pushed since: a worker that lost its lease, or a
      // push that was reported as failed.
      if (pushed !== undefined || turn.attempts > 0) {
        await repository.fetch([branch]);
        remoteHead = await repository.branchHead(branch);
      }
      if (remoteHead !== undefined && remoteHead === tried) await repository.push(undefined, branch, tried);
      else await removeUncounted({ ...start, remoteHead }, context, turn);
    };
    await outlast(clean, machine, signal);
  } catch (error) {
    log(
      `A commit that does not count may be on the job's branch. The next turn removes it, or the service later: ${errorMessage(error)}`,
    );
  }
}
