import { LRUCache } from "lru-cache";
import { writeAgentRepository } from "./agent-repository.ts";
import { type ChangedFile, changedFiles, readContents } from "./changed-files.ts";
import { Clone, type CloneOptions, jobBranches } from "./clone.ts";
import { type Heads, isBranchName } from "./clone-refs.ts";
import { readCommit, writeCommit } from "./commit-object.ts";
import {
  type CommitOptions,
  commitWorktree,
  identityOf,
  type Worktree,
  type WorktreeCommit,
} from "./commit-worktree.ts";
import { findStart, type Start, type StartOptions } from "./find-start.ts";
import type { Git } from "./git.ts";
import {
  commitsBetween,
  commitsOfBranch,
  commitsWithText,
  copyCommit,
  type DatedCommit,
  diff,
  filesBytes,
  latestCommits,
  rebase,
  resolveCommit,
} from "./history.ts";
import { keepIgnored } from "./ignored-files.ts";
import { withFilesOf, withOwnFiles } from "./instructed-start.ts";
import { bundle, forgetJobs, type JobCommit, jobIds, lastCommitOf, recordCommit, unbundle } from "./job-commits.ts";
import { needsPacking, pack } from "./maintenance.ts";
import { MergeStates } from "./merge-states.ts";
import { type NewObjects, newObjects } from "./new-objects.ts";
import { findUnfiltered } from "./unfiltered-files.ts";
import { restoreWorktree, type WorktreePlace } from "./worktree.ts";

export type RepositoryOptions = CloneOptions;

/** How many lists of changed files are remembered: from the check of a turn's commit until its pull request is opened. */
const maxChanges = 20;

/** The values of `PATH` whose Git is new enough. */
const checkedPaths = new Set<string | undefined>();

/**
 * The repository that agents work on, through a bare clone. The clone makes checkouts cheap and keeps every commit of a
 * job, so that its changes can be shown even after its branch is deleted.
 */
export class Repository {
  /** The folder of Git objects that checkouts refer to. */
  readonly objects: string;
  readonly #clone: Clone;
  readonly #changes = new LRUCache<string, ChangedFile[]>({ max: maxChanges });
  #mergeStates: MergeStates;

  constructor(options: RepositoryOptions) {
    this.#clone = new Clone(options);
    this.objects = this.#clone.objects;
    this.#mergeStates = new MergeStates(this.#clone.git);
  }

