import { GitError } from "../../src/git/git.ts";
import type { MachineProcess } from "./machine-process.ts";

/** A commit of the simulated remote: its tree is what `changes` names. */
export interface Commit {
  id: string;
  parent: Commit | undefined;
  message: string;
  changes: ReadonlySet<string>;
}

/** A push that the remote has accepted. */
export interface AcceptedPush {
  branch: string;
  /** `undefined` if the branch was deleted. */
  commit: Commit | undefined;
  /** The head before; `undefined` if the branch was created. */
  before: Commit | undefined;
  at: number;
  /** `undefined` if it was someone else. */
  by: MachineProcess | undefined;
}

const foreignMessage = "Of someone else";

/** The branch that pull requests are opened against. */
export const targetBranch = "main";

/** The repository on its server: branches, with Git's rules for pushes. */
export class Remote {
  readonly branches = new Map<string, Commit>();
  /** All that were made, on any machine. */
  readonly commits = new Map<string, Commit>();
  /** Accepted ones, oldest first. */
  readonly pushes: AcceptedPush[] = [];
  /** Returns whether a rule refuses what someone who is bound by it does. Default: nothing is refused. */
  refuses: (what: "refuse-branch" | "refuse-push") => boolean = () => false;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.branches.set(targetBranch, this.createCommit(undefined, "Start", []));
  }

  createCommit(parent: Commit | undefined, message: string, changes: Iterable<string>): Commit {
    const id = `c${this.commits.size}`;
    const commit = { id, parent, message, changes: new Set([...(parent?.changes ?? []), ...changes]) };
    this.commits.set(id, commit);
    return commit;
  }

  /**
   * @param commit - `undefined` deletes the branch
   * @param expectedHead - as with `--force-with-lease`; `undefined` allows only a new branch or a fast-forward
   * @throws if the push is rejected
   */
  push(branch: string, commit: Commit | undefined, expectedHead: string | undefined, by?: MachineProcess): void {
    const before = this.branches.get(branch);
    const isAllowed =
      expectedHead === undefined
        ? before === undefined || (commit !== undefined && contains(commit, before.id))
        : before !== undefined && before.id === expectedHead;
    if (!isAllowed) throw new GitError(["push"], "failed", `! [rejected] ${branch} (stale info)`, 1);
    if (before === commit) return;
    if (commit !== undefined && this.#isRefused(commit, before))
      throw new GitError(["push"], "failed", `remote: error: GH013: Repository rule violations found for ${branch}`, 1);
    if (commit === undefined) this.branches.delete(branch);
    else this.branches.set(branch, commit);
    this.pushes.push({ branch, commit, before, at: this.#now(), by });
  }

  /** Someone else is not bound by the rules. */
  #isRefused(commit: Commit, before: Commit | undefined): boolean {
    if (isForeign(commit)) return false;
    if (before === undefined && this.refuses("refuse-branch")) return true;
    const known = [before, this.branches.get(targetBranch)];
    return !known.some((head) => head && contains(head, commit.id)) && this.refuses("refuse-push");
  }

  /** Someone who is not the service adds a commit. */
  pushForeignCommit(branch: string): void {
    const before = this.branches.get(branch);
    if (before === undefined) return;
    this.push(branch, this.createCommit(before, foreignMessage, [`foreign ${this.commits.size}`]), before.id);
  }
}

/** Returns whether a commit is of someone who is not the service. */
export const isForeign = ({ message }: Commit): boolean => message === foreignMessage;

/** Returns the commits from `head` back to the first one. */
export function* historyOf(head: Commit | undefined): Generator<Commit> {
  for (let commit = head; commit !== undefined; commit = commit.parent) yield commit;
}

/** Returns whether the history of `head` has a commit. */
export function contains(head: Commit, id: string): boolean {
  for (const commit of historyOf(head)) if (commit.id === id) return true;
  return false;
}
