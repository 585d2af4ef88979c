import type { Start } from "../git/find-start.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { Repository } from "../git/repository.ts";
import type { Turn } from "../model.ts";
import { isCommitOf } from "../pulls/commit-message.ts";

/** What is used of the repository. */
export type PushRepository = Pick<Repository, "commits" | "rebase" | "push" | "fetch" | "branchHead">;

/** What a push depends on. */
export interface PushPorts {
  repository: PushRepository;
  /** Throws if another worker has taken the turn over. */
  confirmOwner: () => Promise<void>;
}

/** Returns the turn's commit if an earlier attempt pushed it to the job's branch. */
export async function findPushedCommit(
  turn: Turn,
  start: Start,
  repository: PushRepository,
): Promise<string | undefined> {
  if (!start.isContinued || start.remoteHead === undefined) return undefined;
  const commits = await repository.commits(start.base, start.head);
  return commits.find(({ message }) => isCommitOf(turn, message))?.commit;
}

/**
 * Pushes the turn's commit if an earlier attempt made it but did not push it, for example because the service was killed. The
 * agent is not run again, even if the branches have moved since. Returns the pushed commit.
 */
export async function pushUnpushedCommit(
  turn: Turn,
  start: Start,
  last: JobCommit | undefined,
  ports: PushPorts,
): Promise<string | undefined> {
  if (last === undefined || !isCommitOf(turn, last.message)) return undefined;
  const { commit, parent } = last;
  const rebased = parent === start.head ? commit : await ports.repository.rebase(commit, parent, start.head);
  if (rebased === undefined) throw new ConflictError(start.branch, commit);
  return pushCommit(rebased, turn, start, last, ports);
}

/** Thrown when others changed the same lines as the turn. */
class ConflictError extends Error {
  constructor(branch: string, commit: string, cause?: unknown) {
    super(
      `${branch} was changed while the turn ran, in a way that conflicts with its change. What is on the branch was left alone, and the turn's commit is kept as ${commit} in the service's clone. Send the message again to run the turn on what is on the branch now.`,
      { cause },
    );
  }
}

/**
 * Pushes the turn's commit and returns what is on the branch then. If the branch has moved, that is the commit of an
 * earlier attempt whose push arrived late, or the commit rebased onto what someone else pushed.
 *
 * @param last - the job's last commit before the turn
 */
export async function pushCommit(
  commit: string,
  turn: Turn,
  start: Start,
  last: JobCommit | undefined,
  { repository, confirmOwner }: PushPorts,
): Promise<string> {
  const { branch, head, remoteHead } = start;
  const earlier = last === undefined || [commit, head].includes(last.commit) ? undefined : last.commit;
  await confirmOwner();
  try {
    await repository.push(commit, branch, remoteHead, turn.job, earlier);
    return commit;
  } catch (error) {
    await repository.fetch();
    const newHead = await repository.branchHead(branch);
    const moved = newHead && { ...start, head: newHead, remoteHead: newHead, isContinued: true };
    const pushed = moved && (await findPushedCommit(turn, moved, repository));
    if (pushed) return pushed;
    if (newHead === remoteHead) throw error;
    const rebased = newHead === undefined ? commit : await repository.rebase(commit, head, newHead);
    if (rebased === undefined) throw new ConflictError(branch, commit, error);
    await confirmOwner();
    await repository.push(rebased, branch, newHead, turn.job, earlier);
    return rebased;
  }
}
