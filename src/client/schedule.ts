/** The limits of the delay between polls, in milliseconds, before jitter. */
export interface PollIntervals {
  minMs: number;
  maxMs: number;
}

/**
 * Returns the delay before the next poll, in milliseconds: 10 % of the time waited so far, within the two intervals.
 * The end of a short job is noticed early, and long jobs cost few requests. The jitter spreads out jobs that were
 * started together; it is widest on the first delay.
 *
 * @param random - a number in [0, 1)
 */
export function nextPollDelayMs(waitedMs: number, isFirst: boolean, intervals: PollIntervals, random: number): number {
  const base = Math.min(Math.max(waitedMs * 0.1, intervals.minMs), intervals.maxMs);
  return base * (isFirst ? 0.5 + random : 0.8 + 0.4 * random);
}
