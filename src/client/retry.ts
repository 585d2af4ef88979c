import { ExchangeError, RefusalError, type RequestError } from "./errors.ts";

/** What a failed create or message allows: nothing was taken and it may be sent again, or it must not be. */
export type SubmissionVerdict =
  /** Not connected: send again, for about a minute. */
  | "unreachable"
  /** Refused for now (`429`, `503` with `Retry-After`): send again after a wait, to the deadline. */
  | "throttled"
  /** Not taken, and sending it again will not help. */
  | "refused"
  /** May have been taken: never send it again. */
  | "unclear";

/** Whether a create or message that failed may be sent again. Never true where the service may have acted on it. */
export function judgeSubmission(error: RequestError): SubmissionVerdict {
  if (error instanceof ExchangeError) {
    if (error.delivery === "unclear") return "unclear";
    return error.reason === "network" || error.reason === "timeout" ? "unreachable" : "refused";
  }
  if (error instanceof RefusalError) {
    if (error.status === 429) return "throttled";
    if (error.status === 503 && error.retryAfterMs !== undefined) return "throttled";
    // Below 300 there is no refusal: an answer that is no proper HTTP says nothing.
    return isPassingStatus(error.status) || error.status < 300 ? "unclear" : "refused";
  }
  return "unclear";
}

/** Whether a poll that failed is one to repeat at the next interval: all but a firm refusal and an abort. */
export function isPassing(error: RequestError): boolean {
  if (error instanceof ExchangeError) return error.reason !== "aborted";
  if (error instanceof RefusalError) return error.status === 429 || isPassingStatus(error.status);
  return true;
}

/** Statuses by which a request is not firmly refused: it may have been acted on behind a gateway, or may be later. */
function isPassingStatus(status: number): boolean {
  return status === 408 || status >= 500;
}

/**
 * `Retry-After` in milliseconds: whole seconds above 0, or an HTTP date in the future. Anything else is ignored.
 * RFC 9110, section 10.2.3.
 *
 * @param wallTimeMs - now, in milliseconds since 1970
 */
export function parseRetryAfter(value: string | undefined, wallTimeMs: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) {
    const seconds = Math.min(Number(text), longestRetryAfterSeconds);
    return seconds > 0 ? seconds * 1000 : undefined;
  }
  const waitMs = parseHttpDate(text) - wallTimeMs;
  return waitMs > 0 ? waitMs : undefined;
}

/** A year: as good as never, and still a number that can be reckoned with and shown. */
const longestRetryAfterSeconds = 31_536_000;

/** The three forms a recipient must know (RFC 9110, section 5.6.7); `Date.parse` alone would take far more. */
const httpDate =
  /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT)$/;
const asctimeDate = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Milliseconds since 1970, or `NaN`. */
function parseHttpDate(text: string): number {
  if (httpDate.test(text)) return Date.parse(text);
  return asctimeDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}

/** Full jitter on exponential delays from 1 s to 30 s: the wait before attempt `attempt` + 1, in milliseconds. */
export function backoffMs(attempt: number, random: number): number {
  return random * Math.min(30_000, 1000 * 2 ** Math.min(attempt, 10));
}
