import { LRUCache } from "lru-cache";
import { defaultBranchPrefix, jobBranch } from "../model.ts";
import { writeAgentRepository } from "./agent-repository.ts";
import { type ChangedFile, changedFiles, readContents } from "./changed-files.ts";
import { checkGit } from "./check-git.ts";
import { Clone, type CloneOptions } from "./clone.ts";
import { type Heads, isBranchName, isJobBranch } from "./clone-refs.ts";
import { commitMoved } from "./commit-moved.ts";
import { readCommit, writeCommit } from "./commit-object.ts";
import {
  type CommitOptions,
  commitWorktree,
  identityOf,
  type Worktree,
  type WorktreeCommit,
} from "./commit-worktree.ts";
import { findStart, type Start, type StartOptions, type StartRepository } from "./find-start.ts";
import {
  commitsBetween,
  commitsOfBranch,
  commitsWithText,
  copyCommit,
  type DatedCommit,
  diff,
  filesBytes,
  isAncestor,
  isCleanMerge,
  isMergedSince,
  latestCommits,
  merge,
  mergeBase,
  rebase,
  resolveCommit,
} from "./history.ts";
import { keepIgnored } from "./ignored-files.ts";
import { inferBase, unknownBase } from "./infer-base.ts";
import { withFilesOf, withOwnFiles } from "./instructed-start.ts";
import {
  forgetJobs,
  type JobCommit,
  jobIds,
  lastCommitOf,
  packCommit,
  recordCommit,
  unpackCommit,
} from "./job-commits.ts";
import { needsPacking, pack } from "./maintenance.ts";
import { MergeStates } from "./merge-states.ts";
import { type NewObjects, newObjects } from "./new-objects.ts";
import type { Repository } from "./repository.ts";
import { findUnfiltered } from "./unfiltered-files.ts";
import { WorkRefs } from "./work-refs.ts";
import { restoreWorktree, type WorktreePlace } from "./worktree.ts";

export type RepositoryOptions = CloneOptions;

/** How many lists of changed files and of commits are remembered: from the check of a turn's commit until its pull request is opened. */
const maxChanges = 20;

/** A repository through Git and a bare clone, which makes checkouts cheap. */
export class GitRepository implements Repository {
  readonly objects: string;
  readonly #clone: Clone;
  /** Texts in refs of the repository itself. */
  readonly workRefs: WorkRefs;
  readonly #changes = new LRUCache<string, ChangedFile[]>({ max: maxChanges });
  /** Of the tree that was last listed: a turn asks for that of its start several times. */
  #paths: { commit: string; paths: string[]; submodules: string[] } | undefined;
  /** The commits between two, which never change. A turn asks for the same ones several times. */
  readonly #commits = new LRUCache<string, Awaited<ReturnType<Repository["commits"]>>>({ max: maxChanges });
  #mergeStates: MergeStates;

