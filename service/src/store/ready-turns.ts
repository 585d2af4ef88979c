import { randomUUID } from "node:crypto";
import type { RunningTurn, StoredTurn } from "../model.ts";
import { LeaseLost } from "../store-errors.ts";
import type { ClockSql } from "./hourly-limit.ts";
import type { Database, Sql, Transaction } from "./sql.ts";

/** A turn that can be started: it waits, and no earlier turn of its job is open. */
export interface ReadyTurn {
  turn: number;
  project: string;
}

/** A turn in the order of starts. */
export interface QueuedTurn extends ReadyTurn {
  /** The lowest one goes first. */
  rank: number;
  /** Whether it was running on a worker whose lease has expired. */
  isResumed: boolean;
}

/** The order of the turns that can be taken. It changes in the transactions in which their rows do, which have the truth. */
export interface TurnQueue {
  /** Adds a turn. `fetch` does not return it before the pause is over. */
  send(transaction: Transaction, turn: QueuedTurn, pauseMs: number): Promise<void>;
  /** Removes the first turn, and returns it. Turns of closed projects are left out, and those that others are just fetching. */
  fetch(transaction: Transaction, closed: readonly string[]): Promise<QueuedTurn | undefined>;
  /** Removes a turn, unless it is not there. Waits for a worker that is just fetching it. */
  remove(transaction: Transaction, turn: number): Promise<void>;
}

/** The turns of a project that can be started or are running. */
export interface ProjectTurns {
  project: string;
  ready: number;
  running: number;
  /** How long the oldest one has been ready, in seconds; 0 if none is ready. */
  oldestAgeSeconds: number;
}

/**
 * How many turns of a project can run at a time: the same number for every project, or a number for each project whose turns
 * can be taken, `Infinity` for any number. Default: any number of every project.
 */
export type TurnLimits = number | ReadonlyMap<string, number> | undefined;

/** Returns how many turns of a project can run at a time. */
export function limitOf(limits: TurnLimits, project: string): number {
  return typeof limits === "object" ? (limits.get(project) ?? 0) : (limits ?? Number.POSITIVE_INFINITY);
}

export interface ReadyTurnsOptions {
  /** Returns the time of the store, in milliseconds since 1970. */
  clock: () => ClockSql;
  /** How long a lease lasts that is not renewed, in milliseconds. Default: forever, because only one process has the store. */
  leaseMs?: number | undefined;
  /** Default: a `RowQueue`. */
  queue?: TurnQueue | undefined;
  /** Called with whether a look for turns has found one. */
  onLook?: ((hasTurn: boolean) => void) | undefined;
}

/**
 * The turns that can be started, at most one of each job, and the leases of those that are running.
 * A turn's row has the truth: `readyAt` is set while it can be taken, `lease` is a random token of the worker that took it last, and
 * `leaseUntil` says when others may take it from that worker. A worker that has not noticed that its lease has expired keeps its turn if
 * nobody has taken it.
 * Projects take turns, so that one with many jobs does not hold up the others: a turn's rank is greater than that of its project's turn
 * before it and than that of the turn that was started last, so that a project that was idle has no advantage either. A turn keeps its rank
 * when it is put back.
 */
export class ReadyTurns {
  /** How often a lease has to be renewed, in milliseconds; `undefined` if it never expires. */
  readonly renewEveryMs: number | undefined;
  readonly clock: () => ClockSql;
  readonly #leaseMs: number | undefined;
  readonly #queue: TurnQueue;
  readonly #onLook: (hasTurn: boolean) => void;

  constructor({ clock, leaseMs, queue, onLook = () => {} }: ReadyTurnsOptions) {
    this.clock = clock;
    this.#leaseMs = leaseMs;
    this.renewEveryMs = leaseMs && leaseMs / 3;
    this.#queue = queue ?? new RowQueue({ clock, leaseMs });
    this.#onLook = onLook;
  }

  /** Adds a turn, which is stored already. */
  async add(transaction: Transaction, { turn, project }: ReadyTurn): Promise<void> {
    const rank = await this.nextRank(transaction, project);
    const { sql, values } = this.clock();
    await transaction.run(`UPDATE turn SET rank = ?, "readyAt" = ${sql} WHERE id = ?`, rank, ...values, turn);
    await this.send(transaction, { turn, project, rank });
  }

