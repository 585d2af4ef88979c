import { Octokit } from "@octokit/core";
import type { Metrics } from "../../metrics/metrics.ts";
import { createBoundedFetch, RedirectError } from "./bounded-fetch.ts";
import { GitHubGates } from "./gate.ts";
import { GitHubError, RateLimitError } from "./github-error.ts";
import type { GitHubRepository } from "./github-repository.ts";
import { asResponseError, isSecondary, rateLimitSeconds } from "./rate-limit.ts";

export interface GitHubApiOptions {
  repository: GitHubRepository;
  /** Aborts requests, retries and waits. */
  signal: AbortSignal;
  log: (line: string) => void;
  /** Counts the requests, with their retries. Default: nothing does. */
  metrics?: Pick<Metrics, "gitHubAnswered"> | undefined;
  /** Shared by all that use the same tokens. Default: nobody else does. */
  gates?: GitHubGates | undefined;
}

export interface RequestOptions {
  /** What is being done, for the log: `Opening the pull request of agent/job_1`. */
  what: string;
  /** How long to wait for GitHub's rate limit, in milliseconds, before the request fails. Default: some seconds, because a turn holds its place. */
  maxWaitMs?: number;
  /** Whether to retry network errors and HTTP errors from 500 on, three times within 14 s. Default: true. */
  isRetried?: boolean;
  /** The `ETag` of an earlier response, which is not sent again if it is still valid. */
  etag?: string | undefined;
}

export interface GitHubResponse {
  /** `undefined` if the response still has the given `ETag`. Untrusted. */
  data: unknown;
  etag: string | undefined;
}

const defaultMaxWaitMs = 5000;
/** GitHub may name a short time again and again. */
const maxWaits = 10;
const maxRetries = 3;
/** No text in which a shorter one is replaced could be read. GitHub's tokens have 40 characters and more. */
const minTokenLength = 8;
const permanentStatuses = [304, 400, 401, 403, 404, 410, 422, 451];
/** The library's messages contain untrusted text, so they are not logged. */
const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** GitHub's REST API, for requests about one repository. */
export class GitHubApi {
  readonly repository: GitHubRepository;
  readonly signal: AbortSignal;
  #redirect: string | undefined;
  readonly #octokit: Octokit;
  readonly #log: (line: string) => void;
  readonly #gates: GitHubGates;
  /** Whether GitHub has accepted a token. It does not know a new one everywhere at once. */
  #isKnown = false;

