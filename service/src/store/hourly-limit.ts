import type { RateLimited } from "../model.ts";
import { hourMs } from "../time.ts";
import type { Transaction } from "./sql.ts";

/** How many creates, and how many messages, are accepted per project in any hour. Specification: "Rate limits". */
export const hourlyLimit = 100;

/**
 * Counts a create or message, unless its project has used up its hourly limit. Its cost does not depend on other projects.
 *
 * @param clock - milliseconds since 1970. An earlier use with a later time, from before the clock was set back, counts as now:
 *   it neither escapes the limit nor blocks the project for more than an hour
 */
export async function countUse(
  transaction: Transaction,
  kind: "create" | "message",
  project: string,
  clock: () => number | Promise<number>,
): Promise<RateLimited | undefined> {
  await transaction.lock(`${kind} in ${project}`);
  // Read now: others may have been counted before the lock was free.
  const at = await clock();
  await transaction.run("DELETE FROM use WHERE kind = ? AND project = ? AND at <= ?", kind, project, at - hourMs);
  await transaction.run("UPDATE use SET at = ? WHERE kind = ? AND project = ? AND at > ?", at, kind, project, at);
  const uses = "SELECT count(*) AS count, min(at) AS oldest FROM use WHERE kind = ? AND project = ?";
  const found = await transaction.row<{ count: number; oldest: number | null }>(uses, kind, project);
  const { count = 0, oldest } = found ?? {};
  if (count >= hourlyLimit) return { retryAfterMs: (oldest ?? at) + hourMs - at };
  await transaction.run("INSERT INTO use (kind, project, at) VALUES (?, ?, ?)", kind, project, at);
  return undefined;
}
