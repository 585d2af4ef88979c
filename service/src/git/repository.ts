import type { ChangedFile } from "./changed-files.ts";
import type { Heads } from "./clone-refs.ts";
import type { CommitOptions, ToldChange, Worktree, WorktreeCommit } from "./commit-worktree.ts";
import type { Start, StartOptions } from "./find-start.ts";
import type { DatedCommit } from "./history.ts";
import type { JobCommit } from "./job-commits.ts";
import type { NewObjects } from "./new-objects.ts";
import type { WorktreePlace } from "./worktree.ts";

/**
 * The repository that agents work on, through a clone on this machine. The clone has the branches that were asked for, and every commit of
 * a job, also after its branch is deleted.
 * What asks the repository's host throws `GitError`, whose `isRemoteOutage` says whether the same can succeed later.
 */
export interface Repository {
  /** The folder of Git objects that checkouts refer to. */
  readonly objects: string;

  /**
   * Returns the branch that pull requests are opened against, as far as it is known.
   *
   * @param chosen - the operator's choice. Default: the repository's default branch
   */
  targetBranch(chosen?: string): Promise<string>;

  /** Lists the heads of all branches, without fetching them. */
  list(): Promise<void>;

  /** Fetches branches, and finds out which of them no longer exist. */
  fetch(branches: readonly string[]): Promise<void>;

  /**
   * Fetches branches if the clone does not have the head of one as it is known, or a commit, or if one was fetched longer ago than
   * `maxAgeMs`. For processes that run no turns, or on which others push.
   */
  fetchIfBehind(branches: readonly string[], maxAgeMs: number, commit?: string): Promise<void>;

  /**
   * Returns the head of a branch as of the last fetch of it or the last listing, with own pushes since then; `undefined` if there is
   * no such branch.
   */
  branchHead(branch: string): Promise<string | undefined>;

  /** Returns the heads of all branches as of the last listing, with fetches and own pushes since then, by the names of the branches. */
  branchHeads(): Promise<Heads>;

  /** Returns whether a branch contained all changes of a commit when it was fetched last: by merge, fast-forward, rebase or squash. */
  isMerged(commit: string, branch: string): Promise<boolean>;

  /** Returns for each commit whether `target`, the head of a branch, contains all its changes, or why that cannot be read. */
  findMerged(commits: readonly string[], target: string): Promise<ReadonlyMap<string, boolean | Error>>;

  /** Returns the commits after `base` up to `head`, oldest first. */
  commits(base: string, head: string): Promise<{ commit: string; parent?: string | undefined; message: string }[]>;

  /**
   * Returns at most `count` commits of a branch, newest first, without what was merged into it.
   *
   * @param head - fetched if the clone does not have it, as after the branch of a pull request was deleted
   * @returns an empty list if the repository no longer has `head`
   */
  commitsOfBranch(head: string, count: number): Promise<DatedCommit[]>;

  /**
   * Fetches the branches of all jobs and the one that they are merged into. Returns their commits whose message contains a text, newest
   * first.
   *
   * @param days - older commits are not looked at
   * @param chosen - the target branch. Default: the repository's default branch
   * @param maxAgeMs - how old what is known of the branches may be. Default: 0
   */
  commitsOfJobs(text: string, days: number, chosen?: string, maxAgeMs?: number): Promise<DatedCommit[]>;

  /** Returns whether a commit only merges what a branch has, as Git does without anyone's hand. @param target - the head of that branch */
  isCleanMerge(commit: string, target: string): Promise<boolean>;

  /** Fetches, and finds where a turn of a job starts; see `findStart`. */
  findStart(branch: string, options: StartOptions): Promise<Start>;

  /**
   * Returns a start with exactly the files of the project's own branch, as they were fetched last.
   *
   * @param chosen - that branch. Default: the repository's default branch
   */
  ownStart(start: Start, chosen?: string): Promise<Start>;

