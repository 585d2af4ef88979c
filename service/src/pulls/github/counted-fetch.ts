import type { Metrics } from "../../metrics/metrics.ts";

/** Returns a `fetch` that counts the responses of GitHub, and reports what they say about the rate limit. */
export function countedFetch(next: typeof fetch, metrics: Pick<Metrics, "gitHubAnswered">): typeof fetch {
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
