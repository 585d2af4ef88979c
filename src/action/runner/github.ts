import { getOctokit } from "@actions/github";
import { defaults } from "@actions/github/lib/utils";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import { messageOf } from "../../client/errors.ts";
import { safeTraceListener, type Trace } from "../../client/trace.ts";
import { createRedactor } from "../../runner-kit/redact.ts";
import { GitHubError } from "./github-error.ts";

/** The limits of a request to GitHub. */
export interface RequestLimits {
  /** For the request with its retries and their delays, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
  /** How much time is left once `signal` aborts, in milliseconds. Default: 0. */
  graceMs?: number;
  /** Sends the request without the pauses between writes that GitHub asks for. Default: false. */
  isUrgent?: boolean;
  /** Called with the status of the response, such as `201` if something was created. */
  onStatus?: (status: number) => void;
}

/** The REST API of GitHub or of a GitHub Enterprise Server. */
export interface GitHub {
  /**
   * Sends a request and returns the data of the response. Rate limits and `5xx` are retried within the timeout.
   *
   * @param route - as in GitHub's documentation, such as `GET /repos/{owner}/{repo}`
   * @throws GitHubError if there is no successful response within the timeout
   */
  request(route: string, parameters: Record<string, unknown>, limits: RequestLimits): Promise<unknown>;
  /**
   * Requests all pages of a list, following their `Link` headers, and returns their items. The timeout applies to each page.
   *
   * @param limits - `totalTimeoutMs`, in milliseconds, applies to all pages together
   * @throws as {@link GitHub.request}; never returns a part of the list
   */
  paginate(
    route: string,
    parameters: Record<string, unknown>,
    limits: RequestLimits & { totalTimeoutMs: number },
  ): Promise<unknown[]>;
}

/** Octokit's options of a request, and a listener for every try that fails. */
interface RequestOptions {
  signal: AbortSignal;
  log: object;
  onError: (error: unknown) => void;
}

type OctokitResponse = Awaited<ReturnType<ReturnType<typeof getOctokit>["request"]>>;

/** No request has time for a longer wait. */
const maxWaitSeconds = 10;
const maxRetries = 3;
/** Permanent errors, by the retry plugin's defaults, and `429`, which the throttling plugin handles. */
const permanentStatuses = [400, 401, 403, 404, 410, 422, 429, 451];

/** The libraries' messages may contain untrusted text, so they are not logged. */
const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Creates a client for GitHub's API.
 *
 * @param apiUrl - base address, which has to be that of `GITHUB_API_URL`: the toolkit reads the variable to choose a proxy
 * @param onTrace - called after every request, including retries
 */
export function connectGitHub(token: string, apiUrl: string, onTrace: (trace: Trace) => void): GitHub {
  const redact = createRedactor(token);
  const tracing = traceRequests(safeTraceListener(onTrace, redact));
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
    retry,
    throttling,
  );
  const unthrottled = getOctokit(token, { ...options, retry: { doNotRetry: permanentStatuses } }, tracing, retry);

  /** Calls `use` with a client and the options of its requests, within the limits. */
  async function within<T>(
    { timeoutMs, signal, graceMs = 0, isUrgent = false }: RequestLimits,
    use: (client: typeof octokit, request: RequestOptions, limit: TimeLimit) => Promise<T>,
  ): Promise<T> {
    // After a signal there is no time for the pauses between writes that GitHub asks for.
    const client = signal.aborted || isUrgent ? unthrottled : octokit;
    const limit = timeLimit(timeoutMs, signal, graceMs);
    let lastError = "";
    const onError = (error: unknown): void => {
      if (!limit.signal.aborted) lastError = messageOf(error);
    };
    try {
      // The plugins keep waiting after the signal aborts, but what they send then fails immediately.
      return await Promise.race([use(client, { signal: limit.signal, log: silentLog, onError }, limit), limit.expired]);
    } catch (error) {
      const isExpired = limit.signal.aborted && lastError !== "";
      const message = redact(isExpired ? `${lastError}, until the timeout` : messageOf(error));
      throw new GitHubError(message, statusOf(error));
    } finally {
      limit.clear();
    }
  }

  return {
    request: (route, parameters, limits) =>
      within(limits, async (client, request) => {
        const { data, status } = await client.request(route, { ...parameters, request });
        limits.onStatus?.(status);
        return data;
      }),
    paginate: (route, parameters, limits) =>
      within({ ...limits, timeoutMs: limits.totalTimeoutMs }, async (client, request, limit) => {
        const items: unknown[] = [];
        limit.restartPage(limits.timeoutMs);
        for await (const { data } of client.paginate.iterator(route, { ...parameters, per_page: 100, request })) {
          if (!Array.isArray(data)) throw new Error("GitHub's response is not a list");
          items.push(...data);
          limit.restartPage(limits.timeoutMs);
        }
        return items;
      }),
  };
}

