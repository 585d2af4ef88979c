import { errorMessage } from "../error-message.ts";
import { type Machine, thisMachine } from "../machine.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { LeaseLost } from "../store-errors.ts";
import { describeAsked } from "./asked-by.ts";
import { beganEarlierNote, leftWorkNote } from "./commit-message.ts";
import { checkToken } from "./github/check-token.ts";
import { ClosedPullRequests } from "./github/closed-pull-requests.ts";
import { GitHubGates } from "./github/gate.ts";
import { GitHubApi, type RequestOptions } from "./github/github-api.ts";
import { GitHubCommits } from "./github/github-commits.ts";
import { GitHubError, isTooEarly } from "./github/github-error.ts";
import type { GitHubRepository } from "./github/github-repository.ts";
import { type Account, createdOnlyAt, graphqlUrl, hasCreatedBranch, readOwnAccount } from "./github/own-account.ts";
import { type OwnPullRequest, selectOwn } from "./github/own-pull-request.ts";
import {
  hasErrors,
  numberOf,
  type PullRequestData,
  parseEvents,
  parsePullRequest,
  parsePullRequests,
} from "./github/pull-request-data.ts";
import { RepositoryIdentity } from "./github/repository-identity.ts";
import { hasEnded, type RunAttempt } from "./github/workflow-runs.ts";
import { isMarkedAsDraft, pullRequestBody, tellsOfJob, updatedBody, withTurn } from "./pull-request-body.ts";
import {
  type Change,
  closedBranchMs,
  type PullRequestPlatform,
  type PullRequestRef,
  type ReadPullRequest,
} from "./pull-requests.ts";

export interface GitHubPullRequestsOptions {
  repository: GitHubRepository;
  /** Aborts requests, retries and waits for GitHub's rate limit. */
  signal: AbortSignal;
  log: (line: string) => void;
  /** Counts the requests. Default: nothing does. */
  metrics?: Pick<Metrics, "gitHubAnswered"> | undefined;
  /** Default: the one that the process runs on. */
  machine?: Pick<Machine, "now" | "sleep">;
  /** How long a second of waiting takes, in milliseconds. Default: 1000; less in tests. */
  secondMs?: number;
  /** Shared by all that use the same tokens. Default: nobody else does. */
  gates?: GitHubGates | undefined;
  /** Default: GitHub's API over HTTP. */
  api?: GitHubApi | undefined;
}

/** In seconds, before each retry of opening a pull request. */
const retryPauses = [1, 2, 4];
/** In seconds: longer than a run beside this one takes from reading a body until it has written it. */
const sharedPause = 3;

/** Pull requests on GitHub. GitHub's documentation: "REST API endpoints for pull requests". */
export class GitHubPullRequests implements PullRequestPlatform {
  readonly commits: GitHubCommits;
  readonly repository: GitHubRepository;
  readonly #api: GitHubApi;
  readonly #identity: RepositoryIdentity;
  readonly #closed: ClosedPullRequests;
  readonly #log: (line: string) => void;
  readonly #secondMs: number;
  readonly #machine: Pick<Machine, "sleep">;
  /** The account of the token, once it is known. */
  #account: Account | undefined;

