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
  const from = at - hourMs;
  const uses = `SELECT count(*) FILTER (WHERE at > ?) AS count, min(at) FILTER (WHERE at > ?) AS oldest,
    count(*) FILTER (WHERE at <= ?) AS expired, count(*) FILTER (WHERE at > ?) AS later
    FROM use WHERE kind = ? AND project = ?`;
  type Uses = { count: number; oldest: number | null; expired: number; later: number };
  const found = await transaction.row<Uses>(uses, from, from, from, at, kind, project);
  const { count = 0, oldest, expired = 0, later = 0 } = found ?? {};
  if (expired > 0)
    await transaction.run("DELETE FROM use WHERE kind = ? AND project = ? AND at <= ?", kind, project, from);
  if (later > 0)
    await transaction.run("UPDATE use SET at = ? WHERE kind = ? AND project = ? AND at > ?", at, kind, project, at);
  if (count >= hourlyLimit) return { retryAfterMs: Math.min(oldest ?? at, at) + hourMs - at };
  await transaction.run("INSERT INTO use (kind, project, at) VALUES (?, ?, ?)", kind, project, at);
  return undefined;
}
