import type { Database } from "./database.ts";
import type { RateLimited } from "./engine.ts";

/** Creates, and messages, that are accepted per project in any hour. Specification: "Rate limits". */
export const hourlyLimit = 100;

export const hourMs = 3_600_000;

/**
 * Counts a create or message, unless its project has used up its hourly limit. Its cost does not depend on other projects.
 *
 * @param at - milliseconds since 1970. An earlier use with a later time, from before the clock was set back, counts as now:
 *   it neither escapes the limit nor blocks the project for more than an hour
 */
export function countUse(
  db: Database,
  kind: "create" | "message",
  project: string,
  at: number,
): RateLimited | undefined {
  db.run("DELETE FROM use WHERE kind = ? AND project = ? AND at <= ?", kind, project, at - hourMs);
  db.run("UPDATE use SET at = ? WHERE kind = ? AND project = ? AND at > ?", at, kind, project, at);
  const uses = "SELECT count(*) AS count, min(at) AS oldest FROM use WHERE kind = ? AND project = ?";
  const { count = 0, oldest = at } = db.row<{ count: number; oldest: number }>(uses, kind, project) ?? {};
  if (count >= hourlyLimit) return { retryAfterMs: oldest + hourMs - at };
  db.run("INSERT INTO use (kind, project, at) VALUES (?, ?, ?)", kind, project, at);
  return undefined;
}