  constructor({ repository, signal, log, metrics, gates = new GitHubGates() }: GitHubApiOptions) {
    this.repository = repository;
    this.signal = signal;
    this.#log = log;
    this.#gates = gates;
    const own = `/repos/${repository.owner}/${repository.name}/`.toLowerCase();
    const onRedirect = (from: string, to: string): void => {
      if (`${from}/`.toLowerCase().includes(own))
        this.#redirect = /\/(?:repositories\/\d+|repos\/[^/]+\/[^/]+)/.exec(to)?.[0] ?? to;
    };
    const boundedFetch = createBoundedFetch({ apiUrl: repository.apiUrl, onRedirect });
    const fetch = metrics === undefined ? boundedFetch : countedFetch(boundedFetch, metrics);
    this.#octokit = new Octokit({
      baseUrl: repository.apiUrl,
      userAgent: "agent-job-service",
      log: silentLog,
      request: { fetch, signal, log: silentLog },
    });
  }

  /** What GitHub redirected requests for the repository to last, such as `/repositories/1`; `undefined` if it did not. */
  get redirect(): string | undefined {
    return this.#redirect;
  }

  /**
   * Sends a request. Waits and retries as the options say.
   *
   * @param route - as in GitHub's documentation, such as `GET /repos/{owner}/{repo}/pulls`; `owner` and `repo` are known
   * @throws GitHubError if GitHub cannot be reached or answers with an HTTP error
   * @throws RateLimitError if the wait for its rate limit would be too long
   * @throws the reason of the signal if that is aborted
   */
  async request(
    route: string,
    parameters: Record<string, unknown>,
    { what, maxWaitMs = defaultMaxWaitMs, isRetried = true, etag }: RequestOptions,
  ): Promise<GitHubResponse> {
    const { signal } = this;
    const { owner, name } = this.repository;
    // Otherwise they would be part of the query or the body.
    const all: Record<string, unknown> = {
      ...(route.includes("{owner}") && { owner, repo: name }),
      ...Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, wellFormed(value)])),
    };
    const path = route.replace(/\{(\w+)\}/g, (_, key: string) => String(all[key]));
    const resource = route.endsWith("/graphql") ? "graphql" : "rest";
    const isWrite = !/^(?:GET|HEAD) /.test(route);
    let limited: unknown = new Error("GitHub has said so before, so this was not sent");
    let waitedMs = 0;
    let waits = 0;
    for (let retries = 0; ; ) {
      signal.throwIfAborted();
      const gate = this.#gates.of(this.repository);
      const limitedMs = gate.limitedMs(resource);
      if (limitedMs > 0) {
        waitedMs += limitedMs;
        if (waitedMs > maxWaitMs || ++waits > maxWaits) throw this.#describe(limited, path, limitedMs);
        this.#log(`${what}: GitHub's rate limit is reached, waiting ${Math.ceil(limitedMs / 1000)} s.`);
        await gate.sleep(limitedMs, signal);
        continue;
      }
      // Octokit leaves out what is undefined.
      const authorization = `Bearer ${this.repository.token}`;
      const headers = { authorization, "x-github-api-version": "2022-11-28", "if-none-match": etag };
      try {
        const send = () => this.#octokit.request(route, { ...all, headers });
        const response = await gate.send(isWrite, send, signal);
        this.#isKnown = true;
        return { data: response.data, etag: response.headers.etag };
      } catch (error) {
        signal.throwIfAborted();
        const status = asResponseError(error)?.status;
        if (status === 304) return { data: undefined, etag };
        const seconds = rateLimitSeconds(error, Date.now());
        if (seconds !== undefined) {
          gate.limit(resource, seconds, isSecondary(error));
          limited = error;
          continue;
        }
        const isNew = status === 401 && !this.#isKnown;
        const isTransient = isRetried && (status === undefined || !permanentStatuses.includes(status));
        if (retries === maxRetries || !(isNew || isTransient)) throw this.#describe(error, path);
        retries++;
        await gate.sleep(isNew ? 500 * 2 ** retries : 1000 * retries ** 2, signal);
      }
    }
  }

  /** @param limitedMs - how long the rate limit lasts that is reached. Default: none is */
  #describe(error: unknown, route: string, limitedMs?: number): GitHubError {
    const { token } = this.repository;
    const text = error instanceof Error ? error.message : String(error);
    const reason = (token.length < minTokenLength ? text : text.replaceAll(token, "***"))
      .replace(/[\p{C}\s]+/gu, " ")
      .slice(0, 1000);
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof RedirectError) return new GitHubError(`GitHub's answer to ${route}: ${reason}`, cause.status);
    const status = asResponseError(error)?.status;
    if (limitedMs !== undefined) {
      const until = new Date(Date.now() + limitedMs).toISOString().slice(11, 16);
      const answered = status === undefined ? "GitHub's rate limit is reached for" : `GitHub answered ${status} to`;
      return new RateLimitError(`${answered} ${route}: ${reason} (rate limit until ${until} UTC)`, status, limitedMs);
    }
    if (status === undefined) return new GitHubError(`GitHub did not respond to ${route}: ${reason}`, undefined);
    return new GitHubError(`GitHub answered ${status} to ${route}: ${reason}`, status);
  }
}

/** Returns a text as Unicode, because GitHub rejects half a character, which an agent's words can have. */
const wellFormed = (value: unknown): unknown => (typeof value === "string" ? value.toWellFormed() : value);

/** Returns a `fetch` that counts the responses of GitHub, and reports what they say about the rate limit. */
function countedFetch(next: typeof fetch, metrics: Pick<Metrics, "gitHubAnswered">): typeof fetch {
  return async (input, init) => {
    try {
      const response = await next(input, init);
      const { status, headers } = response;
      const remaining = numberIn(headers.get("x-ratelimit-remaining"));
      metrics.gitHubAnswered({ status, remaining, resetAt: numberIn(headers.get("x-ratelimit-reset")) });
      return response;
    } catch (error) {
      // A service that stops says nothing about GitHub.
      if (!init?.signal?.aborted)
        metrics.gitHubAnswered({ status: undefined, remaining: undefined, resetAt: undefined });
      throw error;
    }
  };
}

function numberIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
