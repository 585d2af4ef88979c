/** In seconds. Proxies commonly give up after 30 or 60 seconds without an answer. */
const maxWaitSeconds = 25;

/**
 * Returns how many seconds a client prefers to wait for an answer, from its `Prefer` headers: at most 25; `undefined` if the
 * client does not say. RFC 7240, sections 2 and 4.3.
 *
 * @param header - all `Prefer` headers, joined by commas
 */
export function preferredWait(header: string | string[] | undefined): number | undefined {
  for (const preference of String(header ?? "").split(",")) {
    const seconds = /^\s*wait\s*=\s*("?)(\d{1,9})\1\s*(?:;|$)/i.exec(preference)?.[2];
    // If a preference is repeated, the first one counts.
    if (seconds !== undefined) return Math.min(Number(seconds), maxWaitSeconds);
  }
  return undefined;
}
