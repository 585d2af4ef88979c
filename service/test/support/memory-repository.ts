import type { ChangedFile } from "../../src/git/changed-files.ts";
import { type Heads, isBranchName, isJobBranch } from "../../src/git/clone-refs.ts";
import {
  ChangeRefused,
  type CommitOptions,
  type ToldChange,
  type Worktree,
  type WorktreeCommit,
} from "../../src/git/commit-worktree.ts";
import { findStart, type Start, type StartOptions, type StartRepository } from "../../src/git/find-start.ts";
import { agentIdentity, GitError } from "../../src/git/git.ts";
import type { DatedCommit } from "../../src/git/history.ts";
import { type JobCommit, readPacked } from "../../src/git/job-commits.ts";
import type { NewObjects } from "../../src/git/new-objects.ts";
import type { Repository } from "../../src/git/repository.ts";
import type { WorktreePlace } from "../../src/git/worktree.ts";
import type { Edits, Files, MemoryObjects } from "./memory-objects.ts";
import { type MemoryRemote, refill } from "./memory-remote.ts";

/**
 * `Repository` in memory: a clone of a `MemoryRemote`, with the worktrees of its machine. Another machine has another one.
 *
 * What Git alone decides is left to it: which files of a worktree can be published, which are ignored, and how lines are merged.
 */
export class MemoryRepository implements Repository {
  readonly objects = "/objects";
  /** The last commit of each job, pushed or not. */
  readonly jobs = new Map<string, string>();
  readonly #earlier = new Map<string, Set<string>>();
  readonly #remote: MemoryRemote;
  readonly #all: MemoryObjects;
  /** The commits that it has. */
  readonly #commits = new Set<string>();
  #heads: Map<string, string> | undefined;
  readonly #fetched = new Map<string, string>();
  readonly #fetchedAt = new Map<string, number>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #defaultBranch: string | undefined;
  /** The files of worktrees, by the paths of the worktrees. */
  readonly #worktrees = new Map<string, Files>();

  /** Called when the branches are listed. */
  onList: () => void = () => {};
  readonly #now: () => number;

  /** @param now - in milliseconds, from any moment. Default: the process's clock */
  constructor(remote: MemoryRemote, now: () => number = () => performance.now()) {
    this.#remote = remote;
    this.#all = remote.objects;
    this.#now = now;
  }

  /** Lists the branches, and fetches the default branch. */
  async open(): Promise<void> {
    await this.list();
    await this.fetch([]);
  }

