import { globSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { areEqual, type Heads, parseRefs, parseRemoteRefs } from "./clone-refs.ts";
import { ControlFiles } from "./control-files.ts";
import { Git, GitError } from "./git.ts";
import { resolveCommit } from "./history.ts";
import { readOperatorSettings, type Setting } from "./settings.ts";

export interface CloneOptions {
  /** URL or path, as `git clone` accepts it. */
  url: string;
  /** A folder of the service; the clone is `mirror.git` in it. */
  folder: string;
  /** Settings of Git, such as its credentials. Those of the operator that Git may need for transfers are added to them. */
  settings?: readonly Setting[];
  /** The umask with which Git writes to a repository on this machine. Default: the process's own. */
  umask?: number | undefined;
  /** Kills the Git command that runs, and lets no other start. */
  signal?: AbortSignal;
}

/** What Git says if objects or refs of a repository are damaged. */
const damageMessages = /bad object|is corrupt|object file .* is empty|did not send all necessary objects/;

/** Options of `git fetch` that leave everything but the named refs alone. */
const fetchOptions = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];

/**
 * A bare clone of a repository, with all its branches. The service runs Git only in clones, because the configuration of a
 * worktree belongs to the agent; the configuration of the clone is restored before each command.
 */
export class Clone {
  readonly folder: string;
  /** The folder of Git objects that checkouts refer to. */
  readonly objects: string;
  readonly url: string;
  readonly #controlFiles: ControlFiles;
  readonly #options: CloneOptions;
  #git: Git;
  /** Directories that belong to other users and that the operator allows Git to use. */
  #safeDirectories: readonly string[] = [];
  #defaultBranch: string | undefined;
  /** What `refs/heads` of the clone has, which only this object changes. `undefined` before it was read. */
  #heads: Heads | undefined;
  /** When the last fetch began, on the clock of `performance.now`. */
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #queuedFetch: Promise<void> | undefined;
  #refUpdate: Promise<unknown> = Promise.resolve();

  constructor(options: CloneOptions) {
    this.#options = options;
    this.url = options.url;
    this.folder = join(options.folder, "mirror.git");
    this.objects = join(this.folder, "objects");
    this.#controlFiles = new ControlFiles(this.folder);
    this.#git = this.#createGit([]);
  }

  /** Git in the clone. Another one after `open`. */
  get git(): Git {
    return this.#git;
  }

  /** The clone's own configuration file, as the service wrote it. */
  get config(): string {
    return this.#controlFiles.config;
  }

  /** The repository's default branch, as of the last fetch. */
  get defaultBranch(): string | undefined {
    return this.#defaultBranch;
  }

  /**
   * The heads of all branches, as of the last fetch, with the pushes since then.
   *
   * @throws before the first fetch
   */
  get heads(): Heads {
    if (this.#heads === undefined) throw new Error("the clone was not fetched yet");
    return this.#heads;
  }

  #createGit(operatorSettings: readonly Setting[]): Git {
    const { settings = [], signal } = this.#options;
    return new Git({
      cwd: this.folder,
      environment: { GIT_DIR: this.folder },
      settings: [...operatorSettings, ...settings],
      prepare: () => this.#controlFiles.restore(),
      signal,
    });
  }

  /**
   * Creates the clone if there is none yet, and fetches.
   *
   * @throws if the repository cannot be fetched or the clone is damaged, with the reason as the message
   */
  async open(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    // Left by a Git process that was killed. One that outlived its service may be removing its lock now, hence `force`.
    for (const left of globSync(["**/*.lock", "objects/pack/{tmp_,.tmp-}*"], { cwd: this.folder }))
      rmSync(join(this.folder, left), { force: true });
    await this.#controlFiles.reset();
    await this.#git.run(["init", "--quiet", "--bare", "--template="]);
    await this.#controlFiles.remember();
    const operatorSettings = await readOperatorSettings(this.folder);
    this.#git = this.#createGit(operatorSettings);
    this.#safeDirectories = operatorSettings.filter(([name]) => name === "safe.directory").map(([, value]) => value);
    await this.fetch().catch((error: unknown) => {
      throw this.#explainDamage(error);
    });
  }

