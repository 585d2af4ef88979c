import { NetworkError } from "../runner-kit/transport.ts";
import { HttpError, type RequestError, TokenError } from "./errors.ts";

/**
 * What a failed create or message means. Only with `unknown`, the service may have acted on it: it is never simply sent again.
 * `rejected`: it is useless to send it again. `unreachable`: not connected, or no token to send, so it is retried for about a
 * minute. `throttled`: `429`, or `503` with `Retry-After`, so it is retried after the wait, up to the deadline.
 */
export type SubmissionFailure = "unknown" | "rejected" | "unreachable" | "throttled";

/** Decides whether a failed create or message may be sent again. */
export function classifySubmissionFailure(error: RequestError): SubmissionFailure {
  if (error instanceof NetworkError) {
    if (error.phase !== "connecting") return "unknown";
    return error.reason === "network" || error.reason === "timeout" ? "unreachable" : "rejected";
  }
  if (error instanceof TokenError) return error.isTransient ? "unreachable" : "rejected";
  if (error instanceof HttpError) {
    const { status, retryAfterMs } = error;
    if (status === 429 || (status === 503 && retryAfterMs !== undefined)) return "throttled";
    // A status below 300 here is not valid HTTP (1xx, 0), so it says nothing about the request.
    if (status >= 300 && !isTransientStatus(status)) return "rejected";
  }
  return "unknown";
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

/** Returns the delay after `attempt` retries, in milliseconds: full jitter on exponential backoff, 1 s to 30 s. */
export function backoffMs(attempt: number, random: number): number {
  return random * Math.min(30_000, 1000 * 2 ** Math.min(attempt, 10));
}
