import { existsSync, globSync, rmSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { removeDirectory } from "../remove-directory.ts";
import { type Heads, isJobBranch, parseFetched, parseRefs, parseRemoteRefs, workRefPrefix } from "./clone-refs.ts";
import { ControlFiles } from "./control-files.ts";
import { Git, type GitCommandOptions, GitError } from "./git.ts";
import { resolveCommit } from "./history.ts";
import {
  asksNobody,
  readOperatorSettings,
  type Setting,
  type Settings,
  settingVariables,
  withGiven,
} from "./settings.ts";

export interface CloneOptions {
  /** URL or path, as `git clone` accepts it. */
  url: string;
  /** A folder of the service; the clone is `mirror.git` in it. */
  folder: string;
  /** Settings of Git, such as its credentials. Those of the operator that Git may need for transfers are added to them. */
  settings?: Settings;
  /** The umask with which Git writes to a repository on this machine. Default: the process's own. */
  umask?: number | undefined;
  /** Kills the Git command that runs, and lets no other start. */
  signal?: AbortSignal;
}

/** What Git says if objects or refs of a repository are damaged. */
const damageMessages = /bad object|is corrupt|object file .* is empty|did not send all necessary objects/;

/** What Git says if a repository has ids of another kind than the clone. */
const otherHash = /mismatched algorithms|object-format|hash algorithm/;

/** Options of `git fetch` that leave everything but the named refs alone. */
const fetchOptions = ["--quiet", "--no-tags", "--no-recurse-submodules"];

/** A first fetch takes as long as it receives something: Git ends a stalled one itself. In milliseconds. */
const fetchLimitMs = 6 * 3_600_000;

/** What Git says if a branch does not exist, or its name is in the way of another one's. */
const refMessages = /couldn't find remote ref|invalid refspec|cannot lock ref/;
/** What Git says if the repository does not have a commit, or has it in no ref and does not give it away. */
const missingMessages = /couldn't find remote ref|not our ref|unadvertised object/;
/** What a push calls the repository. */
const pushedTo = "repository";
/** Where the clone keeps what the repository's `HEAD` is. */
const headRef = "refs/remotes/origin/HEAD";

/** Returns whether the repository's host rejected the credentials of a command, or what they may do. */
const isDenied = (error: unknown): error is GitError => error instanceof GitError && error.isDenied;

interface QueuedFetch {
  branches: Set<string>;
  done: Promise<void>;
}

/**
 * A bare clone of a repository, with the branches that were asked for: a repository may have any number, most of them of jobs that
 * ended long ago, and each ref of the clone makes each fetch slower. The service runs Git only in clones, because the configuration
 * of a worktree belongs to the agent; the configuration of the clone is restored before each command.
 */
export class Clone {
  readonly folder: string;
  /** The folder of Git objects that checkouts refer to. */
  readonly objects: string;
  readonly url: string;
  readonly #controlFiles: ControlFiles;
  readonly #options: CloneOptions;
  readonly git: Git;
  /** See `useForRefs`. */
  #otherSettings: Settings | undefined;
  #operatorSettings: readonly Setting[] = [];
  #defaultBranch: string | undefined;
  /** The branches of the repository, as far as they are known. `undefined` before they were listed. */
  #heads: Map<string, string> | undefined;
  /** The heads that the clone has: those in its `refs/heads` when it was opened, with the fetches and pushes since then. */
  #fetched = new Map<string, string>();
  /** The names of the refs of work in the repository, without their prefix; see `WorkRefs`. */
  readonly workRefs = new Set<string>();
  /** When the last listing began, on the clock of `performance.now`. */
  #listedAt = Number.NEGATIVE_INFINITY;
  /** When the last fetch of each branch began that was fetched since then. */
  #fetchedAt = new Map<string, number>();
  #queuedFetch: QueuedFetch | undefined;
  #refUpdate: Promise<unknown> = Promise.resolve();
  #isPrepared = false;

  constructor(options: CloneOptions) {
    this.#options = options;
    this.url = options.url;
    this.folder = join(options.folder, "mirror.git");
    this.objects = join(this.folder, "objects");
    this.#controlFiles = new ControlFiles(this.folder);
    const { settings = () => [], signal } = options;
    this.git = new Git({
      cwd: this.folder,
      environment: { GIT_DIR: this.folder, ...(settings().length > 0 && asksNobody) },
      settings: () => this.#settingsWith(settings),
      prepare: () => this.#controlFiles.restore(),
      signal,
    });
  }

  /** The clone's own configuration file, as the service wrote it. */
  get config(): string {
    return this.#controlFiles.config;
  }

  /** The repository's default branch, as far as it is known. */
  get defaultBranch(): string | undefined {
    return this.#defaultBranch;
  }

  /**
   * The heads of all branches, as of the last listing, with the fetches and pushes since then. The clone need not have them.
   *
   * @throws before the first listing
   */
  get heads(): Heads {
    if (this.#heads === undefined) throw new Error("the repository could not be read yet");
    return this.#heads;
  }

  /** The heads of the branches that the clone has. */
  get fetched(): Heads {
    return this.#fetched;
  }

  /** Adds credentials with which refs of work are pushed first, and that read everything if the clone's own are rejected. */
  useForRefs(settings: Settings): void {
    this.#otherSettings = settings;
  }

  #settingsWith(settings: Settings): Setting[] {
    return [
      ...withGiven(this.#operatorSettings, settings(), this.url),
      // By this name, a push moves the clone's own refs, too.
      [`remote.${pushedTo}.url`, this.url],
      [`remote.${pushedTo}.fetch`, "+refs/heads/*:refs/heads/*"],
    ];
  }

  /** Runs a command with the other credentials. */
  #runWithOther(settings: Settings, args: readonly string[], options: GitCommandOptions = {}): Promise<string> {
    return this.git.run(args, { ...options, environment: settingVariables(this.#settingsWith(settings)) });
  }

  /** Runs a command that reads from the repository. */
  #read(args: readonly string[], options?: GitCommandOptions): Promise<string> {
    const other = this.#otherSettings;
    return this.git.run(args, options).catch((error: unknown) => {
      if (other === undefined || !isDenied(error)) throw error;
      return this.#runWithOther(other, args, options);
    });
  }

  /**
   * Creates the clone if there is none yet, lists the branches, and fetches some.
   *
   * @param branches - `undefined` is the default branch
   * @throws if the repository cannot be fetched or the clone is damaged, with the reason as the message
   */
  async open(branches: readonly (string | undefined)[]): Promise<void> {
    try {
      if (!this.#isPrepared) await this.#prepare();
      await this.list();
      const named = branches
        .map((branch) => branch ?? this.#defaultBranch ?? "")
        .filter((name) => this.heads.has(name));
      if (named.length > 0) await this.fetch(named);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Does what needs only this machine, before anything else uses the clone. */
  async #prepare(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    // Left by a Git process that was killed. One that outlived its service may be removing its lock now, hence `force`.
    for (const left of globSync(["**/*.lock", "objects/pack/{tmp_,.tmp-}*"], { cwd: this.folder }))
      rmSync(join(this.folder, left), { force: true });
    const isNew = !existsSync(join(this.folder, "HEAD"));
    await this.#controlFiles.reset();
    await this.git.run(["init", "--quiet", "--bare", "--template="]);
    await this.#controlFiles.remember();
    this.#operatorSettings = await readOperatorSettings(this.folder);
    if (!isNew) await this.#readFetched();
    this.#isPrepared = true;
  }

  /** A machine that lost its power can leave empty objects and refs. */
  #explain(error: unknown): unknown {
    if (error instanceof GitError && otherHash.test(error.message))
      return new Error(
        "the repository has ids of SHA-256, and the service works only on repositories with SHA-1, as GitHub has them",
        { cause: error },
      );
    if (!(error instanceof GitError) || !damageMessages.test(error.message)) return error;
    const advice =
      `The clone of the service is damaged, such as by a power failure. Move ${this.folder} away and start the service ` +
      "again, which makes a new clone. Jobs go on from their branches; only commits that are on no branch of the repository are lost.";
    return new Error(`${error.message}\n${advice}`, { cause: error });
  }

  /** Lists the heads of all branches, without fetching them, unless that was done at most `maxAgeMs` ago. The clone forgets those that are gone. */
  async list(maxAgeMs = 0): Promise<void> {
    if (performance.now() - this.#listedAt >= maxAgeMs) await this.updateRefs(() => this.#listNow());
  }

  /** Fetches branches, and finds out which of them no longer exist. */
  fetch(branches: Iterable<string>): Promise<void> {
    // Callers share a fetch that has not begun yet.
    const queued = this.#queuedFetch;
    if (queued === undefined) return this.#queueFetch(new Set(branches));
    for (const branch of branches) queued.branches.add(branch);
    return queued.done;
  }

  #queueFetch(branches: Set<string>): Promise<void> {
    const done = this.updateRefs(() => {
      this.#queuedFetch = undefined;
      return this.#fetchNow(branches);
    });
    this.#queuedFetch = { branches, done };
    return done;
  }

  /**
   * Fetches branches if the clone does not have the head of one as it is known, or a commit, or if one was fetched longer ago than
   * `maxAgeMs`.
   */
  async fetchIfBehind(branches: readonly string[], maxAgeMs: number, commit?: string): Promise<void> {
    const now = performance.now();
    const isBehind = branches.some((branch) => {
      const isOld = now - (this.#fetchedAt.get(branch) ?? this.#listedAt) >= maxAgeMs;
      return isOld || this.#heads?.get(branch) !== this.#fetched.get(branch);
    });
    const lacks = async (one: string) => (await resolveCommit(this.git, one)) === undefined;
    if (isBehind || (commit !== undefined && (await lacks(commit)))) await this.fetch(branches);
  }

  async #readFetched(): Promise<void> {
    const refs = await this.git.run(["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads"]);
    this.#fetched = parseRefs(refs, " ");
  }

  async #listNow(): Promise<Map<string, string>> {
    const startedAt = performance.now();
    const list = [
      "ls-remote",
      "--symref",
      ...this.#localEnd("upload-pack"),
      "--",
      this.url,
      "HEAD",
      "refs/heads/*",
      `${workRefPrefix}*`,
    ];
    const listed = await this.#read(list);
    const { heads, defaultBranch } = parseRemoteRefs(listed);
    this.workRefs.clear();
    for (const name of parseRefs(listed, "\t", workRefPrefix).keys()) this.workRefs.add(name);
    this.#defaultBranch = defaultBranch;
    this.#heads = heads;
    this.#listedAt = startedAt;
    this.#fetchedAt.clear();
    const gone = [...this.#fetched.keys()].filter((branch) => !heads.has(branch));
    const input = gone.map((branch) => `delete refs/heads/${branch}\n`).join("");
    if (gone.length > 0) await this.git.run(["update-ref", "--stdin"], { input });
    for (const branch of gone) this.#fetched.delete(branch);
    return heads;
  }

  /** Asks for the branches by name, because a server that is asked for a list sends all of them. */
  async #fetchNow(branches: ReadonlySet<string>): Promise<void> {
    const heads = this.#heads ?? (await this.#listNow());
    try {
      if (await this.#fetchNamed(branches, heads)) return;
    } catch (error) {
      if (!(error instanceof GitError && refMessages.test(error.message))) throw error;
    }
    const listed = await this.#listNow();
    await this.#fetchNamed(
      [...branches].filter((branch) => isJobBranch(branch) || listed.has(branch)),
      listed,
    );
  }

  /**
   * Fetches branches, and the default branch.
   *
   * @returns whether the default branch is still the one that was listed last, as far as its head tells
   * @throws if a branch does not exist, unless it may be missing
   */
  async #fetchNamed(branches: Iterable<string>, heads: Map<string, string>): Promise<boolean> {
    const startedAt = performance.now();
    const own = heads.has(this.#defaultBranch ?? "") ? this.#defaultBranch : undefined;
    const names = [...new Set([...branches, ...(own === undefined ? [] : [own])])];
    const refs = names.map((name) => `refs/heads/${name}`);
    // A pattern may match nothing: a job has no branch before its first push.
    const asked = refs.map((ref, index) => (isJobBranch(names[index] ?? "") ? `${ref}*` : ref));
    const specs = [...asked.map((ref) => `+${ref}:${ref}\n`), ...(own === undefined ? [] : [`+HEAD:${headRef}\n`])];
    if (specs.length === 0) return true;
    const options = ["--prune", ...fetchOptions, ...this.#localEnd("upload-pack"), "--stdin"];
    const list = join(this.folder, "FETCH_HEAD");
    // Git would write through a link that an agent has put there.
    await removeDirectory(list);
    const fetch = ["fetch", ...options, "--", this.url];
    await this.#read(fetch, { input: specs.join(""), timeLimitMs: fetchLimitMs }).catch(async (error: unknown) => {
      // It may have moved some.
      await this.#readFetched();
      throw error;
    });
    const { heads: found, head: ownHead } = parseFetched(await readFile(list, "utf8"));
    for (const branch of [...names, ...found.keys()]) {
      const head = found.get(branch);
      for (const one of [heads, this.#fetched])
        if (head === undefined) one.delete(branch);
        else one.set(branch, head);
      this.#fetchedAt.set(branch, startedAt);
    }
    return own === undefined || ownHead === heads.get(own);
  }

  /**
   * Fetches a commit, which GitHub keeps if it is in a pull request whose branch is deleted. Does nothing if the repository does not have it.
   *
   * @throws GitError if that is unknown
   */
  async fetchCommit(commit: string): Promise<void> {
    try {
      const options = [...fetchOptions, "--no-write-fetch-head", ...this.#localEnd("upload-pack")];
      await this.#read(["fetch", ...options, "--", this.url, commit], { timeLimitMs: fetchLimitMs });
    } catch (error) {
      if (!(error instanceof GitError) || !missingMessages.test(error.message)) throw error;
    }
  }

  /**
   * Pushes a commit to a branch, or deletes the branch.
   *
   * @param commit - `undefined` deletes the branch
   * @param expectedHead - the commit the branch must point to; `undefined` allows only a new branch or a fast-forward
   * @throws GitError if the branch has moved or the push is rejected
   */
  async push(commit: string | undefined, branch: string, expectedHead: string | undefined): Promise<void> {
    const ref = `refs/heads/${branch}`;
    const lease = expectedHead === undefined ? [] : [`--force-with-lease=${ref}:${expectedHead}`];
    const refs = `${commit ?? ""}:${ref}`;
    await this.git.run(["push", "--quiet", ...lease, ...this.#localEnd("receive-pack"), "--", pushedTo, refs]);
    // Until the next fetch, the branch would be missing, and its pull request would look closed.
    await this.updateRefs(async () => {
      for (const known of [this.#heads, this.#fetched])
        if (commit === undefined) known?.delete(branch);
        else known?.set(branch, commit);
    });
  }

  /**
   * Pushes refs that are no branches, all or none.
   *
   * @returns why the other credentials could not, if there are any and the clone's own were needed
   * @throws GitError
   */
  async pushRefs(specs: readonly string[]): Promise<GitError | undefined> {
    const push = ["push", "--quiet", "--atomic", ...this.#localEnd("receive-pack"), "--", this.url, ...specs];
    const other = this.#otherSettings;
    try {
      await (other === undefined ? this.git.run(push) : this.#runWithOther(other, push));
      return undefined;
    } catch (error) {
      // What is pushed was not looked at, so it is not rejected for what it contains.
      if (other === undefined || !isDenied(error)) throw error;
      await this.git.run(push);
      return error;
    }
  }

  /** Fetches a ref that is no branch. @throws GitError */
  async fetchRef(ref: string, local: string): Promise<void> {
    const options = [...fetchOptions, "--no-write-fetch-head", ...this.#localEnd("upload-pack")];
    await this.#read(["fetch", ...options, "--", this.url, `+${ref}:${local}`]);
  }

  /**
   * Deletes branches, each if it points to a commit, with one push, because Git names all branches in each.
   *
   * @returns those that are gone
   * @throws GitError if the repository cannot be reached
   */
  async deleteBranches(heads: Heads): Promise<readonly string[]> {
    const leases = [...heads].map(([branch, head]) => `--force-with-lease=refs/heads/${branch}:${head}`);
    const refs = [...heads.keys()].map((branch) => `:refs/heads/${branch}`);
    const push = ["push", "--quiet", ...leases, ...this.#localEnd("receive-pack"), "--", pushedTo, ...refs];
    // If some were rejected, the others are gone.
    const error = await this.git.run(push).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    await this.fetch(heads.keys());
    const gone = [...heads.keys()].filter((branch) => !this.heads.has(branch));
    if (gone.length === 0 && error !== undefined) throw error;
    return gone;
  }

  /** Changes refs of the clone, one command at a time, because two would contend for their locks. A push changes only its branches'. */
  updateRefs<T>(update: () => Promise<T>): Promise<T> {
    const updated = this.#refUpdate.then(update, update);
    this.#refUpdate = updated;
    return updated;
  }

  /**
   * Returns the option by which the other end of a transfer on this machine gets the safe directories (of other users, which the operator
   * allows Git to use) and the umask. It has
   * no other settings: Git removes them from its environment.
   */
  #localEnd(program: "upload-pack" | "receive-pack"): string[] {
    const { umask = process.umask() } = this.#options;
    if (!/^(\/|file:)/.test(this.url)) return [];
    const settings = this.#operatorSettings.flatMap(([name, path]) =>
      name === "safe.directory" ? [`-c 'safe.directory=${path.replaceAll("'", "'\\''")}'`] : [],
    );
    return [`--${program}=umask ${umask.toString(8)} && exec git ${settings.join(" ")} ${program}`];
  }
}
