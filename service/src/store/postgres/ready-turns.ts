import { PgBoss } from "pg-boss";
import type { Log } from "../../log/log.ts";
import { thisMachine } from "../../machine.ts";
import type { RunningTurn } from "../../model.ts";
import { LeaseLost, StoreUnavailable } from "../../store-errors.ts";
import { runningTurn } from "../job-state.ts";
import type { ProjectTurns, ReadyTurn, ReadyTurns, TakenTurn, TurnLimits } from "../ready-turns.ts";
import type { Sql, Transaction } from "../sql.ts";
import { type PostgresDatabase, transactionOf } from "./database.ts";
import type { Notifications } from "./notifications.ts";
import { findMissing, findMissingOf, findSurplus } from "./queue-check.ts";
import { WakeUps } from "./wake-ups.ts";

const queue = "turn";

/** A worker that has not renewed a lease for this long is considered dead. */
const leaseSeconds = 30;
const renewEveryMs = 10_000;
/** Notifications wake workers. Polling covers those that do not arrive, and the ends of pauses. */
const pollMs = 5000;

/** How often pg-boss cleans up, and the queue is compared with the turns. */
const maintainEveryMs = 300_000;

/** pg-boss deletes turns that wait longer. */
const retentionSeconds = 10 * 365 * 86_400;

export interface PostgresReadyTurnsOptions {
  database: PostgresDatabase;
  notifications: Notifications;
  log: Log;
  /** How often expired leases are looked for, in milliseconds. At most once a second. */
  superviseMs: number;
}

/**
 * The queue for any number of processes: pg-boss, which takes the lowest rank first. When the lease of a worker that has died
 * expires, another worker takes the turn.
 */
export class PostgresReadyTurns implements ReadyTurns, AsyncDisposable {
  readonly renewEveryMs = renewEveryMs;
  readonly #database: PostgresDatabase;
  readonly #notifications: Notifications;
  readonly #boss: PgBoss;
  readonly #superviseMs: number;
  readonly #log: Log;
  #isSupervising = false;
  #maintainedAt = Number.NEGATIVE_INFINITY;
  readonly #listeners = new Set<() => void>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #end = new AbortController();
  readonly #wakeUps = new WakeUps(() => this.#announce(), thisMachine, this.#end.signal);

