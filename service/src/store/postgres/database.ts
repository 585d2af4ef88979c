import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import {
  Client,
  type ClientConfig,
  DatabaseError,
  types as defaultTypes,
  escapeLiteral,
  Pool,
  type PoolClient,
  type QueryResult,
} from "pg";
import { errorMessage } from "../../error-message.ts";
import type { Log } from "../../log/log.ts";
import { OutageLog } from "../../log/outage-log.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../store-errors.ts";
import { type Database, storable, type Transaction, type Value } from "../sql.ts";
import { connectionString } from "./connection-string.ts";
import { isAnswer, isPoolFull, isUnavailable, isUnwritable } from "./errors.ts";
import { namesOf, qualified, type StoreNames } from "./names.ts";
import { isPooled } from "./pooler.ts";
import { defaultTimes, type PostgresTimes } from "./times.ts";

export interface PostgresOptions {
  /** `postgres://…`, as `psql` takes it. It may be a pooler's, such as PgBouncer in session or transaction mode. */
  url: string;
  /** The URL of the same database without a pooler in transaction mode, for notifications. Default: `url`. */
  directUrl?: string | undefined;
  /** The schema of the tables. Default: `agent_jobs`. */
  schema?: string | undefined;
  /** Connections at a time, besides the one that waits for notifications. Default: 10. */
  maxConnections?: number;
  log: Log;
  /** Called when the database becomes unusable. Default: does nothing. */
  onOutage?: (() => void) | undefined;
  times?: Partial<PostgresTimes>;
  /** Returns an SQL expression for the time by which hourly limits count, in milliseconds since 1970. Default: the server's. */
  clock?: () => string;
}

/** For a statement of a transaction. */
const statementMs = 30_000;
/** Longer than the server's own limit: it ends statements on a server that has silently disappeared. */
const queryMs = 40_000;
/** After this time without traffic, TCP looks whether the other side is there. */
const keepAliveMs = 10_000;
/** Whoever holds a lock says this often that it is alive, and loses the lock if it does not for three times as long. */
const holdingMs = 10_000;

/** Prevents that a transaction is committed. Returns whether it was prevented, now or before; otherwise it was committed. */
const preventCommit = `INSERT INTO "recentCommit" (id, "wasPrevented") VALUES (?, true)
  ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING "wasPrevented"`;

/** The type `bigint`. The service stores only safe integers in it. */
const bigintType = 20;

/**
 * The connections with a session of their own. A pooler gives a session with settings to the next client, and rejects or ignores
 * the settings of a new connection.
 */
const ownSessions = new WeakSet<object>();

const settingsOf = (idleMs: number, scope: "SESSION" | "LOCAL"): string =>
  `SET ${scope} statement_timeout = ${statementMs}; SET ${scope} idle_in_transaction_session_timeout = ${idleMs}`;

const types: ClientConfig["types"] = {
  getTypeParser: (type: number, format?: "text" | "binary") =>
    type === bigintType && format !== "binary" ? Number : defaultTypes.getTypeParser(type, format),
};

function configOf({ url, times }: PostgresOptions): ClientConfig {
  const { connectMs } = { ...defaultTimes, ...times };
  return {
    connectionString: connectionString(url),
    application_name: "agent-job-service",
    query_timeout: queryMs,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    types,
  };
}