  /** Returns the rank of a turn that becomes ready. */
  async nextRank(transaction: Transaction, project: string): Promise<number> {
    const next = `INSERT INTO project (name, "lastRank") VALUES (?, (SELECT rank FROM "lastStart") + 1)
      ON CONFLICT (name) DO UPDATE SET "lastRank" = CASE WHEN project."lastRank" < excluded."lastRank" THEN excluded."lastRank"
        ELSE project."lastRank" + 1 END
      RETURNING "lastRank" AS rank`;
    return (await transaction.rows<{ rank: number }>(next, project))[0]?.rank ?? 0;
  }

  /** Adds a turn that is stored as ready. */
  async send(transaction: Transaction, turn: Omit<QueuedTurn, "isResumed">): Promise<void> {
    await this.#queue.send(transaction, { ...turn, isResumed: false }, 0);
  }

  /** Returns `false` if there is certainly no turn to take. */
  async mayHaveTurns(sql: Sql, limits?: TurnLimits): Promise<boolean> {
    const known = typeof limits === "object" ? [...limits.keys()] : undefined;
    if (known?.length === 0) return false;
    const isReady = whenReady({ clock: this.clock, leaseMs: this.#leaseMs });
    const isKnown = known === undefined ? "" : `AND project IN (${known.map(() => "?")})`;
    const find = `SELECT 1 FROM turn WHERE ${isReady.sql} ${isKnown} LIMIT 1`;
    const found = (await sql.row(find, ...isReady.values, ...(known ?? []))) !== undefined;
    if (!found) this.#onLook(false);
    return found;
  }

  /**
   * Takes the next turn, which is running then; `undefined` if there is none.
   *
   * @param at - milliseconds since 1970
   */
  async take(transaction: Transaction, limits: TurnLimits, at: number): Promise<RunningTurn | undefined> {
    const closed = await closedProjects(transaction, limits);
    let started: RunningTurn | undefined;
    while (started === undefined) {
      const next = await this.#queue.fetch(transaction, closed);
      if (next === undefined) break;
      if (limitOf(limits, next.project) > 0) started = await this.#start(transaction, next, at);
      else {
        // The project was added after the others were read.
        closed.push(next.project);
        await this.#queue.send(transaction, next, 0);
      }
    }
    this.#onLook(started !== undefined);
    return started;
  }

  /** Makes a turn a running one. Returns `undefined` if it has ended, or was deleted. */
  async #start(transaction: Transaction, next: QueuedTurn, at: number): Promise<RunningTurn | undefined> {
    const until = this.#until();
    const start = `UPDATE turn SET state = 'running', lease = ?, "leaseUntil" = ${until.sql}, "readyAt" = NULL,
      "startedAt" = coalesce("startedAt", ?), "waitReason" = NULL, "waitUntil" = NULL WHERE id = ? AND "readyAt" IS NOT NULL AND state IN ('waiting', 'running')
      RETURNING id, identity, job, prompt, sections, asked, covers, attempts, step, request, lease`;
    const values = [randomUUID(), ...until.values, at, next.turn];
    const [turn] = await transaction.rows<Omit<RunningTurn, "isResumed">>(start, ...values);
    if (turn === undefined) return undefined;
    await transaction.run('UPDATE "lastStart" SET rank = ? WHERE rank < ?', next.rank, next.rank);
    return { ...turn, isResumed: next.isResumed };
  }

  /**
   * Keeps others from taking a running turn until the transaction has ended, and renews its lease. To be called before a change of it.
   *
   * @throws LeaseLost if another worker has taken it, or it has ended
   */
  async hold(transaction: Transaction, turn: Lease): Promise<Pick<StoredTurn, "attempts" | "costUsd">> {
    const [held] = await this.#renew(transaction, turn, 'AND "readyAt" IS NULL');
    if (held !== undefined) return held;
    // Others may take it. They remove it from the queue first, too.
    await this.#queue.remove(transaction, turn.id);
    const [again] = await this.#renew(transaction, turn);
    if (again === undefined) throw new LeaseLost(turn.id);
    return again;
  }

  /** Extends a lease. Returns `false` if another worker has taken the turn. */
  async renew(database: Database, turn: Lease): Promise<boolean> {
    if (this.#leaseMs === undefined) return true;
    const soon = { rows: database.rowsSoon.bind(database) };
    if ((await this.#renew(soon, turn, 'AND "readyAt" IS NULL')).length > 0) return true;
    try {
      await database.transaction((transaction) => this.hold(transaction, turn));
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) return false;
      throw error;
    }
  }

  #renew(
    sql: Pick<Sql, "rows">,
    { id, lease }: Lease,
    condition = "",
  ): Promise<Pick<StoredTurn, "attempts" | "costUsd">[]> {
    const until = this.#until();
    const renew = `UPDATE turn SET "leaseUntil" = ${until.sql}, "readyAt" = NULL WHERE id = ? AND lease = ? ${condition}
      RETURNING attempts, "costUsd"`;
    return sql.rows(renew, ...until.values, id, lease);
  }

  /**
   * Makes a turn wait again that `hold` holds.
   *
   * @param pauseMs - it cannot be taken before this time has passed
   * @param attempts - how many it has had
   * @param reason - what it waits for. Default: a free agent
   */
  async putBack(
    transaction: Transaction,
    turn: number,
    pauseMs: number,
    attempts: number,
    reason: string | null = null,
  ): Promise<void> {
    // Where time alone does not end a pause, the turn is not ready until then.
    const isPaused = pauseMs > 0 && this.#leaseMs === undefined;
    const { sql, values } = isPaused ? { sql: "NULL", values: [] } : this.#after(pauseMs);
    const until = this.#after(pauseMs);
    const wait = `UPDATE turn SET state = 'waiting', lease = NULL, "leaseUntil" = NULL, attempts = ?, "readyAt" = ${sql},
      "waitReason" = ?, "waitUntil" = ${until.sql} WHERE id = ? RETURNING project, rank`;
    const given = [attempts, ...values, reason, ...until.values, turn];
    for (const { project, rank } of await transaction.rows<Omit<QueuedTurn, "turn">>(wait, ...given))
      if (!isPaused) await this.#queue.send(transaction, { turn, project, rank, isResumed: false }, pauseMs);
  }

  /** Ends the pause of a turn that was put back, unless time alone ends it. */
  async endPause(transaction: Transaction, turn: number): Promise<void> {
    if (this.#leaseMs !== undefined) return;
    const { sql, values } = this.clock();
    const end = `UPDATE turn SET "readyAt" = ${sql} WHERE id = ? AND state = 'waiting' AND "readyAt" IS NULL AND rank IS NOT NULL`;
    await transaction.run(end, ...values, turn);
  }

  /** Removes a turn that waits. The caller's transaction fails if somebody has taken it meanwhile. */
  async withdraw(transaction: Transaction, turn: number): Promise<void> {
    await this.#queue.remove(transaction, turn);
  }

  /**
   * Puts back the turns that an earlier process left, unless leases show which are still running. Called once, before turns are taken.
   *
   * @returns the turns that were running
   */
  async recover(transaction: Transaction): Promise<{ id: number; job: string }[]> {
    if (this.#leaseMs !== undefined) return [];
    const { sql, values } = this.clock();
    const interrupted = "UPDATE turn SET state = 'waiting', lease = NULL WHERE state = 'running' RETURNING id, job";
    const turns = await transaction.rows<{ id: number; job: string }>(interrupted);
    const ready = `UPDATE turn SET "readyAt" = coalesce("readyAt", ${sql}) WHERE state = 'waiting' AND rank IS NOT NULL`;
    await transaction.run(ready, ...values);
    return turns;
  }

  /**
   * Lets turns be taken over whose leases have expired. To be called every few seconds, by any number of processes. After a time
   * without such calls, the database may have been out of reach, so all workers get the time of a lease to renew theirs.
   *
   * @returns whether there are any
   */
  async expire(database: Database): Promise<boolean> {
    if (this.#leaseMs === undefined) return false;
    const { sql: now, values } = this.clock();
    const gapMs = this.#leaseMs / 2;
    const see = `UPDATE supervision SET since = CASE WHEN at < ${now} - ${gapMs} THEN ${now} ELSE since END, at = ${now}
      WHERE at < ${now} - ${gapMs / 5} RETURNING at`;
    await database.rows(see, ...values, ...values, ...values, ...values);
    const expired = `state = 'running' AND "readyAt" IS NULL AND "leaseUntil" < ${now}
      AND (SELECT since FROM supervision) <= ${now} - ${this.#leaseMs}`;
    if ((await database.row(`SELECT 1 FROM turn WHERE ${expired} LIMIT 1`, ...values, ...values)) === undefined)
      return false;
    const release = `UPDATE turn SET "readyAt" = ${now} WHERE ${expired} RETURNING id AS turn, project, rank`;
    await database.transaction(async (transaction) => {
      // Two processes at the same time would wait for each other.
      await transaction.lock("expired leases");
      for (const turn of await transaction.rows<Omit<QueuedTurn, "isResumed">>(
        release,
        ...values,
        ...values,
        ...values,
      ))
        await this.#queue.send(transaction, { ...turn, isResumed: true }, 0);
    });
    return true;
  }

  /** Returns the turns of each project that has any. */
  ofProjects(sql: Sql): Promise<ProjectTurns[]> {
    const { sql: now, values } = this.clock();
    const isReady = whenReady({ clock: this.clock, leaseMs: this.#leaseMs });
    const age = `max(CASE WHEN ${isReady.sql} AND "readyAt" < ${now} THEN ${now} - "readyAt" ELSE 0 END)`;
    const find = `SELECT project, sum(CASE WHEN ${isReady.sql} THEN 1 ELSE 0 END) AS ready,
      sum(CASE WHEN ${isRunning} THEN 1 ELSE 0 END) AS running, CAST(${age} AS double precision) / 1000 AS "oldestAgeSeconds"
      FROM turn WHERE state IN ('waiting', 'running') GROUP BY project`;
    return sql.rows<ProjectTurns>(find, ...isReady.values, ...isReady.values, ...values, ...values);
  }

  /** Counts the running turns whose lease has expired. */
  async countExpired(sql: Sql): Promise<number> {
    const { sql: now, values } = this.clock();
    const count = `SELECT count(*) AS turns FROM turn WHERE state = 'running' AND "leaseUntil" < ${now}`;
    return (await sql.row<{ turns: number }>(count, ...values))?.turns ?? 0;
  }

  #until(): ClockSql {
    return this.#leaseMs === undefined ? { sql: "NULL", values: [] } : this.#after(this.#leaseMs);
  }

  #after(ms: number): ClockSql {
    const { sql, values } = this.clock();
    return { sql: `${sql} + ${ms}`, values };
  }
}

/** A running turn, with the proof that a worker has taken it. */
export type Lease = Pick<RunningTurn, "id" | "lease">;

/** A running turn that nobody else may take. */
const isRunning = `state IN ('waiting', 'running') AND state = 'running' AND "readyAt" IS NULL`;

/** Returns the projects of which no turn may be taken now. */
async function closedProjects(transaction: Transaction, limits: TurnLimits): Promise<string[]> {
  const all = typeof limits === "object" ? [...limits.values()] : [limits ?? Number.POSITIVE_INFINITY];
  // Two processes at the same time would not count each other's turns.
  if (all.some(Number.isFinite)) await transaction.lock("turns");
  else if (typeof limits !== "object") return [];
  const projects = `SELECT name, coalesce(running.turns, 0) AS running FROM project LEFT JOIN (
      SELECT turn.project, count(*) AS turns FROM turn WHERE ${isRunning} GROUP BY turn.project
    ) AS running ON running.project = project.name`;
  const found = await transaction.rows<{ name: string; running: number }>(projects);
  return found.filter(({ name, running }) => running >= limitOf(limits, name)).map(({ name }) => name);
}

/** Returns the condition for a turn that can be taken. Where time does not end pauses, a clock that was set back holds up no turn. */
function whenReady({ clock, leaseMs }: Pick<ReadyTurnsOptions, "clock" | "leaseMs">): ClockSql {
  const isOpen = `state IN ('waiting', 'running') AND "readyAt"`;
  const { sql, values } = clock();
  return leaseMs === undefined ? { sql: `${isOpen} IS NOT NULL`, values: [] } : { sql: `${isOpen} <= ${sql}`, values };
}

/** The order as the rows of the turns have it, for stores that make one transaction at a time. */
export class RowQueue implements TurnQueue {
  readonly #options: Pick<ReadyTurnsOptions, "clock" | "leaseMs">;

  constructor(options: Pick<ReadyTurnsOptions, "clock" | "leaseMs">) {
    this.#options = options;
  }

  async send(_transaction: Transaction, _turn: QueuedTurn, _pauseMs: number): Promise<void> {}

  async fetch(transaction: Transaction, closed: readonly string[]): Promise<QueuedTurn | undefined> {
    const { sql, values } = whenReady(this.#options);
    const isOpen = closed.length === 0 ? "" : `AND project NOT IN (${closed.map(() => "?")})`;
    const first = `SELECT id AS turn, project, rank, CASE WHEN state = 'running' THEN 1 ELSE 0 END AS "isResumed"
      FROM turn WHERE ${sql} ${isOpen} ORDER BY rank, id LIMIT 1`;
    const found = await transaction.row<QueuedTurn>(first, ...values, ...closed);
    return found && { ...found, isResumed: Boolean(found.isResumed) };
  }

  async remove(): Promise<void> {}
}
