import { setTimeout } from "node:timers/promises";

/** Far longer than anything takes that tests wait for, on a busy machine too. */
const defaultLimitMs = 40_000;
const intervalMs = 5;

/**
 * Waits until a condition holds. Returns its value.
 *
 * @param condition - holds unless it returns `false` or `undefined`
 * @param limitMs - in milliseconds. Default: 40 seconds
 * @throws at the limit, with the condition as it is written
 */
export async function waitUntil<T>(
  condition: () => T | false | undefined | Promise<T | false | undefined>,
  limitMs = defaultLimitMs,
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > end) throw new Error(`Waited ${limitMs / 1000} s in vain for ${condition}`);
    await setTimeout(intervalMs);
  }
}
