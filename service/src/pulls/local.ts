import type { Repository } from "../git/repository.ts";
import type { LocalPullRequest } from "../model.ts";
import type { Change, PullRequestRef, PullRequestState, PullRequests, ReadPullRequest } from "./pull-requests.ts";
import { StateErrorLog } from "./state-error-log.ts";

/** Where pull requests are stored. */
export interface LocalPullRequestStore {
  /** Returns the number of the new pull request, or of the one that the job has of this head already. */
  add(pullRequest: LocalPullRequest): Promise<number>;
  /** Returns `false` if the job has no pull request of that number. */
  update(number: number, job: string, base: string, head: string): Promise<boolean>;
  find(number: number): Promise<Pick<LocalPullRequest, "branch" | "target"> | undefined>;
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
  readonly arePages = true;
  readonly #options: LocalPullRequestsOptions;
  readonly #errors: StateErrorLog;
  /** The heads of all branches as of the last fetch of a round. */
  readonly #heads = new WeakMap<object, ReadonlyMap<string, string>>();

  constructor(options: LocalPullRequestsOptions) {
    this.#options = options;
    this.#errors = new StateErrorLog(options.log);
  }

  async open({ jobId, title, branch, targetBranch, base, head, existing }: Change): Promise<string> {
    const { store, baseUrl } = this.#options;
    // A link to another platform matches no pull request of this job.
    if (existing !== null && (await store.update(numberIn(existing), jobId, base, head))) return existing;
    const added = await store.add({ job: jobId, title, branch, target: targetBranch, base, head });
    return `${baseUrl()}/pull/${added}`;
  }

  async read(pullRequest: PullRequestRef): Promise<ReadPullRequest> {
    const { repository } = this.#options;
    await repository.fetch();
    const target = await this.#targetOf(pullRequest);
    // Without its target, it can no longer be merged.
    const isOver = (await repository.branchHead(target)) === undefined;
    return { state: isOver ? "open" : await this.stateAtLastFetch(pullRequest, target), target };
  }

  /** Returns the branch that a pull request targets: the project's own, unless its page names another one. */
  async #targetOf({ link, branch }: PullRequestRef): Promise<string> {
    const { store, repository, targetBranch } = this.#options;
    const stored = await store.find(numberIn(link));
    return stored?.branch === branch ? stored.target : repository.targetBranch(targetBranch);
  }

  async findClosed(pullRequests: readonly PullRequestRef[], round: object = {}): Promise<ReadonlySet<string>> {
    const { repository, signal } = this.#options;
    const closed = new Set<string>();
    if (pullRequests.length === 0) return closed;
    const known = this.#heads.get(round);
    if (known === undefined) this.#errors.startRound();
    // A branch that is missing may have been pushed since the round began, by this process or another one.
    const heads =
      known !== undefined && pullRequests.every(({ branch }) => known.has(branch))
        ? known
        : await this.#fetchHeads(round);
    const targets = new Map<string, PullRequestRef[]>();
    for (const pullRequest of pullRequests) {
      const target = await this.#targetOf(pullRequest);
      targets.set(target, [...(targets.get(target) ?? []), pullRequest]);
    }
    for (const [targetBranch, some] of targets) {
      const target = heads.get(targetBranch);
      const commits = some.map(({ head }) => head);
      const merged = target === undefined ? undefined : await repository.findMerged(commits, target);
      if (signal.aborted) throw signal.reason;
      for (const { link, branch, head } of some) {
        const isMerged = merged === undefined ? new Error(`the branch ${targetBranch} is missing`) : merged.get(head);
        // The clone of this process may never have had the commits of a branch that is gone.
        if (isMerged === true || !heads.has(branch)) closed.add(link);
        else if (isMerged instanceof Error) this.#errors.report(link, isMerged);
      }
    }
    return closed;
  }

  async #fetchHeads(round: object): Promise<ReadonlyMap<string, string>> {
    const { repository, targetBranch } = this.#options;
    await repository.fetch();
    const own = await repository.targetBranch(targetBranch);
    const heads = await repository.branchHeads();
    if (!heads.has(own)) throw new Error(`the branch ${own} is missing`);
    this.#heads.set(round, heads);
    return heads;
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

/** Returns the number in the link to a page; 0, which none has, if it leads elsewhere. */
const numberIn = (link: string): number => Number(/\/pull\/(\d+)$/.exec(link)?.[1] ?? 0);