/** Makes a pool of connections to a database, without connecting. */
function createPool(options: PostgresOptions): Pool {
  const { idleInTransactionMs } = { ...defaultTimes, ...options.times };
  const pool = new Pool({
    ...configOf(options),
    max: options.maxConnections ?? 10,
    onConnect: async (client) => {
      if (await isPooled(client)) return;
      await client.query(settingsOf(idleInTransactionMs, "SESSION"));
      ownSessions.add(client);
    },
  });
  // A connection in use was lost. Its user notices with the next statement; without a listener, the process would end.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** A Postgres database for any number of processes. Logs once when it becomes unusable, and when it can be used again. */
export class PostgresDatabase implements Database {
  readonly names: StoreNames;
  readonly #pool: Pool;
  readonly #config: ClientConfig;
  readonly #outage: OutageLog;
  readonly #times: PostgresTimes;
  /** How often the server has answered. */
  #answers = 0;
  /** Whether the outage may affect only changes, so that only a change shows its end. */
  #isUnwritable = false;

  /** Does not connect. */
  constructor(options: PostgresOptions) {
    const { log, schema, times, onOutage } = options;
    this.names = namesOf(schema);
    this.#pool = createPool(options);
    const { soonMs } = { ...defaultTimes, ...times };
    this.#config = { ...configOf(options), connectionTimeoutMillis: soonMs, query_timeout: soonMs };
    this.#outage = new OutageLog(log, onOutage);
    this.#times = { ...defaultTimes, ...times };
    // An idle connection was lost. The user of the next one notices.
    this.#pool.on("error", () => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  /** Whether the last attempt to use it failed. That was logged. */
  get isOut(): boolean {
    return this.#outage.isOut;
  }

  run(sql: string, ...values: Value[]): Promise<number> {
    return this.transaction((transaction) => transaction.run(sql, ...values));
  }

  async row<T>(sql: string, ...values: Value[]): Promise<T | undefined> {
    return (await this.rows<T>(sql, ...values))[0];
  }

  async rows<T>(sql: string, ...values: Value[]): Promise<T[]> {
    return (await this.query(translated(sql, this.names), values)).rows as T[];
  }

  /** Runs a statement in Postgres's own SQL as it is, with `$1` for the first value. */
  async query(sql: string, values: readonly unknown[] = []): Promise<{ rows: unknown[]; rowCount: number | null }> {
    const client = await this.#connect();
    let lost: Error | undefined;
    const result = await this.#guard(() => client.query(sql, values.map(storable)))
      .catch((error: Error) => {
        lost = error;
        throw error;
      })
      .finally(() => client.release(lost));
    if (hasChanged(result)) this.#written();
    return result;
  }

  /** Asks on a connection of the pool, and then on a new one: the pool's may have been lost without a sign. */
  rowsSoon<T>(sql: string, ...values: Value[]): Promise<T[]> {
    const { soonMs } = this.#times;
    const query = { text: translated(sql, this.names), values: values.map(storable), query_timeout: soonMs };
    return this.#guard(async () => {
      try {
        const client = await this.#pool.connect();
        let lost: Error | undefined;
        const asked = client.query(query).catch((error: Error) => {
          lost = error;
          throw error;
        });
        return (await asked.finally(() => client.release(lost))).rows as T[];
      } catch (error) {
        if (error instanceof DatabaseError) throw error;
      }
      const client = new Client(this.#config);
      client.on("error", () => {});
      try {
        await client.connect();
        return (await client.query(query)).rows as T[];
      } finally {
        void client.end().catch(() => {});
      }
    });
  }

  async transaction<T>(change: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    const { idleInTransactionMs } = this.#times;
    const client = await this.#connect();
    const begin = ownSessions.has(client) ? "BEGIN" : `BEGIN; ${settingsOf(idleInTransactionMs, "LOCAL")}`;
    const transaction = new PostgresTransaction(client, this.names, (use) => this.#guard(use), begin);
    const id = randomUUID();
    let lost: Error | undefined;
    let committing: { result: T } | undefined;
    try {
      const result = await change(transaction);
      committing = { result };
      await transaction.commit(id);
    } catch (error) {
      if (isOfConnection(error)) lost = error;
      else
        await client.query("ROLLBACK").catch((reason: Error) => {
          lost = reason;
        });
      // A server that said what failed, and still answers, has not committed.
      const isDecided = lost === undefined && isAnswer(causeOf(error));
      const mayBeCommitted = committing !== undefined && transaction.hasChanges && !isDecided;
      if (!mayBeCommitted || !(await this.#wasCommitted(id))) throw error;
    } finally {
      client.release(lost);
    }
    if (transaction.hasChanges) this.#written();
    return (committing as { result: T }).result;
  }

  async probe(): Promise<void> {
    await this.run("UPDATE version SET schema = schema");
  }

  /**
   * The lock is one of a transaction, because a pooler gives the locks of a session to others. It ends with the connection, and
   * if this process is paused, so that another one can take it.
   */
  async exclusively(name: string, work: () => Promise<void>): Promise<boolean> {
    const client = await this.#connect();
    let lost: Error | undefined;
    try {
      await this.#guard(() => client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${3 * holdingMs}`));
      // Without values: a statement with values would keep its snapshot, and with it what `VACUUM` could remove.
      const lock = `SELECT pg_try_advisory_xact_lock(hashtextextended(${escapeLiteral(this.names.lock(name))}, 0)) AS held`;
      const { rows } = await this.#guard(() => client.query<{ held: boolean }>(lock));
      if (!rows[0]?.held) return false;
      const holding = setInterval(() => void client.query("SELECT 1").catch(() => {}), holdingMs).unref();
      await work().finally(() => clearInterval(holding));
      return true;
    } finally {
      await client.query("ROLLBACK").catch((error: Error) => {
        lost = error;
      });
      client.release(lost);
    }
  }

  /** Deletes the ids of transactions whose outcome is known by now: see `#wasCommitted`. */
  async forgetOldCommits(): Promise<void> {
    const { tables } = this.names;
    await this.query(`DELETE FROM ${tables}."recentCommit" WHERE at < now() - interval '1 hour'`);
  }

  /**
   * Finds out whether a transaction was committed although its connection was lost. Its id is inserted here: that waits for
   * a server that is still committing, and if it succeeds, the transaction was not committed and never will be. It says whose
   * id it is, because its own connection can be lost as well.
   *
   * @throws OutcomeUnknown if the server cannot be reached for a while
   */
  async #wasCommitted(id: string): Promise<boolean> {
    const end = performance.now() + this.#times.outcomeMs;
    for (;;) {
      try {
        return (await this.row<{ wasPrevented: boolean }>(preventCommit, id))?.wasPrevented === false;
      } catch (error) {
        if (performance.now() >= end || !(error instanceof StoreUnavailable))
          throw new OutcomeUnknown("the connection was lost while a change was stored", { cause: error });
      }
      await setTimeout(this.#times.outcomePauseMs);
    }
  }

  /** Returns a connection. Waits while all are in use, as long as the server answers those who use them: that is no outage. */
  async #connect(): Promise<PoolClient> {
    for (;;) {
      const answers = this.#answers;
      try {
        return await this.#pool.connect();
      } catch (error) {
        if (isPoolFull(error) && this.#answers > answers) continue;
        return this.#guard(() => Promise.reject(error));
      }
    }
  }

  async #guard<T>(use: () => Promise<T>): Promise<T> {
    try {
      const result = await use();
      this.#answers++;
      if (!this.#isUnwritable) this.#usable();
      return result;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const reason = errorMessage(error);
      this.#isUnwritable ||= isUnwritable(error);
      this.#outage.begin(
        `The store cannot be used: ${reason}. Creates and messages are rejected with 503, polls too, and no turn is started; ` +
          "running turns go on, and their ends are stored later. The service continues by itself when Postgres can be reached.",
      );
      throw new StoreUnavailable(`the store cannot be used: ${reason}`, { cause: error });
    }
  }

  #written(): void {
    this.#isUnwritable = false;
    this.#usable();
  }

  #usable(): void {
    this.#outage.end("The store can be used again.");
  }
}

/** One connection, while a transaction is open. It begins with its first statement, in the same message if that has no values. */
export class PostgresTransaction implements Transaction {
  readonly #client: PoolClient;
  readonly #names: StoreNames;
  readonly #guard: <T>(use: () => Promise<T>) => Promise<T>;
  /** Statements that announce something when the transaction is committed. */
  readonly #announcements = new Set<string>();
  /** What begins the transaction; empty once it has begun. */
  #begin: string;
  /** Whether something was changed. */
  hasChanges = false;

  constructor(client: PoolClient, names: StoreNames, guard: <T>(use: () => Promise<T>) => Promise<T>, begin: string) {
    this.#client = client;
    this.#names = names;
    this.#guard = guard;
    this.#begin = begin;
  }

  async run(sql: string, ...values: Value[]): Promise<number> {
    return (await this.query(translated(sql, this.#names), values)).rowCount ?? 0;
  }

  async row<T>(sql: string, ...values: Value[]): Promise<T | undefined> {
    return (await this.rows<T>(sql, ...values))[0];
  }

  async rows<T>(sql: string, ...values: Value[]): Promise<T[]> {
    return (await this.query(translated(sql, this.#names), values)).rows as T[];
  }

  /** Runs a statement in Postgres's own SQL as it is, with `$1` for the first value. */
  async query(sql: string, values: readonly unknown[] = []): Promise<{ rows: unknown[]; rowCount: number | null }> {
    if (values.length > 0 && this.#begin !== "") await this.#script();
    const result =
      values.length > 0
        ? await this.#guard(() => this.#client.query(sql, values.map(storable)))
        : await this.#script(sql);
    this.hasChanges ||= hasChanged(result);
    return result;
  }

  /** Each lock is a statement of its own, so that a later statement sees what others have committed before they gave it up. */
  async lock(...names: string[]): Promise<void> {
    const locks = names.map((name) => escapeLiteral(storable(this.#names.lock(name))));
    await this.#script(...locks.map((lock) => `SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0))`));
  }

  /** Runs statements without values in one message to the server, after what begins the transaction. Returns the last result. */
  async #script(...statements: string[]): Promise<QueryResult> {
    const all = this.#begin === "" ? statements : [this.#begin, ...statements];
    this.#begin = "";
    // Several statements have several results.
    const results: QueryResult | QueryResult[] = await this.#guard(() => this.#client.query(all.join("; ")));
    const last = Array.isArray(results) ? results.at(-1) : results;
    if (last === undefined) throw new Error("no statement");
    return last;
  }

  /** Sends a notification when the transaction is committed. Equal ones are sent once. */
  notify(channel: string, payload = ""): void {
    this.#announcements.add(`SELECT pg_notify(${escapeLiteral(channel)}, ${escapeLiteral(payload)})`);
  }

  /** @param id - identifies the transaction, if it has changed something */
  async commit(id: string): Promise<void> {
    const record = `INSERT INTO ${this.#names.tables}."recentCommit" (id) VALUES (${escapeLiteral(id)})`;
    const last = [...this.#announcements, ...(this.hasChanges ? [record] : [])];
    if (this.#begin === "" || last.length > 0) await this.#script(...last, "COMMIT");
  }
}

/** @throws if it is a transaction of another database */
export function transactionOf(transaction: Transaction): PostgresTransaction {
  if (!(transaction instanceof PostgresTransaction)) throw new Error("not a transaction of Postgres");
  return transaction;
}

const translatedStatements = new Map<string, string>();

/** Translates the shared SQL: puts the schema before each table, and replaces each `?` by `$1`, `$2` and so on. */
function translated(sql: string, names: StoreNames): string {
  const key = `${names.tables} ${sql}`;
  const known = translatedStatements.get(key);
  if (known !== undefined) return known;
  let count = 0;
  const result = qualified(sql, names).replaceAll("?", () => `$${++count}`);
  translatedStatements.set(key, result);
  return result;
}

const causeOf = (error: unknown): unknown => (error instanceof StoreUnavailable ? error.cause : error);

/** Returns whether an error does not come from a server or a pooler, so that the connection can no longer be used. */
function isOfConnection(error: unknown): error is StoreUnavailable {
  return error instanceof StoreUnavailable && !(error.cause instanceof DatabaseError);
}

function hasChanged({ command, rowCount }: QueryResult): boolean {
  return command !== "SELECT" && (rowCount ?? 0) > 0;
}
