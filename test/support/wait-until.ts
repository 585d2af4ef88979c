import { setTimeout } from "node:timers/promises";

/** Machines are busy at times, and nothing that tests wait for takes longer if it happens at all. */
const limitMs = 30_000;
const intervalMs = 10;

/**
 * Waits until a condition holds.
 *
 * @param what - completes "waited until …", such as "the agent has started"
 * @throws after 30 seconds
 */
export async function waitUntil(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited for ${limitMs / 1000} seconds until ${what}`);
    await setTimeout(intervalMs);
  }
}
