import { globSync, rmSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type GitOptions, git } from "./git.ts";

export interface RepositoryOptions {
  /** An address or a path, as `git clone` takes it. */
  url: string;
  /** Of the service's own. */
  folder: string;
  /** The branch that pull requests are made against. Default: the repository's own default branch. */
  target?: string | undefined;
  /** For Git alone, such as what it needs to log in. */
  environment?: Readonly<Record<string, string>>;
  /** Ends all that Git does. */
  signal?: AbortSignal;
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
export class Repository {
  readonly url: string;
  readonly #options: RepositoryOptions;
  readonly #mirror: string;
  #fetching: Promise<unknown> = Promise.resolve();

  constructor(options: RepositoryOptions) {
    this.url = options.url;
    this.#options = options;
    this.#mirror = join(options.folder, "mirror.git");
  }

  /** Makes the mirror where there is none. Rejects where the repository cannot be worked on. */
  async open(): Promise<void> {
    await mkdir(this.#mirror, { recursive: true });
    // What a Git has left that was killed; one that has outlived its service may be removing it at this moment.
    for (const lock of globSync("**/*.lock", { cwd: this.#mirror })) rmSync(join(this.#mirror, lock), { force: true });
    await this.#git(["init", "--quiet", "--bare"]);
    await this.fetch();
    const target = await this.targetBranch();
    if ((await this.find(target)) === undefined) throw new Error(`the branch ${target} has no commit yet`);
    // Git before 2.38 cannot do this, and squashed branches would never be known to be merged.
    await this.#git(["merge-tree", "--write-tree", `refs/heads/${target}`, `refs/heads/${target}`]);
    if ((await this.find("agent")) !== undefined)
      throw new Error("it has a branch named agent, so that there can be none named agent/<job id>");
  }

  /** The branch that pull requests are made against. */
  async targetBranch(): Promise<string> {
    if (this.#options.target !== undefined) return this.#options.target;
    const printed = await this.#git(["ls-remote", "--symref", "--", this.url, "HEAD"]);
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
      before && !isAnew && !(await this.isMerged(before, target)) ? await this.#fork(before, trunk) : undefined;
    const isContinued = fork !== undefined;
    const head = isContinued && before ? before : trunk;
    await rm(tree, { recursive: true, force: true });
    // A copy of the objects could fail where others are being written at that moment.
    await this.#git(["clone", "--quiet", "--shared", "--no-checkout", "--", this.#mirror, tree]);
    await this.#git(["-C", tree, "remote", "set-url", "origin", this.url]);
    await this.#git(["-C", tree, "checkout", "--quiet", "-B", branch, head]);
    return { tree, head, base: fork ?? trunk, target, before, isContinued };
  }

  /**
   * Commits whatever is in the working tree on top of its head, wherever the agent's own Git commands have left it; or
   * `undefined` where nothing was changed. `index` is a file that is not there yet.
   */
  async commit({ tree, head }: Checkout, message: string, index: string): Promise<string | undefined> {
    const environment = {
      GIT_DIR: this.#mirror,
      GIT_WORK_TREE: tree,
      GIT_INDEX_FILE: index,
    };
    await this.#git(["read-tree", head], { environment });
    await this.#git(["add", "--all", "--", ":/"], { cwd: tree, environment });
    const after = (await this.#git(["write-tree"], { environment })).trim();
    const changes = await this.#git(["diff-tree", "-r", "-z", "--no-renames", head, after]);
    if (changes === "") return undefined;
    const nested = /:(?!160000)\d{6} 160000 [^\0]*\0([^\0]*)\0/.exec(changes)?.[1];
    if (nested !== undefined)
      throw new Error(`the agent has left a repository of its own in ${nested}, which cannot be committed`);
    return this.#commitTree(after, head, message);
  }

  /** Hands a commit on: as the job's to the mirror, where it is kept, and as its branch to the repository. */
  async push(commit: string, branch: string, before: string | undefined, jobId: string): Promise<void> {
    await this.#git(["update-ref", `refs/jobs/${jobId}`, commit]);
    const lease = before === undefined ? [] : [`--force-with-lease=refs/heads/${branch}:${before}`];
    await this.#git(["push", "--quiet", ...lease, "--", this.url, `${commit}:refs/heads/${branch}`]);
  }

  /** The last commit of a job that was made, whether it could be pushed or not. */
  async kept(jobId: string): Promise<{ commit: string; parent: string; message: string } | undefined> {
    const args = ["log", "--max-count=1", "--format=%H%n%P%n%B", `refs/jobs/${jobId}`, "--"];
    const printed = await this.#git(args).catch(() => "");
    const [commit = "", parent = "", ...message] = printed.split("\n");
    return commit === "" ? undefined : { commit, parent, message: message.join("\n") };
  }

  /**
   * What a commit changes, on top of another that has the same beginning: that one itself where it holds the change already,
   * none where the two contradict each other.
   */
  async onTop(commit: string, tip: string, beginning: string): Promise<string | undefined> {
    if (!(await this.#succeeds(["merge-base", "--is-ancestor", beginning, tip]))) return undefined;
    const tree = (await this.#git(["merge-tree", "--write-tree", tip, commit]).catch(() => "")).trim();
    if (tree === "") return undefined;
    if (tree === (await this.#treeOf(tip))) return tip;
    return this.#commitTree(tree, tip, await this.#git(["log", "--max-count=1", "--format=%B", commit]));
  }

  /** The commit of a branch as it was fetched last. */
  async find(branch: string): Promise<string | undefined> {
    const args = ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`];
    return (await this.#git(args).catch(() => "")).trim() || undefined;
  }

  /** Whether all of a commit is in a branch, as it was fetched last: merged, fast-forwarded, rebased or squashed. */
  async isMerged(commit: string, target: string): Promise<boolean> {
    if (await this.#succeeds(["merge-base", "--is-ancestor", commit, `refs/heads/${target}`])) return true;
    const fork = await this.#fork(commit, `refs/heads/${target}`);
    // What changes nothing in the end would be in every branch.
    if (fork === undefined || (await this.#treeOf(fork)) === (await this.#treeOf(commit))) return false;
    const merged = await this.#git(["merge-tree", "--write-tree", `refs/heads/${target}`, commit]).catch(() => "");
    return merged.trim() === (await this.#treeOf(`refs/heads/${target}`));
  }

  /** The messages of the commits of a job from `base` on, the oldest first. */
  async messages(base: string, head: string): Promise<{ commit: string; message: string }[]> {
    const printed = await this.#git(["log", "--reverse", "-z", "--format=%H%n%B", `${base}..${head}`]);
    return printed
      .split("\0")
      .filter((entry) => entry !== "")
      .map((entry) => ({ commit: entry.slice(0, entry.indexOf("\n")), message: entry.slice(entry.indexOf("\n") + 1) }));
  }

  /** At most so many bytes of the diff between two commits. */
  diff(base: string, head: string, mostBytes: number): Promise<string> {
    const plain = [
      "--no-color",
      "--no-ext-diff",
      "--no-textconv",
      "--src-prefix=a/",
      "--dst-prefix=b/",
      "--find-renames",
    ];
    return this.#git(["diff", ...plain, base, head], { mostBytes });
  }

  /** Takes in what the repository has; one at a time, since two would contend for the same refs. */
  fetch(): Promise<unknown> {
    const refs = "+refs/heads/*:refs/heads/*";
    const fetch = () => this.#git(["fetch", "--quiet", "--prune", "--no-tags", "--", this.url, refs]);
    this.#fetching = this.#fetching.then(fetch, fetch);
    return this.#fetching;
  }

  async #treeOf(commit: string): Promise<string> {
    return (await this.#git(["rev-parse", `${commit}^{tree}`])).trim();
  }

  async #commitTree(tree: string, parent: string, message: string): Promise<string> {
    return (await this.#git(["commit-tree", tree, "-p", parent, "-F", "-"], { input: message })).trim();
  }

  /** Where a branch has left another; none where they have nothing in common. */
  async #fork(one: string, other: string): Promise<string | undefined> {
    const printed = await this.#git(["merge-base", one, other]).catch(() => "");
    return printed.trim() || undefined;
  }

  #succeeds(args: readonly string[]): Promise<boolean> {
    return this.#git(args).then(
      () => true,
      () => false,
    );
  }

  #git(args: readonly string[], options: Partial<GitOptions> = {}): Promise<string> {
    const environment = { ...this.#options.environment, ...options.environment };
    return git(args, { cwd: this.#mirror, signal: this.#options.signal, ...options, environment });
  }
}
