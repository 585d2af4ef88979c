import { errorMessage } from "../error-message.ts";
import type { Start } from "../git/find-start.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { Repository } from "../git/repository.ts";
import type { KeptWork, StoredJob, Turn } from "../model.ts";
import { isResourceExhausted } from "../processes/resource-exhausted.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import type { Committer } from "../pulls/committers.ts";
import { isRemoteOutage, isStoreOutage } from "./outages.ts";
import { PushRefused } from "./refusal.ts";
import { type BranchPorts, findCounted } from "./uncounted-commits.ts";

/** What is used of the repository. */
export type PushRepository = Pick<Repository, "commits" | "rebase" | "keep" | "push" | "copy" | "fetch" | "branchHead">;

/** What a push depends on. */
export interface PushPorts extends BranchPorts {
  repository: PushRepository;
  job: Pick<StoredJob, "id" | "head">;
  /** Makes the commit that is pushed of the one in the clone. Default: that is pushed. */
  committer?: Committer | undefined;
  /** Throws if another worker has taken the turn over. */
  confirmOwner: () => Promise<void>;
  progress: PushProgress;
  /** Called before the push of a commit that was moved onto what others have pushed meanwhile. Default: nothing depends on that. */
  onMoved?: ((commit: string, onto: string) => Promise<void>) | undefined;
  /** Appends to the job's log. */
  log: (text: string) => void;
}

/** What a run of a turn has pushed. */
export interface PushProgress {
  /** The last push, from before it begins: it can arrive even if it is reported as failed. */
  push: Push | undefined;
  /** Whether its commit has been recorded, and counts. */
  isRecorded: boolean;
  /** What is kept of the turn if it fails now. */
  kept: KeptWork | undefined;
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
 * Returns the turn's commit, on top of where the turn starts now, if an earlier attempt made it but did not push it, for example because
 * the service was killed. The agent is not run again, even if the branches have moved since.
 */
export async function findUnpushedCommit(
  turn: Turn,
  start: Start,
  last: JobCommit | undefined,
  repository: Pick<Repository, "copy" | "rebase">,
): Promise<string | undefined> {
  if (last === undefined || !isCommitOf(turn, last.message)) return undefined;
  const moved = await moveOnto(start.head, last, repository);
  if (moved === undefined) throw new ConflictError(start.branch, last.commit);
  return moved;
}

/**
 * Returns a commit on top of `head`, with an id that was never pushed: a worker that saw it on the branch before, and has judged that it
 * does not count, may still be about to remove it.
 *
 * @returns `undefined` on a conflict
 */
export async function moveOnto(
  head: string,
  { commit, parent }: JobCommit,
  repository: Pick<Repository, "copy" | "rebase">,
): Promise<string | undefined> {
  return parent === head ? repository.copy(commit) : repository.rebase(commit, parent, head);
}

/** Thrown when others changed the same lines as the turn. Its commit is in the clone. */
export class ConflictError extends Error {
  readonly #what: string;

  constructor(branch: string, commit: string, cause?: unknown) {
    const what = `${branch} was changed while the turn ran, in a way that conflicts with its change. What is on the branch was left alone, and the turn's commit`;
    super(
      `${what} is kept as ${commit}. Send the prompt again: if the commit conflicts no longer, it is pushed; otherwise its work is done again on what is on the branch then.`,
      { cause },
    );
    this.#what = what;
  }

  /** Returns why the turn fails if its commit is lost. @param why - continues a sentence */
  whenLost(why: string): string {
    return `${this.#what} is lost with this runner: ${why}. Send the prompt again: its work is done again on what is on the branch then.`;
  }
}

/** Returns why the turn fails, and logs all that Git says. */
function refusal(error: unknown, branch: string, { log }: Pick<PushPorts, "log">): unknown {
  if (isStoreOutage(error) || isRemoteOutage(error) || isResourceExhausted(error)) return error;
  log(errorMessage(error));
  return new PushRefused(error, branch);
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
  const { repository, job, committer, confirmOwner, progress } = ports;
  const { branch, base, head, remoteHead, isContinued } = start;
  const earlier = last === undefined || [commit, head].includes(last.commit) ? undefined : last.commit;
  const refuse = (error: unknown): never => {
    throw refusal(error, branch, ports);
  };
  /**
   * Makes the commit that is pushed in place of one in the clone, unless that is `onto`, which is on a branch already. Returns it with
   * its push, which the owner of the turn may begin now.
   */
  const preparePush = async (local: string, onto: string, expected: string | undefined, before: string | undefined) => {
    // First, because whoever waits for the store after this can be ended meanwhile: the next service goes on with the commit.
    await repository.keep(local, turn.job, earlier);
    progress.kept = "push";
    const pushed = committer === undefined || local === onto ? local : await committer.make(local).catch(refuse);
    if (pushed !== local) await repository.keep(pushed, turn.job, earlier);
    await confirmOwner();
    const push = (): Promise<void> => {
      progress.push = { branch, commit: pushed, before, lastRecorded: job.head };
      return repository.push(pushed, branch, expected);
    };
    return { pushed, push };
  };
  // What counts of the branch of a turn that starts over is on the target branch, too, and stays. The first turn has only tried it.
  const own = job.head === null ? undefined : remoteHead;
  const counted = isContinued ? (head === base ? undefined : head) : own;
  let [local, onto, expected, before] = [commit, head, remoteHead, remoteHead && counted];
  for (let pushes = 1; ; pushes++) {
    const { pushed, push } = await preparePush(local, onto, expected, before);
    try {
      await push();
      return pushed;
    } catch (error) {
      await repository.fetch([branch]);
      const newHead = await repository.branchHead(branch);
      if (newHead === pushed) return pushed;
      // It has moved back if a worker that had lost its turn has taken its push back meanwhile.
      const hasMovedBack = newHead === expected && errorMessage(error).includes("(stale info)");
      if (newHead === expected && !hasMovedBack) throw refusal(error, branch, ports);
      if (pushes === maxPushes) throw error;
      const moved = newHead === undefined ? undefined : await findCounted(job, { head: newHead, base }, ports, turn);
      onto = moved?.head ?? head;
      const rebased = onto === head ? commit : await repository.rebase(commit, head, onto);
      if (rebased === undefined) throw new ConflictError(branch, pushed, error);
      if (rebased !== commit) await ports.onMoved?.(rebased, onto);
      [local, expected, before] = [rebased, newHead, moved?.head];
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
