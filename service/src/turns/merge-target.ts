import { errorMessage } from "../error-message.ts";
import { showPath } from "../git/byte-paths.ts";
import type { Start } from "../git/find-start.ts";
import { namesOf } from "../one-line.ts";
import { mergeMessage } from "../pulls/turn-trailers.ts";
import { findStartOf } from "./last-pull-request.ts";
import { behindNote } from "./log-notes.ts";
import { isRemoteOutage, isStoreOutage } from "./outages.ts";
import { describeRefusal } from "./refusal.ts";
import type { Work } from "./work.ts";

/**
 * Merges the target branch into the branch that a turn continues. If there are conflicts, or the merge is rejected, the agent is told what
 * is missing. The merge is pushed before the agent runs, so that a rule that forbids it costs nothing and an interrupted turn does not
 * merge twice. It is not recorded: it counts like a person's commit.
 *
 * @returns the new start, also set in `work`
 * @throws on an outage
 */
export async function mergeTarget(work: Work): Promise<Start> {
  const { turn, context, start, pullRequest } = work;
  const { repository, committer, confirmOwner, log } = context;
  const { branch, targetBranch, base, head } = start;
  const target = start.isContinued ? await repository.branchHead(targetBranch) : undefined;
  if (target === undefined || target === base) return start;
  if ((await context.keptCommits?.besides?.(turn))?.length)
    return stayBehind(
      work,
      target,
      `Another run of this job works on ${branch}, so ${targetBranch} is not merged into it now.`,
    );
  const merged = await repository.merge(head, target, mergeMessage(targetBranch, branch, turn.job));
  if ("conflicts" in merged) {
    const both = `${targetBranch} cannot be merged into ${branch}, because both have changed ${quoted(merged.conflicts.map(showPath))}.`;
    return stayBehind(work, target, both);
  }
  await confirmOwner();
  let { commit } = merged;
  try {
    commit = (await committer?.make(commit)) ?? commit;
    await repository.push(commit, branch, work.tried ?? start.remoteHead);
  } catch (error) {
    if (isStoreOutage(error) || isRemoteOutage(error)) throw error;
    log(errorMessage(error));
    return stayBehind(work, target, describeRefusal(error, branch, "merge"));
  }
  log(`${targetBranch} has changed, so it was merged into ${branch} before the agent starts.`);
  if (work.tried !== undefined) work.tried = commit;
  const next = await findStartOf(context, pullRequest);
  for (const note of next.notes) if (!start.notes.includes(note)) log(note);
  work.start = next;
  return next;
}

/** Records and logs what the agent's branch is missing, and why. */
async function stayBehind(work: Work, target: string, why: string): Promise<Start> {
  const { context, start } = work;
  const { repository, log } = context;
  const { base, head, targetBranch } = start;
  const changed = new Set((await repository.changedFiles(base, target)).map(({ path }) => path));
  // Files that were already merged are identical in both.
  const differing = changed.size === 0 ? [] : await repository.changedFiles(head, target);
  const paths = differing.map(({ path }) => path).filter((path) => changed.has(path));
  const lacking = `The branch ${targetBranch} has changed since this work began, and these changes are not in the worktree. It lacks these files, or has them in an older version: ${quoted(paths)}.`;
  const behind = paths.length === 0 ? why : `${why} ${lacking}`;
  log(`${behindNote} ${behind}`);
  work.start = { ...start, lacks: [behind] };
  return work.start;
}

const quoted = (paths: readonly string[]): string => namesOf(paths.map((path) => JSON.stringify(path)));
