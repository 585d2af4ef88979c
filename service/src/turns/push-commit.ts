import { errorMessage } from "../error-message.ts";
import type { Start } from "../git/find-start.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { Repository } from "../git/repository.ts";
import type { StoredJob, Turn } from "../model.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import { type BranchPorts, findCounted } from "./uncounted-commits.ts";

/** What is used of the repository. */
export type PushRepository = Pick<Repository, "commits" | "rebase" | "keep" | "push" | "copy" | "fetch" | "branchHead">;

/** What a push depends on. */
export interface PushPorts extends BranchPorts {
  repository: PushRepository;
  job: Pick<StoredJob, "id" | "head">;
  /** Throws if another worker has taken the turn over. */
  confirmOwner: () => Promise<void>;
  progress: PushProgress;
}

/** What a run of a turn has pushed. */
export interface PushProgress {
  /** The last push, from before it begins: it can arrive even if it is reported as failed. */
  push: Push | undefined;
  /** Whether its commit has been recorded, and counts. */
  isRecorded: boolean;
}

/** A push of a turn's commit. */
export interface Push {
  branch: string;
  commit: string;
  /** What of the branch counted before; `undefined` if there was no branch, or nothing of it counted. */
  before: string | undefined;
  /** The last commit of the job that the store had when the turn began. */
  lastRecorded: string | null;
}

/**
 * Returns the turn's commit if an earlier attempt pushed it to the job's branch, or the one on top of it that is recorded: after a
 * restored backup, an earlier turn can have come later. If neither is recorded, a copy takes its place: see `findCounted`.
 */
export async function findPushedCommit(
  turn: Turn,
  start: Start,
  last: JobCommit | undefined,
  ports: PushPorts,
): Promise<string | undefined> {
  const { repository, job } = ports;
  const { remoteHead } = start;
  if (!start.isContinued || remoteHead === undefined) return undefined;
  const commits = await repository.commits(start.base, start.head);
  const index = commits.findIndex(({ message }) => isCommitOf(turn, message));
  const own = commits[index];
  if (own === undefined) return undefined;
  const recorded = commits.slice(index).find(({ commit }) => commit === job.head);
  if (recorded !== undefined) return recorded.commit;
  // What people have pushed on top of it is not replaced.
  if (own.commit !== remoteHead) return own.commit;
  const head = commits[index - 1]?.commit ?? start.base;
  return pushCommit(await repository.copy(own.commit), turn, { ...start, head }, last, ports);
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

/** The branch moves more than once if others push, or a worker that has lost its turn pushes and takes that back. */
const maxPushes = 5;

/**
 * Pushes the turn's commit and returns what is on the branch then. If the branch has moved, that is the commit rebased onto what
 * someone else pushed. It can move again meanwhile, so this is tried a few times.
 *
 * @param last - the job's last commit before the turn
 */
export async function pushCommit(
  commit: string,
  turn: Turn,
  start: Start,
  last: JobCommit | undefined,
  ports: PushPorts,
): Promise<string> {
  const { repository, job, confirmOwner, progress } = ports;
  const { branch, base, head, remoteHead, isContinued } = start;
  const earlier = last === undefined || [commit, head].includes(last.commit) ? undefined : last.commit;
  /** Returns the push of a commit, which the owner of the turn may begin now. */
  const preparePush = async (pushed: string, expected: string | undefined, before: string | undefined) => {
    // First, because whoever waits for the store after this can be ended meanwhile: the next service goes on with the commit.
    await repository.keep(pushed, turn.job, earlier);
    await confirmOwner();
    return (): Promise<void> => {
      progress.push = { branch, commit: pushed, before, lastRecorded: job.head };
      return repository.push(pushed, branch, expected);
    };
  };
  // What counts of the branch of a turn that starts over is on the target branch, too, and stays.
  const counted = isContinued ? (head === base ? undefined : head) : remoteHead;
  let [pushed, expected, before] = [commit, remoteHead, remoteHead && counted];
  for (let pushes = 1; ; pushes++) {
    const push = await preparePush(pushed, expected, before);
    try {
      await push();
      return pushed;
    } catch (error) {
      await repository.fetch([branch]);
      const newHead = await repository.branchHead(branch);
      if (newHead === pushed) return pushed;
      // It has moved back if a worker that had lost its turn has taken its push back meanwhile.
      const hasMovedBack = newHead === expected && errorMessage(error).includes("(stale info)");
      if ((newHead === expected && !hasMovedBack) || pushes === maxPushes) throw error;
      const moved = newHead === undefined ? undefined : await findCounted(job, { head: newHead, base }, ports, turn);
      const onto = moved?.head;
      const rebased = onto === undefined || onto === head ? commit : await repository.rebase(commit, head, onto);
      if (rebased === undefined) throw new ConflictError(branch, commit, error);
      [pushed, expected, before] = [rebased, newHead, onto];
    }
  }
}

/**
 * Takes back a push, unless the branch has moved since, or the commit counts. If others have recorded another commit since, the branch
 * gets that.
 *
 * @param recorded - the last commit of the job that the store has; `null` if it has none
 */
export async function undoPush(
  { branch, commit, before, lastRecorded }: Push,
  recorded: string | null,
  repository: Pick<Repository, "push">,
): Promise<void> {
  const counted = recorded === null || recorded === lastRecorded ? before : recorded;
  if (recorded !== commit && counted !== commit) await repository.push(counted, branch, commit);
}
