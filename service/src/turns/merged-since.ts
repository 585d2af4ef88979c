import { findStartOf, readLastPullRequest } from "./last-pull-request.ts";
import { placeOn } from "./stages/make.ts";
import { ConflictError, isByOthers, leaveToOthers, replace } from "./stages/push.ts";
import { isMadeHere, type Placed, type Position, type Work } from "./work.ts";

/**
 * If the pull request was merged while the agent worked, moves the agent's commit to where the job's next turn would start; otherwise it
 * would propose the merged changes again.
 *
 * @returns `undefined` if it was not merged
 * @throws ConflictError
 */
export async function moveIfMerged(work: Work, { commit, parent }: Placed): Promise<Position | undefined> {
  const { context, start, pullRequest } = work;
  const { job, repository, committers, log } = context;
  if (!isMadeHere(work) || !start.isContinued || pullRequest.isMerged || job.pullRequest === null) return undefined;
  const now = await readLastPullRequest(job, context);
  if (!now.isMerged) return undefined;
  const next = await findStartOf(context, now);
  const moved = next.head === parent ? commit : await repository.rebase(commit, parent, next.head);
  if (moved === undefined) throw new ConflictError(next.targetBranch, commit);
  log(`${job.pullRequest} was merged while the turn ran, so that its commit goes on top of ${next.targetBranch}.`);
  const again: Work = { ...work, start: next, pullRequest: now };
  again.context = { ...context, committer: committers?.of(next) };
  const place = async (): Promise<Position> => {
    if (moved !== next.head) return replace(again, placeOn(again, moved));
    const isOfOthers = await isByOthers(again, parent, [next.head, next.remoteHead]);
    return isOfOthers ? leaveToOthers(again) : { stage: "published" };
  };
  const at = await place();
  // Only after it is stored, because it can be repeated until then.
  Object.assign(work, again);
  return at;
}
