import type { ClockSql } from "../hourly-limit.ts";

/** Returns the time of the server, in milliseconds since 1970. */
export const serverClock = (): ClockSql => ({
  sql: "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
  values: [],
});

/** Times of a Postgres store. All are in milliseconds. Tests make them shorter. */
export interface PostgresTimes {
  /** How long to wait for a connection: a new one, or one that others use. */
  connectMs: number;
  /** How long to wait for an answer that is needed soon: well below the time in which an expiring lease is renewed. */
  soonMs: number;
  /** A worker that has not renewed a lease for this long is considered dead. */
  leaseMs: number;
  /** How long to ask whether a transaction was committed when its connection was lost at that moment. */
  outcomeMs: number;
  /** The pause between two such questions. */
  outcomePauseMs: number;
  /** A transaction whose locks others wait for must not outlive a machine that was paused. */
  idleInTransactionMs: number;
  /** How often expired leases are looked for. */
  superviseMs: number;
  /** How long a notification through a pooler may take, before it is considered lost. */
  notificationMs: number;
  /** How often to look for changes if notifications do not arrive. */
  pollMs: number;
}

export const defaultTimes: PostgresTimes = {
  connectMs: 5000,
  soonMs: 5000,
  leaseMs: 30_000,
  outcomeMs: 30_000,
  outcomePauseMs: 500,
  idleInTransactionMs: 10_000,
  superviseMs: 10_000,
  notificationMs: 10_000,
  pollMs: 5000,
};
