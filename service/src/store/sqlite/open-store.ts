import { randomInt } from "node:crypto";
import { chmodSync } from "node:fs";
import type { Log } from "../../log/log.ts";
import { StoreUnavailable } from "../../store-errors.ts";
import type { ClockSql } from "../hourly-limit.ts";
import { ReadyTurns } from "../ready-turns.ts";
import { Store } from "../store.ts";
import { countTurnIds, type NextTurnId } from "../turn-ids.ts";
import { Connection } from "./connection.ts";
import { SqliteDatabase } from "./database.ts";
import { findStore } from "./find-store.ts";
import { checkStore, openSchema } from "./schema.ts";
import { lockStore } from "./store-lock.ts";

/**
 * Returns an id that two services do not give at the same time: a commit names its turn, and each would consider the commit its
 * own. In microseconds since 1970, of which the last three digits are random.
 */
export const distinctTurnIds: NextTurnId = async (transaction) =>
  Math.max(await countTurnIds(transaction), Date.now() * 1000 + randomInt(1000));

/** Returns the time of this machine, in milliseconds since 1970. */
export const machineClock = (): ClockSql => ({ sql: "?", values: [Date.now()] });

/**
 * Opens a store in a SQLite file. Only one service can open a file, but other processes can read it.
 *
 * @param file - created if it does not exist; `:memory:` persists nothing
 * @param log - receives a line when the file can no longer be written, and when it can again
 * @param nextTurnId - default: counts
 * @param onOutage - called when the file becomes unusable. Default: does nothing
 * @throws if another service has the file open, or could open it by a hard link, or if it is damaged, incomplete, of
 *   another version or not a store
 */
export function openSqliteStore(
  file: string,
  log: Log = () => {},
  nextTurnId: NextTurnId = countTurnIds,
  onOutage: () => void = () => {},
): Store {
  const path = file === ":memory:" ? file : findStore(file);
  const lock = path === ":memory:" ? undefined : lockStore(path);
  let connection: Connection | undefined;
  let isOpen = false;
  try {
    // Until the store is open, a failure is an error and not an outage.
    connection = new Connection(
      path,
      (line, level) => isOpen && log(line, level),
      () => isOpen && onOutage(),
    );
    openSchema(connection, path);
    // The store contains prompts. SQLite gives its other files the same mode.
    if (path !== ":memory:") chmodSync(path, 0o600);
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    isOpen = true;
  } catch (error) {
    connection?.[Symbol.dispose]();
    lock?.[Symbol.dispose]();
    if (error instanceof StoreUnavailable) throw new Error(`cannot open ${path}: ${error.message}`);
    throw error;
  }
  const database = new SqliteDatabase(connection, lock);
  return new Store({ database, ready: new ReadyTurns({ clock: machineClock }), nextTurnId });
}

/**
 * Opens a store in a SQLite file to read it, while a service may run on it.
 *
 * @param file - an existing one
 * @throws if it is damaged, incomplete, of another version or not a store
 */
export function openStoreToRead(file: string, log: Log): Store {
  const connection = new Connection(file, log, undefined, true);
  try {
    if (!checkStore(connection, file)) throw new Error(`${file} is empty.`);
  } catch (error) {
    connection[Symbol.dispose]();
    throw error;
  }
  return new Store({
    database: new SqliteDatabase(connection),
    ready: new ReadyTurns({ clock: machineClock }),
    nextTurnId: countTurnIds,
  });
}
