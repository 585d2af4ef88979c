/** A value of a column. Booleans are integers, times are milliseconds since 1970. */
export type Value = string | number | null | Uint8Array;

/** Returns a value as it is stored, without NUL: Postgres rejects it in text, and SQLite reads text only up to it. */
export function storable<T>(value: T): T | string {
  return typeof value === "string" ? value.replaceAll("\0", "\u{FFFD}") : value;
}

/**
 * Runs statements of the SQL that SQLite and Postgres share. In a statement, `?` stands for a value, and names with capital letters are in
 * double quotes.
 * Methods throw `StoreUnavailable` while the database cannot be used. Nothing is changed then.
 */
export interface Sql {
  /** Runs a statement that changes something. Returns the number of rows that it changed. */
  run(sql: string, ...values: Value[]): Promise<number>;
  row<T>(sql: string, ...values: Value[]): Promise<T | undefined>;
  rows<T>(sql: string, ...values: Value[]): Promise<T[]>;
}

export interface Transaction extends Sql {
  /** Makes other transactions that take a lock of one of these names wait until this one has ended. Takes them in this order. */
  lock(...names: string[]): Promise<void>;
}

/** A database of one of the two kinds. A change is on disk when its method returns. */
export interface Database extends Sql, AsyncDisposable {
  /** As `rows`, for a statement whose answer is needed soon, and that can be repeated. */
  rowsSoon<T>(sql: string, ...values: Value[]): Promise<T[]>;
  /** Makes changes together, or none of them if `change` throws. */
  transaction<T>(change: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Writes without changing anything. Throws `StoreUnavailable` if the database still cannot be written. */
  probe(): Promise<void>;
  /**
   * Does something unless another process is doing it.
   *
   * @returns whether it did
   */
  exclusively(name: string, work: () => Promise<void>): Promise<boolean>;
}