  /** A machine that lost its power can leave empty objects and refs. */
  #explainDamage(error: unknown): unknown {
    if (!(error instanceof GitError) || !damageMessages.test(error.message)) return error;
    const advice =
      `The clone of the service is damaged, such as by a power failure. Move ${this.folder} away and start the service ` +
      "again, which makes a new clone. Jobs go on from their branches; only commits that are on no branch of the repository are lost.";
    return new Error(`${error.message}\n${advice}`, { cause: error });
  }

  /** Fetches all branches. */
  fetch(): Promise<void> {
    // Callers share a fetch that has not begun yet.
    this.#queuedFetch ??= this.updateRefs(() => {
      this.#queuedFetch = undefined;
      return this.#fetchNow();
    });
    return this.#queuedFetch;
  }

  /** Fetches if the clone does not have a commit, or if it was fetched longer ago than `maxAgeMs`. */
  async fetchIfBehind(commit: string, maxAgeMs: number): Promise<void> {
    const isRecent = performance.now() - this.#fetchedAt < maxAgeMs;
    if (!isRecent || (await resolveCommit(this.#git, commit)) === undefined) await this.fetch();
  }

  /** Most turns find nothing new: asking for the heads is a third of the work of a fetch. */
  async #fetchNow(): Promise<void> {
    const startedAt = performance.now();
    const list = ["ls-remote", "--symref", ...this.#localEnd("upload-pack"), "--", this.url, "HEAD", "refs/heads/*"];
    const { heads, defaultBranch } = parseRemoteRefs(await this.#git.run(list));
    this.#defaultBranch = defaultBranch;
    this.#heads ??= await this.#readHeads();
    if (!areEqual(this.#heads, heads)) {
      const options = ["--prune", ...fetchOptions, ...this.#localEnd("upload-pack")];
      try {
        await this.#git.run(["fetch", ...options, "--", this.url, "+refs/heads/*:refs/heads/*"]);
      } finally {
        // Also after an error: it may have moved some. And the repository can have changed since it was asked.
        this.#heads = await this.#readHeads();
      }
    }
    this.#fetchedAt = startedAt;
  }

  async #readHeads(): Promise<Heads> {
    return parseRefs(await this.#git.run(["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads"]), " ");
  }

  /** Fetches a commit, which GitHub keeps if it is in a pull request whose branch is deleted. Does nothing if it cannot. */
  async fetchCommit(commit: string): Promise<void> {
    try {
      await this.#git.run(["fetch", ...fetchOptions, ...this.#localEnd("upload-pack"), "--", this.url, commit]);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
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
    await this.#git.run(["push", "--quiet", ...lease, ...this.#localEnd("receive-pack"), "--", this.url, refs]);
    // Until the next fetch, the branch would be missing from the clone, and its pull request would look closed.
    await this.updateRefs(async () => {
      await this.#git.run(["update-ref", ...(commit === undefined ? ["-d", ref] : [ref, commit])]);
      const others = [...this.heads].filter(([name]) => name !== branch);
      this.#heads = new Map(commit === undefined ? others : [...others, [branch, commit]]);
    });
  }

  /** Changes refs of the clone, one command at a time, because two would contend for their locks. */
  updateRefs<T>(update: () => Promise<T>): Promise<T> {
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
    if (!/^(\/|file:)/.test(this.url)) return [];
    const settings = this.#safeDirectories.map((path) => `-c 'safe.directory=${path.replaceAll("'", "'\\''")}'`);
    return [`--${program}=umask ${umask.toString(8)} && exec git ${settings.join(" ")} ${program}`];
  }
}
