import { globSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Mirror, type MirrorOptions } from "./mirror.ts";

export interface RepositoryOptions extends MirrorOptions {
  /** An address or a path, as `git clone` takes it. */
  url: string;
  /** Of the service's own. */
  folder: string;
  /** The branch that pull requests are made against. Default: the repository's own default branch. */
  target?: string | undefined;
}

/** A working tree to work in, on top of what the job has done so far. */
export interface Checkout {
  tree: string;
  /** The commit it shows. */
  head: string;
  /** The commit of the target branch that the job's branch was begun from. */
  base: string;
  target: string;
  /** What the job's branch was before, where there was one. */
  before: string | undefined;
  /** Whether the work goes on where that was. */
  isContinued: boolean;
}

/**
 * The repository that the agents work on. A mirror of it in the folder makes checkouts cheap, keeps every commit that was
 * made, so that the changes of a job can be shown whatever becomes of its branch, and is where the service does all its
 * Git: the settings in an agent's working tree are the agent's.
 */
export class Repository extends Mirror {
  readonly #url: string;
  readonly #target: string | undefined;
  #fetching: Promise<unknown> = Promise.resolve();

  constructor({ url, folder, target, ...options }: RepositoryOptions) {
    super(join(folder, "mirror.git"), options);
    this.#url = url;
    this.#target = target;
  }

  /** Makes the mirror where there is none. Rejects where the repository cannot be worked on. */
  async open(): Promise<void> {
    await mkdir(this.path, { recursive: true });
    // What a Git has left that was killed; one that has outlived its service may be removing it at this moment.
    for (const lock of globSync("**/*.lock", { cwd: this.path })) rmSync(join(this.path, lock), { force: true });
    await this.git(["init", "--quiet", "--bare"]);
    await this.fetch();
    const target = await this.targetBranch();
    if ((await this.find(target)) === undefined) throw new Error(`the branch ${target} has no commit yet`);
    // Git before 2.38 cannot do this, and squashed branches would never be known to be merged.
    await this.git(["merge-tree", "--write-tree", `refs/heads/${target}`, `refs/heads/${target}`]);
    if ((await this.find("agent")) !== undefined)
      throw new Error("it has a branch named agent, so that there can be none named agent/<job id>");
  }

  /** The branch that pull requests are made against. */
  async targetBranch(): Promise<string> {
    if (this.#target !== undefined) return this.#target;
    const printed = await this.git(["ls-remote", "--symref", "--", this.#url, "HEAD"]);
    const branch = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(printed)?.[1];
    if (branch === undefined) throw new Error("the repository has no default branch: name one with --base");
    if (branch.startsWith("agent/"))
      throw new Error(
        `the repository's HEAD is the branch of a job, ${branch}: name the branch to work from with --base`,
      );
    return branch;
  }

  /** A new working tree: the job's branch where it is still there, unless it is to begin anew; else the target branch. */
  async checkOut(branch: string, tree: string, isAnew: boolean): Promise<Checkout> {
    const target = await this.targetBranch();
    await this.fetch();
    const before = await this.find(branch);
    const trunk = await this.find(target);
    if (trunk === undefined) throw new Error(`the branch ${target} has no commit`);
    const fork =
      before && !isAnew && !(await this.isMerged(before, target)) ? await this.fork(before, trunk) : undefined;
    const isContinued = fork !== undefined;
    const head = isContinued && before ? before : trunk;
    // A copy of the objects could fail where others are being written at that moment.
    await this.git(["clone", "--quiet", "--shared", "--no-checkout", "--", this.path, tree]);
    await this.git(["-C", tree, "remote", "set-url", "origin", this.#url]);
    await this.git(["-C", tree, "checkout", "--quiet", "-B", branch, head]);
    return { tree, head, base: fork ?? trunk, target, before, isContinued };
  }

  /**
   * Commits whatever is in the working tree on top of its head, wherever the agent's own Git commands have left it; or
   * `undefined` where nothing was changed. `index` is a file that is not there yet.
   */
  async commit({ tree, head }: Checkout, message: string, index: string): Promise<string | undefined> {
    const environment = {
      GIT_DIR: this.path,
      GIT_WORK_TREE: tree,
      GIT_INDEX_FILE: index,
    };
    await this.git(["read-tree", head], { environment });
    await this.git(["add", "--all", "--", ":/"], { cwd: tree, environment });
    const after = (await this.git(["write-tree"], { environment })).trim();
    const changes = await this.git(["diff-tree", "-r", "-z", "--no-renames", head, after]);
    if (changes === "") return undefined;
    const nested = /:(?!160000)\d{6} 160000 [^\0]*\0([^\0]*)\0/.exec(changes)?.[1];
    if (nested !== undefined)
      throw new Error(`the agent has left a repository of its own in ${nested}, which cannot be committed`);
    return this.#commitTree(after, head, message);
  }

  /** Hands a commit on: as the job's to the mirror, where it is kept, and as its branch to the repository. */
  async push(commit: string, branch: string, before: string | undefined, jobId: string): Promise<void> {
    await this.git(["update-ref", `refs/jobs/${jobId}`, commit]);
    const lease = before === undefined ? [] : [`--force-with-lease=refs/heads/${branch}:${before}`];
    await this.git(["push", "--quiet", ...lease, "--", this.#url, `${commit}:refs/heads/${branch}`]);
  }

  /**
   * What a commit changes, on top of another that has the same beginning: that one itself where it holds the change already,
   * none where the two contradict each other.
   */
  async onTop(commit: string, tip: string, beginning: string): Promise<string | undefined> {
    if (!(await this.isAncestor(beginning, tip))) return undefined;
    const tree = await this.ask(["merge-tree", "--write-tree", tip, commit]);
    if (tree === undefined) return undefined;
    if (tree === (await this.treeOf(tip))) return tip;
    return this.#commitTree(tree, tip, await this.git(["log", "--max-count=1", "--format=%B", commit]));
  }

  /** Takes in what the repository has; one at a time, since two would contend for the same refs. */
  fetch(): Promise<unknown> {
    const refs = "+refs/heads/*:refs/heads/*";
    const fetch = () => this.git(["fetch", "--quiet", "--prune", "--no-tags", "--", this.#url, refs]);
    this.#fetching = this.#fetching.then(fetch, fetch);
    return this.#fetching;
  }

  async #commitTree(tree: string, parent: string, message: string): Promise<string> {
    return (await this.git(["commit-tree", tree, "-p", parent, "-F", "-"], { input: message })).trim();
  }
}
