import { getOctokit } from "@actions/github";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import { createRedactor } from "../../client/redact.ts";
import { discreetly, type Trace } from "../../client/trace.ts";

/** What bounds a request to GitHub. */
export interface RequestLimits {
  /** For all of it, repeats and waits included, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
  /** How much longer it has once `signal` is aborted, in milliseconds. Default: 0. */
  graceMs?: number;
}

/** GitHub's REST API, or that of a GitHub Enterprise Server. */
export interface GitHub {
  /**
   * Sends a request and returns what the answer's body holds. Rate limits and `5xx` are waited out within the time.
   *
   * @param route - as in GitHub's documentation, such as `GET /repos/{owner}/{repo}`
   * @throws where there is no good answer by then; never with the token in it
   */
  request(route: string, parameters: Record<string, unknown>, limits: RequestLimits): Promise<unknown>;
}

type OctokitAnswer = Awaited<ReturnType<ReturnType<typeof getOctokit>["request"]>>;

/** A wait longer than this would outlast the time of any request. */
const longestWaitSeconds = 10;
const mostRepeats = 3;
/** Answers that another try would not change, as the plugin has them, and `429`, which the throttling one decides. */
const firmStatuses = [400, 401, 403, 404, 410, 422, 429, 451];

/** What the libraries have to say may hold text from outside, and is not for the log. */
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * @param apiUrl - its base address, `GITHUB_API_URL`
 * @param onTrace - is told of every request, repeats included
 */
export function connectGitHub(token: string, apiUrl: string, onTrace: (trace: Trace) => void): GitHub {
  const redact = createRedactor(token);
  const tracing = traceRequests(discreetly(onTrace, redact));
  // A wait of 0 s comes of a limit that is over by GitHub's clock or said without an end: it would be no wait at all.
  const waitFor = (seconds: number, _options: unknown, _octokit: unknown, repeats: number): boolean =>
    seconds >= 1 && seconds <= longestWaitSeconds && repeats < mostRepeats;
  const options = { baseUrl: apiUrl, log, request: { log } };
  const patient = getOctokit(
    token,
    {
      ...options,
      retry: { doNotRetry: firmStatuses },
      throttle: { onRateLimit: waitFor, onSecondaryRateLimit: waitFor },
    },
    // The first plugin is the nearest to the network: it sees each repeat.
    tracing,
    retry,
    throttling,
  );
  // After a signal there is no time for the pauses between writes that GitHub asks for.
  const urgent = getOctokit(token, options, tracing);
  return {
    request: async (route, parameters, { timeoutMs, signal, graceMs = 0 }) => {
      const octokit = signal.aborted ? urgent : patient;
      const limit = limitOf(timeoutMs, signal, graceMs);
      let fault = "";
      const noted = (error: Error): never => {
        fault = error.message;
        throw error;
      };
      octokit.hook.error("request", noted);
      try {
        // The plugins' waits do not heed a signal, but what they send after it has aborted fails at once.
        const answer = octokit.request(route, { ...parameters, request: { signal: limit.signal, log } });
        return (await Promise.race([answer, limit.isOver])).data;
      } catch (error) {
        const last = error instanceof Error ? error.message : String(error);
        throw new Error(redact(limit.signal.aborted && fault ? `${fault}, until the time was up` : last));
      } finally {
        octokit.hook.remove("request", noted);
        limit.clear();
      }
    },
  };
}

/** A plugin of Octokit. Its documentation: "Hooks". */
function traceRequests(onTrace: (trace: Trace) => void) {
  return (octokit: Pick<ReturnType<typeof getOctokit>, "hook">): void => {
    octokit.hook.wrap("request", async (request, options) => {
      const startedAt = performance.now();
      const tell = (url: string, result: Trace["result"]): void => {
        const path = URL.canParse(url) ? new URL(url).pathname : url;
        onTrace({ method: options.method, path, durationMs: performance.now() - startedAt, result });
      };
      try {
        const answer = await request(options);
        tell(answer.url, { status: answer.status, requestId: answer.headers["x-github-request-id"] ?? "" });
        return answer;
      } catch (error) {
        const answer = answerIn(error);
        if (answer) tell(answer.url, { status: answer.status, requestId: answer.headers["x-github-request-id"] ?? "" });
        else tell(options.url, { fault: error instanceof Error ? error.message : String(error) });
        throw error;
      }
    });
  };
}

/** The answer behind an error of Octokit's, which it has where GitHub has answered. */
function answerIn(error: unknown): Pick<OctokitAnswer, "status" | "url" | "headers"> | undefined {
  return error instanceof Error && "response" in error ? (error.response as OctokitAnswer | undefined) : undefined;
}

/** A signal that aborts when the time is up, or `graceMs` after `signal`, and a promise that rejects with it. */
function limitOf(timeoutMs: number, signal: AbortSignal, graceMs: number) {
  const controller = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const endIn = (ms: number, why: string) =>
    timers.push(setTimeout(() => controller.abort(new Error(why)), Math.max(0, ms)));
  const onAbort = () => endIn(graceMs, "the step was cancelled");
  endIn(timeoutMs, "GitHub did not answer in time");
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const isOver = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  const clear = () => {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  return { signal: controller.signal, isOver, clear };
}
