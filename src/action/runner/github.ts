import { getOctokit } from "@actions/github";
import { defaults } from "@actions/github/lib/utils";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import { messageOf } from "../../client/errors.ts";
import { createTracer, type TraceListener, type Tracer } from "../../client/trace.ts";
import { createRedactor } from "../../runner-kit/redact.ts";
import { GitHubError } from "./github-error.ts";

export interface RequestLimits {
  /** For the request with its retries and their delays, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
  /** How much time is left once `signal` aborts, in milliseconds. Default: 0. */
  graceMs?: number;
  /** Sends the request without the pauses between writes that GitHub asks for. Default: false. */
  isUrgent?: boolean;
  /** Does not repeat the request after a `5xx`, as of something that GitHub may have done. Default: false. */
  isOnce?: boolean;
  /** Called with the status of the response, such as `201` if something was created. */
  onStatus?: (status: number) => void;
}

/** The REST API of GitHub or of a GitHub Enterprise Server. */
export type GitHub = ReturnType<typeof connectGitHub>;

/** Octokit's options of a request, and a listener for every try that fails. */
type RequestOptions = { signal: AbortSignal; log: object; onError: (error: unknown) => void };

type OctokitResponse = Awaited<ReturnType<ReturnType<typeof getOctokit>["request"]>>;

/** No request has time for a longer wait. */
const maxWaitSeconds = 10;
const maxRetries = 3;
/** Permanent errors, by the retry plugin's defaults, and `429`, which the throttling plugin handles. */
const permanentStatuses = [400, 401, 403, 404, 410, 422, 429, 451];

/** The libraries' messages may contain untrusted text, so they are not logged. */
const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Creates a client for GitHub's API. `apiUrl` has to be `GITHUB_API_URL`'s, by which the toolkit chooses a proxy.
 * `onTrace` is called after every request, including retries.
 */
