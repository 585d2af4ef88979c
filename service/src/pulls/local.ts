import type { Repository } from "../git/repository.ts";
import type { LocalPullRequest } from "../model.ts";
import type { Change, PullRequestRef, PullRequestState, PullRequests } from "./pull-requests.ts";
import { StateErrorLog } from "./state-error-log.ts";

/** Where pull requests are stored. */
export interface LocalPullRequestStore {
  /** Returns the number of the new pull request, or of the one that the job has of this head already. */
  add(pullRequest: LocalPullRequest): Promise<number>;
  /** Returns `false` if the job has no pull request of that number. */
  update(number: number, job: string, base: string, head: string): Promise<boolean>;
}

export interface LocalPullRequestsOptions {
  store: LocalPullRequestStore;
  repository: Pick<Repository, "fetch" | "targetBranch" | "branchHead" | "branchHeads" | "findMerged" | "isMerged">;
  /** The branch that pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** Returns the service's base URL. Called when a link is made, because the port is unknown before the service listens. */
  baseUrl: () => string;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Pull requests that are pages of the service, for repositories that are not on GitHub. */
export class LocalPullRequests implements PullRequests {
  readonly #options: LocalPullRequestsOptions;
  readonly #errors: StateErrorLog;

  constructor(options: LocalPullRequestsOptions) {
    this.#options = options;
    this.#errors = new StateErrorLog(options.log);
  }

  async open({ jobId, title, branch, targetBranch, base, head, existing }: Change): Promise<string> {
    const { store, baseUrl } = this.#options;
    const number = Number(/\/pull\/(\d+)$/.exec(existing ?? "")?.[1] ?? 0);
    // A link to another platform matches no pull request of this job.
    if (existing !== null && (await store.update(number, jobId, base, head))) return existing;
    const added = await store.add({ job: jobId, title, branch, target: targetBranch, base, head });
    return `${baseUrl()}/pull/${added}`;
  }

  async stateOf(pullRequest: PullRequestRef): Promise<PullRequestState> {
    const { repository, targetBranch } = this.#options;
    await repository.fetch();
    return this.stateAtLastFetch(pullRequest, await repository.targetBranch(targetBranch));
  }

  async findClosed(pullRequests: readonly PullRequestRef[]): Promise<ReadonlySet<string>> {
    const { repository, signal } = this.#options;
    const closed = new Set<string>();
    if (pullRequests.length === 0) return closed;
    await repository.fetch();
    const targetBranch = await repository.targetBranch(this.#options.targetBranch);
    const heads = await repository.branchHeads();
    const target = heads.get(targetBranch);
    if (target === undefined) throw new Error(`the branch ${targetBranch} is missing`);
    const commits = pullRequests.map(({ head }) => head);
    const merged = await repository.findMerged(commits, target);
    if (signal.aborted) throw signal.reason;
    for (const { link, branch, head } of pullRequests) {
      const isMerged = merged.get(head);
      // The clone of this process may never have had the commits of a branch that is gone.
      if (isMerged === true || !heads.has(branch)) closed.add(link);
      else if (isMerged instanceof Error) this.#errors.report(link, isMerged);
    }
    this.#errors.keep(pullRequests);
    return closed;
  }

  /** Returns the state as of the last fetch, and so at once. */
  async stateAtLastFetch(
    { branch, head }: Pick<PullRequestRef, "branch" | "head">,
    targetBranch: string,
  ): Promise<PullRequestState> {
    const { repository } = this.#options;
    if (await repository.isMerged(head, targetBranch)) return "merged";
    return (await repository.branchHead(branch)) === undefined ? "closed" : "open";
  }
}