  private constructor({ database, notifications, log, superviseMs }: PostgresReadyTurnsOptions) {
    this.#database = database;
    this.#notifications = notifications;
    this.#superviseMs = superviseMs;
    this.#log = log;
    this.#boss = new PgBoss({
      db: { executeSql: (sql, values) => database.query(sql, values) },
      schema: database.names.queue,
      schedule: false,
      supervise: false,
      // Processes share this interval: the first one that looks for expired leases does so for all.
      monitorIntervalSeconds: Math.max(1, superviseMs / 2000),
    });
    this.#boss.on("error", (error) => {
      const isKnown = database.isOut || error instanceof StoreUnavailable;
      if (!isKnown) log(`The queue reports an error: ${error.message}`);
    });
    this.#boss.on("warning", ({ message }) => log(`The queue reports: ${message}`));
  }

  /** Opens the queue, whose tables are of this version of pg-boss or a later one, and creates it in them. */
  static async open(options: PostgresReadyTurnsOptions): Promise<PostgresReadyTurns> {
    const turns = new PostgresReadyTurns(options);
    await turns.#open();
    return turns;
  }

  async #open(): Promise<void> {
    await this.#boss.start();
    const options = {
      expireInSeconds: 86_399,
      heartbeatSeconds: leaseSeconds,
      retryLimit: 1_000_000,
      retentionSeconds,
      deleteAfterSeconds: 3600,
    };
    // The table `turn` has the state of turns. `exclusive`: at most one turn of each job.
    await this.#boss.createQueue(queue, { ...options, policy: "exclusive" });
    await this.#boss.updateQueue(queue, options);
    // pg-boss reads the queue's settings when it first needs them, on a connection that is not the transaction's. If all
    // connections had a transaction that waits for this, none could continue.
    await this.#boss.findJobs(queue, { key: "" });
    this.#notifications.on(this.#database.names.channels.turn, () => this.#wakeUps.notified());
    // So that processes do not all look at the same moment.
    this.#timers.push(setInterval(() => this.#announce(), pollMs * (0.8 + 0.4 * Math.random())).unref());
    this.#timers.push(setInterval(() => void this.#supervise().catch(() => {}), this.#superviseMs).unref());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await this.#boss.stop({ close: false, graceful: false });
  }

  async add(transaction: Transaction, { turn, job, project }: ReadyTurn): Promise<void> {
    const next = `INSERT INTO project (name, "lastRank") VALUES (?, (SELECT rank FROM "lastStart") + 1)
      ON CONFLICT (name) DO UPDATE SET "lastRank" = greatest(project."lastRank", excluded."lastRank" - 1) + 1
      RETURNING "lastRank" AS rank`;
    const { rank = 0 } = (await transaction.row<{ rank: number }>(next, project)) ?? {};
    await this.#boss.send(
      queue,
      { turn, rank },
      { singletonKey: job, group: { id: project, tier: project }, priority: -rank, db: connectionOf(transaction) },
    );
    this.#notifyReady(transaction);
  }

  async mayHaveTurns(sql: Sql, limits?: TurnLimits): Promise<boolean> {
    const known = typeof limits === "object" ? [...limits.keys()] : undefined;
    if (known?.length === 0) return false;
    const isKnown = known === undefined ? "" : `AND group_id IN (${known.map(() => "?")})`;
    const ready = `SELECT 1 FROM ${this.#database.names.queue}.job
      WHERE name = ? AND state < 'active' AND NOT blocked AND start_after <= now() ${isKnown} LIMIT 1`;
    const found = (await sql.row(ready, queue, ...(known ?? []))) !== undefined;
    if (!found) this.#wakeUps.looked(false);
    return found;
  }

  async take(transaction: Transaction, limits: TurnLimits, at: number): Promise<RunningTurn | undefined> {
    const started = await this.#take(transaction, limits, at);
    this.#wakeUps.looked(started !== undefined);
    return started;
  }

  async #take(transaction: Transaction, limits: TurnLimits, at: number): Promise<RunningTurn | undefined> {
    const concurrency = groupConcurrency(limits);
    // Two processes at the same time would not count each other's turns.
    if (concurrency !== undefined) await transaction.lock("turns");
    const options = { ...(concurrency && { groupConcurrency: concurrency }), db: connectionOf(transaction) };
    for (;;) {
      const found =
        typeof limits === "object" ? await this.#fetchKnown(transaction, limits, options) : await this.#fetch(options);
      if (found === undefined) return undefined;
      const { turn } = found.data;
      const taken = { turn, lease: `${found.id}/${found.retryCount}` };
      const started = await this.#start(transaction, found, taken, at);
      if (started !== undefined) return started;
      await this.#boss.complete(queue, attemptOf(taken), null, { db: connectionOf(transaction) });
      this.#log(`Turn ${turn} ${notRunnable}`, "error");
    }
  }

  /**
   * Makes a taken turn a running one, and its rank the last one, in one statement. Returns `undefined` if there is no such turn, or it
   * has ended.
   */
  async #start(
    transaction: Transaction,
    { id, data: { turn, rank } }: QueuedTurn,
    { lease }: TakenTurn,
    at: number,
  ): Promise<RunningTurn | undefined> {
    const start = `WITH open AS (
        SELECT id, state = 'running' AS "isResumed" FROM turn WHERE id = ? AND state IN ('waiting', 'running')
          AND job = (SELECT singleton_key FROM ${this.#database.names.queue}.job WHERE name = ? AND id = ?)
      ), begun AS (UPDATE "lastStart" SET rank = ? WHERE rank < ? AND EXISTS (SELECT 1 FROM open)
      ), started AS (
        UPDATE turn SET ${runningTurn} WHERE id = (SELECT id FROM open)
          RETURNING id, identity, job, prompt, attempts, step, request, lease
      ) SELECT started.*, "isResumed" FROM started JOIN open ON open.id = started.id`;
    return transaction.row<RunningTurn>(start, turn, queue, id, rank, rank, lease, at);
  }

  async #fetch(options: FetchOptions): Promise<QueuedTurn | undefined> {
    return (await this.#boss.fetch<QueuedTurn["data"]>(queue, options))[0];
  }

  /** Takes a turn of a project that has a limit. */
  async #fetchKnown(
    transaction: Transaction,
    limits: ReadonlyMap<string, number>,
    options: FetchOptions,
  ): Promise<QueuedTurn | undefined> {
    const projects = await transaction.rows<{ name: string }>("SELECT name FROM project");
    const unknown = projects.map(({ name }) => name).filter((name) => !limits.has(name));
    for (;;) {
      await transaction.run("SAVEPOINT take");
      const found = await this.#fetch({ ...options, ignoreGroups: unknown });
      const project = found?.groupId ?? "";
      if (found === undefined || limits.has(project)) return found;
      // The project was added after the others were read.
      await transaction.run("ROLLBACK TO SAVEPOINT take");
      unknown.push(project);
    }
  }

  async remove(transaction: Transaction, taken: TakenTurn): Promise<void> {
    const completed = await this.#boss.complete(queue, attemptOf(taken), null, { db: connectionOf(transaction) });
    if (!hadEffect(completed)) throw new LeaseLost(taken.turn);
  }

  async putBack(transaction: Transaction, taken: TakenTurn, pauseMs: number): Promise<void> {
    const db = connectionOf(transaction);
    const attempt = attemptOf(taken);
    if (!hadEffect(await this.#boss.fail(queue, attempt, null, { db }))) throw new LeaseLost(taken.turn);
    const startAfter = Math.ceil(pauseMs / 1000);
    if (startAfter > 0) await this.#boss.update(queue, undefined, { id: attempt.id, startAfter, db });
    else this.#notifyReady(transaction);
  }

  /** A worker that has just taken the turn has changed it as well, so the caller's change of it fails and undoes this. */
  async withdraw(transaction: Transaction, { job }: Pick<ReadyTurn, "job">): Promise<void> {
    const db = connectionOf(transaction);
    for (const { id } of await this.#boss.findJobs(queue, { key: job, queued: true, db }))
      await this.#boss.deleteJob(queue, id, { db });
  }

  /** Does nothing: time alone ends a pause. */
  async endPause(): Promise<void> {}

  /** Puts nothing back: other processes may be running all turns that are running. */
  async recover(): Promise<[]> {
    return [];
  }

  ofProjects(sql: Sql): Promise<ProjectTurns[]> {
    const isReady = "FILTER (WHERE state < 'active' AND start_after <= now())";
    const age = `coalesce(extract(epoch FROM now() - min(start_after) ${isReady}), 0)`;
    return sql.rows(
      `SELECT group_id AS project, count(*) ${isReady} AS ready, count(*) FILTER (WHERE state = 'active') AS running,
         greatest(${age}, 0)::double precision AS "oldestAgeSeconds"
         FROM ${this.#database.names.queue}.job WHERE name = ? AND state <= 'active' GROUP BY group_id`,
      queue,
    );
  }

  async renew(taken: TakenTurn): Promise<boolean> {
    return hadEffect(await this.#boss.touch(queue, attemptOf(taken)));
  }

  onReady(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** After an outage, all workers have time to renew their leases before any expires. */
  async #supervise(): Promise<void> {
    // A second one would wait in pg-boss, and continue after an outage that has begun meanwhile.
    if (this.#isSupervising || this.#database.usableForMs < leaseSeconds * 1000) return;
    this.#isSupervising = true;
    try {
      const now = performance.now();
      const isDue = now - this.#maintainedAt >= maintainEveryMs;
      // pg-boss asks 25 questions, so it is not called for nothing.
      if (!isDue && !(await this.#hasExpired())) return;
      await this.#boss.supervise(queue);
      this.#announce();
      if (!isDue) return;
      this.#maintainedAt = now;
      await this.#database.exclusively("queue", async () => {
        await this.#database.forgetOldCommits();
        await this.#compare();
      });
    } finally {
      this.#isSupervising = false;
    }
  }

  async #hasExpired(): Promise<boolean> {
    const expired = `SELECT 1 FROM ${this.#database.names.queue}.job
      WHERE name = ? AND state = 'active' AND heartbeat_on < now() - heartbeat_seconds * interval '1 second' LIMIT 1`;
    return (await this.#database.row(expired, queue)) !== undefined;
  }

  /** Repairs where the queue and the turns differ, for example because somebody has changed a table. */
  async #compare(): Promise<void> {
    const place = { table: `${this.#database.names.queue}.job`, queue };
    for (const { id, turn } of await findSurplus(this.#database, place)) {
      await this.#boss.deleteJob(queue, id);
      this.#log(`Turn ${turn} ${notRunnable}`, "error");
    }
    for (const { job } of await findMissing(this.#database, place)) {
      const added = await this.#database.transaction(async (transaction) => {
        await transaction.lock(job);
        const turn = await findMissingOf(job, transaction, place);
        if (turn !== undefined) await this.add(transaction, turn);
        return turn;
      });
      if (added)
        this.#log(`${job}: turn ${added.turn} was missing in the queue. It is added, and can be run.`, "error");
    }
  }

  #notifyReady(transaction: Transaction): void {
    transactionOf(transaction).notify(this.#database.names.channels.turn);
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}

const notRunnable =
  "was in the queue, but there is no such turn that waits or is running. It is removed from the queue, and not run.";

interface QueuedTurn {
  id: string;
  retryCount: number;
  data: { turn: number; rank: number };
  groupId?: string | null;
}

type FetchOptions = Parameters<PgBoss["fetch"]>[1];

/** More turns than can run at a time. */
const anyNumber = 1_000_000;

/** Returns the limits for pg-boss; `undefined` if there are none. The tier of a turn is its project. */
function groupConcurrency(limits: TurnLimits) {
  if (typeof limits !== "object") return limits;
  const tiers = [...limits].filter(([, limit]) => Number.isFinite(limit));
  return tiers.length === 0 ? undefined : { default: anyNumber, tiers: Object.fromEntries(tiers) };
}

/** Lets pg-boss take part in a transaction. */
function connectionOf(transaction: Transaction) {
  const own = transactionOf(transaction);
  return { executeSql: (sql: string, values?: unknown[]) => own.query(sql, values) };
}

/** Returns whether pg-boss changed anything. It does not declare the type of its responses. */
function hadEffect(response: object): boolean {
  if (!("affected" in response)) throw new Error("pg-boss does not say whether it changed anything");
  return response.affected === 1;
}

/** A lease is the id of pg-boss and the number of the attempt. */
function attemptOf({ lease }: TakenTurn): { id: string; retryCount: number } {
  const [id = "", retryCount] = lease.split("/");
  return { id, retryCount: Number(retryCount) };
}
