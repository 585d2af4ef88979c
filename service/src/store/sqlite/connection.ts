import { statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { errorMessage } from "../../error-message.ts";
import type { Log } from "../../log/log.ts";
import { OutageLog } from "../../log/outage-log.ts";
import { StoreUnavailable } from "../../store-errors.ts";
import { storable, type Value } from "../sql.ts";

/** SQLite's primary result codes for a file that cannot be used now, although the statement is correct. */
const resultCodes = { busy: 5, readOnly: 8, inputOutput: 10, full: 13, cannotOpen: 14 };
const unavailable: ReadonlySet<number> = new Set(Object.values(resultCodes));
/** SQLite's primary result codes for a file that is damaged or not a database. */
const damaged: ReadonlySet<number> = new Set([11, 26]);

/** How long a statement waits for another process, such as `sqlite3`, to finish writing. It blocks the service. */
const busyTimeoutMs = 500;

/**
 * A connection to a SQLite database whose changes are on disk when a method returns. If the file cannot be written, for example because the
 * disk is full, methods throw `StoreUnavailable`, nothing is changed, and this is logged once until a change succeeds again. If the file is
 * damaged, the log says once what to do. If it was removed or replaced, changes throw `StoreUnavailable`, too.
 */
export class Connection implements Disposable {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #outage: OutageLog;
  readonly #damage: OutageLog;
  readonly #file: string;
  /** Identifies the open file; `undefined` before the file was seen, and in memory. */
  #identity: string | undefined;
  /** Whether the last transaction has changed something. */
  #hasChanges = false;

  /**
   * @param file - created if it does not exist; `:memory:` persists nothing
   * @param onOutage - called when the file becomes unusable. Default: does nothing
   * @param readOnly - whether nothing can be changed. Default: no
   * @throws if the file cannot be opened
   */
  constructor(file: string, log: Log, onOutage?: () => void, readOnly = false) {
    this.#file = file;
    this.#outage = new OutageLog(log, onOutage);
    this.#damage = new OutageLog(log, onOutage);
    try {
      this.#db = new DatabaseSync(file, { timeout: busyTimeoutMs, readOnly });
    } catch (error) {
      throw new Error(`cannot open ${file}: ${errorMessage(error)}`);
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  /** Runs statements without values. Changes are a transaction only if `sql` says so. */
  execute(sql: string): void {
    this.#guard(() => this.#db.exec(sql));
  }

  /** Runs a statement that changes something. Returns the number of rows that it changed. */
  run(sql: string, ...values: Value[]): number {
    if (!this.#db.isTransaction) this.#checkFile();
    return this.#guard(() => {
      const { changes } = this.#statement(sql).run(...values.map(storable));
      this.#hasChanges ||= changes > 0;
      // Without changes, nothing was written.
      if (changes > 0) this.#written();
      return Number(changes);
    });
  }

  /** Returns the first row of a query. Not for `RETURNING`, because SQLite reports a failed commit only after the last row. */
  row<T>(sql: string, ...values: Value[]): T | undefined {
    return this.#guard(() => this.#statement(sql).get(...values.map(storable))) as T | undefined;
  }

  rows<T>(sql: string, ...values: Value[]): T[] {
    return this.#guard(() => this.#statement(sql).all(...values.map(storable))) as T[];
  }

  /** Makes changes together, or none of them if `change` throws. */
  transaction<T>(change: () => T): T {
    this.begin();
    return this.#guard(() => {
      try {
        const result = change();
        this.commit();
        return result;
      } catch (error) {
        this.rollBack();
        throw error;
      }
    });
  }

  begin(): void {
    this.#checkFile();
    this.execute("BEGIN IMMEDIATE");
    this.#hasChanges = false;
  }

  commit(): void {
    this.execute("COMMIT");
    // A transaction without changes writes nothing.
    if (this.#hasChanges) this.#written();
  }

  /** Ends a transaction without its changes. SQLite has done so already after some errors, such as a full disk. */
  rollBack(): void {
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
  }

  /** Writes a page without changing anything, to find out whether the file can be written. */
  probe(): void {
    const { user_version: version } = this.row<{ user_version: number }>("PRAGMA user_version") ?? {};
    this.transaction(() => {
      this.#db.exec(`PRAGMA user_version = ${version}`);
      this.#hasChanges = true;
    });
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Within a transaction, nothing is on disk yet. */
  #written(): void {
    if (!this.#db.isTransaction) this.#outage.end("The store can be written again.");
  }

  /** Changes of a file that was removed or replaced, for example by a restored backup, would be lost with the process. */
  #checkFile(): void {
    if (this.#file === ":memory:") return;
    const status = statSync(this.#file, { throwIfNoEntry: false });
    const identity = status && `${status.dev}:${status.ino}`;
    this.#identity ??= identity;
    if (identity === this.#identity) return;
    const what = status === undefined ? "removed" : "replaced";
    this.#outage.begin(
      `The store ${this.#file} was ${what} while the service is running. Creates and messages are rejected with 503, and no ` +
        "turn is started. Stop the service, put the file there that it is to use, and start it again.",
    );
    throw new StoreUnavailable(`the store was ${what}`);
  }

  #guard<T>(use: () => T): T {
    try {
      return use();
    } catch (error) {
      const { errcode = 0 } = error as { errcode?: number };
      const code = errcode & 0xff;
      const reason = errorMessage(error);
      if (damaged.has(code))
        this.#damage.begin(
          `The store ${this.#file} is damaged: ${reason}. What needs the damaged part fails, such as creates, messages and ends ` +
            `of turns. Stop the service, keep a copy of ${this.#file} and ${this.#file}-wal, and restore a backup.`,
        );
      if (!unavailable.has(code)) throw error;
      this.#outage.begin(
        `The store ${this.#file} cannot be written: ${reason}. Creates and messages are rejected with 503, and no turn is ` +
          "started; running turns go on, and their ends are stored later. Free space on its disk or make it writable; the " +
          "service continues by itself.",
      );
      throw new StoreUnavailable(`the store cannot be written: ${reason}`, { cause: error });
    }
  }
}
