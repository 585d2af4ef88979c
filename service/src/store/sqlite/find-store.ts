import { accessSync, closeSync, constants, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { errorMessage } from "../../error-message.ts";

/**
 * Returns the one path of a store, whichever symbolic links lead to it, and creates an empty file if there is none. The lock
 * and SQLite's log of changes are files next to that path, so a second service under another path would see neither.
 *
 * @throws if the file has several names (hard links), cannot be created, or it or a file next to it cannot be written
 */
export function findStore(file: string): string {
  try {
    // This also creates the missing target of a link.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    throw new Error(`cannot create ${file}: ${errorMessage(error)}`);
  }
  const path = realpathSync(file);
  checkWritable(path);
  const status = statSync(path);
  if (status.isFile() && status.nlink > 1)
    throw new Error(
      `${path} has ${status.nlink} names, and services under two of them would damage it. Remove the others, which ` +
        `find DIRECTORY -inum ${status.ino} lists, or replace them by symbolic links. For a copy, use the command backup.`,
    );
  return path;
}

/**
 * Checks where a store is to be, before anything is created next to it.
 *
 * @throws if it is a directory, or its folder is missing or cannot be written, with what to do as the message
 */
export function checkStorePlace(file: string): void {
  const folder = dirname(resolve(file));
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`--store ${file} is a directory: name a file in it, such as ${join(file, "jobs.sqlite")}`);
  if (!existsSync(folder)) throw new Error(`--store ${file}: the folder ${folder} does not exist`);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === "EROFS";
    throw new Error(
      `--store ${file}: ${isReadOnly ? `the disk of ${folder} is read-only` : `the service cannot write to ${folder}`}`,
    );
  }
}

/** Otherwise SQLite would open the store read-only, and leave read-only files next to it. */
function checkWritable(path: string): void {
  for (const needed of [dirname(path), path, `${path}-wal`, `${path}-shm`])
    try {
      if (existsSync(needed)) accessSync(needed, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw new Error(`the service cannot write ${needed}, which it needs for its store: ${errorMessage(error)}`);
    }
}
