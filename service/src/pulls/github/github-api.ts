import { randomUUID } from "node:crypto";
import { Octokit } from "@octokit/core";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import type { Metrics } from "../../metrics/metrics.ts";
import { createBoundedFetch, RedirectError } from "./bounded-fetch.ts";
import { GitHubError, RateLimitError } from "./github-error.ts";
import type { GitHubRepository } from "./github-repository.ts";
import {
  asResponseError,
  describeRateLimits,
  rateLimitSeconds,
  rateLimitWindowMs,
  retryNewToken,
} from "./rate-limit.ts";

export interface GitHubApiOptions {
  repository: GitHubRepository;
  /** Aborts requests, retries and waits. */
  signal: AbortSignal;
  log: (line: string) => void;
  /** Counts the requests, with their retries. Default: nothing does. */
  metrics?: Pick<Metrics, "gitHubAnswered"> | undefined;
  /** How long a second of waiting takes, in milliseconds. Default: 1000; less in tests. */
  secondMs?: number | undefined;
}

export interface RequestOptions {
  /** What is being done, for the log: `Opening the pull request of agent/job_1`. */
  what: string;
  /** How long to wait for GitHub's rate limit, in milliseconds, before the request fails. Default: GitHub's window. */
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

/** GitHub may name a short time again and again. */
const maxWaits = 10;
/** No text in which a shorter one is replaced could be read. GitHub's tokens have 40 characters and more. */
const minTokenLength = 8;
/** Permanent errors, and the rate limits, for which the throttling plugin waits. */
const permanentStatuses = [304, 400, 401, 403, 404, 410, 422, 429, 451];
/** The libraries' messages contain untrusted text, so they are not logged. */
const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

type OnRateLimit = (seconds: number) => boolean;
/** Calls the function that {@link GitHubApi.request} gives to Octokit with each request. */
const onRateLimit = (seconds: number, { request }: { request?: unknown }): boolean =>
  (request as { onRateLimit: OnRateLimit }).onRateLimit(seconds);

const GitHubClient = Octokit.plugin(describeRateLimits, retryNewToken, retry, throttling);

/** GitHub's REST API, for requests about one repository. */
export class GitHubApi {
  readonly repository: GitHubRepository;
  readonly signal: AbortSignal;
  #redirect: string | undefined;
  readonly #octokit: Octokit;
  readonly #log: (line: string) => void;

  constructor({ repository, signal, log, metrics, secondMs = 1000 }: GitHubApiOptions) {
    this.repository = repository;
    this.signal = signal;
    this.#log = log;
    const own = `/repos/${repository.owner}/${repository.name}/`.toLowerCase();
    const onRedirect = (from: string, to: string): void => {
      if (`${from}/`.toLowerCase().includes(own))
        this.#redirect = /\/(?:repositories\/\d+|repos\/[^/]+\/[^/]+)/.exec(to)?.[0] ?? to;
    };
    const boundedFetch = createBoundedFetch({ apiUrl: repository.apiUrl, onRedirect });
    const fetch = metrics === undefined ? boundedFetch : countedFetch(boundedFetch, metrics);
    this.#octokit = new GitHubClient({
      baseUrl: repository.apiUrl,
      userAgent: "agent-job-service",
      log: silentLog,
      request: { fetch, signal, log: silentLog },
      retry: { doNotRetry: permanentStatuses, retryAfterBaseValue: secondMs },
      throttle: {
        // This client makes the pauses between writes that GitHub asks for.
        id: randomUUID(),
        retryAfterBaseValue: secondMs,
        onRateLimit,
        onSecondaryRateLimit: onRateLimit,
      },
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
    { what, maxWaitMs = rateLimitWindowMs, isRetried = true, etag }: RequestOptions,
  ): Promise<GitHubResponse> {
    this.signal.throwIfAborted();
    const { owner, name } = this.repository;
    // Otherwise they would be part of the query or the body.
    const all: Record<string, unknown> = {
      ...(route.includes("{owner}") && { owner, repo: name }),
      ...Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, wellFormed(value)])),
    };
    let waitedMs = 0;
    let waits = 0;
    const onRateLimit: OnRateLimit = (seconds) => {
      waitedMs += seconds * 1000;
      if (waitedMs > maxWaitMs || ++waits > maxWaits) return false;
      this.#log(`${what}: GitHub's rate limit is reached, waiting ${seconds} s.`);
      return true;
    };
    // Octokit leaves out what is undefined.
    const authorization = `Bearer ${this.repository.token}`;
    const headers = { authorization, "x-github-api-version": "2022-11-28", "if-none-match": etag };
    // Any other number would retry permanent errors too.
    const request = { ...(!isRetried && { retries: 0 }), onRateLimit };
    try {
      const sent = this.#octokit.request(route, { ...all, headers, request });
      const response = await unlessAborted(sent, this.signal);
      return { data: response.data, etag: response.headers.etag };
    } catch (error) {
      this.signal.throwIfAborted();
      if (asResponseError(error)?.status === 304) return { data: undefined, etag };
      throw this.#describe(
        error,
        route.replace(/\{(\w+)\}/g, (_, key: string) => String(all[key])),
      );
    }
  }

  #describe(error: unknown, route: string): GitHubError {
    const { token } = this.repository;
    const text = error instanceof Error ? error.message : String(error);
    const reason = (token.length < minTokenLength ? text : text.replaceAll(token, "***"))
      .replace(/[\p{C}\s]+/gu, " ")
      .slice(0, 1000);
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof RedirectError) return new GitHubError(`GitHub's answer to ${route}: ${reason}`, cause.status);
    const status = asResponseError(error)?.status;
    if (status === undefined) return new GitHubError(`GitHub did not respond to ${route}: ${reason}`, undefined);
    const message = `GitHub answered ${status} to ${route}: ${reason}`;
    const seconds = rateLimitSeconds(error, Date.now());
    if (seconds === undefined) return new GitHubError(message, status);
    const until = new Date(Date.now() + seconds * 1000).toISOString().slice(11, 16);
    return new RateLimitError(`${message} (rate limit until ${until} UTC)`, status, seconds * 1000);
  }
}

/** Waits for a promise, but no longer than until `signal` aborts: the plugins' waits do not know it. It must not be aborted yet. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
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
