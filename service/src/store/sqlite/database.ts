import pLimit from "p-limit";
import type { Database, Transaction, Value } from "../sql.ts";
import type { Connection } from "./connection.ts";

/** A SQLite file as a database. It has one connection, so statements and transactions run one after another. */
export class SqliteDatabase implements Database {
  readonly #connection: Connection;
  readonly #oneAtATime = pLimit(1);

  readonly #lock: Disposable | undefined;

  /** @param lock - keeps other processes away; disposed of with the database */
  constructor(connection: Connection, lock?: Disposable) {
    this.#connection = connection;
    this.#lock = lock;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#oneAtATime(() => {
      this.#connection[Symbol.dispose]();
      this.#lock?.[Symbol.dispose]();
    });
  }

  run(sql: string, ...values: Value[]): Promise<number> {
    return this.#oneAtATime(() => this.#connection.run(sql, ...values));
  }

  row<T>(sql: string, ...values: Value[]): Promise<T | undefined> {
    return this.#oneAtATime(() => this.#connection.row<T>(sql, ...values));
  }

  rows<T>(sql: string, ...values: Value[]): Promise<T[]> {
    return this.#oneAtATime(() => this.#connection.rows<T>(sql, ...values));
  }

  rowsSoon<T>(sql: string, ...values: Value[]): Promise<T[]> {
    return this.rows(sql, ...values);
  }

  transaction<T>(change: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#oneAtATime(async () => {
      this.#connection.begin();
      try {
        const result = await change(this.#transaction);
        this.#connection.commit();
        return result;
      } catch (error) {
        this.#connection.rollBack();
        throw error;
      }
    });
  }

  probe(): Promise<void> {
    return this.#oneAtATime(() => this.#connection.probe());
  }

  /** Always does it: only one process has the file. */
  async exclusively(_name: string, work: () => Promise<void>): Promise<boolean> {
    await work();
    return true;
  }

  readonly #transaction: Transaction = {
    run: async (sql, ...values) => this.#connection.run(sql, ...values),
    row: async <T>(sql: string, ...values: Value[]) => this.#connection.row<T>(sql, ...values),
    rows: async <T>(sql: string, ...values: Value[]) => this.#connection.rows<T>(sql, ...values),
    // There is only one transaction at a time.
    lock: async () => {},
  };
}