  constructor(options: RepositoryOptions) {
    this.#clone = new Clone(options);
    this.workRefs = new WorkRefs(this.#clone);
    this.objects = this.#clone.objects;
    this.#mergeStates = new MergeStates(this.#clone.git);
  }

  /**
   * Creates the clone if there is none yet, and fetches.
   *
   * @param targets - the branches that pull requests will be opened against; `undefined` is the default branch
   * @param prefixes - what the branches of jobs begin with
   * @throws if the service cannot work on this repository, with the reason as the message
   */
  async open(
    targets: readonly (string | undefined)[] = [undefined],
    prefixes: readonly string[] = [defaultBranchPrefix],
  ): Promise<void> {
    await checkGit();
    await this.#clone.open(targets);
    if (this.#clone.heads.size === 0) throw new Error("the repository is empty: push a first commit to it");
    this.#mergeStates = new MergeStates(this.#clone.git);
    for (const one of targets) {
      const target = await this.targetBranch(one);
      if ((await this.branchHead(target)) === undefined)
        throw new Error(`the branch ${target} does not exist, or has no commit yet: choose another one with --base`);
    }
    for (const prefix of prefixes)
      for (const { index } of prefix.matchAll(/\//g)) {
        const name = prefix.slice(0, index);
        if ((await this.branchHead(name)) !== undefined)
          throw new Error(
            `the repository has a branch named ${name}, so no branch can be named ${jobBranch("<job id>", prefix)}: choose another beginning with --branch-prefix`,
          );
      }
  }

  async targetBranch(chosen?: string): Promise<string> {
    if (chosen !== undefined) return chosen;
    const branch = this.#clone.defaultBranch;
    if (branch === undefined) throw new Error("the repository has no default branch: choose one with --base");
    if (isJobBranch(branch))
      throw new Error(`HEAD of the repository is ${branch}, the branch of a job: choose a branch with --base`);
    return branch;
  }

  list(): Promise<void> {
    return this.#clone.list();
  }

  fetch(branches: readonly string[]): Promise<void> {
    return this.#clone.fetch(branches.filter(isBranchName));
  }

  fetchIfBehind(branches: readonly string[], maxAgeMs: number, commit?: string): Promise<void> {
    return this.#clone.fetchIfBehind(branches.filter(isBranchName), maxAgeMs, commit);
  }

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

  async branchHeads(): Promise<Heads> {
    return this.#clone.heads;
  }

  async isMerged(commit: string, branch: string): Promise<boolean> {
    const target = await this.branchHead(branch);
    if (target === undefined) throw new Error(`the branch ${branch} is missing`);
    const isMerged = (await this.findMerged([commit], target)).get(commit);
    if (typeof isMerged !== "boolean") throw isMerged;
    return isMerged;
  }

  findMerged(commits: readonly string[], target: string): Promise<ReadonlyMap<string, boolean | Error>> {
    return this.#mergeStates.of(commits, target);
  }

  async commits(base: string, head: string): ReturnType<Repository["commits"]> {
    const known = this.#commits.get(`${base} ${head}`);
    if (known !== undefined) return known;
    const found = await commitsBetween(this.#clone.git, base, head);
    this.#commits.set(`${base} ${head}`, found);
    return found;
  }

  /** Returns the newest commits after `base` up to `head`, oldest first, each with the subject of its message. */
  latestCommits(base: string, head: string, count: number): Promise<{ commit: string; subject: string }[]> {
    return latestCommits(this.#clone.git, base, head, count);
  }

  async commitsOfBranch(head: string, count: number): Promise<DatedCommit[]> {
    const { git } = this.#clone;
    const isMissing = async () => (await resolveCommit(git, head)) === undefined;
    const isFetched = [...this.#clone.fetched.values()].includes(head);
    if (!isFetched && (await isMissing())) {
      await this.#clone.fetchCommit(head);
      if (await isMissing()) return [];
    }
    return commitsOfBranch(git, head, count);
  }

  async commitsOfJobs(text: string, days: number, chosen?: string, maxAgeMs = 0): Promise<DatedCommit[]> {
    const target = await this.targetBranch(chosen);
    await this.#clone.list(maxAgeMs);
    const { git, fetched: heads } = this.#clone;
    const isSearched = (name: string): boolean => name === target || isJobBranch(name);
    await this.#clone.fetchIfBehind([target, ...[...this.#clone.heads.keys()].filter(isJobBranch)], maxAgeMs);
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

  isCleanMerge(commit: string, target: string): Promise<boolean> {
    return isCleanMerge(this.#clone.git, commit, target);
  }

  findStart(branch: string, options: StartOptions): Promise<Start> {
    const { git } = this.#clone;
    const history: StartRepository = {
      fetch: (branches) => this.fetch(branches),
      branchHeads: () => this.branchHeads(),
      targetBranch: (chosen) => this.targetBranch(chosen),
      isMerged: (commit, target) => this.isMerged(commit, target),
      commits: (base, head) => this.commits(base, head),
      has: async (commit) => (await resolveCommit(git, commit)) !== undefined,
      fetchCommit: (commit) => this.#clone.fetchCommit(commit),
      isAncestor: (ancestor, descendant) => isAncestor(git, ancestor, descendant),
      mergeBase: (one, other) => mergeBase(git, one, other),
      isMergedSince: (base, commit, target) => isMergedSince(git, base, commit, target),
      isCleanMerge: (commit, target) => this.isCleanMerge(commit, target),
      withFilesOf: (head, from, matching) => withFilesOf(git, head, from, matching),
    };
    return findStart(history, branch, options);
  }

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

  async checkOut(start: Start, place: WorktreePlace, signal?: AbortSignal): Promise<Worktree> {
    const head = start.instructed ?? start.head;
    await this.restoreWorktree(place, head, signal);
    const { folder, config, url, fetched } = this.#clone;
    const heads = [...fetched].filter(([name]) => name === start.branch || !isJobBranch(name));
    await writeAgentRepository(place, { ...start, head, clone: folder, cloneConfig: config, url, heads });
    return { ...place, head, identity: await identityOf(place.tree) };
  }

  async commit(
    worktree: Worktree,
    message: Parameters<Repository["commit"]>[1],
    options: CommitOptions,
  ): Promise<WorktreeCommit> {
    const { git, folder } = this.#clone;
    const { changedFrom } = worktree;
    // Untrusted: the agent may have named it.
    const named = changedFrom && changedFrom !== unknownBase && (await resolveCommit(git, changedFrom));
    const base = named || (changedFrom && (await this.#inferBase(worktree, options)));
    const change = [git, folder, worktree, message, options] as const;
    return base ? commitMoved(base, ...change) : commitWorktree(...change);
  }

  /** Returns the commit that a worktree's files are a change of, by these files; `undefined` if that is its head. */
  async #inferBase(worktree: Worktree, options: CommitOptions): Promise<string | undefined> {
    const { git, folder, fetched } = this.#clone;
    const all = { ...options, only: undefined, isUnfinished: true };
    const { commit } = await commitWorktree(git, folder, worktree, "The files as the agent left them", all);
    const others = new Set([...fetched].flatMap(([name, head]) => (isJobBranch(name) ? [] : head)));
    return commit && inferBase(git, worktree.head, commit, others, options.signal);
  }

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

  async paths(commit: string): Promise<{ paths: string[]; submodules: string[] }> {
    const known = this.#paths;
    if (known?.commit === commit) return known;
    const format = "--format=%(objecttype) %(path)";
    const list = await this.#clone.git.run(["ls-tree", "-r", "-z", "--full-tree", format, commit]);
    const entries = [...list.matchAll(/(\w+) ([^\0]*)\0/g)].map(([, type, path = ""]) => ({ type, path }));
    const submodules = entries.filter(({ type }) => type === "commit").map(({ path }) => path);
    const found = { commit, paths: entries.map(({ path }) => path), submodules };
    this.#paths = found;
    return found;
  }

  readContents(ids: readonly string[]): AsyncIterable<{ id: string; content: string }> {
    return readContents(this.#clone.git, ids);
  }

  lastCommitOf(jobId: string): Promise<JobCommit | undefined> {
    return lastCommitOf(this.#clone, jobId);
  }

  keep(commit: string, jobId: string, earlier?: string): Promise<void> {
    return recordCommit(this.#clone, jobId, commit, earlier);
  }

  packCommit(jobId: string): Promise<Uint8Array> {
    return packCommit(this.#clone.git, jobId);
  }

  unpackCommit(jobId: string, packed: Uint8Array): Promise<JobCommit | undefined> {
    return unpackCommit(this.#clone, jobId, packed);
  }

  push(commit: string | undefined, branch: string, expectedHead: string | undefined): Promise<void> {
    return this.#clone.push(commit, branch, expectedHead);
  }

  deleteBranches(heads: Heads): Promise<readonly string[]> {
    return this.#clone.deleteBranches(heads);
  }

  copy(commit: string, title?: string): Promise<string> {
    return copyCommit(this.#clone.git, commit, title);
  }

  readCommit(commit: string): Promise<string> {
    return readCommit(this.#clone.git, commit);
  }

  writeCommit(text: string): Promise<string> {
    return writeCommit(this.#clone.git, text);
  }

  newObjects(commit: string): Promise<NewObjects> {
    return newObjects(this.#clone.git, commit);
  }

  forgetJobs(ids: readonly string[]): Promise<void> {
    return forgetJobs(this.#clone, ids);
  }

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

  withOwnFiles(
    commit: string,
    { instructed = "", head }: Start,
    messageWith: (leftOut: readonly string[]) => string,
  ): Promise<{ commit: string; leftOut: string[] }> {
    return withOwnFiles(this.#clone.git, commit, instructed, head, messageWith);
  }

  rebase(commit: string, parent: string, newParent: string, title?: string): Promise<string | undefined> {
    return rebase(this.#clone.git, commit, parent, newParent, title);
  }

  merge(into: string, other: string, message: string): ReturnType<Repository["merge"]> {
    return merge(this.#clone.git, into, other, message);
  }
}
