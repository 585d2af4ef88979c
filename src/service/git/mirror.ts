import { GitError, type GitOptions, git } from "./git.ts";

export interface MirrorOptions {
  /** For Git alone, such as what it needs to log in. */
  environment?: Readonly<Record<string, string>>;
  /** Ends all that Git does. */
  signal?: AbortSignal;
}

/** A bare repository of the service's own, and what it tells of branches and commits, as they were fetched last. */
export class Mirror {
  protected readonly path: string;
  readonly #options: MirrorOptions;

  constructor(path: string, options: MirrorOptions) {
    this.path = path;
    this.#options = options;
  }

  /** The commit of a branch as it was fetched last. */
  find(branch: string): Promise<string | undefined> {
    return this.#resolve(`refs/heads/${branch}`);
  }

  /** Whether all of a commit is in a branch, as it was fetched last: merged, fast-forwarded, rebased or squashed. */
  async isMerged(commit: string, target: string): Promise<boolean> {
    if (await this.isAncestor(commit, `refs/heads/${target}`)) return true;
    const fork = await this.fork(commit, `refs/heads/${target}`);
    // What changes nothing in the end would be in every branch.
    if (fork === undefined || (await this.treeOf(fork)) === (await this.treeOf(commit))) return false;
    const merged = await this.ask(["merge-tree", "--write-tree", `refs/heads/${target}`, commit]);
    return merged === (await this.treeOf(`refs/heads/${target}`));
  }

  /** The messages of the commits of a job from `base` on, the oldest first. */
  async messages(base: string, head: string): Promise<{ commit: string; message: string }[]> {
    const printed = await this.git(["log", "--reverse", "-z", "--format=%H%n%B", `${base}..${head}`]);
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
    return this.git(["diff", ...plain, base, head], { mostBytes });
  }

  /** The last commit of a job that was made, whether it could be pushed or not. */
  async kept(jobId: string): Promise<{ commit: string; parent: string; message: string } | undefined> {
    const commit = await this.#resolve(`refs/jobs/${jobId}`);
    if (commit === undefined) return undefined;
    const [parent = "", ...message] = (await this.git(["log", "--max-count=1", "--format=%P%n%B", commit])).split("\n");
    return { commit, parent, message: message.join("\n") };
  }

  protected async treeOf(commit: string): Promise<string> {
    return (await this.git(["rev-parse", `${commit}^{tree}`])).trim();
  }

  #resolve(ref: string): Promise<string | undefined> {
    return this.ask(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]);
  }

  /** Where a branch has left another; none where they have nothing in common. */
  protected fork(one: string, other: string): Promise<string | undefined> {
    return this.ask(["merge-base", one, other]);
  }

  protected async isAncestor(one: string, other: string): Promise<boolean> {
    return (await this.ask(["merge-base", "--is-ancestor", one, other])) !== undefined;
  }

  /** What Git prints; none where it ends with 1, which is its no. What it cannot tell, also when it is ended, is no no. */
  protected async ask(args: readonly string[]): Promise<string | undefined> {
    try {
      return (await this.git(args)).trim();
    } catch (error) {
      if (error instanceof GitError && error.exitCode === 1) return undefined;
      throw error;
    }
  }

  protected git(args: readonly string[], options: Partial<GitOptions> = {}): Promise<string> {
    const environment = { ...this.#options.environment, ...options.environment };
    return git(args, { cwd: this.path, signal: this.#options.signal, ...options, environment });
  }
}
