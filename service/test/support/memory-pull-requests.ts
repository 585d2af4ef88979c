import { GitHubError } from "../../src/pulls/github/github-error.ts";
import type {
  Change,
  PullRequestRef,
  PullRequestState,
  PullRequests,
  ReadPullRequest,
} from "../../src/pulls/pull-requests.ts";
import type { MemoryRemote } from "./memory-remote.ts";

/** A pull request as its platform has it. */
export interface MemoryPullRequest extends ReadPullRequest {
  link: string;
  branch: string;
  target: string;
  /** What the service asked for, oldest first. */
  changes: Change[];
}

/** Pull requests in memory, as GitHub has them: at most one open one for a branch and its target, and none without commits. */
export class MemoryPullRequests implements PullRequests {
  readonly all: MemoryPullRequest[] = [];
  /** Thrown if one is to be opened. Default: nothing is refused. */
  refusal: Error | undefined;
  readonly #remote: MemoryRemote;
  readonly #wallTime: () => number;

  /** @param wallTime - in milliseconds since 1970 */
  constructor(remote: MemoryRemote, wallTime: () => number) {
    this.#remote = remote;
    this.#wallTime = wallTime;
  }

  /** Returns what brings them back to how they are now. */
  snapshot(): () => void {
    const copy = (all: readonly MemoryPullRequest[]) => all.map((one) => ({ ...one, changes: [...one.changes] }));
    const saved = copy(this.all);
    return () => void this.all.splice(0, this.all.length, ...copy(saved));
  }

  /** The open one of a branch. */
  openOf(branch: string): MemoryPullRequest | undefined {
    return this.all.find((one) => one.branch === branch && one.state === "open");
  }

  async open(change: Change): Promise<string> {
    const { branch, targetBranch, confirmOwner } = change;
    await confirmOwner?.();
    if (this.refusal !== undefined) throw this.refusal;
    const found = this.openOf(branch);
    if (found !== undefined) {
      found.changes.push(change);
      return found.link;
    }
    await change.confirmNew?.();
    const { heads, objects } = this.#remote;
    const [head, target] = [heads.get(branch), heads.get(targetBranch)];
    if (head === undefined || target === undefined) throw new GitHubError("Validation Failed: invalid head", 422);
    if (objects.isAncestor(head, target))
      throw new GitHubError(`No commits between ${targetBranch} and ${branch}`, 422);
    const link = `https://example.com/pull/${this.all.length + 1}`;
    this.all.push({ link, branch, target: targetBranch, state: "open", changes: [change] });
    return link;
  }

  async read({ link }: PullRequestRef): Promise<ReadPullRequest> {
    const found = this.all.find((one) => one.link === link);
    if (found === undefined) throw new GitHubError("Not Found", 404);
    return { ...found };
  }

  async findClosed(pullRequests: readonly PullRequestRef[]): Promise<ReadonlySet<string>> {
    const open = new Set(this.all.filter(({ state }) => state === "open").map(({ link }) => link));
    return new Set(pullRequests.map(({ link }) => link).filter((link) => !open.has(link)));
  }

  /** Lets a person end the open one of a branch. A merge is a squash. */
  end(branch: string, state: Exclude<PullRequestState, "open">): void {
    const found = this.openOf(branch);
    if (found === undefined) throw new Error(`${branch} has no open pull request`);
    found.state = state;
    if (state === "closed") found.closedAt = this.#wallTime();
    else {
      found.mergedHead = this.#remote.head(branch);
      this.#remote.squash(branch);
    }
  }

  /** Lets a person delete a branch, which closes its pull request. */
  deleteBranch(branch: string): void {
    this.#remote.deleteBranch(branch);
    if (this.openOf(branch) !== undefined) this.end(branch, "closed");
  }
}