export function connectGitHub(token: string, apiUrl: string, onTrace: TraceListener) {
  const redact = createRedactor(token);
  const tracing = traceRequests(createTracer(onTrace, redact));
  // 0 s means that GitHub named no time or one that has passed by its clock: retrying without a wait is useless.
  const shouldRetry = (seconds: number, _options: unknown, _octokit: unknown, retries: number): boolean =>
    seconds >= 1 && seconds <= maxWaitSeconds && retries < maxRetries;
  // These options replace the toolkit's own, whose `fetch` uses the runner's proxy for this address. Node's does not.
  const options = { baseUrl: apiUrl, log: silentLog, request: { ...defaults.request, log: silentLog } };
  const octokit = getOctokit(
    token,
    {
      ...options,
      retry: { doNotRetry: permanentStatuses },
      throttle: { onRateLimit: shouldRetry, onSecondaryRateLimit: shouldRetry },
    },
    // The first plugin is closest to the network, so it sees each retry.
    tracing,
    retryNewToken,
    retry,
    throttling,
  );
  const ofUrgent = { ...options, retry: { doNotRetry: permanentStatuses } };
  const unthrottled = getOctokit(token, ofUrgent, tracing, retryNewToken, retry);

  /** Calls `use` with a client and the options of its requests, within the limits; `renew` starts the timeout of the next page. */
  async function within<T>(
    { timeoutMs, signal, graceMs = 0, isUrgent = false }: RequestLimits,
    use: (client: typeof octokit, request: RequestOptions, renew: (timeoutMs: number) => void) => Promise<T>,
  ): Promise<T> {
    // After a signal there is no time for the pauses between writes that GitHub asks for.
    const client = signal.aborted || isUrgent ? unthrottled : octokit;
    const limit = new AbortController();
    const abortIn = (ms: number, reason = "GitHub did not respond in time") =>
      setTimeout(() => limit.abort(new Error(reason)), Math.max(0, ms));
    const timers = [abortIn(timeoutMs)];
    const onAbort = () => timers.push(abortIn(graceMs, "the step was cancelled"));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    let pageTimer: NodeJS.Timeout | undefined;
    const renew = (pageTimeoutMs: number): void => {
      clearTimeout(pageTimer);
      pageTimer = abortIn(pageTimeoutMs);
    };
    const expired = new Promise<never>((_resolve, reject) => {
      limit.signal.addEventListener("abort", () => reject(limit.signal.reason), { once: true });
    });
    let lastError = "";
    const onError = (error: unknown): void => {
      if (!limit.signal.aborted) lastError = messageOf(error);
    };
    try {
      // The plugins keep waiting after the signal aborts, but what they send then fails immediately.
      return await Promise.race([use(client, { signal: limit.signal, log: silentLog, onError }, renew), expired]);
    } catch (error) {
      const isExpired = limit.signal.aborted && lastError !== "";
      const message = redact(isExpired ? `${lastError}, until the timeout` : messageOf(error));
      throw new GitHubError(message, statusOf(error));
    } finally {
      for (const timer of [...timers, pageTimer]) clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  return {
    /**
     * Sends a request as in GitHub's documentation, such as `GET /repos/{owner}/{repo}`; retries rate limits and `5xx`.
     * @throws GitHubError if there is no successful response within the timeout
     */
    request: (route: string, parameters: Record<string, unknown>, limits: RequestLimits): Promise<unknown> =>
      within(limits, async (client, request) => {
        const options = { ...request, ...(limits.isOnce && { retries: 0 }) };
        const { data, status } = await client.request(route, { ...parameters, request: options });
        limits.onStatus?.(status);
        return data;
      }),
    /**
     * Requests all pages of a list, and returns their items; never a part. `timeoutMs` applies to each page, and `totalTimeoutMs`,
     * in milliseconds, to all together. @throws as `request`
     */
    paginate: (
      route: string,
      parameters: Record<string, unknown>,
      limits: RequestLimits & { totalTimeoutMs: number },
    ): Promise<unknown[]> =>
      within({ ...limits, timeoutMs: limits.totalTimeoutMs }, async (client, request, renew) => {
        const items: unknown[] = [];
        renew(limits.timeoutMs);
        for await (const { data } of client.paginate.iterator(route, { ...parameters, per_page: 100, request })) {
          if (!Array.isArray(data)) throw new Error("GitHub's response is not a list");
          items.push(...data);
          renew(limits.timeoutMs);
        }
        return items;
      }),
  };
}

/** An Octokit plugin that lets the retry plugin send again what GitHub refuses because it does not know a new token everywhere yet. */
function retryNewToken(octokit: Pick<ReturnType<typeof getOctokit>, "hook">): void {
  let isKnown = false;
  octokit.hook.after("request", () => {
    isKnown = true;
  });
  octokit.hook.error("request", (error, { request }) => {
    if (statusOf(error) === 401 && !isKnown && "request" in error)
      error.request.request = { ...error.request.request, retries: 3, retryAfter: 2 ** (request.retryCount ?? 0) };
    throw error;
  });
}

/** An Octokit plugin that traces every request. Octokit's documentation: "Hooks". */
function traceRequests(trace: Tracer) {
  return (octokit: Pick<ReturnType<typeof getOctokit>, "hook">): void => {
    octokit.hook.wrap("request", async (request, options) => {
      const startedAt = performance.now();
      const report = (response: OctokitResponse | undefined, error?: unknown): void => {
        const { url = options.url, status, headers } = response ?? {};
        const request = `${options.method} ${URL.parse(url)?.pathname ?? url}`;
        trace(request, status ?? error, performance.now() - startedAt, headers?.["x-github-request-id"]);
      };
      try {
        const response = await request(options);
        report(response);
        return response;
      } catch (error) {
        report(responseOf(error), error);
        options.request?.onError?.(error);
        throw error;
      }
    });
  };
}

function responseOf(error: unknown): OctokitResponse | undefined {
  return error instanceof Error && "response" in error ? (error.response as OctokitResponse | undefined) : undefined;
}

/** Returns the status behind an Octokit error. A rate limit is `429`, even if GitHub says `403`. */
function statusOf(error: unknown): number | undefined {
  const { status, headers } = responseOf(error) ?? {};
  const isLimited = headers?.["retry-after"] !== undefined || headers?.["x-ratelimit-remaining"] === "0";
  return status === 403 && (isLimited || /rate limit/i.test(messageOf(error))) ? 429 : status;
}
