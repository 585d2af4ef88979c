import { GitError } from "../../src/git/git.ts";
import { type Edits, MemoryObjects } from "./memory-objects.ts";

/** A person who can push. */
export const someone = { name: "Someone", email: "someone@example.com" };

/** What a clone asks its remote. */
export interface RemoteRequest {
  what: "list" | "fetch" | "push";
  /** Those that are fetched or pushed. */
  branches: readonly string[];
  /** The commit that is pushed; `undefined` if branches are deleted, or nothing is pushed. */
  commit?: string | undefined;
}

/** A move of a branch that is asked for, or that was made. */
export interface BranchMove {
  branch: string;
  /** `undefined`: the branch is deleted. */
  commit: string | undefined;
  /** The head before; `undefined` if there was no such branch. */
  before: string | undefined;
}

const pages = {
  "README.md": "# Docs\n\nSee the [guide](docs/guide.md).\n",
  "docs/guide.md": "# Guide\n\nBegin with the [quickstart](quick-start.md).\n",
};

/**
 * A repository on its host, in memory, with Git's rules for pushes. What people do to it is named as in `DocsRepository`. It keeps commits
 * that no branch has any more, as GitHub does for pull requests, until `forgetUnreachable`.
 */
export class MemoryRemote {
  readonly objects = new MemoryObjects();
  readonly heads = new Map<string, string>();
  defaultBranch = "main";
  /** Accepted pushes of clones, oldest first. */
  readonly pushes: BranchMove[] = [];
  /** Returns what the host says if a rule refuses a push. Default: nothing is refused. */
  refuses: (move: BranchMove) => string | undefined = () => undefined;
  /** Does what a clone asks. A test can throw before or after that, as in an outage or if the answer is lost, or wait. */
  carry: (request: RemoteRequest, apply: () => void) => Promise<void> = async (_request, apply) => apply();
  readonly #commits = new Set<string>();
  #seconds = Date.UTC(2026, 0, 1) / 1000;

  constructor(files: Readonly<Record<string, string>> = pages) {
    this.addRoot("main", files, "Begin\n");
  }

  /** Begins a history on a branch. Returns its commit. */
  addRoot(branch: string, files: Readonly<Record<string, string>>, message = "By hand\n"): string {
    const commit = this.#write(this.objects.writeTree(this.objects.edit(new Map(), files)), [], message);
    this.setHead(branch, commit);
    return commit;
  }

  /** Returns what brings it back to how it is now. Time goes on. */
  snapshot(): () => void {
    const [heads, commits, pushes] = [[...this.heads], [...this.#commits], [...this.pushes]];
    return () => {
      refill(this.heads, heads);
      this.#commits.clear();
      for (const commit of commits) this.#commits.add(commit);
      this.pushes.splice(0, this.pushes.length, ...pushes);
    };
  }

  /** Returns the time, in seconds since 1970, which passes from one commit to the next. */
  now(): number {
    return this.#seconds++;
  }

  #write(tree: string, parents: readonly string[], message: string): string {
    return this.objects.writeCommit({ tree, parents, message, by: someone, at: this.now() });
  }

  has(commit: string): boolean {
    return this.#commits.has(commit);
  }

  /** Returns all branches except the default branch. */
  branches(): string[] {
    return [...this.heads.keys()].filter((branch) => branch !== this.defaultBranch).sort();
  }

  /** Returns the commit of a branch. */
  head(branch: string): string {
    const head = this.heads.get(branch);
    if (head === undefined) throw new Error(`the repository has no branch ${branch}`);
    return head;
  }

  /** Creates a branch, or moves it. */
  setHead(branch: string, commit: string): void {
    for (const one of this.objects.history(commit)) this.#commits.add(one);
    this.heads.set(branch, commit);
  }

  deleteBranch(branch: string): void {
    this.heads.delete(branch);
  }

  /** Returns the content of a file on a branch; `undefined` if there is no such file. */
  read(branch: string, file: string): string | undefined {
    const id = this.objects.files(this.head(branch)).get(file);
    return id === undefined ? undefined : Buffer.from(this.objects.content(id), "latin1").toString();
  }

  /** Adds a commit to a branch. Returns it. */
  commitTo(branch: string, edits: Edits, message = "By hand\n"): string {
    return this.#commitOn(branch, [this.head(branch)], edits, message);
  }

  /** Replaces the last commit of a branch by one with more edits. Returns it. */
  amend(branch: string, edits: Edits, message?: string): string {
    const { parents, message: before } = this.objects.commit(this.head(branch));
    return this.#commitOn(branch, parents, edits, message ?? before);
  }

  #commitOn(branch: string, parents: readonly string[], edits: Edits, message: string): string {
    const files = this.objects.edit(this.objects.files(this.head(branch)), edits);
    const commit = this.#write(this.objects.writeTree(files), parents, message);
    this.setHead(branch, commit);
    return commit;
  }

  /** Merges a branch into the default branch with a merge commit. */
  merge(branch: string, message?: string): void {
    this.#mergeInto(branch, [this.head(this.defaultBranch), this.head(branch)], message);
  }

  /** Merges a branch into the default branch as one commit, without the branch as a parent. */
  squash(branch: string, message?: string): void {
    this.#mergeInto(branch, [this.head(this.defaultBranch)], message);
  }

  #mergeInto(branch: string, parents: readonly string[], message = "Merge\n"): void {
    const tree = this.objects.merge(this.head(this.defaultBranch), this.head(branch));
    if (tree === undefined) throw new Error(`${branch} has conflicts with ${this.defaultBranch}`);
    this.setHead(this.defaultBranch, this.#write(tree, parents, message));
  }

  /** Forgets the commits that no branch has. */
  forgetUnreachable(): void {
    const reachable = new Set([...this.heads.values()].flatMap((head) => [...this.objects.history(head)]));
    for (const commit of this.#commits) if (!reachable.has(commit)) this.#commits.delete(commit);
  }

  /**
   * Moves a branch for a clone.
   *
   * @param expected - as with `--force-with-lease`; `undefined` allows only a new branch or a fast-forward
   * @throws GitError if that is rejected
   */
  move(branch: string, commit: string | undefined, expected: string | undefined): void {
    const before = this.heads.get(branch);
    const reject = (status: string, said = ""): never => {
      const lines = `${said}\nTo memory\n ! ${status}\nerror: failed to push some refs to 'memory'`;
      throw new GitError(["push"], "exited with 1", lines.trim(), 1);
    };
    const names = `${commit?.slice(0, 7) ?? "(delete)"} -> ${branch}`;
    if (before === commit && (commit !== undefined || expected === undefined)) return;
    if (expected !== undefined && before !== expected) reject(`[rejected] ${names} (stale info)`);
    const isForced = expected !== undefined || commit === undefined || before === undefined;
    if (!isForced && !this.objects.isAncestor(before, commit)) reject(`[rejected] ${names} (non-fast-forward)`);
    const said = this.refuses({ branch, commit, before });
    if (said !== undefined) reject(`[remote rejected] ${names} (pre-receive hook declined)`, said);
    if (commit === undefined) this.deleteBranch(branch);
    else this.setHead(branch, commit);
    this.pushes.push({ branch, commit, before });
  }
}

/** Gives a map other entries. */
export function refill<Key, Value>(map: Map<Key, Value>, entries: Iterable<readonly [Key, Value]>): void {
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
}

/** Returns the error of a command of Git whose host cannot be reached. */
export const outage = (command: "fetch" | "push" | "ls-remote" = "fetch"): GitError =>
  new GitError([command], "exited with 128", "fatal: unable to access 'memory': Could not resolve host: memory", 128);
