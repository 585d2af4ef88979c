import { NetworkError } from "../runner-kit/transport.ts";
import { type Acceptance, HttpError, type RequestError, TokenError } from "./errors.ts";

/** What a failed create or message means, and whether sending it again is safe and useful. */
export interface SubmissionFailure {
  acceptance: Exclude<Acceptance, "accepted">;
  retry:
    | "never"
    /** Not connected, or no token to send: retry for about a minute. */
    | "unreachable"
    /** `429`, or `503` with `Retry-After`: retry after the wait, up to the deadline. */
    | "throttled";
}

/**
 * Decides whether a failed create or message may be sent again. A request that the service may have acted on
 * (`acceptance: "unknown"`) is never retried.
 */
export function classifySubmissionFailure(error: RequestError): SubmissionFailure {
  if (error instanceof NetworkError) {
    if (error.phase !== "connecting") return { acceptance: "unknown", retry: "never" };
    const isTransient = error.reason === "network" || error.reason === "timeout";
    return { acceptance: "rejected", retry: isTransient ? "unreachable" : "never" };
  }
  if (error instanceof TokenError) {
    return { acceptance: "rejected", retry: error.isTransient ? "unreachable" : "never" };
  }
  if (error instanceof HttpError) {
    const { status, retryAfterMs } = error;
    if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
      return { acceptance: "rejected", retry: "throttled" };
    }
    // A status below 300 here is not valid HTTP (1xx, 0), so it says nothing about the request.
    if (status >= 300 && !isTransientStatus(status)) return { acceptance: "rejected", retry: "never" };
  }
  return { acceptance: "unknown", retry: "never" };
}

/** Returns whether a failed poll may succeed later: anything except a permanent HTTP error or an abort. */
export function isTransientPollFailure(error: RequestError): boolean {
  if (error instanceof NetworkError) return error.reason !== "aborted";
  if (error instanceof HttpError) return error.status === 429 || isTransientStatus(error.status);
  return true;
}

/** With these statuses a gateway may have given up while the service still acts on the request. */
function isTransientStatus(status: number): boolean {
  return status === 408 || status >= 500;
}

/**
 * Returns the delay before a retry, in milliseconds: full jitter on exponential backoff from 1 s to 30 s.
 *
 * @param attempt - retries so far
 * @param random - a number in [0, 1)
 */
export function backoffMs(attempt: number, random: number): number {
  return random * Math.min(30_000, 1000 * 2 ** Math.min(attempt, 10));
}
