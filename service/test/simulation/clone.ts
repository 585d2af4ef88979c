import type { Start, StartOptions } from "../../src/git/find-start.ts";
import type { JobCommit } from "../../src/git/job-commits.ts";
import type { LocalPullRequestsOptions } from "../../src/pulls/local.ts";
import type { TurnPorts } from "../../src/turns/turn-ports.ts";
import type { GitNetwork } from "./network.ts";
import { type Commit, contains, historyOf, type Remote, targetBranch } from "./remote.ts";

type UsedRepository = TurnPorts["repository"] & LocalPullRequestsOptions["repository"];

/** The bare clone on a machine's disk, which outlives the machine's processes. */
export interface Clone {
  /** As of the last fetch. */
  heads: Map<string, Commit>;
  /** The last commit of each job, pushed or not. */
  jobs: Map<string, Commit>;
  /** All commits that it has. */
  commits: Map<string, Commit>;
  /** What agents have changed in worktrees, by their path. */
  edits: Map<string, Set<string>>;
}

export const emptyClone = (): Clone => ({ heads: new Map(), jobs: new Map(), commits: new Map(), edits: new Map() });

/** `Repository` with a simulated clone and remote. Someone else may delete no branch, and rewrites none. */
export class SimulatedRepository implements UsedRepository {
  readonly objects = "/simulated/objects";
  readonly #clone: Clone;
  readonly #remote: Remote;
  readonly #network: GitNetwork;

  constructor(clone: Clone, remote: Remote, network: GitNetwork) {
    this.#clone = clone;
    this.#remote = remote;
    this.#network = network;
  }

  fetch(): Promise<void> {
    return this.#network.fetch(() => {
      // A branch without a commit of the job's own is not there yet.
      this.#clone.heads = new Map(this.#remote.branches);
      for (const head of this.#clone.heads.values()) this.#keep(head);
    });
  }

  list(): Promise<void> {
    return this.fetch();
  }

  /** No pull request is merged or closed. */
  async deleteBranches(): Promise<string[]> {
    return [];
  }

  async commitsOfBranch(): Promise<never[]> {
    return [];
  }

  async isCleanMerge(): Promise<boolean> {
    return false;
  }

  async fetchIfBehind(): Promise<void> {}

  async targetBranch(): Promise<string> {
    return targetBranch;
  }

  async branchHead(branch: string): Promise<string | undefined> {
    return this.#clone.heads.get(branch)?.id;
  }

  async branchHeads(): Promise<Map<string, string>> {
    return new Map([...this.#clone.heads].map(([branch, { id }]) => [branch, id]));
  }

  async isMerged(): Promise<boolean> {
    return false;
  }

  async findMerged(commits: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
    return new Map(commits.map((commit) => [commit, false]));
  }

  async findStart(branch: string, { lastPushed }: StartOptions): Promise<Start> {
    await this.fetch();
    const { heads, commits } = this.#clone;
    const base = this.#commit(heads.get(targetBranch)?.id ?? "");
    const remoteHead = heads.get(branch);
    // Nothing on it is missing on the target branch.
    const isEmpty = remoteHead !== undefined && contains(base, remoteHead.id);
    const head = isEmpty ? undefined : (remoteHead ?? commits.get(lastPushed ?? ""));
    const start = { branch, targetBranch, base: base.id, remoteHead: remoteHead?.id, notes: [] };
    return { ...start, head: (head ?? base).id, isContinued: head !== undefined };
  }

  async lastCommitOf(jobId: string): Promise<JobCommit | undefined> {
    const commit = this.#clone.jobs.get(jobId);
    return commit && { commit: commit.id, parent: commit.parent?.id ?? "", message: commit.message };
  }

  async commits(base: string, head: string): Promise<{ commit: string; message: string }[]> {
    const found: { commit: string; message: string }[] = [];
    for (const { id, message } of historyOf(this.#commit(head))) {
      if (id === base) break;
      found.unshift({ commit: id, message });
    }
    return found;
  }

  async commit(worktree: { tree: string; head: string }, text: Parameters<UsedRepository["commit"]>[1]) {
    const message = typeof text === "string" ? text : text({ leftOut: [] });
    await this.#network.work();
    const edits = this.#clone.edits.get(worktree.tree) ?? new Set();
    const parent = this.#commit(worktree.head);
    if (edits.size === 0) return { commit: undefined, leftOut: [] };
    return { commit: this.#keep(this.#remote.createCommit(parent, message, edits)).id, leftOut: [] };
  }

  async paths(): Promise<{ paths: []; submodules: [] }> {
    return { paths: [], submodules: [] };
  }

  async changedFiles(): Promise<[]> {
    return [];
  }

  async *readContents(): AsyncGenerator<never> {}

  async keep(id: string, jobId: string): Promise<void> {
    this.#clone.jobs.set(jobId, this.#commit(id));
  }

  async packCommit(jobId: string): Promise<Uint8Array> {
    return Buffer.from(this.#clone.jobs.get(jobId)?.id ?? "");
  }

  async unpackCommit(jobId: string, packed: Uint8Array): Promise<JobCommit | undefined> {
    const commit = this.#remote.commits.get(Buffer.from(packed).toString());
    if (commit !== undefined) this.#clone.jobs.set(jobId, this.#keep(commit));
    return this.lastCommitOf(jobId);
  }

  async push(id: string | undefined, branch: string, expectedHead: string | undefined): Promise<void> {
    const commit = id === undefined ? undefined : this.#commit(id);
    await this.#network.push((by) => this.#remote.push(branch, commit, expectedHead, by));
    if (commit === undefined) this.#clone.heads.delete(branch);
    else this.#clone.heads.set(branch, commit);
  }

  async copy(id: string): Promise<string> {
    const { parent, message, changes } = this.#commit(id);
    return this.#keep(this.#remote.createCommit(parent, message, changes)).id;
  }

  /** Each job begins at the only commit of the target branch. */
  async merge(): Promise<never> {
    throw new Error("the target branch has not moved");
  }

  /** No job has a base. */
  async withOwnFiles(id: string): Promise<{ commit: string; leftOut: string[] }> {
    return { commit: id, leftOut: [] };
  }

  async rebase(id: string, parent: string, newParent: string): Promise<string | undefined> {
    await this.#network.work();
    const [commit, onto] = [this.#commit(id), this.#commit(newParent)];
    const before = this.#commit(parent);
    const isCopy = onto.changes.symmetricDifference(before.changes).size === 0;
    if (!isCopy && !contains(onto, parent)) return undefined;
    const missing = [...commit.changes].filter((change) => !onto.changes.has(change));
    if (missing.length === 0) return newParent;
    return this.#keep(this.#remote.createCommit(onto, commit.message, missing)).id;
  }

  #keep(commit: Commit): Commit {
    for (const one of historyOf(commit)) {
      if (this.#clone.commits.has(one.id)) break;
      this.#clone.commits.set(one.id, one);
    }
    return commit;
  }

  #commit(id: string): Commit {
    const commit = this.#clone.commits.get(id);
    if (commit === undefined) throw new Error(`the clone has no commit ${id}`);
    return commit;
  }
}
