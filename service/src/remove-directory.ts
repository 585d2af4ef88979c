import { randomUUID } from "node:crypto";
import { chmod, readdir, rename, rm } from "node:fs/promises";

/**
 * Removes a directory, even if an agent left read-only folders in it, or folders so deep that the system accepts no path to
 * them. Does nothing if it does not exist.
 */
export async function removeDirectory(directory: string): Promise<void> {
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async () => {
    await makeRemovable(directory);
    await remove();
  });
}

/**
 * Moves all folders to the top, where their paths are short, and makes them writable. Errors are ignored here: the second
 * removal reports whatever still cannot be removed. Names need not be UTF-8.
 */
async function makeRemovable(directory: string): Promise<void> {
  const top = Buffer.from(directory);
  await chmod(top, 0o700).catch(() => {});
  const folders = [top];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { encoding: "buffer", withFileTypes: true }).catch(() => []);
    for (const { name } of entries.filter((entry) => entry.isDirectory())) {
      const path = Buffer.concat([folder, Buffer.from("/"), name]);
      // A folder that is moved must be writable, too.
      await chmod(path, 0o700).catch(() => {});
      const moved = Buffer.from(`${directory}/${randomUUID()}`);
      const isMoved = rename(path, moved).then(
        () => true,
        () => false,
      );
      folders.push((await isMoved) ? moved : path);
    }
  }
}
