import type { RateLimited } from "../model.ts";
import { hourMs } from "../time.ts";
import type { Transaction, Value } from "./sql.ts";

/** How many creates, and how many messages, are accepted per project in any hour. Specification: "Rate limits". */
export const hourlyLimit = 100;

/** What a turn counts as. */
export type UseKind = "create" | "message";

/** How a turn was accepted: it counts for the hour after this. */
export interface Acceptance {
  kind: UseKind;
  /** Milliseconds since 1970. */
  at: number;
}

/** An SQL expression for milliseconds since 1970, and its values. */
export interface ClockSql {
  sql: string;
  values: readonly Value[];
}

/** The name of the lock that a transaction holds while it accepts a create or message. */
export const limitLock = (kind: UseKind, project: string): string => `${kind} in ${project}`;

/**
 * Decides whether a create or message is accepted, by the turns that its project has got in the last hour. The caller holds
 * `limitLock`, and adds the turn. The cost does not depend on other projects.
 *
 * @param clock - a turn with a later time, from before the clock was set back, counts as now: it neither escapes the limit nor
 *   blocks the project for more than an hour
 */
export async function accept(
  transaction: Transaction,
  kind: UseKind,
  project: string,
  clock: ClockSql,
): Promise<Acceptance | RateLimited> {
  // The clock is read now: others may have been accepted before the lock was free.
  const uses = `SELECT clock.at, count(turn.id) AS count, min(turn."acceptedAt") AS oldest,
      count(*) FILTER (WHERE turn."acceptedAt" > clock.at) AS later
    FROM (SELECT ${clock.sql} AS at) AS clock LEFT JOIN turn
      ON turn.project = ? AND turn."acceptedAs" = ? AND turn."acceptedAt" > clock.at - ${hourMs}
    GROUP BY clock.at`;
  type Uses = { at: number; count: number; oldest: number | null; later: number };
  const found = await transaction.row<Uses>(uses, ...clock.values, project, kind);
  if (found === undefined) throw new Error("the store does not tell the time");
  const { at, count, oldest, later } = found;
  const correct = 'UPDATE turn SET "acceptedAt" = ? WHERE project = ? AND "acceptedAs" = ? AND "acceptedAt" > ?';
  if (later > 0) await transaction.run(correct, at, project, kind, at);
  return count < hourlyLimit ? { kind, at } : { retryAfterMs: Math.min(oldest ?? at, at) + hourMs - at };
}
