/** A year: effectively never, but still safe to compute with and to display. */
const maxRetryAfterMs = 31_536_000_000;

/** The three date formats that a recipient must accept (RFC 9110, section 5.6.7). `Date.parse` by itself accepts far more. */
const httpDate =
  /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT)$/;
const asctimeDate = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3), in milliseconds, at most a year; `undefined` unless it is a later time. A date is
 * compared with the response's own `date`, because clocks differ, or with the runner's `wallTimeMs`.
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
