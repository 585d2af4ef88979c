import { execFile } from "node:child_process";
import { globSync, rmSync } from "node:fs";
import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ControlFiles } from "./control-files.ts";
import { Git } from "./git.ts";
import { readOperatorSettings, type Setting } from "./settings.ts";

export interface RepositoryOptions {
  /** URL or path, as `git clone` accepts it. */
  url: string;
  /** A folder of the service; the clone is `mirror.git` in it. */
  folder: string;
  /** The branch that pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** Settings of Git, such as its credentials. Those of the operator that Git may need for transfers are added to them. */
  settings?: readonly Setting[];
  /** The umask with which Git writes to a repository on this machine. Default: that of the process. */
  umask?: number | undefined;
  /** Kills the Git command that runs, and lets no other start. */
  signal?: AbortSignal;
}

/** A worktree for one attempt, with the job's branch checked out. */
export interface Checkout {
  worktree: string;
  /** The inode of the worktree, by which it is recognized. */
  inode: bigint | undefined;
  branch: string;
  /** The commit that is checked out. */
  head: string;
  targetBranch: string;
  /** The merge base of the job's branch and the target branch. */
  base: string;
  /** The head of the job's branch in the repository; `undefined` if the branch does not exist. */
  remoteHead: string | undefined;
  /** Whether the checkout continues at `remoteHead`, or else starts over from the target branch. */
  isContinued: boolean;
}

/**
 * The repository that agents work on, through a bare clone. The clone makes checkouts cheap and keeps every commit of a
 * job, so that its changes can be shown even after its branch is deleted. The service runs Git only in the clone, since
 * the configuration of a worktree belongs to the agent; the configuration of the clone is restored before each command.
 */
export class Repository {
  /** The folder of Git objects that checkouts refer to. */
  readonly objects: string;
  readonly #clone: string;
  readonly #controlFiles: ControlFiles;
  readonly #options: RepositoryOptions;
  #git: Git;
  /** Directories that belong to other users and that the operator allows Git to use. */
  #safeDirectories: readonly string[] = [];
  readonly #url: string;
  readonly #targetBranch: string | undefined;
  #refUpdate: Promise<unknown> = Promise.resolve();