  constructor(options: GitHubPullRequestsOptions) {
    const { repository, signal, log, metrics, machine = thisMachine, secondMs = 1000 } = options;
    const { gates = new GitHubGates({ secondMs }) } = options;
    this.repository = repository;
    this.#api = options.api ?? new GitHubApi({ repository, signal, log, metrics, gates });
    this.commits = new GitHubCommits(this.#api, () => this.ownAccount(false));
    this.#identity = new RepositoryIdentity(this.#api, log);
    this.#closed = new ClosedPullRequests({ api: this.#api, identity: this.#identity, log, machine });
    this.#log = log;
    this.#secondMs = secondMs;
    this.#machine = machine;
  }

  /**
   * Checks the token, as far as GitHub can be reached.
   *
   * @throws if the service could not open pull requests with it, with the reason as the message
   */
  checkToken(): Promise<void> {
    return checkToken(this.#api, this.#identity, this.#log);
  }

  /** @throws GitHubError if GitHub cannot be reached or denies the repository */
  async checkRepository(): Promise<void> {
    await this.#identity.read({ isRetried: false });
  }

  /** Retries network errors and HTTP errors from 500 on. Never opens a second pull request for the branch. */
  async open(change: Change): Promise<string> {
    let lastError: unknown;
    let ended: string | undefined;
    for (const pause of [...retryPauses, undefined]) {
      try {
        const open = await this.#findOpen(change, ended);
        if (open !== undefined) {
          const link = await this.#checkedLink(open);
          if (await this.#update(open, change)) return link;
          ended = link;
        }
        await change.confirmNew?.();
        return await this.#create(change);
      } catch (error) {
        if (!(error instanceof GitHubError && (error.isTransient || isTooEarly(error)))) throw error;
        lastError = error;
      }
      if (pause !== undefined) await this.#machine.sleep(pause * this.#secondMs, this.#api.signal);
    }
    // The last try may have opened it, although its response was lost.
    const opened = await this.#findOpen(change, ended).catch(() => undefined);
    if (opened === undefined) throw lastError;
    return this.#checkedLink(opened);
  }

  /**
   * Returns the account that the token acts for; `undefined` if GitHub does not tell. Remembered once it is known.
   *
   * @param isWorkflowToken - whether GitHub made the token for the workflow
   * @throws GitHubError if GitHub cannot be reached, or its rate limit is reached
   */
  async ownAccount(isWorkflowToken: boolean): Promise<Account | undefined> {
    this.#account ??= await readOwnAccount(this.#api, isWorkflowToken);
    return this.#account;
  }

  /** Returns whether an attempt of a workflow run of this repository has ended, if GitHub tells. Never rejects. */
  hasRunEnded(attempt: RunAttempt): Promise<boolean> {
    return hasEnded(attempt, this.#api);
  }

  /**
   * Returns the pull request that an account opened from a branch of this repository: the open one, otherwise that which another account has
   * open from there into a target, otherwise the newest.
   *
   * @throws if GitHub cannot be reached, or its answer is not understood
   */
  async findOwn(branch: string, account: Account, target: string): Promise<OwnPullRequest | undefined> {
    const options = { what: `Reading the pull request of ${branch}`, maxWaitMs: 0 };
    const own = await this.#findOf(branch, { state: "all", per_page: 100 }, options, (data) =>
      selectOwn(data, branch, account, target),
    );
    return own && { ...own, link: await this.#checkedLink({ html_url: own.link }) };
  }

  async read({ link }: PullRequestRef): Promise<ReadPullRequest> {
    const number = await this.#identity.pullRequestNumber(link);
    if (number === undefined) return { state: "open", target: undefined };
    const path = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
    const { data } = await this.#api.request(path, { pull_number: number }, { what: `Reading the state of ${link}` });
    const { state, merged_at: mergedAt, closed_at: closedAt, base, head } = parsePullRequest(data);
    const target = base?.ref;
    if (state !== "closed") return { state: "open", target };
    if (mergedAt !== null) return { state: "merged", target, mergedHead: head?.sha };
    return { state: "closed", target, closedAt: Date.parse(closedAt ?? "") || undefined };
  }

  findClosed(pullRequests: readonly PullRequestRef[], round: object = {}): Promise<ReadonlySet<string>> {
    return this.#closed.find(pullRequests, round);
  }

  async obsoleteFrom({ link, branch, head }: PullRequestRef): Promise<number | undefined> {
    const number = await this.#identity.pullRequestNumber(link);
    if (number === undefined) return undefined;
    const options = { what: `Reading whether ${branch} is still needed`, maxWaitMs: 0 };
    const path = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
    const { data } = await this.#api.request(path, { pull_number: number }, options);
    const { state, merged_at: mergedAt, closed_at: closedAt, head: own } = parsePullRequest(data);
    if (state !== "closed" || own?.ref !== branch || own.sha !== head) return undefined;
    const endedAt = mergedAt === null ? Date.parse(closedAt ?? "") + closedBranchMs : Date.parse(mergedAt);
    if (Number.isNaN(endedAt)) return undefined;
    for (const query of [{ head: `${await this.#identity.owner()}:${branch}` }, { base: branch }]) {
      const { data: open } = await this.#api.request(
        "GET /repos/{owner}/{repo}/pulls",
        { state: "open", ...query },
        options,
      );
      if (parsePullRequests(open).length > 0) return undefined;
    }
    return endedAt;
  }

  /**
   * Returns whether an account is known to have created a branch of this repository.
   *
   * @throws GitHubError if GitHub cannot be reached, or its rate limit is reached
   */
  hasCreated(branch: string, account: Account): Promise<boolean> {
    return hasCreatedBranch(this.#api, branch, account);
  }

  /**
   * Returns when an account created a branch of this repository with a head, in milliseconds since 1970; `undefined` unless that is all that
   * ever happened to the branch, without a pull request of anyone.
   *
   * @throws GitHubError if GitHub cannot be reached, or its rate limit is reached
   */
  async onlyCreatedAt(branch: string, head: string, account: Account): Promise<number | undefined> {
    const createdAt = await createdOnlyAt(this.#api, branch, head, account);
    if (createdAt === undefined) return undefined;
    const options = { what: `Reading the pull requests of ${branch}`, maxWaitMs: 0 };
    const any = await this.#findOf(branch, { state: "all" }, options, (data) => parsePullRequests(data)[0]);
    return any === undefined ? createdAt : undefined;
  }

  /** Returns what `select` finds in the list of a branch's pull requests. */
  async #findOf<T>(
    branch: string,
    { state, ...more }: { state: string; per_page?: number },
    options: RequestOptions,
    select: (data: unknown) => T | undefined,
  ): Promise<T | undefined> {
    const find = async (owner: string) => {
      const query = { state, head: `${owner}:${branch}`, ...more };
      return select((await this.#api.request("GET /repos/{owner}/{repo}/pulls", query, options)).data);
    };
    const owner = await this.#identity.owner();
    const found = await find(owner);
    if (found !== undefined) return found;
    // This request may have been the first one since the repository was transferred.
    const newOwner = await this.#identity.owner();
    return newOwner === owner ? undefined : find(newOwner);
  }

  /**
   * Brings the body of the job's pull request up to date, and looks at it once more if another run may have written it at the same time. The
   * turn does not depend on it.
   *
   * @returns whether the pull request can have the commit: GitHub's list may show one as open that somebody has merged or closed before
   */
  async #update(pull: PullRequestData, change: Change, isSecond = false): Promise<boolean> {
    // What is unknown would be overwritten.
    if (pull.body === undefined) return true;
    // A run beside this one may have opened it. What a person opened has only the person's words.
    const tellsTurn = change.existing === pull.html_url || tellsOfJob(pull.body ?? "", change.jobId);
    const { check, protectedFiles = [] } = change;
    const isOwnDraft = pull.draft === true && isMarkedAsDraft(pull.body ?? "");
    const isReady =
      isOwnDraft && !change.isDraft && check?.result === "passed" && (await this.#makeReady(pull, change));
    const told = { check, isDraft: isOwnDraft && !isReady };
    const turn = tellsTurn ? this.#told(change) : undefined;
    // The other run has pushed on top, so what is said of the head is its own.
    const isBelow = isSecond && pull.head?.sha !== change.head;
    const body =
      isBelow && turn ? withTurn(pull.body ?? "", turn) : updatedBody(pull.body ?? "", protectedFiles, turn, told);
    if (body === undefined || body === pull.body) return true;
    await change.confirmOwner?.();
    const path = "PATCH /repos/{owner}/{repo}/pulls/{pull_number}";
    const options = { what: `Updating the text of ${pull.html_url}`, maxWaitMs: 0, isRetried: false };
    const place = { pull_number: numberOf(pull) };
    let ended: string | undefined;
    try {
      const { data } = await this.#api.request(path, { ...place, body }, options);
      const { state, head } = parsePullRequest(data);
      const isOther = head?.sha !== undefined && head.sha !== change.head;
      if (isOther && state === "closed" && !isSecond) ended = head?.sha;
      if (ended === undefined && !isSecond && (change.isShared || isOther)) {
        await this.#machine.sleep(sharedPause * this.#secondMs, this.#api.signal);
        const again = await this.#api.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", place, options);
        await this.#update(parsePullRequest(again.data), change, true);
      }
    } catch (error) {
      if (this.#api.signal.aborted || error instanceof LeaseLost) throw error;
      // The work is in the pull request, and the job's log names the protected files.
      this.#log(`${pull.html_url} does not tell of the last turn of ${change.jobId}: ${errorMessage(error)}`);
    }
    // Others may have pushed on top of the commit before they merged it.
    return ended === undefined || this.#contains(ended, change.head);
  }

  /** Returns whether a commit is in another one's history. */
  async #contains(head: string, commit: string): Promise<boolean> {
    const path = "GET /repos/{owner}/{repo}/compare/{basehead}";
    const options = { what: `Comparing with ${head}`, maxWaitMs: 0 };
    const { data } = await this.#api.request(path, { basehead: `${commit}...${head}` }, options);
    return typeof data === "object" && data !== null && "status" in data && data.status === "ahead";
  }

  #told(change: Change) {
    return { ...change, askedBy: describeAsked(change.asked, this.repository) };
  }

  /**
   * Makes a draft of the service ready for review, unless a person has changed that before. The turn does not depend on it.
   *
   * @returns whether it is ready
   */
  async #makeReady(pull: PullRequestData, change: Change): Promise<boolean> {
    const { html_url: link, node_id: id } = pull;
    const options = { what: `Making ${link} ready for review`, maxWaitMs: 0, isRetried: false };
    try {
      const path = "GET /repos/{owner}/{repo}/issues/{issue_number}/events";
      const { data } = await this.#api.request(path, { issue_number: numberOf(pull), per_page: 100 }, options);
      // The service does so only once, and it is a draft now.
      const wasChanged = parseEvents(data).some(({ event }) => /^(?:ready_for_review|convert_to_draft)$/.test(event));
      if (wasChanged || id === undefined) return false;
      await change.confirmOwner?.();
      const graphql = `POST ${graphqlUrl(this.#api.repository.apiUrl)}`;
      const answer = await this.#api.request(graphql, { query: makeReady, variables: { id } }, options);
      if (hasErrors(answer.data)) throw new Error(`GitHub answered ${JSON.stringify(answer.data).slice(0, 500)}`);
      return true;
    } catch (error) {
      if (this.#api.signal.aborted || error instanceof LeaseLost) throw error;
      this.#log(`${link} stays a draft, although the check of ${change.jobId} passed: ${errorMessage(error)}`);
      return false;
    }
  }

  /** Returns the open pull request of a branch, which is not one that is known to have ended. */
  #findOpen(change: Change, ended?: string): Promise<PullRequestData | undefined> {
    const options = { what: describe(change), isRetried: false };
    return this.#findOf(change.branch, { state: "open" }, options, (data) => {
      // Something between the service and GitHub may ignore the query.
      const open = parsePullRequests(data).filter(
        ({ html_url: link, head }) => link !== ended && (head === undefined || head.ref === change.branch),
      );
      // Anybody can open another one from the branch, into a branch of their choice. Into the same, GitHub allows one.
      const isOfChange = ({ base }: PullRequestData) => base === undefined || base.ref === change.targetBranch;
      return open.find(({ html_url: link }) => link === change.existing) ?? open.find(isOfChange);
    });
  }

  async #create(change: Change): Promise<string> {
    const { title, branch, targetBranch } = change;
    // A person decides when it is ready.
    const isForPeople =
      change.isDraft ||
      change.notes?.some((note) => note.startsWith(leftWorkNote) || note.startsWith(beganEarlierNote)) === true;
    const create = async (isDraft: boolean) => {
      const body = pullRequestBody(this.#told(change), isDraft && !isForPeople);
      const fields = { title, head: branch, base: targetBranch, body, ...(isDraft && { draft: true }) };
      const options = { what: describe(change), isRetried: false };
      await change.confirmOwner?.();
      return this.#api.request("POST /repos/{owner}/{repo}/pulls", fields, options);
    };
    const { data } =
      /^(?:failed|not-run)$/.test(change.check?.result ?? "") || isForPeople
        ? await create(true).catch((error: unknown) => {
            // Not every plan has drafts. Anything else that GitHub refuses, it refuses again.
            if (!(error instanceof GitHubError && error.status === 422) || isTooEarly(error)) throw error;
            return create(false);
          })
        : await create(false);
    return this.#checkedLink(parsePullRequest(data));
  }

  /**
   * Returns the link of a pull request.
   *
   * @throws if it is known to lead to another repository: the job would be completed with the link of someone else's work
   */
  async #checkedLink({ html_url: link }: Pick<PullRequestData, "html_url">): Promise<string> {
    if (await this.#identity.isForeign(link))
      throw new Error(
        `GitHub's response has the link ${link}, which is not in this repository: is ${this.#api.repository.apiUrl} the URL of its API?`,
      );
    return link;
  }
}

/** Only GitHub's GraphQL API can do this. */
const makeReady =
  "mutation($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { clientMutationId } }";

const describe = ({ branch }: Change): string => `Opening the pull request of ${branch}`;