  /**
   * Checks out the start of a turn in a worktree, as a Git clone with the job's branch.
   *
   * @param signal - kills Git
   */
  checkOut(start: Start, place: WorktreePlace, signal?: AbortSignal): Promise<Worktree>;

  /** Commits everything in a worktree on top of its head; see `commitWorktree`. */
  commit(
    worktree: Worktree,
    message: string | ((told: ToldChange) => string),
    options: CommitOptions,
  ): Promise<WorktreeCommit>;

  /** Returns the files, links and submodules that differ between two commits. */
  changedFiles(base: string, head: string): Promise<readonly ChangedFile[]>;

  /** Returns the paths of all files, links and submodules of a commit, and those of its submodules. */
  paths(commit: string): Promise<{ paths: readonly string[]; submodules: readonly string[] }>;

  /** Reads the contents with some ids, as text of which each character is a byte. */
  readContents(ids: readonly string[]): AsyncIterable<{ id: string; content: string }>;

  /** Returns the last commit made for a job, whether or not it was pushed. */
  lastCommitOf(jobId: string): Promise<JobCommit | undefined>;

  /**
   * Keeps a commit as the last one of a job, even if it is never pushed.
   *
   * @param earlier - an earlier commit of the job that the clone has to keep too, because this one does not contain it
   */
  keep(commit: string, jobId: string, earlier?: string): Promise<void>;

  /**
   * Packs a job's last commit as text, for a clone that has its parent. Undone by `unpackCommit`.
   *
   * @throws if there is none, or the text is larger than 50 MB
   */
  packCommit(jobId: string): Promise<Uint8Array>;

  /**
   * Restores a job's last commit, with its id, from a pack of `packCommit`, after a fetch.
   *
   * @returns `undefined` if that is damaged, or the repository does not have its parent
   * @throws GitError if that is unknown
   */
  unpackCommit(jobId: string, packed: Uint8Array): Promise<JobCommit | undefined>;

  /** Returns the ids of the jobs that the clone has commits of. */
  jobIds(): Promise<string[]>;

  /** Lets the clone forget the commits of jobs. Packing removes them two weeks later, unless a branch has them. */
  forgetJobs(ids: readonly string[]): Promise<void>;

  /**
   * Pushes a commit to a branch.
   *
   * @param commit - `undefined` deletes the branch
   * @param expectedHead - the commit the branch must point to; `undefined` allows only a new branch or a fast-forward
   * @throws GitError if the branch has moved or the push is rejected
   */
  push(commit: string | undefined, branch: string, expectedHead: string | undefined): Promise<void>;

  /**
   * Deletes branches, each if it points to a commit.
   *
   * @returns those that are gone
   * @throws if none could be deleted
   */
  deleteBranches(heads: Heads): Promise<readonly string[]>;

  /** Returns a commit with the same content, parent and message as another one, and with another id. @param title - default: the same */
  copy(commit: string, title?: string): Promise<string>;

  /**
   * Moves a commit, a child of `parent`, onto another commit.
   *
   * @param title - default: the same
   * @returns the new commit; `newParent` itself if it contains the change already; `undefined` on a conflict
   */
  rebase(commit: string, parent: string, newParent: string, title?: string): Promise<string | undefined>;

  /** Merges a commit into another one, in the clone. Returns the new commit, or the paths that conflict, as bytes. */
  merge(into: string, other: string, message: string): Promise<{ commit: string } | { conflicts: readonly string[] }>;

  /** Makes the change of a commit on top of `instructed` on top of `head`; see `withOwnFiles`. */
  withOwnFiles(
    commit: string,
    start: Start,
    messageWith: (leftOut: readonly string[]) => string,
  ): Promise<{ commit: string; leftOut: string[] }>;

  /** Returns the whole text of a commit: its headers, an empty line, and its message. */
  readCommit(commit: string): Promise<string>;

  /** Adds a commit with a text to the clone, and returns its id. */
  writeCommit(text: string): Promise<string>;

  /** Returns the objects that a commit adds to its parents'. */
  newObjects(commit: string): Promise<NewObjects>;
}
