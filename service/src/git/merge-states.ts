import { LRUCache } from "lru-cache";
import { type Git, GitError } from "./git.ts";

/** How many answers are remembered, which takes about 25 MB. Others are computed again. */
const maxKnown = 100_000;

/**
 * Finds out which commits a branch contains: by merge, fast-forward, rebase or squash. It needs the same few Git processes for
 * any number of commits, plus one for each commit that has just been merged, and none while neither side has moved.
 */
export class MergeStates {
  readonly #git: Git;
  /** The answers by the head of the branch and the commit. With `max`, 3 MB would be allocated at once, for each repository. */
  readonly #known = new LRUCache<string, boolean>({ maxSize: maxKnown, sizeCalculation: () => 1 });

  constructor(git: Git) {
    this.#git = git;
  }

  /**
   * Returns for each commit whether `target` contains all its changes, or why that cannot be read.
   *
   * @param target - a commit, the head of the branch
   */
  async of(commits: readonly string[], target: string): Promise<ReadonlyMap<string, boolean | Error>> {
    const found = new Map<string, boolean | Error>();
    const unknown: string[] = [];
    for (const commit of new Set(commits)) {
      const isMerged = this.#known.get(`${target} ${commit}`);
      if (isMerged === undefined) unknown.push(commit);
      else found.set(commit, isMerged);
    }
    if (unknown.length > 0) {
      const trees = await this.#treesOf([target, ...unknown]);
      const targetTree = trees.get(target);
      if (targetTree === undefined) throw new Error(`the commit ${target} is missing in the clone`);
      const present = unknown.filter((commit) => trees.has(commit));
      for (const commit of unknown)
        if (!trees.has(commit)) found.set(commit, new Error(`the commit ${commit} is missing in the clone`));
      for (const [commit, isMerged] of await this.#compare(present, { target, targetTree, trees }))
        found.set(commit, isMerged);
    }
    for (const [commit, isMerged] of found)
      if (typeof isMerged === "boolean") this.#known.set(`${target} ${commit}`, isMerged);
    return found;
  }

  /** Compares commits all at once. If Git fails, each half on its own, so that a broken commit does not hide the others. */
  async #compare(commits: readonly string[], context: Context): Promise<Map<string, boolean | Error>> {
    try {
      return await this.#compareAtOnce(commits, context);
    } catch (error) {
      // If Git did not run to its end, the reason is not a commit.
      if (!(error instanceof GitError) || error.exitCode === null) throw error;
      const [only] = commits;
      if (only !== undefined && commits.length === 1) return new Map([[only, error]]);
      const middle = commits.length >> 1;
      const first = await this.#compare(commits.slice(0, middle), context);
      return new Map([...first, ...(await this.#compare(commits.slice(middle), context))]);
    }
  }

  async #compareAtOnce(commits: readonly string[], { target, targetTree, trees }: Context) {
    const found = new Map<string, boolean>(commits.map((commit) => [commit, false]));
    if (commits.length === 0) return found;
    const missing = await this.#commitsMissingIn(target, commits);
    const others = commits.filter((commit) => missing.has(commit));
    for (const commit of commits) if (!missing.has(commit)) found.set(commit, true);
    const merged = await this.#merge(target, others);
    const bases = new Map<string, string>();
    for (const [index, commit] of others.entries()) {
      if (merged[index] !== targetTree) continue;
      const base = await this.#git.query(["merge-base", commit, target]);
      if (base !== undefined) bases.set(commit, base);
    }
    if (bases.size === 0) return found;
    const baseTrees = await this.#treesOf([...new Set(bases.values())]);
    // A commit without a net change would count as merged into every branch.
    for (const [commit, base] of bases) found.set(commit, baseTrees.get(base) !== trees.get(commit));
    return found;
  }

  /** Returns the trees of the commits that the clone has. */
  async #treesOf(commits: readonly string[]): Promise<Map<string, string>> {
    const ids = commits.filter((commit) => /^[0-9a-f]{40,64}$/.test(commit));
    const input = ids.map((id) => `${id}^{tree}\n`).join("");
    const lines = (await this.#git.run(["cat-file", "--batch-check=%(objectname) %(objecttype)"], { input })).split(
      "\n",
    );
    const trees = ids.map((id, index) => [id, /^(\S+) tree$/.exec(lines[index] ?? "")?.[1]] as const);
    return new Map(trees.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  /** Returns the commits that are reachable from `commits` and not from `target`. */
  async #commitsMissingIn(target: string, commits: readonly string[]): Promise<Set<string>> {
    const input = [...commits, `^${target}`].map((line) => `${line}\n`).join("");
    return new Set((await this.#git.run(["rev-list", "--stdin"], { input })).split("\n"));
  }

  /** Merges each commit into `target`, without a branch. Returns the resulting trees, `undefined` for a conflict. */
  async #merge(target: string, commits: readonly string[]): Promise<(string | undefined)[]> {
    if (commits.length === 0) return [];
    // Without this option, Git stops at the first commit with another root. Such a commit has no merge base.
    const options = ["--allow-unrelated-histories", "--name-only", "--no-messages"];
    const input = commits.map((commit) => `${target} ${commit}\n`).join("");
    const output = await this.#git.run(["merge-tree", "--write-tree", "--stdin", ...options], { input });
    // A record is "<1 if clean>", "<tree>", the paths in conflict and "", each with a NUL at its end.
    const records = [...output.matchAll(/(-?\d+)\0([0-9a-f]+)\0(?:[^\0]+\0)*\0/g)];
    if (records.length !== commits.length) throw new Error("git merge-tree printed something unexpected");
    return records.map(([, status, tree]) => (status === "1" ? tree : undefined));
  }
}

interface Context {
  target: string;
  targetTree: string;
  trees: ReadonlyMap<string, string>;
}
