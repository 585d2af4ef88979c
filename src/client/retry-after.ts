/** A year: effectively never, but still safe to compute with and to display. */
const maxRetryAfterMs = 31_536_000_000;

/** The three date formats that a recipient must accept (RFC 9110, section 5.6.7). `Date.parse` by itself accepts far more. */
const httpDate =
  /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT)$/;
const asctimeDate = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3): whole seconds above 0, or an HTTP date in the future.
 *
 * @param date - the response's own `Date`. A date in `Retry-After` is compared with it, because the clocks of the runner
 *   and the server may differ.
 * @param wallTimeMs - the runner's time in milliseconds since 1970, if `date` cannot be read
 * @returns the minimum wait in milliseconds, at most a year; `undefined` for anything else
 */
export function parseRetryAfter(
  value: string | undefined,
  date: string | undefined,
  wallTimeMs: number,
): number | undefined {
  const text = value?.trim() ?? "";
  const sentAt = parseHttpDate(date?.trim() ?? "");
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1000
    : parseHttpDate(text) - (Number.isNaN(sentAt) ? wallTimeMs : sentAt);
  return waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : undefined;
}

/** Returns milliseconds since 1970, or `NaN`. */
function parseHttpDate(text: string): number {
  if (httpDate.test(text)) return Date.parse(text);
  return asctimeDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
