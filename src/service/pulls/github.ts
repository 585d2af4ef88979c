import { setTimeout } from "node:timers/promises";
import { pullRequestBody } from "./pull-request-body.ts";
import type { Change, PullRequestRef, PullRequestState, PullRequests } from "./pull-requests.ts";
import { StateErrorLog } from "./state-error-log.ts";

/** A repository on GitHub or on a GitHub Enterprise Server, with the token to use for it. */
export interface GitHubRepository {
  /** Base URL of the REST API, without a trailing slash. */
  apiUrl: string;
  owner: string;
  name: string;
  token: string;
}

export interface GitHubPullRequestsOptions {
  repository: GitHubRepository;
  /** Aborts requests and retries. */
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Thrown when GitHub answers with an HTTP error. */
class GitHubError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The fields of GitHub's pull request that are used here. */
interface GitHubPullRequest {
  html_url: string;
  state: string;
  merged_at: string | null;
}

const requestTimeoutMs = 30_000;
/** Before each retry of opening a pull request. */
const retryDelaysMs = [1000, 5000];
const pageSize = 100;

/** Pull requests on GitHub. GitHub's documentation: "REST API endpoints for pull requests". */
export class GitHubPullRequests implements PullRequests {
  readonly #repository: GitHubRepository;
  readonly #signal: AbortSignal;
  readonly #errors: StateErrorLog;

  constructor({ repository, signal, log }: GitHubPullRequestsOptions) {
    this.#repository = repository;
    this.#signal = signal;
    this.#errors = new StateErrorLog(log);
  }

  /** Retries network errors and HTTP errors from 500 on. */
  async open(change: Change): Promise<string> {
    for (const delayMs of retryDelaysMs) {
      try {
        return await this.#findOrCreate(change);
      } catch (error) {
        if (error instanceof GitHubError && error.status < 500) throw error;
        await setTimeout(delayMs, undefined, { signal: this.#signal });
      }
    }
    return this.#findOrCreate(change);
  }

  async stateOf({ link }: PullRequestRef): Promise<PullRequestState> {
    const { owner, name } = this.#repository;
    const [path, number] = /\/([^/]+\/[^/]+)\/pull\/(\d+)$/.exec(link)?.slice(1) ?? [];
    // Not a pull request of this repository, such as a page of the service from when it had no token.
    if (path?.toLowerCase() !== `${owner}/${name}`.toLowerCase()) return "open";
    const pullRequest = await this.#request("GET", `/pulls/${number}`);
    if (!isPullRequest(pullRequest)) throw new Error("GitHub's response is not a pull request");
    if (pullRequest.state !== "closed") return "open";
    return pullRequest.merged_at === null ? "closed" : "merged";
  }

  async findClosed(pullRequests: readonly PullRequestRef[]): Promise<ReadonlySet<string>> {
    const closed = new Set<string>();
    if (pullRequests.length === 0) return closed;
    const open = await this.#listOpen();
    // Read one by one, because an open one is missing from the list if it moved between two pages. A closed one is read
    // only once, as its job is then archived.
    for (const pullRequest of pullRequests.filter(({ link }) => !open.has(link))) {
      try {
        if ((await this.stateOf(pullRequest)) !== "open") closed.add(pullRequest.link);
      } catch (error) {
        if (this.#signal.aborted) throw error;
        this.#errors.report(pullRequest.link, error);
      }
    }
    return closed;
  }

  async #findOrCreate(change: Change): Promise<string> {
    const { title, branch, targetBranch } = change;
    const head = encodeURIComponent(`${this.#repository.owner}:${branch}`);
    const [open] = await this.#list(`state=open&head=${head}`);
    if (open) return open.html_url;
    const body = pullRequestBody(change);
    const created = await this.#request("POST", "/pulls", { title, head: branch, base: targetBranch, body });
    if (!isPullRequest(created)) throw new Error("GitHub's response is not a pull request");
    return created.html_url;
  }

  async #listOpen(): Promise<Set<string>> {
    const open = new Set<string>();
    for (let page = 1; ; page++) {
      const found = await this.#list(`state=open&per_page=${pageSize}&page=${page}`);
      for (const { html_url } of found) open.add(html_url);
      if (found.length < pageSize) return open;
    }
  }

  async #list(query: string): Promise<GitHubPullRequest[]> {
    const found = await this.#request("GET", `/pulls?${query}`);
    if (!Array.isArray(found) || !found.every(isPullRequest))
      throw new Error("GitHub's response is not a list of pull requests");
    return found;
  }

  async #request(method: string, path: string, body?: unknown): Promise<unknown> {
    const { apiUrl, owner, name, token } = this.#repository;
    const response = await fetch(`${apiUrl}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}${path}`, {
      method,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "user-agent": "agent-job-service",
        "x-github-api-version": "2022-11-28",
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(requestTimeoutMs)]),
      redirect: "error",
    });
    if (!response.ok) {
      const reason = (await response.text()).slice(0, 1000);
      throw new GitHubError(
        response.status,
        `GitHub answered ${response.status} to ${method} ${path.split("?")[0]}: ${reason}`,
      );
    }
    return response.json();
  }
}

function isPullRequest(data: unknown): data is GitHubPullRequest {
  return (
    typeof data === "object" &&
    data !== null &&
    "html_url" in data &&
    typeof data.html_url === "string" &&
    /^https?:\/\/[^\s@]{1,2000}\/pull\/\d+$/.test(data.html_url) &&
    "state" in data &&
    "merged_at" in data
  );
}