/** An Octokit plugin that traces every request. Octokit's documentation: "Hooks". */
function traceRequests(onTrace: (trace: Trace) => void) {
  return (octokit: Pick<ReturnType<typeof getOctokit>, "hook">): void => {
    octokit.hook.wrap("request", async (request, options) => {
      const startedAt = performance.now();
      const report = (url: string, result: Trace["result"]): void => {
        const path = URL.canParse(url) ? new URL(url).pathname : url;
        onTrace({ method: options.method, path, durationMs: performance.now() - startedAt, result });
      };
      try {
        const response = await request(options);
        report(response.url, resultOf(response));
        return response;
      } catch (error) {
        const response = responseOf(error);
        if (response) report(response.url, resultOf(response));
        else report(options.url, { error: messageOf(error) });
        options.request?.onError?.(error);
        throw error;
      }
    });
  };
}

function resultOf({ status, headers }: Pick<OctokitResponse, "status" | "headers">): Trace["result"] {
  return { status, requestId: headers["x-github-request-id"] ?? "" };
}

/** Returns the response behind an Octokit error; `undefined` if GitHub did not respond. */
function responseOf(error: unknown): Pick<OctokitResponse, "status" | "url" | "headers"> | undefined {
  return error instanceof Error && "response" in error ? (error.response as OctokitResponse | undefined) : undefined;
}

/** Returns the status behind an Octokit error. A rate limit is `429`, also if GitHub says `403`. */
function statusOf(error: unknown): number | undefined {
  const { status, headers } = responseOf(error) ?? {};
  const isLimited = headers?.["retry-after"] !== undefined || headers?.["x-ratelimit-remaining"] === "0";
  return status === 403 && (isLimited || /rate limit/i.test(messageOf(error))) ? 429 : status;
}

interface TimeLimit {
  /** Aborts at the limit. */
  signal: AbortSignal;
  /** Rejects at the limit. */
  expired: Promise<never>;
  /** Starts the timeout of the next page, in milliseconds. */
  restartPage: (timeoutMs: number) => void;
  clear: () => void;
}

/** Starts a timeout; it also ends `graceMs` after `signal`. All times are in milliseconds. */
function timeLimit(timeoutMs: number, signal: AbortSignal, graceMs: number): TimeLimit {
  const controller = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  let pageTimer: NodeJS.Timeout | undefined;
  const tooLate = "GitHub did not respond in time";
  const abortIn = (ms: number, reason: string) =>
    setTimeout(() => controller.abort(new Error(reason)), Math.max(0, ms));
  const onAbort = () => timers.push(abortIn(graceMs, "the step was cancelled"));
  timers.push(abortIn(timeoutMs, tooLate));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const expired = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  return {
    signal: controller.signal,
    expired,
    restartPage: (pageTimeoutMs) => {
      clearTimeout(pageTimer);
      pageTimer = abortIn(pageTimeoutMs, tooLate);
    },
    clear: () => {
      for (const timer of [...timers, pageTimer]) clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
