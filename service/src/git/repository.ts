import { globSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeAgentRepository } from "./agent-repository.ts";
import { areEqual, type Heads, parseRefs, parseRemoteRefs } from "./clone-refs.ts";
import { commitTree, commitWorktree, identityOf, type Worktree, type WorktreeCommit } from "./commit-worktree.ts";
import { ControlFiles } from "./control-files.ts";
import { Git, GitError } from "./git.ts";
import { needsPacking, pack } from "./maintenance.ts";
import { MergeStates } from "./merge-states.ts";
import { readOperatorSettings, type Setting } from "./settings.ts";
import { restoreWorktree, type WorktreePlace } from "./worktree.ts";

export interface RepositoryOptions {
  /** URL or path, as `git clone` accepts it. */
  url: string;
  /** A folder of the service; the clone is `mirror.git` in it. */
  folder: string;
  /** Settings of Git, such as its credentials. Those of the operator that Git may need for transfers are added to them. */
  settings?: readonly Setting[];
  /** The umask with which Git writes to a repository on this machine. Default: that of the process. */
  umask?: number | undefined;
  /** Kills the Git command that runs, and lets no other start. */
  signal?: AbortSignal;
}

/** What Git says if objects or refs of a repository are damaged. */
const damageMessages = /bad object|is corrupt|object file .* is empty|did not send all necessary objects/;

/** Where a turn starts: a commit, and the branch that its own commit is pushed to. */
export interface Start {
  branch: string;
  /** The commit to check out. */
  head: string;
  targetBranch: string;
  /** The merge base of `head` and the target branch. */
  base: string;
  /** The head of the branch in the repository; `undefined` if the branch does not exist. */
  remoteHead: string | undefined;
  /** Whether the turn continues the job's work, or else starts over from the target branch. */
  isContinued: boolean;
  /** What the job's log should say about it. */
  notes: string[];
}

export interface StartOptions {
  /** Whether the job's last pull request is merged. */
  isMerged: boolean;
  /** The last commit that was pushed for the job; `null` before the first one. */
  lastPushed: string | null;
  /** Default: the repository's default branch. */
  targetBranch?: string | undefined;
}

/** The last commit made for a job. */
export interface JobCommit {
  commit: string;
  parent: string;
  message: string;
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
  #mergeStates: MergeStates;
  /** Directories that belong to other users and that the operator allows Git to use. */
  #safeDirectories: readonly string[] = [];
  readonly #url: string;
  /** As of the last fetch. */
  #defaultBranch: string | undefined;
  #heads: Heads = new Map();
  /** When the last fetch began, on the clock of `performance.now`. */
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #queuedFetch: Promise<void> | undefined;
  #refUpdate: Promise<unknown> = Promise.resolve();

