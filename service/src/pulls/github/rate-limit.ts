/** GitHub's window is an hour; a minute more for clocks that differ. */
export const rateLimitWindowMs = 3_660_000;
/** GitHub's documentation, "Rate limits for the REST API": if it names no time, wait for at least a minute. */
const defaultSeconds = 60;

/** The part of Octokit's `RequestError` that is used here. */
export interface ResponseError extends Error {
  status: number;
  response: { headers: Record<string, string | number | undefined> };
}

/** Returns the error if GitHub responded, `undefined` if it did not. */
export function asResponseError(error: unknown): ResponseError | undefined {
  return error instanceof Error && "response" in error && error.response ? (error as ResponseError) : undefined;
}

/**
 * Returns the seconds after which to try again, at least 1, or `undefined` if an error is not a rate limit.
 *
 * @param now - milliseconds since 1970
 */
export function rateLimitSeconds(error: unknown, now: number): number | undefined {
  const failure = asResponseError(error);
  if (!failure || (failure.status !== 403 && failure.status !== 429)) return undefined;
  const {
    "retry-after": retryAfter,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": reset,
  } = failure.response.headers;
  const seconds = (value: string | number | undefined): number => Number.parseInt(String(value), 10);
  if (retryAfter !== undefined) return Math.max(1, seconds(retryAfter) || defaultSeconds);
  if (String(remaining) === "0") {
    // By GitHub's clock, if it says what time it is.
    const current = Date.parse(String(failure.response.headers.date)) || now;
    // One second more, so that the window has ended.
    return Math.max(1, Math.ceil(seconds(reset) - current / 1000) + 1 || defaultSeconds);
  }
  return failure.status === 429 || /\bsecondary rate\b/i.test(failure.message) ? defaultSeconds : undefined;
}

/** Returns whether a rate limit is for all of GitHub's API: one without a window. */
export const isSecondary = (error: unknown): boolean =>
  String(asResponseError(error)?.response.headers["x-ratelimit-remaining"]) !== "0";
