import type { CheckResult } from "../model.ts";
import { dayMs } from "../time.ts";
import type { CommitNotes } from "./commit-message.ts";
import type { GitHubRepository } from "./github/github-repository.ts";

/** A pushed branch to open a pull request for. */
export interface Change extends CommitNotes {
  jobId: string;
  title: string;
  prompt: string;
  /** What the agent said last in that turn; `null` if that is unknown. */
  answer: string | null;
  /** Who asked for it, as stored: an `Asked` as JSON, untrusted. Default: unknown. */
  asked?: string | null;
  /** What the turn cost, as stored; see `cost.ts`. Default: unknown. */
  costUsd?: number | null;
  branch: string;
  targetBranch: string;
  /** The merge base with the target branch. */
  base: string;
  head: string;
  /** The link to the pull request opened for this branch before; `null` if there is none. */
  existing: string | null;
  /** The files of the branch that run code or instruct agents, which people should see first. Default: none. */
  protectedFiles?: readonly string[];
  /** What the check of that turn's commit showed. Default: it was not checked. */
  check?: ShownCheck | undefined;
  /** Whether another machine has pushed to the branch while the turn ran, so that both may write the body. Default: no. */
  isShared?: boolean | undefined;
  /** Whether it is opened as a draft, whatever the check showed. Default: no. */
  isDraft?: boolean | undefined;
  /** Called before each write. Throws if another worker has taken the turn over. Default: nobody can. */
  confirmOwner?: (() => Promise<void>) | undefined;
  /** Called before another one than `existing` is opened. Throws if nobody may want that. Default: everybody does. */
  confirmNew?: (() => Promise<void>) | undefined;
}

export interface ShownCheck {
  /** `not-run`: it could not run. */
  result: CheckResult | "not-run";
  /** Empty if it is not known any longer. */
  command: string;
  /** The end of its output, or why it did not run; empty if it passed. */
  output: string;
}

export interface PullRequestRef {
  link: string;
  branch: string;
  /** The last commit that the service pushed to the branch. */
  head: string;
}

export type PullRequestState = "open" | "closed" | "merged";

/** A pull request as it is now. */
export interface ReadPullRequest {
  state: PullRequestState;
  /** The branch that it targets, which people can change; `undefined` if that is unknown. */
  target: string | undefined;
  /** The last commit that it was merged with. Default: it was not, or that is unknown. */
  mergedHead?: string | undefined;
  /** When it was closed without a merge, in milliseconds since 1970. Default: it was not, or that is unknown. */
  closedAt?: number | undefined;
}

/** Pull requests as turns and archiving use them. */
export interface PullRequests {
  /** Whether they are pages of the service, which its store has. Default: no. */
  readonly arePages?: boolean;
  /** The repository on GitHub that they are in. Default: none. */
  readonly repository?: Pick<GitHubRepository, "apiUrl" | "owner" | "name">;
  /** Opens a pull request, or finds the open one of the branch, and returns its link. */
  open(change: Change): Promise<string>;
  /** @throws if it cannot be read */
  read(pullRequest: PullRequestRef): Promise<ReadPullRequest>;
  /**
   * Returns the links of those that are closed or merged. One whose state cannot be read counts as open.
   *
   * @param round - the same object in calls that follow each other and ask for parts of many: what all of them need, such as a fetch, is
   *   then done once. Default: a round of its own
   * @throws if no state can be read
   */
  findClosed(pullRequests: readonly PullRequestRef[], round?: object): Promise<ReadonlySet<string>>;
}

/** The platform that pull requests are opened on. */
export interface PullRequestPlatform extends PullRequests {
  /**
   * Returns from when on the branch of a pull request is obsolete, in milliseconds since 1970: when it was merged, or 30 days after it
   * was closed. `undefined` while it is open, has another last commit, or another open one has the branch, also as its target.
   *
   * @throws if that cannot be read
   */
  obsoleteFrom(pullRequest: PullRequestRef): Promise<number | undefined>;
}

/** For how long the branch of a pull request is kept that was closed without a merge: somebody may open it again. */
export const closedBranchMs = 30 * dayMs;
