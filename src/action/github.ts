import { getOctokit } from "@actions/github";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";

/** GitHub's REST API, or that of a GitHub Enterprise Server. */
export interface GitHub {
  /**
   * Sends a request and returns what the answer's body holds. Rate limits and `5xx` are waited out within the time.
   *
   * @param route - as in GitHub's documentation, such as `GET /repos/{owner}/{repo}`
   * @param timeoutMs - for all of it, repeats and waits included
   * @throws where there is no good answer by then, or `signal` aborts
   */
  request(route: string, parameters: Record<string, unknown>, timeoutMs: number, signal: AbortSignal): Promise<unknown>;
}

/** A wait longer than this would outlast the time of any request. */
const longestWaitSeconds = 10;

/** @param apiUrl - its base address, `GITHUB_API_URL` */
export function connectGitHub(token: string, apiUrl: string): GitHub {
  const waitFor = (seconds: number): boolean => seconds <= longestWaitSeconds;
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const options = { baseUrl: apiUrl, log, throttle: { onRateLimit: waitFor, onSecondaryRateLimit: waitFor } };
  const octokit = getOctokit(token, options, retry, throttling);
  return {
    request: async (route, parameters, timeoutMs, signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      // The plugins' waits do not heed the signal, but what they send after it has aborted fails at once.
      const isOver = new Promise<never>((_resolve, reject) => {
        if (limit.aborted) reject(limit.reason);
        limit.addEventListener("abort", () => reject(limit.reason), { once: true });
      });
      const answer = await Promise.race([
        octokit.request(route, { ...parameters, request: { signal: limit } }),
        isOver,
      ]);
      return answer.data;
    },
  };
}
