import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type GitOptions, git } from "./git.ts";

/** A working tree to work in, on top of what the job has done so far. */
export interface Checkout {
  tree: string;
  /** The commit it shows. */
  head: string;
  /** The commit of the default branch that the job's branch was begun from. */
  base: string;
  /** The default branch. */
  target: string;
  /** Whether the branch is there from before, with commits that the default branch does not have. */
  isContinued: boolean;
}

/**
 * The repository that the agents work on. A mirror of it in `folder` makes checkouts cheap and keeps every commit that was
 * made, so that the changes of a job can be shown whatever becomes of its branch.
 */
export class Repository {
  readonly url: string;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  #fetching: Promise<unknown> = Promise.resolve();

  /**
   * @param url - an address or a path, as `git clone` takes it
   * @param folder - of the service's own
   * @param environment - for Git alone, such as what it needs to log in
   */
  constructor(url: string, folder: string, environment: Readonly<Record<string, string>> = {}) {
    this.url = url;
    this.#folder = folder;
    this.#environment = environment;
  }

  /** Makes the mirror where there is none. Rejects where the repository cannot be read. */
  async open(): Promise<void> {
    await mkdir(this.#mirror, { recursive: true });
    await git(["init", "--quiet", "--bare"], { cwd: this.#mirror });
    await this.#fetch();
  }

  /** The branch that pull requests are made against. */
  async defaultBranch(): Promise<string> {
    const printed = await this.#git(["ls-remote", "--symref", "--", this.url, "HEAD"]);
    const branch = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(printed)?.[1];
    if (branch === undefined) throw new Error("the repository has no default branch");
    return branch;
  }

  /** A new working tree in `tree`: the job's branch where it is still there, else the default branch. */
  async checkOut(branch: string, tree: string): Promise<Checkout> {
    const target = await this.defaultBranch();
    await this.#fetch();
    const begun = await this.#find(`refs/heads/${branch}`);
    const trunk = await this.#find(`refs/heads/${target}`);
    if (trunk === undefined) throw new Error(`the default branch ${target} has no commit`);
    // A branch that was merged begins anew from where it was merged to.
    const isContinued = begun !== undefined && !(await this.#isAncestor(begun, trunk));
    const head = isContinued ? begun : trunk;
    const base = isContinued ? (await this.#git(["merge-base", begun, trunk])).trim() : trunk;
    await rm(tree, { recursive: true, force: true });
    await git(["clone", "--quiet", "--no-checkout", "--", this.#mirror, tree], { cwd: this.#folder });
    await git(["remote", "set-url", "origin", this.url], { cwd: tree });
    await git(["checkout", "--quiet", "-B", branch, head], { cwd: tree });
    return { tree, head, base, target, isContinued };
  }

  /**
   * Commits whatever is in the working tree on top of its head, wherever the agent's own Git commands have left it; or
   * `undefined` where nothing was changed.
   */
  async commit({ tree, head }: Checkout, message: string): Promise<string | undefined> {
    const environment = {
      // The index of the tree may be locked by what the agent left behind.
      GIT_INDEX_FILE: join(tree, ".git", "index-of-the-service"),
      GIT_AUTHOR_NAME: "Agent",
      GIT_AUTHOR_EMAIL: "agent@localhost",
      GIT_COMMITTER_NAME: "Agent",
      GIT_COMMITTER_EMAIL: "agent@localhost",
    };
    await git(["read-tree", head], { cwd: tree, environment });
    await git(["add", "--all"], { cwd: tree, environment });
    const [before, after] = await Promise.all([
      git(["rev-parse", `${head}^{tree}`], { cwd: tree }),
      git(["write-tree"], { cwd: tree, environment }),
    ]);
    if (before === after) return undefined;
    const args = ["commit-tree", after.trim(), "-p", head, "-F", "-"];
    return (await git(args, { cwd: tree, environment, input: message })).trim();
  }

  /** Hands a commit on: to the mirror, where it is kept for the job, and as its branch to the repository. */
  async push(tree: string, commit: string, branch: string, jobId: string): Promise<void> {
    await git(["push", "--quiet", "--force", "--", this.#mirror, `${commit}:refs/jobs/${jobId}`], { cwd: tree });
    const environment = this.#environment;
    await git(["push", "--quiet", "--", this.url, `${commit}:refs/heads/${branch}`], { cwd: tree, environment });
  }

  /** The messages of the commits of a job from `base` on, the oldest first. */
  async messages(base: string, head: string): Promise<{ commit: string; message: string }[]> {
    const printed = await this.#git(["log", "--reverse", "-z", "--format=%H%n%B", `${base}..${head}`]);
    return printed
      .split("\0")
      .filter((entry) => entry !== "")
      .map((entry) => ({ commit: entry.slice(0, entry.indexOf("\n")), message: entry.slice(entry.indexOf("\n") + 1) }));
  }

  diff(base: string, head: string): Promise<string> {
    return this.#git(["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", base, head]);
  }

  /** Whether a branch is gone from the repository, or its commit has come into the default branch. */
  async isDone(branch: string, head: string): Promise<boolean> {
    const target = await this.defaultBranch();
    await this.#fetch();
    if ((await this.#find(`refs/heads/${branch}`)) === undefined) return true;
    return this.#isAncestor(head, `refs/heads/${target}`);
  }

  #isAncestor(one: string, other: string): Promise<boolean> {
    return this.#git(["merge-base", "--is-ancestor", one, other]).then(
      () => true,
      () => false,
    );
  }

  get #mirror(): string {
    return join(this.#folder, "mirror.git");
  }

  #git(args: readonly string[]): Promise<string> {
    const options: GitOptions = { cwd: this.#mirror, environment: this.#environment };
    return git(args, options);
  }

  async #find(ref: string): Promise<string | undefined> {
    const printed = await this.#git(["for-each-ref", "--format=%(objectname)", ref]);
    return printed.trim() || undefined;
  }

  /** One at a time, since two would contend for the same refs. */
  #fetch(): Promise<unknown> {
    const refs = "+refs/heads/*:refs/heads/*";
    const fetch = () => this.#git(["fetch", "--quiet", "--prune", "--no-tags", "--", this.url, refs]);
    this.#fetching = this.#fetching.then(fetch, fetch);
    return this.#fetching;
  }
}