  /** Returns what brings it back to how it is now. */
  snapshot(): () => void {
    const heads = this.#heads && [...this.#heads];
    const [jobs, fetched, worktrees, commits] = [
      [...this.jobs],
      [...this.#fetched],
      [...this.#worktrees],
      [...this.#commits],
    ];
    const earlier = [...this.#earlier].map(([job, kept]) => [job, [...kept]] as const);
    return () => {
      this.#heads = heads && new Map(heads);
      refill(this.jobs, jobs);
      refill(this.#fetched, fetched);
      refill(this.#worktrees, worktrees);
      refill(
        this.#earlier,
        earlier.map(([job, kept]) => [job, new Set(kept)]),
      );
      this.#commits.clear();
      for (const commit of commits) this.#commits.add(commit);
    };
  }

  /** Changes files in a worktree, as an agent does. */
  edit(tree: string, edits: Edits): void {
    this.#worktrees.set(tree, this.#all.edit(this.#worktrees.get(tree) ?? new Map(), edits));
  }

  /** Returns the text of a file in a worktree; `undefined` if there is none. */
  read(tree: string, path: string): string | undefined {
    const id = this.#worktrees.get(tree)?.get(path);
    return id === undefined ? undefined : Buffer.from(this.#all.content(id), "latin1").toString();
  }

  /** Returns the paths of the files in a worktree. */
  files(tree: string): string[] {
    return [...(this.#worktrees.get(tree)?.keys() ?? [])];
  }

  /** Removes a worktree. */
  removeWorktree(tree: string): void {
    this.#worktrees.delete(tree);
  }

  async targetBranch(chosen?: string): Promise<string> {
    const branch = chosen ?? this.#defaultBranch;
    if (branch === undefined) throw new Error("the repository has no default branch: choose one with --base");
    return branch;
  }

  list(): Promise<void> {
    return this.#remote.carry({ what: "list", branches: [] }, () => this.#listNow());
  }

  #listNow(): void {
    this.#heads = new Map(this.#remote.heads);
    this.#defaultBranch = this.#remote.defaultBranch;
    this.#listedAt = this.#now();
    this.onList();
    this.#fetchedAt.clear();
    for (const branch of this.#fetched.keys()) if (!this.#heads.has(branch)) this.#fetched.delete(branch);
  }

  fetch(branches: readonly string[]): Promise<void> {
    const asked = branches.filter(isBranchName);
    return this.#remote.carry({ what: "fetch", branches: asked }, () => {
      const { heads, defaultBranch } = this.#remote;
      const isMissing = asked.some((branch) => !isJobBranch(branch) && !heads.has(branch));
      if (this.#heads === undefined || isMissing || this.#defaultBranch !== defaultBranch) this.#listNow();
      const own = heads.has(defaultBranch) ? [defaultBranch] : [];
      const found = [...heads.keys()].filter((branch) =>
        asked.some((one) => isJobBranch(one) && branch.startsWith(one)),
      );
      for (const branch of new Set([...asked, ...own, ...found])) this.#fetchBranch(branch, heads.get(branch));
    });
  }

  #fetchBranch(branch: string, head: string | undefined): void {
    for (const known of [this.#heads, this.#fetched])
      if (head === undefined) known?.delete(branch);
      else known?.set(branch, head);
    if (head !== undefined) this.#get(head);
    this.#fetchedAt.set(branch, this.#now());
  }

  /** Gets a commit with its history. */
  #get(commit: string): string {
    for (const one of this.#all.history(commit)) this.#commits.add(one);
    return commit;
  }

  async fetchIfBehind(branches: readonly string[], maxAgeMs: number, commit?: string): Promise<void> {
    const now = this.#now();
    const isBehind = branches
      .filter(isBranchName)
      .some(
        (branch) =>
          now - (this.#fetchedAt.get(branch) ?? this.#listedAt) >= maxAgeMs ||
          this.#knownHeads().get(branch) !== this.#fetched.get(branch),
      );
    if (isBehind || (commit !== undefined && !this.#commits.has(commit))) await this.fetch(branches);
  }

  #knownHeads(): Heads {
    if (this.#heads === undefined) throw new Error("the clone was not fetched yet");
    return this.#heads;
  }

  async branchHead(branch: string): Promise<string | undefined> {
    return this.#knownHeads().get(branch);
  }

  async branchHeads(): Promise<Heads> {
    return this.#knownHeads();
  }

  async isMerged(commit: string, branch: string): Promise<boolean> {
    const target = await this.branchHead(branch);
    if (target === undefined) throw new Error(`the branch ${branch} is missing`);
    const isMerged = (await this.findMerged([commit], target)).get(commit);
    if (typeof isMerged !== "boolean") throw isMerged;
    return isMerged;
  }

  async findMerged(commits: readonly string[], target: string): Promise<ReadonlyMap<string, boolean | Error>> {
    const lost = (commit: string): Error => new Error(`the commit ${commit} is missing in the clone`);
    if (!this.#commits.has(target)) throw lost(target);
    const isMerged = (commit: string): boolean => {
      if (this.#all.isAncestor(commit, target)) return true;
      const base = this.#all.mergeBase(commit, target);
      return base !== undefined && this.#isMergedSince(base, commit, target);
    };
    return new Map(
      commits.map((commit) => [commit, this.#commits.has(commit) ? isMerged(commit) : lost(commit)] as const),
    );
  }

  #isMergedSince(base: string, commit: string, target: string): boolean {
    if (base === commit) return true;
    if (base === target) return false;
    const [before, after, there] = [base, commit, target].map((one) => this.#commit(one).tree);
    // A commit without a net change would count as merged into every branch.
    return before !== after && this.#all.merge(target, commit) === there;
  }

  /** Returns a commit that the clone has. @throws GitError if it has none */
  #commit(id: string) {
    const commit = this.#all.commit(id);
    if (!this.#commits.has(id)) throw new GitError(["log"], "exited with 128", `fatal: bad object ${id}`, 128);
    return commit;
  }

  async commits(base: string, head: string): ReturnType<Repository["commits"]> {
    for (const one of [base, head]) this.#commit(one);
    return this.#all
      .log([head], [base])
      .map(({ id, parents, message }) => ({ commit: id, parent: parents[0], message }))
      .reverse();
  }

  async commitsOfBranch(head: string, count: number): Promise<DatedCommit[]> {
    await this.#fetchCommit(head);
    const found: DatedCommit[] = [];
    for (let id: string | undefined = this.#commits.has(head) ? head : undefined; id !== undefined; ) {
      const commit = this.#commit(id);
      if (found.push(dated(commit)) === count) break;
      [id] = commit.parents;
    }
    return found;
  }

  /** Gets a commit if the remote has it. */
  async #fetchCommit(commit: string): Promise<void> {
    if (this.#commits.has(commit)) return;
    await this.#remote.carry({ what: "fetch", branches: [] }, () => {
      if (this.#remote.has(commit)) this.#get(commit);
    });
  }

  async commitsOfJobs(text: string, days: number, chosen?: string): Promise<DatedCommit[]> {
    const target = await this.targetBranch(chosen);
    await this.list();
    const isSearched = (name: string): boolean => name === target || isJobBranch(name);
    await this.fetch([...this.#knownHeads().keys()].filter(isSearched));
    const heads = [...this.#fetched].flatMap(([name, head]) => (isSearched(name) ? head : []));
    const since = this.#remote.now() - days * 24 * 60 * 60;
    return this.#all
      .log(heads)
      .flatMap((commit) => (commit.at >= since && commit.message.includes(text) ? dated(commit) : []));
  }

  findStart(branch: string, options: StartOptions): Promise<Start> {
    const repository: StartRepository = {
      fetch: (branches) => this.fetch(branches),
      branchHeads: () => this.branchHeads(),
      targetBranch: (chosen) => this.targetBranch(chosen),
      isMerged: (commit, target) => this.isMerged(commit, target),
      commits: (base, head) => this.commits(base, head),
      has: async (commit) => this.#commits.has(commit),
      fetchCommit: (commit) => this.#fetchCommit(commit),
      isAncestor: async (ancestor, descendant) => this.#all.isAncestor(ancestor, descendant),
      mergeBase: async (one, other) => this.#all.mergeBase(one, other),
      isMergedSince: async (base, commit, target) => this.#isMergedSince(base, commit, target),
      isCleanMerge: (commit, target) => this.isCleanMerge(commit, target),
      withFilesOf: async (head, from, matching) => this.#withFilesOf(head, from, matching),
    };
    return findStart(repository, branch, options);
  }

  async ownStart(start: Start, chosen?: string): Promise<Start> {
    const own = await this.targetBranch(chosen);
    const head = await this.branchHead(own);
    if (head === undefined) throw new Error(`the branch ${own} has no commit`);
    return { ...start, head, instructed: undefined };
  }

  async checkOut(start: Start, place: WorktreePlace): Promise<Worktree> {
    const head = start.instructed ?? start.head;
    this.#commit(head);
    this.#worktrees.set(place.tree, this.#all.files(head));
    return { ...place, head, identity: place.tree };
  }

  async commit(
    { tree, head }: Worktree,
    message: string | ((told: ToldChange) => string),
    { only }: CommitOptions,
  ): Promise<WorktreeCommit> {
    const found = this.#worktrees.get(tree);
    if (found === undefined) throw new ChangeRefused("the agent removed or replaced its worktree");
    const before = this.#all.files(head);
    const after = new Map(found);
    const takenBack = [...new Set([...before.keys(), ...after.keys()])]
      .filter((path) => before.get(path) !== after.get(path) && only?.matches(path) === false)
      .sort();
    for (const path of takenBack) {
      const id = before.get(path);
      if (id === undefined) after.delete(path);
      else after.set(path, id);
    }
    const told = { leftOut: [], takenBack, notes: [], returned: [] };
    const made = this.#all.writeTree(after);
    if (made === this.#commit(head).tree) return { commit: undefined, ...told };
    return { commit: this.#write(made, head, typeof message === "string" ? message : message(told)), ...told };
  }

  /** Makes a commit of the service. */
  #write(tree: string, parents: string | string[], message: string, at = this.#remote.now()): string {
    return this.#get(this.#all.writeCommit({ tree, parents: [parents].flat(), message, by: agentIdentity, at }));
  }

  async changedFiles(base: string, head: string): Promise<readonly ChangedFile[]> {
    const [before, after] = [base, head].map((one) => this.#all.files(this.#commit(one).id));
    return this.#all.changedPaths(base, head).map((path) => ({
      path,
      before: before?.get(path),
      after: after?.get(path),
      filter: undefined,
    }));
  }

  async paths(commit: string): Promise<{ paths: string[]; submodules: string[] }> {
    return { paths: [...this.#all.files(this.#commit(commit).id).keys()], submodules: [] };
  }

  async *readContents(ids: readonly string[]): AsyncGenerator<{ id: string; content: string }> {
    for (const id of new Set(ids)) yield { id, content: this.#all.content(id) };
  }

  async lastCommitOf(jobId: string): Promise<JobCommit | undefined> {
    const id = this.jobs.get(jobId);
    if (id === undefined) return undefined;
    const { parents, message } = this.#commit(id);
    return { commit: id, parent: parents.join(" "), message };
  }

  async keep(commit: string, jobId: string, earlier?: string): Promise<void> {
    this.jobs.set(jobId, this.#commit(commit).id);
    if (earlier === undefined) return;
    const kept = this.#earlier.get(jobId) ?? new Set();
    this.#earlier.set(jobId, kept.add(this.#commit(earlier).id));
  }

  /** As Git packs it, without the change. */
  async packCommit(jobId: string): Promise<Uint8Array> {
    const commit = this.jobs.get(jobId);
    if (commit === undefined)
      throw new GitError(["packCommit"], "exited with 128", `fatal: bad ref refs/jobs/${jobId}`, 128);
    const text = Buffer.from(this.#all.commit(commit).text);
    return Buffer.concat([Buffer.from(`agent-work ${commit} ${text.length}\n`), text]);
  }

  async unpackCommit(jobId: string, packed: Uint8Array): Promise<JobCommit | undefined> {
    const id = readPacked(packed)?.commit;
    if (id === undefined || /^0+$/.test(id)) return undefined;
    const { parents } = this.#all.commit(id);
    for (const parent of parents) await this.#fetchCommit(parent);
    if (parents.some((parent) => !this.#commits.has(parent))) return undefined;
    await this.keep(this.#get(id), jobId);
    return this.lastCommitOf(jobId);
  }

  async jobIds(): Promise<string[]> {
    return [...new Set([...this.#earlier.keys(), ...this.jobs.keys()])];
  }

  async forgetJobs(ids: readonly string[]): Promise<void> {
    for (const id of ids) for (const refs of [this.jobs, this.#earlier]) refs.delete(id);
  }

  async push(commit: string | undefined, branch: string, expectedHead: string | undefined): Promise<void> {
    if (commit !== undefined) this.#commit(commit);
    const request = { what: "push", branches: [branch], commit } as const;
    await this.#remote.carry(request, () => this.#remote.move(branch, commit, expectedHead));
    for (const known of [this.#heads, this.#fetched])
      if (commit === undefined) known?.delete(branch);
      else known?.set(branch, commit);
  }

  async deleteBranches(heads: Heads): Promise<readonly string[]> {
    const branches = [...heads.keys()];
    let failure: unknown;
    await this.#remote.carry({ what: "push", branches }, () => {
      for (const [branch, head] of heads)
        try {
          this.#remote.move(branch, undefined, head);
        } catch (error) {
          failure = error;
        }
    });
    await this.fetch(branches);
    const gone = branches.filter((branch) => !this.#knownHeads().has(branch));
    if (gone.length === 0 && failure !== undefined) throw failure;
    return gone;
  }

  async copy(commit: string, title?: string): Promise<string> {
    const { tree, parents, message, at } = this.#commit(commit);
    return this.#write(tree, parents[0] ?? "", withTitle(message, title), Math.max(this.#remote.now(), at + 1));
  }

  async rebase(commit: string, parent: string, newParent: string, title?: string): Promise<string | undefined> {
    const [before, onto, after] = [parent, newParent, commit].map((one) => this.#commit(one).tree);
    const tree = before === onto ? after : this.#moved(commit, parent, newParent);
    if (tree === undefined) return undefined;
    return tree === onto ? newParent : this.#write(tree, newParent, withTitle(this.#commit(commit).message, title));
  }

  /** Returns the tree of a commit that is moved; `undefined` on a conflict. */
  #moved(commit: string, parent: string, newParent: string): string | undefined {
    if (this.#all.isAncestor(parent, newParent)) return this.#all.merge(newParent, commit);
    const [base, onto, change] = [parent, newParent, commit].map((one) => this.#all.files(one));
    return base && onto && change && this.#all.mergeFiles(base, onto, change);
  }

  async merge(into: string, other: string, message: string): Promise<{ commit: string } | { conflicts: string[] }> {
    const tree = this.#all.merge(into, other);
    if (tree !== undefined) return { commit: this.#write(tree, [into, other], message) };
    const base = this.#all.mergeBase(into, other) ?? other;
    const changed = new Set(this.#all.changedPaths(base, into));
    return { conflicts: this.#all.changedPaths(base, other).filter((path) => changed.has(path)) };
  }

  async isCleanMerge(commit: string, target: string): Promise<boolean> {
    const { tree, parents } = this.#commit(commit);
    const [into = "", other] = parents;
    return other !== undefined && this.#all.isAncestor(other, target) && this.#all.merge(into, other) === tree;
  }

  async withOwnFiles(
    commit: string,
    { instructed = "", head }: Start,
    messageWith: (leftOut: readonly string[]) => string,
  ): Promise<{ commit: string; leftOut: string[] }> {
    const rebased = await this.rebase(commit, instructed, head);
    if (rebased !== undefined) return { commit: rebased, leftOut: [] };
    const taken = new Set(this.#all.changedPaths(head, instructed));
    const leftOut = this.#all.changedPaths(commit, instructed).filter((path) => taken.has(path));
    const without = this.#withFilesOf(commit, instructed, () => leftOut);
    const own = this.#write(this.#commit(without).tree, instructed, messageWith(leftOut));
    const made = await this.rebase(own, instructed, head);
    if (made === undefined) throw new Error("the files of another commit conflict with those that nobody changed");
    return { commit: made, leftOut };
  }

  #withFilesOf(head: string, from: string, matching: (paths: readonly string[]) => readonly string[]): string {
    const paths = matching(this.#all.changedPaths(head, from));
    if (paths.length === 0) return head;
    const [files, taken] = [new Map(this.#all.files(head)), this.#all.files(from)];
    for (const path of paths) {
      const id = taken.get(path);
      if (id === undefined) files.delete(path);
      else files.set(path, id);
    }
    const message = "Files that instruct agents, as the project has them\n";
    return this.#write(this.#all.writeTree(files), head, message);
  }

  async readCommit(commit: string): Promise<string> {
    return this.#commit(commit).text;
  }

  async writeCommit(text: string): Promise<string> {
    return this.#get(this.#all.writeCommitText(text));
  }

  async newObjects(commit: string): Promise<NewObjects> {
    return this.#all.newObjects(this.#commit(commit).id);
  }
}

const dated = ({ id, at, message }: { id: string; at: number; message: string }): DatedCommit => ({
  commit: id,
  at: at * 1000,
  message,
});

const withTitle = (message: string, title: string | undefined): string =>
  title === undefined ? message : message.replace(/^.*/, () => title);
