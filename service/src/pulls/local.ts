import type { Repository } from "../git/repository.ts";
import type { LocalPullRequest } from "../model.ts";
import type {
  Change,
  PullRequestPlatform,
  PullRequestRef,
  PullRequestState,
  ReadPullRequest,
} from "./pull-requests.ts";
import { StateErrorLog } from "./state-error-log.ts";

/** Where pull requests are stored. */
export interface LocalPullRequestStore {
  /** Returns the number of the new pull request, or of the one that the job has of this head already. */
  add(pullRequest: LocalPullRequest): Promise<number>;
  /** Returns `false` if the job has no pull request of that number. */
  update(number: number, job: string, base: string, head: string): Promise<boolean>;
  find(number: number): Promise<Pick<LocalPullRequest, "branch" | "target"> | undefined>;
  /** Returns the branches whose pull requests target a branch. */
  branchesInto(target: string): Promise<string[]>;
}

export interface LocalPullRequestsOptions {
  store: LocalPullRequestStore;
  repository: Pick<
    Repository,
    "list" | "fetch" | "fetchIfBehind" | "targetBranch" | "branchHead" | "branchHeads" | "findMerged" | "isMerged"
  >;
  /** The branch that pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** Returns the service's base URL. Called when a link is made, because the port is unknown before the service listens. */
  baseUrl: () => string;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Pull requests that are pages of the service, for repositories that are not on GitHub. */
export class LocalPullRequests implements PullRequestPlatform {
  readonly arePages = true;
  readonly #options: LocalPullRequestsOptions;
  readonly #errors: StateErrorLog;
  /** The rounds for which the branches were listed. */
  readonly #rounds = new WeakSet();

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
    const target = await this.#targetOf(pullRequest);
    await repository.fetch([target, pullRequest.branch]);
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
    if (!this.#rounds.has(round)) await this.#startRound(round);
    const targets = new Map<string, PullRequestRef[]>();
    for (const pullRequest of pullRequests) {
      const target = await this.#targetOf(pullRequest);
      targets.set(target, [...(targets.get(target) ?? []), pullRequest]);
    }
    const listed = await repository.branchHeads();
    // A branch that is missing may have been pushed since the round began, by this process or another one.
    const missing = pullRequests.map(({ branch }) => branch).filter((branch) => !listed.has(branch));
    const needed = [...targets.keys()];
    if (missing.length > 0) await repository.fetch([...needed, ...missing]);
    else await repository.fetchIfBehind(needed, Number.POSITIVE_INFINITY);
    for (const [targetBranch, some] of targets) {
      const merged = await this.#findMerged(some, targetBranch);
      if (signal.aborted) throw signal.reason;
      const heads = await repository.branchHeads();
      for (const { link, branch, head } of some) {
        const isMerged = merged === undefined ? new Error(`the branch ${targetBranch} is missing`) : merged.get(head);
        // The clone of this process may never have had the commits of a branch that is gone.
        if (isMerged === true || !heads.has(branch)) closed.add(link);
        else if (isMerged instanceof Error) this.#errors.report(link, isMerged);
      }
    }
    return closed;
  }

  async #startRound(round: object): Promise<void> {
    const { repository, targetBranch } = this.#options;
    this.#errors.startRound();
    await repository.list();
    const own = await repository.targetBranch(targetBranch);
    if ((await repository.branchHead(own)) === undefined) throw new Error(`the branch ${own} is missing`);
    this.#rounds.add(round);
  }

  /** Returns which heads are merged into a branch, after fetching those that others have pushed; `undefined` if it is missing. */
  async #findMerged(
    pullRequests: readonly PullRequestRef[],
    targetBranch: string,
  ): Promise<ReadonlyMap<string, boolean | Error> | undefined> {
    const { repository } = this.#options;
    const find = async (heads: readonly string[]) => {
      const target = await repository.branchHead(targetBranch);
      return target === undefined ? undefined : repository.findMerged(heads, target);
    };
    const found = await find(pullRequests.map(({ head }) => head));
    const listed = await repository.branchHeads();
    const unknown = pullRequests.filter(({ branch, head }) => found?.get(head) instanceof Error && listed.has(branch));
    if (found === undefined || unknown.length === 0) return found;
    await repository.fetch(unknown.map(({ branch }) => branch));
    return new Map([...found, ...((await find(unknown.map(({ head }) => head))) ?? [])]);
  }

  /** One that is closed has no branch. */
  async obsoleteFrom(pullRequest: PullRequestRef): Promise<number | undefined> {
    const { store, repository } = this.#options;
    if ((await this.read(pullRequest)).state !== "merged") return undefined;
    const into = await store.branchesInto(pullRequest.branch);
    await repository.fetch(into);
    // Merged ones lose their branches, too.
    const heads = await repository.branchHeads();
    return into.some((branch) => heads.has(branch)) ? undefined : 0;
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