  /**
   * Creates the clone if there is none yet, and fetches.
   *
   * @param targets - the branches that pull requests will be opened against; `undefined` is the default branch
   * @throws if the service cannot work on this repository, with the reason as the message
   */
  async open(targets: readonly (string | undefined)[] = [undefined]): Promise<void> {
    await this.#clone.open(targets);
    if (this.#clone.heads.size === 0) throw new Error("the repository is empty: push a first commit to it");
    const { git } = this.#clone;
    this.#mergeStates = new MergeStates(git);
    for (const one of targets) {
      const target = await this.targetBranch(one);
      if ((await this.branchHead(target)) === undefined)
        throw new Error(`the branch ${target} does not exist, or has no commit yet: choose another one with --base`);
    }
    await checkGit(git);
    if ((await this.branchHead("agent")) !== undefined)
      throw new Error("the repository has a branch named agent, so no branch can be named agent/<job id>");
  }

  /**
   * Returns the branch that pull requests are opened against, as far as it is known.
   *
   * @param chosen - the operator's choice. Default: the repository's default branch
   */
  async targetBranch(chosen?: string): Promise<string> {
    if (chosen !== undefined) return chosen;
    const branch = this.#clone.defaultBranch;
    if (branch === undefined) throw new Error("the repository has no default branch: choose one with --base");
    if (branch.startsWith("agent/"))
      throw new Error(`HEAD of the repository is ${branch}, the branch of a job: choose a branch with --base`);
    return branch;
  }

  /** Lists the heads of all branches, without fetching them. */
  list(): Promise<void> {
    return this.#clone.list();
  }

  /** Fetches branches, and finds out which of them do not exist any more. */
  fetch(branches: readonly string[]): Promise<void> {
    return this.#clone.fetch(branches.filter(isBranchName));
  }

  /**
   * Fetches branches if the clone does not have the head of one as it is known, or a commit, or if one was fetched longer ago than
   * `maxAgeMs`. For processes that run no turns, or on which others push.
   */
  fetchIfBehind(branches: readonly string[], maxAgeMs: number, commit?: string): Promise<void> {
    return this.#clone.fetchIfBehind(branches.filter(isBranchName), maxAgeMs, commit);
  }

  /**
   * Returns the head of a branch as of the last fetch of it or the last listing, with own pushes since then; `undefined` if there is
   * no such branch.
   */
  async branchHead(branch: string): Promise<string | undefined> {
    return this.#clone.heads.get(branch);
  }

  /**
   * Fetches, and returns whether there is a branch of this name.
   *
   * @throws if the repository cannot be reached, unless the branch was there the last time
   */
  async hasBranch(branch: string): Promise<boolean> {
    try {
      await this.fetch([branch]);
    } catch (error) {
      if (this.#clone.heads.has(branch)) return true;
      throw error;
    }
    return this.#clone.heads.has(branch);
  }

  /** Returns the heads of all branches as of the last listing, with fetches and own pushes since then, by the names of the branches. */
  async branchHeads(): Promise<Heads> {
    return this.#clone.heads;
  }

  /**
   * Returns whether a branch contained all changes of a commit when it was fetched last: by merge, fast-forward, rebase or squash.
   */
  async isMerged(commit: string, branch: string): Promise<boolean> {
    const target = await this.branchHead(branch);
    if (target === undefined) throw new Error(`the branch ${branch} is missing`);
    const isMerged = (await this.findMerged([commit], target)).get(commit);
    if (typeof isMerged !== "boolean") throw isMerged;
    return isMerged;
  }

  /**
   * Returns for each commit whether `target`, the head of a branch, contains all its changes, or why that cannot be read.
   * Remembers the answers.
   */
  findMerged(commits: readonly string[], target: string): Promise<ReadonlyMap<string, boolean | Error>> {
    return this.#mergeStates.of(commits, target);
  }

  /** Returns the commits after `base` up to `head`, oldest first. */
  commits(base: string, head: string): Promise<{ commit: string; message: string }[]> {
    return commitsBetween(this.#clone.git, base, head);
  }

  /** Returns the newest commits after `base` up to `head`, oldest first, each with the subject of its message. */
  latestCommits(base: string, head: string, count: number): Promise<{ commit: string; subject: string }[]> {
    return latestCommits(this.#clone.git, base, head, count);
  }

  /**
   * Returns at most `count` commits of a branch, newest first, without what was merged into it.
   *
   * @param head - fetched if the clone does not have it, as after the branch of a pull request was deleted
   * @returns an empty list if the repository no longer has `head`
   */
  async commitsOfBranch(head: string, count: number): Promise<DatedCommit[]> {
    const { git } = this.#clone;
    const isMissing = async () => (await resolveCommit(git, head)) === undefined;
    if (await isMissing()) {
      await this.#clone.fetchCommit(head);
      if (await isMissing()) return [];
    }
    return commitsOfBranch(git, head, count);
  }

  /**
   * Fetches the branches of all jobs and the one that they are merged into. Returns their commits whose message contains a text, newest
   * first.
   *
   * @param days - older commits are not looked at
   * @param chosen - the target branch. Default: the repository's default branch
   */
  async commitsOfJobs(text: string, days: number, chosen?: string): Promise<DatedCommit[]> {
    const target = await this.targetBranch(chosen);
    await this.#clone.fetch([target, jobBranches]);
    const { git, fetched: heads } = this.#clone;
    const isSearched = (name: string): boolean => name === target || /^agent\/[^/]+$/.test(name);
    const searched = [...heads].flatMap(([name, head]) => (isSearched(name) ? head : []));
    return commitsWithText(git, text, searched, days);
  }

  /** Returns the size of a worktree of a branch, as of the last fetch, in bytes; 0 if the clone does not have it. */
  async checkoutBytes(branch: string): Promise<number> {
    const head = this.#clone.fetched.get(branch);
    return head === undefined ? 0 : filesBytes(this.#clone.git, head);
  }

  /** Returns the first `maxBytes` bytes of the diff between two commits. */
  diff(base: string, head: string, maxBytes: number): Promise<string> {
    return diff(this.#clone.git, base, head, maxBytes);
  }

  /** Fetches, and finds where a turn of a job starts; see `findStart`. */
  async findStart(branch: string, options: StartOptions): Promise<Start> {
    const { isMerged, mergedHead, lastPushed, targetBranch: chosen, bases = [], instructions } = options;
    const clone = this.#clone;
    // The repository may have got another default branch.
    await this.fetch([branch, ...bases, ...(chosen === undefined ? [] : [chosen])]);
    const { heads } = clone;
    const own = await this.targetBranch(chosen);
    const ownHead = heads.get(own);
    if (ownHead === undefined) throw new Error(`the branch ${own} has no commit`);
    const [first = own] = bases;
    const targetBranch = [...bases, own].find((one) => heads.has(one)) ?? own;
    if (first !== targetBranch && lastPushed === null)
      throw new Error(`the branch ${first}, which the job was to start from, does not exist any more`);
    const targetHead = heads.get(targetBranch) ?? ownHead;
    const branches = { clone, branch, remoteHead: heads.get(branch), targetBranch, targetHead, lastPushed };
    const start = await findStart(branches, isMerged, mergedHead, (commit, target) => this.isMerged(commit, target));
    if (first !== targetBranch)
      start.notes.push(
        `The branch ${first} does not exist any more. The pull request is opened against ${targetBranch}.`,
      );
    if (instructions === undefined) return start;
    const isOwn = targetBranch === own && (await this.#isPushed(start, options.own));
    if (isOwn) return start;
    const instructed = await withFilesOf(clone.git, start.head, ownHead, instructions);
    if (instructed === start.head) return start;
    const others = targetBranch === own ? `${branch}, which others have pushed to` : targetBranch;
    start.notes.push(`Files that instruct agents are those of ${own}, not of ${others}.`);
    return { ...start, instructed };
  }

  /** Returns whether all commits of a start after its base are among those that the service has pushed. */
  async #isPushed({ base, head }: Start, pushed: ReadonlySet<string> = new Set()): Promise<boolean> {
    return base === head || (await this.commits(base, head)).every(({ commit }) => pushed.has(commit));
  }

  /**
   * Returns a start with exactly the files of the project's own branch, as they were fetched last.
   *
   * @param chosen - that branch. Default: the repository's default branch
   */
  async ownStart(start: Start, chosen?: string): Promise<Start> {
    const own = await this.targetBranch(chosen);
    const head = await this.branchHead(own);
    if (head === undefined) throw new Error(`the branch ${own} has no commit`);
    return { ...start, head, instructed: undefined };
  }

  /** Removes from a folder of ignored files what the commit in a worktree does not ignore; see `keepIgnored`. */
  keepIgnored({ tree }: WorktreePlace, files: string): Promise<string[]> {
    return keepIgnored(this.#clone.git, this.#clone.folder, tree, files);
  }

  /** Makes a worktree contain the files of a commit. It may have been used for other commits before. */
  restoreWorktree(place: WorktreePlace, commit: string, signal?: AbortSignal): Promise<void> {
    return restoreWorktree(this.#clone.git, this.#clone.folder, place, commit, signal);
  }

  /**
   * Checks out the start of a turn in a worktree, as a Git clone with the job's branch.
   *
   * @param signal - kills Git
   */
  async checkOut(start: Start, place: WorktreePlace, signal?: AbortSignal): Promise<Worktree> {
    const head = start.instructed ?? start.head;
    await this.restoreWorktree(place, head, signal);
    const { folder, config, url, fetched } = this.#clone;
    const heads = [...fetched].filter(([name]) => name === start.branch || !name.startsWith(jobBranches));
    await writeAgentRepository(place, { ...start, head, clone: folder, cloneConfig: config, url, heads });
    return { ...place, head, identity: await identityOf(place.tree) };
  }

  /** Commits everything in a worktree on top of its head; see `commitWorktree`. */
  commit(
    worktree: Worktree,
    message: Parameters<typeof commitWorktree>[3],
    options: CommitOptions,
  ): Promise<WorktreeCommit> {
    return commitWorktree(this.#clone.git, this.#clone.folder, worktree, message, options);
  }

  /** Returns the files, links and submodules that differ between two commits. */
  async changedFiles(base: string, head: string): Promise<readonly ChangedFile[]> {
    const known = this.#changes.get(`${base} ${head}`);
    if (known !== undefined) return known;
    const { git } = this.#clone;
    const changed = await changedFiles(git, base, head);
    const filters = await findUnfiltered(git, head, changed);
    const files = changed.map((file) => ({ ...file, filter: filters.get(file.path) }));
    this.#changes.set(`${base} ${head}`, files);
    return files;
  }

  /** Reads the contents with some ids, as text of which each character is a byte. */
  readContents(ids: readonly string[]): AsyncIterable<{ id: string; content: string }> {
    return readContents(this.#clone.git, ids);
  }

  /** Returns the last commit made for a job, whether or not it was pushed. */
  lastCommitOf(jobId: string): Promise<JobCommit | undefined> {
    return lastCommitOf(this.#clone, jobId);
  }

  /**
   * Keeps a commit as the last one of a job, also if it is never pushed.
   *
   * @param earlier - an earlier commit of the job that the clone has to keep too, because this one does not contain it
   */
  keep(commit: string, jobId: string, earlier?: string): Promise<void> {
    return recordCommit(this.#clone, jobId, commit, earlier);
  }

  /**
   * Packs a job's last commit, for a clone that has its parent. Undone by `unbundle`.
   *
   * @throws if there is none, or the bundle is larger than 20 MB
   */
  bundle(jobId: string): Promise<Uint8Array> {
    return bundle(this.#clone.git, jobId);
  }

  /**
   * Restores a job's last commit from a bundle, after a fetch.
   *
   * @returns `undefined` if the clone cannot get its parent
   */
  unbundle(jobId: string, packed: Uint8Array): Promise<JobCommit | undefined> {
    return unbundle(this.#clone, jobId, packed);
  }

  /**
   * Pushes a commit to a branch.
   *
   * @param commit - `undefined` deletes the branch
   * @param expectedHead - the commit the branch must point to; `undefined` allows only a new branch or a fast-forward
   * @throws GitError if the branch has moved or the push is rejected
   */
  push(commit: string | undefined, branch: string, expectedHead: string | undefined): Promise<void> {
    return this.#clone.push(commit, branch, expectedHead);
  }

  /**
   * Deletes branches, each if it points to a commit.
   *
   * @returns those that are gone
   * @throws if none could be deleted
   */
  deleteBranches(heads: Heads): Promise<readonly string[]> {
    return this.#clone.deleteBranches(heads);
  }

  /** Returns a commit with the same content, parent and message as another one, and with another id. */
  copy(commit: string): Promise<string> {
    return copyCommit(this.#clone.git, commit);
  }

  /** Returns the whole text of a commit: its headers, an empty line, and its message. */
  readCommit(commit: string): Promise<string> {
    return readCommit(this.#clone.git, commit);
  }

  /** Adds a commit with a text to the clone, and returns its id. */
  writeCommit(text: string): Promise<string> {
    return writeCommit(this.#clone.git, text);
  }

  /** Returns the objects that a commit with one parent adds to those of its parent. */
  newObjects(commit: string): Promise<NewObjects> {
    return newObjects(this.#clone.git, commit);
  }

  /** Lets the clone forget the commits of jobs. Packing removes them two weeks later, unless a branch has them. */
  forgetJobs(ids: readonly string[]): Promise<void> {
    return forgetJobs(this.#clone, ids);
  }

  /** Returns the ids of the jobs that the clone has commits of. */
  jobIds(): Promise<string[]> {
    return jobIds(this.#clone);
  }

  /** Packs the clone if that pays. Returns whether it did. Other methods can be called meanwhile. */
  async packIfNeeded(): Promise<boolean> {
    if (!(await needsPacking(this.objects))) return false;
    await this.pack();
    return true;
  }

  /** Packs the refs and the objects of the clone. */
  async pack(): Promise<void> {
    await this.#clone.updateRefs(() => this.#clone.git.run(["pack-refs", "--all", "--prune"]));
    await pack(this.#clone.git);
  }

  /** Makes the change of a commit on top of `instructed` on top of `head`; see `withOwnFiles`. */
  withOwnFiles(
    commit: string,
    { instructed = "", head }: Start,
    messageWith: (leftOut: readonly string[]) => string,
  ): Promise<{ commit: string; leftOut: string[] }> {
    return withOwnFiles(this.#clone.git, commit, instructed, head, messageWith);
  }

  /**
   * Moves a commit, a child of `parent`, onto another commit.
   *
   * @returns the new commit; `newParent` itself if it contains the change already; `undefined` on a conflict
   */
  rebase(commit: string, parent: string, newParent: string): Promise<string | undefined> {
    return rebase(this.#clone.git, commit, parent, newParent);
  }
}

/** Checks once for all repositories that Git can merge many commits at once. */
async function checkGit(git: Git): Promise<void> {
  const { PATH } = process.env;
  if (checkedPaths.has(PATH)) return;
  await git.run(["merge-tree", "--write-tree", "--stdin"]).catch((cause: unknown) => {
    throw new Error("Git 2.39 or newer is required", { cause });
  });
  checkedPaths.add(PATH);
}
