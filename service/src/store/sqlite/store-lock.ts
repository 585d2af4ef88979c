import { DatabaseSync } from "node:sqlite";
import { errorMessage } from "../../error-message.ts";

/**
 * Keeps a second service away from a store, which would run the same turns. It is SQLite's lock on a file next to the store,
 * so the operating system releases it when the process ends, even if it is killed. The store itself is not locked, so that
 * other processes can back it up.
 *
 * @param file - the store
 * @throws if another service has the lock, or the file of the lock cannot be created
 */
export function lockStore(file: string): Disposable {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(`${file}.lock`);
    // Nothing is ever written, so that no journal is needed.
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    const busy = 5;
    if ((error as { errcode?: unknown }).errcode !== busy)
      throw new Error(`cannot lock ${file} with ${file}.lock: ${errorMessage(error)}`);
    throw new Error(`${file} is locked: another service is running on it. Stop that one, or choose another --store.`);
  }
  const held = lock;
  return { [Symbol.dispose]: () => held.close() };
}
