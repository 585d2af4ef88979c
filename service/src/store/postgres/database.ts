import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { Pool, type PoolClient, type QueryResult, types } from "pg";
import { errorMessage } from "../../error-message.ts";
import type { Log } from "../../log/log.ts";
import { OutageLog } from "../../log/outage-log.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../store-errors.ts";
import { type Database, type Sql, storable, type Transaction, type Value } from "../sql.ts";
import { isPoolFull, isUnavailable, isUnwritable } from "./errors.ts";
import { tables } from "./schema.ts";
import { defaultTimes, type PostgresTimes } from "./times.ts";

export interface PostgresOptions {
  /** `postgres://…`, as `psql` takes it. */
  url: string;
  /** Connections at a time, besides the one that waits for notifications. Default: 10. */
  maxConnections?: number;
  log: Log;
  /** Called when the database becomes unusable. Default: does nothing. */
  onOutage?: (() => void) | undefined;
  times?: Partial<PostgresTimes>;
  /** Returns the time by which hourly limits count, in milliseconds since 1970. Default: the server's. */
  now?: (sql: Sql) => Promise<number>;
}

const statementMs = 30_000;
/** Longer than the server's own limit: it ends statements on a server that has silently disappeared. */
const queryMs = 40_000;

/** Prevents that a transaction is committed. Returns whether it was prevented, now or before; otherwise it was committed. */
const preventCommit = `INSERT INTO "recentCommit" (id, "wasPrevented") VALUES ($1, true)
  ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING "wasPrevented"`;

/** The type `bigint`. The service stores only safe integers in it. */
const bigintType = 20;

/** Makes a pool of connections to a database, without connecting. */
export function createPool({ url, maxConnections = 10, times }: PostgresOptions): Pool {
  const { connectMs, idleInTransactionMs } = { ...defaultTimes, ...times };
  const pool = new Pool({
    connectionString: url,
    max: maxConnections,
    application_name: "agent-job-service",
    options: `-c search_path=${tables}`,
    statement_timeout: statementMs,
    query_timeout: queryMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    types: {
      getTypeParser: (type, format) =>
        type === bigintType && format !== "binary" ? Number : types.getTypeParser(type, format),
    },
  });
  // A connection in use was lost. Its user notices with the next statement; without a listener, the process would end.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** A Postgres database for any number of processes. Logs once when it becomes unusable, and when it can be used again. */
export class PostgresDatabase implements Database {
  readonly #pool: Pool;
  readonly #outage: OutageLog;
  readonly #times: PostgresTimes;
  /** When it was last unusable, or was opened. */
  #usableSince: number;
  /** How often the server has answered. */
  #answers = 0;
  /** Whether the outage may affect only changes, so that only a change shows its end. */
  #isUnwritable = false;

  constructor(pool: Pool, log: Log, times: Partial<PostgresTimes> = {}, onOutage?: () => void) {
    this.#pool = pool;
    this.#outage = new OutageLog(log, onOutage);
    this.#times = { ...defaultTimes, ...times };
    this.#usableSince = this.#times.now();
    // An idle connection was lost. The user of the next one notices.
    pool.on("error", () => this.#interrupted());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  /** How long it has been usable without a break, in milliseconds. */
  get usableForMs(): number {
    return this.#times.now() - this.#usableSince;
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
    return (await this.query(numbered(sql), values)).rows as T[];
  }

  /** Runs a statement in Postgres's own SQL, with `$1` for the first value. */
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

  async transaction<T>(change: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    const transaction = new PostgresTransaction(client, (use) => this.#guard(use));
    let lost: Error | undefined;
    try {
      await transaction.query("BEGIN");
      const result = await change(transaction);
      const id = randomUUID();
      if (transaction.hasChanges) await transaction.query('INSERT INTO "recentCommit" (id) VALUES ($1)', [id]);
      await transaction.query("COMMIT").catch(async (error: unknown) => {
        lost = error as Error;
        if (!transaction.hasChanges || !(error instanceof StoreUnavailable) || !(await this.#wasCommitted(id)))
          throw error;
      });
      if (transaction.hasChanges) this.#written();
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch((reason: Error) => {
        lost = reason;
      });
      throw error;
    } finally {
      client.release(lost);
    }
  }

  async probe(): Promise<void> {
    await this.run("UPDATE version SET schema = schema");
  }

  /** The lock ends with the connection, so that another process can take it if this one has died. */
  async exclusively(name: string, work: () => Promise<void>): Promise<boolean> {
    const client = await this.#connect();
    let lost: Error | undefined;
    try {
      const lock = "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS held";
      const { rows } = await this.#guard(() => client.query<{ held: boolean }>(lock, [name]));
      if (!rows[0]?.held) return false;
      await work();
      return true;
    } finally {
      await client.query("SELECT pg_advisory_unlock_all()").catch((error: Error) => {
        lost = error;
      });
      client.release(lost);
    }
  }

  /** Deletes the ids of transactions whose outcome is known by now: see `#wasCommitted`. */
  async forgetOldCommits(): Promise<void> {
    await this.query(`DELETE FROM "recentCommit" WHERE at < now() - interval '1 hour'`);
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
        const { rows } = await this.query(preventCommit, [id]);
        return !(rows[0] as { wasPrevented: boolean }).wasPrevented;
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
      this.#interrupted();
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

  #interrupted(): void {
    this.#usableSince = this.#times.now();
  }
}

/** One connection, while a transaction is open. */
export class PostgresTransaction implements Transaction {
  readonly #client: PoolClient;
  readonly #guard: <T>(use: () => Promise<T>) => Promise<T>;
  /** Whether something was changed. */
  hasChanges = false;

  constructor(client: PoolClient, guard: <T>(use: () => Promise<T>) => Promise<T>) {
    this.#client = client;
    this.#guard = guard;
  }

  async run(sql: string, ...values: Value[]): Promise<number> {
    return (await this.query(numbered(sql), values)).rowCount ?? 0;
  }

  async row<T>(sql: string, ...values: Value[]): Promise<T | undefined> {
    return (await this.rows<T>(sql, ...values))[0];
  }

  async rows<T>(sql: string, ...values: Value[]): Promise<T[]> {
    return (await this.query(numbered(sql), values)).rows as T[];
  }

  /** Runs a statement in Postgres's own SQL, with `$1` for the first value. */
  async query(sql: string, values: readonly unknown[] = []): Promise<{ rows: unknown[]; rowCount: number | null }> {
    const result = await this.#guard(() => this.#client.query(sql, values.map(storable)));
    this.hasChanges ||= hasChanged(result);
    return result;
  }

  async lock(name: string): Promise<void> {
    await this.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [name]);
  }
}

const numberedStatements = new Map<string, string>();

/** Replaces each `?` by `$1`, `$2` and so on. */
function numbered(sql: string): string {
  const known = numberedStatements.get(sql);
  if (known !== undefined) return known;
  let count = 0;
  const result = sql.replaceAll("?", () => `$${++count}`);
  numberedStatements.set(sql, result);
  return result;
}

function hasChanged({ command, rowCount }: QueryResult): boolean {
  return command !== "SELECT" && (rowCount ?? 0) > 0;
}
