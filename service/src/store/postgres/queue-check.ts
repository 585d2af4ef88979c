import type { ReadyTurn } from "../ready-turns.ts";
import type { Sql } from "../sql.ts";

/*
 * Finds where the queue and the turns of a store differ. All that changes both changes them in one transaction, so they differ only
 * if somebody else has changed one of them.
 */

/** Where a queue is. */
export interface QueuePlace {
  /** pg-boss's table of jobs. */
  table: string;
  /** The name of the queue. */
  queue: string;
}

const isOpen = "turn.state IN ('waiting', 'running')";
/** As the index of the queue has it: an entry that waits or is taken. */
const isQueued = "queued.state <= 'active' AND queued.policy = 'exclusive'";

/** Returns the entries of a queue for turns that have ended, or that there are not. */
export function findSurplus(sql: Sql, { table, queue }: QueuePlace): Promise<{ id: string; turn: number }[]> {
  const surplus = `SELECT id, (data ->> 'turn')::bigint AS turn FROM ${table} AS queued WHERE name = ? AND ${isQueued}
    AND NOT EXISTS (SELECT 1 FROM turn
      WHERE turn.id = (queued.data ->> 'turn')::bigint AND turn.job = queued.singleton_key AND ${isOpen})`;
  return sql.rows(surplus, queue);
}

/** Returns the first open turn of each job of which the queue has none. */
export function findMissing(sql: Sql, place: QueuePlace): Promise<ReadyTurn[]> {
  const missing = `SELECT min(turn.id) AS turn, turn.job, turn.project FROM turn WHERE ${isMissing(place)}
    GROUP BY turn.job, turn.project`;
  return sql.rows(missing, place.queue);
}

/** Returns the first open turn of a job, if the queue has none of them. */
export function findMissingOf(job: string, sql: Sql, place: QueuePlace): Promise<ReadyTurn | undefined> {
  const missing = `SELECT turn.id AS turn, turn.job, turn.project FROM turn
    WHERE ${isMissing(place)} AND turn.job = ? ORDER BY turn.id LIMIT 1`;
  return sql.row<ReadyTurn>(missing, place.queue, job);
}

function isMissing({ table }: QueuePlace): string {
  return `${isOpen} AND NOT EXISTS (SELECT 1 FROM ${table} AS queued
    WHERE queued.name = ? AND coalesce(queued.singleton_key, '') = turn.job AND ${isQueued})`;
}
