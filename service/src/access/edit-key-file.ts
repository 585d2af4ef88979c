import { type FileHandle, open, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { formatKeys, type KeyFileContent, readKeyFile, type StoredKey } from "./key-file.ts";

/**
 * Changes a file of keys atomically. The file keeps its owner and its mode; a new one has mode 0600. As in Git, the new file is
 * first written as `FILE.lock`, which no other process can create meanwhile.
 *
 * @param change - returns the keys to write
 * @param ifMissing - the keys to change if the file does not exist; default: that is an error
 * @throws if the file is being changed by another process, cannot be read or written, or `change` throws; then nothing changes
 */
export async function editKeyFile(
  file: string,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[],
  ifMissing?: readonly StoredKey[],
): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const next = `${target}.lock`;
  const handle = await lock(next);
  try {
    const before = await readExisting(target);
    const keys = before?.keys ?? ifMissing;
    if (keys === undefined) throw new Error(`${file} does not exist`);
    await handle.writeFile(formatKeys(change(keys)));
    if (before !== undefined) {
      // A service that runs as another user must still be able to read what root has changed.
      await handle.chown(before.uid, before.gid);
      await handle.chmod(before.mode);
    }
    await handle.sync();
    await handle.close();
    await rename(next, target);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(next, { force: true });
    throw error;
  }
  await syncFolder(dirname(target));
}

async function lock(file: string): Promise<FileHandle> {
  try {
    return await open(file, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new Error(
      `${file} exists: another command is changing the keys. If none is running, one was killed: remove it`,
    );
  }
}

async function readExisting(file: string): Promise<KeyFileContent | undefined> {
  return readKeyFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });
}

/** Writes the new name to the disk. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}