  constructor(options: RepositoryOptions) {
    this.#options = options;
    this.#clone = join(options.folder, "mirror.git");
    this.objects = join(this.#clone, "objects");
    this.#controlFiles = new ControlFiles(this.#clone);
    this.#git = this.#createGit([]);
    this.#url = options.url;
    this.#targetBranch = options.targetBranch;
  }

  #createGit(operatorSettings: readonly Setting[]): Git {
    const { settings = [], signal } = this.#options;
    return new Git({
      cwd: this.#clone,
      environment: { GIT_DIR: this.#clone },
      settings: [...operatorSettings, ...settings],
      prepare: () => this.#controlFiles.restore(),
      signal,
    });
  }

  /**
   * Creates the clone if there is none yet, and fetches.
   *
   * @throws if the service cannot work on this repository, with the reason as the message
   */
  async open(): Promise<void> {
    await mkdir(this.#clone, { recursive: true });
    // Left by a Git process that was killed. One that outlived its service may be removing its lock now, hence `force`.
    for (const lock of globSync("**/*.lock", { cwd: this.#clone })) rmSync(join(this.#clone, lock), { force: true });
    await this.#controlFiles.reset();
    await this.#git.run(["init", "--quiet", "--bare", "--template="]);
    await this.#controlFiles.remember();
    const operatorSettings = await readOperatorSettings(this.#clone);
    this.#git = this.#createGit(operatorSettings);
    this.#safeDirectories = operatorSettings.filter(([name]) => name === "safe.directory").map(([, value]) => value);
    await this.fetch();
    const target = await this.targetBranch();
    if ((await this.branchHead(target)) === undefined) throw new Error(`the branch ${target} has no commit yet`);
    // Fails with Git before 2.38. Without it, squash merges would never be detected.
    await this.#git.run(["merge-tree", "--write-tree", `refs/heads/${target}`, `refs/heads/${target}`]);
    if ((await this.branchHead("agent")) !== undefined)
      throw new Error("the repository has a branch named agent, so no branch can be named agent/<job id>");
  }

  /** Returns the branch that pull requests are opened against. */
  async targetBranch(): Promise<string> {
    if (this.#targetBranch !== undefined) return this.#targetBranch;
    const output = await this.#git.run([
      "ls-remote",
      "--symref",
      ...this.#localEnd("upload-pack"),
      "--",
      this.#url,
      "HEAD",
    ]);
    const branch = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(output)?.[1];
    if (branch === undefined) throw new Error("the repository has no default branch: choose one with --base");
    if (branch.startsWith("agent/"))
      throw new Error(`HEAD of the repository is ${branch}, the branch of a job: choose a branch with --base`);
    return branch;
  }

  /** Fetches all branches. */
  fetch(): Promise<unknown> {
    const refs = "+refs/heads/*:refs/heads/*";
    const options = ["--quiet", "--prune", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
    return this.#updateRefs(() =>
      this.#git.run(["fetch", ...options, ...this.#localEnd("upload-pack"), "--", this.#url, refs]),
    );
  }

  /** Returns the head of a branch as of the last fetch, or `undefined` if there is no such branch. */
  branchHead(branch: string): Promise<string | undefined> {
    return this.#resolve(`refs/heads/${branch}`);
  }

  /** Returns whether a branch contained all changes of a commit at the last fetch: by merge, fast-forward, rebase or squash. */
  async isMerged(commit: string, branch: string): Promise<boolean> {
    if (await this.#isAncestor(commit, `refs/heads/${branch}`)) return true;
    const base = await this.#mergeBase(commit, `refs/heads/${branch}`);
    // A commit without a net change would count as merged into every branch.
    if (base === undefined || (await this.#treeOf(base)) === (await this.#treeOf(commit))) return false;
    const merged = await this.#git.query(["merge-tree", "--write-tree", `refs/heads/${branch}`, commit]);
    return merged === (await this.#treeOf(`refs/heads/${branch}`));
  }

  /** Returns the commits after `base` up to `head`, oldest first. */
  async commits(base: string, head: string): Promise<{ commit: string; message: string }[]> {
    const output = await this.#git.run(["log", "--reverse", "-z", "--format=%H%n%B", `${base}..${head}`]);
    return output
      .split("\0")
      .filter((entry) => entry !== "")
      .map((entry) => ({ commit: entry.slice(0, entry.indexOf("\n")), message: entry.slice(entry.indexOf("\n") + 1) }));
  }

  /** Returns the first `maxBytes` bytes of the diff between two commits. */
  diff(base: string, head: string, maxBytes: number): Promise<string> {
    const format = [
      "--no-color",
      "--no-ext-diff",
      "--no-textconv",
      "--src-prefix=a/",
      "--dst-prefix=b/",
      "--find-renames",
    ];
    return this.#git.run(["diff", ...format, base, head], { maxBytes });
  }

  /** Returns the last commit made for a job, whether or not it was pushed. */
  async lastCommitOf(jobId: string): Promise<{ commit: string; parent: string; message: string } | undefined> {
    const commit = await this.#resolve(`refs/jobs/${jobId}`);
    if (commit === undefined) return undefined;
    const output = await this.#git.run(["log", "--max-count=1", "--format=%P%n%B", commit]);
    const [parent = "", ...message] = output.split("\n");
    return { commit, parent, message: message.join("\n") };
  }

  /**
   * Checks out a job's branch in a new worktree: at its head if it exists and is not merged, otherwise at the head of the
   * target branch.
   *
   * @param startOver - start from the target branch in any case
   */
  async checkOut(branch: string, worktree: string, startOver: boolean): Promise<Checkout> {
    const targetBranch = await this.targetBranch();
    await this.fetch();
    const remoteHead = await this.branchHead(branch);
    const targetHead = await this.branchHead(targetBranch);
    if (targetHead === undefined) throw new Error(`the branch ${targetBranch} has no commit`);
    const base =
      remoteHead && !startOver && !(await this.isMerged(remoteHead, targetBranch))
        ? await this.#mergeBase(remoteHead, targetHead)
        : undefined;
    const isContinued = base !== undefined;
    const head = isContinued && remoteHead ? remoteHead : targetHead;
    // `--shared`, because copying the objects can fail while another command writes some.
    const clone = ["clone", "--quiet", "--shared", "--no-checkout", "--template="];
    await this.#git.run([...clone, "--", this.#clone, worktree]);
    const inWorktree = { cwd: worktree, environment: { GIT_DIR: join(worktree, ".git") } };
    await this.#git.run(["remote", "set-url", "origin", this.#url], inWorktree);
    await this.#git.run(["checkout", "--quiet", "-B", branch, head], inWorktree);
    return {
      worktree,
      inode: await inodeOf(worktree),
      branch,
      head,
      targetBranch,
      base: base ?? targetHead,
      remoteHead,
      isContinued,
    };
  }

  /**
   * Commits everything in the worktree on top of the checked-out head, regardless of what the agent did with Git there.
   *
   * @param index - path of a file that does not exist yet
   * @param maxBytes - the changed files may have together
   * @returns the commit, or `undefined` if nothing was changed
   * @throws if the worktree is gone, or another directory or a link is in its place, whose files would be published
   */
  async commit(
    { worktree, inode, head }: Checkout,
    message: string,
    index: string,
    maxBytes: number,
  ): Promise<string | undefined> {
    if (inode === undefined || (await inodeOf(worktree)) !== inode)
      throw new Error("the agent removed or replaced its worktree");
    const pipe = await findGitPipe(worktree);
    if (pipe !== undefined) throw new Error(`the agent left a named pipe, for which Git would wait: ${pipe}`);
    const environment = { GIT_DIR: this.#clone, GIT_WORK_TREE: worktree, GIT_INDEX_FILE: index };
    await this.#git.run(["read-tree", head], { environment });
    const submodules = await this.#submodulesOf(head);
    const inIndex = (input: string[]) => ({ cwd: worktree, environment, input: input.join("") });
    // For a submodule in the index, `git add` would run `git status` in it, with the configuration that the agent wrote there.
    const forget = ["update-index", "-z", "--force-remove", "--stdin"];
    if (submodules.size > 0) await this.#git.run(forget, inIndex([...submodules.keys()].map((path) => `${path}\0`)));
    await this.#checkSize(worktree, environment, maxBytes);
    await this.#git.run(["add", "--all", "--", ":/"], inIndex([]));
    const unpopulated: string[] = [];
    for (const [path, entry] of submodules) {
      const added = await this.#git.run(["ls-files", "-z", "--", `:(top,literal)${path}`], inIndex([]));
      if (added === "" && (await inodeOf(join(worktree, path))) !== undefined) unpopulated.push(`${entry}\0`);
    }
    if (unpopulated.length > 0) await this.#git.run(["update-index", "-z", "--index-info"], inIndex(unpopulated));
    const tree = (await this.#git.run(["write-tree"], { environment })).trim();
    const changes = await this.#git.run(["diff-tree", "-r", "-z", "--no-renames", head, tree]);
    if (changes === "") return undefined;
    const nested = /:(?!160000)\d{6} 160000 [^\0]*\0([^\0]*)\0/.exec(changes)?.[1];
    if (nested !== undefined)
      throw new Error(`the agent created a Git repository in ${nested}, which cannot be committed`);
    return this.#commitTree(tree, head, message);
  }

  /**
   * Records a commit as the last one of a job, then pushes it to a branch.
   *
   * @param expectedHead - the commit the branch must point to; `undefined` allows only a new branch or a fast-forward
   * @throws GitError if the branch has moved or the push is rejected
   */
  async push(commit: string, branch: string, expectedHead: string | undefined, jobId: string): Promise<void> {
    await this.#git.run(["update-ref", `refs/jobs/${jobId}`, commit]);
    const lease = expectedHead === undefined ? [] : [`--force-with-lease=refs/heads/${branch}:${expectedHead}`];
    await this.#git.run([
      "push",
      "--quiet",
      ...lease,
      ...this.#localEnd("receive-pack"),
      "--",
      this.#url,
      `${commit}:refs/heads/${branch}`,
    ]);
    // Until the next fetch, the branch would be missing from the clone, and its pull request would look closed.
    await this.#updateRefs(() => this.#git.run(["update-ref", `refs/heads/${branch}`, commit]));
  }

  /** Removes the refs of the last commits of jobs, so that Git can remove the commits. */
  async forgetJobs(ids: readonly string[]): Promise<void> {
    const input = ids.map((id) => `delete refs/jobs/${id}\n`).join("");
    await this.#updateRefs(() => this.#git.run(["update-ref", "--stdin"], { input }));
  }

  /**
   * Moves a commit, a child of `parent`, onto another descendant of `parent`.
   *
   * @returns the new commit; `newParent` itself if it contains the change already; `undefined` on a conflict
   */
  async rebase(commit: string, parent: string, newParent: string): Promise<string | undefined> {
    if (!(await this.#isAncestor(parent, newParent))) return undefined;
    const tree = await this.#git.query(["merge-tree", "--write-tree", newParent, commit]);
    if (tree === undefined) return undefined;
    if (tree === (await this.#treeOf(newParent))) return newParent;
    return this.#commitTree(tree, newParent, await this.#git.run(["log", "--max-count=1", "--format=%B", commit]));
  }

  /**
   * Checks the size of the files that are about to be added, before they are copied to the clone, which keeps them.
   *
   * @throws if they are larger than `maxBytes` together
   */
  async #checkSize(worktree: string, environment: Record<string, string>, maxBytes: number): Promise<void> {
    // Remembers which files are unchanged, so that each is read only once. Exits with 1 if others are not.
    await this.#git.query(["update-index", "-q", "--refresh"], { cwd: worktree, environment });
    const list = ["ls-files", "-z", "--others", "--modified", "--exclude-standard", "--", ":/"];
    const paths = (await this.#git.run(list, { cwd: worktree, environment })).split("\0").filter((path) => path !== "");
    let total = 0;
    let largest = { path: "", size: 0 };
    for (const path of paths) {
      // A deleted file is listed too.
      const stat = await lstat(join(worktree, path)).catch(() => undefined);
      const size = stat?.isDirectory() ? 0 : (stat?.size ?? 0);
      total += size;
      if (size > largest.size) largest = { path, size };
    }
    if (total <= maxBytes) return;
    throw new Error(
      `the change has ${megabytes(total)} MB, more than the ${megabytes(maxBytes)} MB of --largest-change-mb; ` +
        `the largest file is ${largest.path} with ${megabytes(largest.size)} MB`,
    );
  }

  /** Changes refs of the clone, one command at a time, because two would contend for their locks. */
  #updateRefs(update: () => Promise<unknown>): Promise<unknown> {
    this.#refUpdate = this.#refUpdate.then(update, update);
    return this.#refUpdate;
  }

  /** Returns the paths of a commit's submodules, each with its entry as `git ls-tree` prints it. */
  async #submodulesOf(commit: string): Promise<Map<string, string>> {
    const entries = (await this.#git.run(["ls-tree", "-r", "-z", commit])).split("\0");
    return new Map(
      entries
        .filter((entry) => entry.startsWith("160000 "))
        .map((entry) => [entry.slice(entry.indexOf("\t") + 1), entry]),
    );
  }

  /**
   * Returns the option by which the other end of a transfer on this machine gets the safe directories and the umask. It has
   * no other settings: Git removes them from its environment.
   */
  #localEnd(program: "upload-pack" | "receive-pack"): string[] {
    const { umask = process.umask() } = this.#options;
    if (!/^(\/|file:)/.test(this.#url)) return [];
    const settings = this.#safeDirectories.map((path) => `-c 'safe.directory=${path.replaceAll("'", "'\\''")}'`);
    return [`--${program}=umask ${umask.toString(8)} && git ${settings.join(" ")} ${program}`];
  }

  #resolve(ref: string): Promise<string | undefined> {
    return this.#git.query(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]);
  }

  async #treeOf(commit: string): Promise<string> {
    return (await this.#git.run(["rev-parse", `${commit}^{tree}`])).trim();
  }

  #mergeBase(a: string, b: string): Promise<string | undefined> {
    return this.#git.query(["merge-base", a, b]);
  }

  async #isAncestor(ancestor: string, descendant: string): Promise<boolean> {
    return (await this.#git.query(["merge-base", "--is-ancestor", ancestor, descendant])) !== undefined;
  }

  async #commitTree(tree: string, parent: string, message: string): Promise<string> {
    return (await this.#git.run(["commit-tree", tree, "-p", parent, "-F", "-"], { input: message })).trim();
  }
}

/** Returns the path of a named pipe in place of a file that Git reads, such as `.gitignore`; `undefined` if there is none. */
async function findGitPipe(worktree: string): Promise<string | undefined> {
  const find = promisify(execFile)("find", [worktree, "-name", ".git*", "-type", "p", "-print", "-quit"]);
  // It fails for a folder that cannot be read, which Git does not read either.
  const { stdout } = await find.catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }));
  return stdout.trimEnd() || undefined;
}

/** Returns the inode of a directory, or `undefined` if there is no directory, such as a link. */
async function inodeOf(path: string): Promise<bigint | undefined> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined);
  return stat?.isDirectory() ? stat.ino : undefined;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toLocaleString("en", { maximumFractionDigits: 1 });
}