  constructor(options: RepositoryOptions) {
    this.#options = options;
    this.#clone = join(options.folder, "mirror.git");
    this.objects = join(this.#clone, "objects");
    this.#controlFiles = new ControlFiles(this.#clone);
    this.#git = this.#createGit([]);
    this.#mergeStates = new MergeStates(this.#git);
    this.#url = options.url;
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
   * @param targets - the branches that pull requests will be opened against; `undefined` is the default branch
   * @throws if the service cannot work on this repository, with the reason as the message
   */
  async open(targets: readonly (string | undefined)[] = [undefined]): Promise<void> {
    await mkdir(this.#clone, { recursive: true });
    // Left by a Git process that was killed. One that outlived its service may be removing its lock now, hence `force`.
    for (const left of globSync(["**/*.lock", "objects/pack/{tmp_,.tmp-}*"], { cwd: this.#clone }))
      rmSync(join(this.#clone, left), { force: true });
    await this.#controlFiles.reset();
    await this.#git.run(["init", "--quiet", "--bare", "--template="]);
    await this.#controlFiles.remember();
    const operatorSettings = await readOperatorSettings(this.#clone);
    this.#git = this.#createGit(operatorSettings);
    this.#mergeStates = new MergeStates(this.#git);
    this.#safeDirectories = operatorSettings.filter(([name]) => name === "safe.directory").map(([, value]) => value);
    await this.fetch().catch((error: unknown) => {
      throw this.#explainDamage(error);
    });
    for (const one of targets) {
      const target = await this.targetBranch(one);
      if ((await this.branchHead(target)) === undefined)
        throw new Error(`the branch ${target} does not exist, or has no commit yet: choose another one with --base`);
    }
    await this.#git.run(["merge-tree", "--write-tree", "--stdin"]).catch((cause: unknown) => {
      throw new Error("Git 2.39 or newer is required", { cause });
    });
    if ((await this.branchHead("agent")) !== undefined)
      throw new Error("the repository has a branch named agent, so no branch can be named agent/<job id>");
  }

  /** A machine that lost its power can leave empty objects and refs. */
  #explainDamage(error: unknown): unknown {
    if (!(error instanceof GitError) || !damageMessages.test(error.message)) return error;
    const advice =
      `The clone of the service is damaged, such as by a power failure. Move ${this.#clone} away and start the service ` +
      "again, which makes a new clone. Jobs go on from their branches; only commits that are on no branch of the repository are lost.";
    return new Error(`${error.message}\n${advice}`, { cause: error });
  }

  /**
   * Returns the branch that pull requests are opened against, as of the last fetch.
   *
   * @param chosen - that of the operator. Default: the repository's default branch
   */
  async targetBranch(chosen?: string): Promise<string> {
    if (chosen !== undefined) return chosen;
    const branch = this.#defaultBranch;
    if (branch === undefined) throw new Error("the repository has no default branch: choose one with --base");
    if (branch.startsWith("agent/"))
      throw new Error(`HEAD of the repository is ${branch}, the branch of a job: choose a branch with --base`);
    return branch;
  }

  /** Fetches all branches. */
  fetch(): Promise<void> {
    // Callers share a fetch that has not begun yet.
    this.#queuedFetch ??= this.#updateRefs(() => {
      this.#queuedFetch = undefined;
      return this.#fetchNow();
    });
    return this.#queuedFetch;
  }

  /**
   * Fetches if the clone does not have a commit, or if it was fetched longer ago than `maxAgeMs`. For processes that run no
   * turns, or on which others push.
   */
  async fetchIfBehind(commit: string, maxAgeMs: number): Promise<void> {
    const isRecent = performance.now() - this.#fetchedAt < maxAgeMs;
    if (!isRecent || (await this.#resolve(commit)) === undefined) await this.fetch();
  }

  /** Most turns find nothing new: asking for the heads is a third of the work of a fetch. */
  async #fetchNow(): Promise<void> {
    const startedAt = performance.now();
    const list = ["ls-remote", "--symref", ...this.#localEnd("upload-pack"), "--", this.#url, "HEAD", "refs/heads/*"];
    const { heads, defaultBranch } = parseRemoteRefs(await this.#git.run(list));
    this.#defaultBranch = defaultBranch;
    this.#heads = await this.branchHeads();
    if (areEqual(this.#heads, heads)) {
      this.#fetchedAt = startedAt;
      return;
    }
    const options = ["--quiet", "--prune", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
    const refs = "+refs/heads/*:refs/heads/*";
    await this.#git.run(["fetch", ...options, ...this.#localEnd("upload-pack"), "--", this.#url, refs]);
    this.#heads = await this.branchHeads();
    this.#fetchedAt = startedAt;
  }

  /** Returns the head of a branch as of the last fetch, or `undefined` if there is no such branch. */
  branchHead(branch: string): Promise<string | undefined> {
    return this.#resolve(`refs/heads/${branch}`);
  }

  /** Returns the heads of all branches as of the last fetch, by the names of the branches. */
  async branchHeads(): Promise<Heads> {
    return parseRefs(await this.#git.run(["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads"]), " ");
  }

  /** Returns whether a branch contained all changes of a commit at the last fetch: by merge, fast-forward, rebase or squash. */
  async isMerged(commit: string, branch: string): Promise<boolean> {
    const target = await this.branchHead(branch);
    if (target === undefined) throw new Error(`the branch ${branch} is missing`);
    const isMerged = (await new MergeStates(this.#git).of([commit], target)).get(commit);
    if (typeof isMerged !== "boolean") throw isMerged;
    return isMerged;
  }

  /** @param base - the merge base of the commit and the branch */
  async #isMergedSince(base: string, commit: string, branch: string): Promise<boolean> {
    if (base === commit) return true;
    const names = [branch, `${base}^{tree}`, `${commit}^{tree}`, `${branch}^{tree}`];
    const [head, baseTree, tree, branchTree] = (await this.#git.run(["rev-parse", ...names])).split("\n");
    // A commit without a net change would count as merged into every branch.
    if (head === base || baseTree === tree) return false;
    return (await this.#git.query(["merge-tree", "--write-tree", branch, commit])) === branchTree;
  }

  /**
   * Returns for each commit whether `target`, the head of a branch, contains all its changes, or why that cannot be read.
   * Remembers the answers until `target` changes.
   */
  findMerged(commits: readonly string[], target: string): Promise<ReadonlyMap<string, boolean | Error>> {
    return this.#mergeStates.of(commits, target);
  }

  /** Returns the commits after `base` up to `head`, oldest first. */
  async commits(base: string, head: string): Promise<{ commit: string; message: string }[]> {
    const output = await this.#git.run(["log", "--reverse", "-z", "--format=%H%n%B", `${base}..${head}`]);
    return output
      .split("\0")
      .filter((entry) => entry !== "")
      .map((entry) => ({ commit: entry.slice(0, entry.indexOf("\n")), message: entry.slice(entry.indexOf("\n") + 1) }));
  }

  /** Returns the newest commits after `base` up to `head`, oldest first, each with the subject of its message. */
  async latestCommits(base: string, head: string, count: number): Promise<{ commit: string; subject: string }[]> {
    const log = ["log", "--reverse", "-z", "--format=%H %s", `--max-count=${count}`, `${base}..${head}`];
    // A subject can be as long as a whole message.
    const output = await this.#git.run(log, { maxBytes: 1_000_000 });
    return output
      .split("\0")
      .filter((entry) => entry !== "")
      .map((entry) => ({ commit: entry.slice(0, entry.indexOf(" ")), subject: entry.slice(entry.indexOf(" ") + 1) }));
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
  async lastCommitOf(jobId: string): Promise<JobCommit | undefined> {
    const format = "--format=%(refname)%00%(objectname)%00%(parent)%00%(contents)%00";
    const output = await this.#git.run(["for-each-ref", format, `refs/jobs/${jobId}`]);
    const [ref, commit = "", parent = "", message = ""] = output.split("\0");
    return ref === `refs/jobs/${jobId}` ? { commit, parent, message } : undefined;
  }

  /**
   * Finds where a turn of a job starts, after a fetch: at the head of the job's branch, with whatever others pushed there;
   * at the job's last commit if the branch was deleted; and at the head of the target branch if there is no work yet, or all
   * of it is merged.
   *
   * @throws if the job's work and the target branch have no common history, so that no pull request can be made of it
   */
  async findStart(branch: string, { isMerged, lastPushed, targetBranch: chosen }: StartOptions): Promise<Start> {
    await this.fetch();
    const heads = this.#heads;
    const targetBranch = await this.targetBranch(chosen);
    const targetHead = heads.get(targetBranch);
    if (targetHead === undefined) throw new Error(`the branch ${targetBranch} has no commit`);
    const remoteHead = heads.get(branch);
    const notes: string[] = [];
    const start = { branch, targetBranch, remoteHead, notes };
    const startOver: Start = { ...start, head: targetHead, base: targetHead, isContinued: false };
    const head = remoteHead ?? (await this.#findOrFetch(lastPushed));
    if (head === undefined && lastPushed !== null && !isMerged)
      notes.push(
        `${branch} was deleted, and neither this machine nor the repository has ${lastPushed}, the job's last commit. The turn starts over from ${targetBranch}.`,
      );
    // What others pushed after a merge is not overwritten.
    if (head === undefined || (isMerged && (remoteHead === undefined || remoteHead === lastPushed))) return startOver;
    const base = await this.#mergeBase(head, targetHead);
    const isRewritten = remoteHead !== undefined && (await this.#isRewritten(remoteHead, lastPushed));
    if (base === undefined && isRewritten && (await this.#mergeBase(String(lastPushed), targetHead)) !== undefined)
      throw new Error(
        `Someone replaced ${branch} by another history, which has no commit in common with ${targetBranch}, so no pull request can be made of it. No agent was run, and the job's last commit ${lastPushed} is kept in the service's clone. To continue that, delete ${branch} and send the message again. To continue what is on ${branch} now, first rebase it onto ${targetBranch}.`,
      );
    if (base === undefined)
      throw new Error(
        `${targetBranch} was replaced by another history, which has no commit in common with the work of this job. No agent was run, and the work is kept${remoteHead === undefined ? ` as ${head} in the service's clone` : ` on ${branch}`}. Create a new job, or push to ${branch} a version of it that starts from ${targetBranch}, and send the message again.`,
      );
    if (await this.#isMergedSince(base, head, targetHead)) {
      if (isRewritten && !(await this.isMerged(String(lastPushed), targetBranch)))
        notes.push(
          `Someone rewrote ${branch}: it contains neither ${lastPushed}, the job's last commit, nor anything else that is not on ${targetBranch}. The turn starts over from ${targetBranch}.`,
        );
      return startOver;
    }
    if (remoteHead === undefined)
      notes.push(
        `The branch ${branch} was deleted. The turn continues the job's last commit ${head} and creates it again.`,
      );
    else if (isRewritten)
      notes.push(
        `Someone rewrote ${branch}: it does not contain ${lastPushed}, the job's last commit, any more. The turn continues what is there now.`,
      );
    return { ...start, head, base, isContinued: true };
  }

  /** Returns the commit if the clone has it. It does not if its folder was removed. */
  async #findKept(commit: string | null): Promise<string | undefined> {
    return commit === null ? undefined : this.#resolve(commit);
  }

  /** Returns the commit if the clone has it, or gets it: GitHub keeps that of a pull request whose branch is deleted. */
  async #findOrFetch(commit: string | null): Promise<string | undefined> {
    const kept = await this.#findKept(commit);
    if (kept !== undefined || commit === null) return kept;
    const options = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
    try {
      await this.#git.run(["fetch", ...options, ...this.#localEnd("upload-pack"), "--", this.#url, commit]);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
    }
    return this.#findKept(commit);
  }

  async #isRewritten(head: string, lastPushed: string | null): Promise<boolean> {
    const kept = head === lastPushed ? undefined : await this.#findKept(lastPushed);
    return kept !== undefined && !(await this.#isAncestor(kept, head));
  }

  /** Makes a worktree contain the files of a commit. It may have been used for other commits before. */
  restoreWorktree(place: WorktreePlace, commit: string): Promise<void> {
    return restoreWorktree(this.#git, this.#clone, place, commit);
  }

  /** Checks out the start of a turn in a worktree, as a Git clone with the job's branch. */
  async checkOut(start: Start, place: WorktreePlace): Promise<Worktree> {
    await this.restoreWorktree(place, start.head);
    await writeAgentRepository(place, {
      ...start,
      clone: this.#clone,
      cloneConfig: this.#controlFiles.config,
      url: this.#url,
      heads: this.#heads,
    });
    return { ...place, head: start.head, identity: await identityOf(place.tree) };
  }

  /**
   * Commits everything in a worktree on top of its head; see `commitWorktree`.
   *
   * @param maxBytes - the changed files may have together
   */
  commit(worktree: Worktree, message: string, maxBytes: number): Promise<WorktreeCommit> {
    return commitWorktree(this.#git, this.#clone, worktree, message, maxBytes);
  }

  /**
   * Records a commit as the last one of a job, then pushes it to a branch.
   *
   * @param expectedHead - the commit the branch must point to; `undefined` allows only a new branch or a fast-forward
   * @param earlier - an earlier commit of the job that the clone has to keep too, because this one does not contain it
   * @throws GitError if the branch has moved or the push is rejected
   */
  async push(
    commit: string,
    branch: string,
    expectedHead: string | undefined,
    jobId: string,
    earlier?: string,
  ): Promise<void> {
    const kept = earlier === undefined ? "" : `update refs/earlier/${jobId}/${earlier} ${earlier}\n`;
    const input = `update refs/jobs/${jobId} ${commit}\n${kept}`;
    await this.#git.run(["update-ref", "--stdin"], { input });
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

  /** Lets the clone forget the commits of jobs. Packing removes them two weeks later, unless a branch has them. */
  async forgetJobs(jobIds: readonly string[]): Promise<void> {
    const forgotten = new Set(jobIds);
    const refs = await this.#git.run(["for-each-ref", "--format=%(refname)", "refs/jobs", "refs/earlier"]);
    const input = refs
      .split("\n")
      .filter((ref) => forgotten.has(ref.split("/")[2] ?? ""))
      .map((ref) => `delete ${ref}\n`);
    if (input.length > 0)
      await this.#updateRefs(() => this.#git.run(["update-ref", "--stdin"], { input: input.join("") }));
  }

  /** Returns the ids of the jobs that the clone has commits of. */
  async jobIds(): Promise<string[]> {
    const refs = await this.#git.run(["for-each-ref", "--format=%(refname)", "refs/jobs", "refs/earlier"]);
    return [...new Set(refs.split("\n").map((ref) => ref.split("/")[2] ?? ""))].filter((id) => id !== "");
  }

  /** Packs the clone if that pays. Returns whether it did. Other methods can be called meanwhile. */
  async packIfNeeded(): Promise<boolean> {
    if (!(await needsPacking(this.objects))) return false;
    await this.pack();
    return true;
  }

  /** Packs the refs and the objects of the clone. */
  async pack(): Promise<void> {
    await this.#updateRefs(() => this.#git.run(["pack-refs", "--all", "--prune"]));
    await pack(this.#git);
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
    const message = await this.#git.run(["log", "--max-count=1", "--format=%B", commit]);
    return commitTree(this.#git, tree, newParent, message);
  }

  /** Changes refs of the clone, one command at a time, because two would contend for their locks. */
  #updateRefs<T>(update: () => Promise<T>): Promise<T> {
    const updated = this.#refUpdate.then(update, update);
    this.#refUpdate = updated;
    return updated;
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
}
