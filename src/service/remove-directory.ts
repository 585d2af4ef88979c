import { randomUUID } from "node:crypto";
import { chmod, readdir, rename, rm } from "node:fs/promises";

/**
 * In bytes. A folder with a longer path is moved up before it is removed. Its own name may be 255 bytes longer, and macOS
 * accepts no path of 1024 bytes.
 */
const longPath = 600;

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

/** Errors are ignored here: the second removal reports whatever still cannot be removed. Names need not be UTF-8. */
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
      const shorter = Buffer.from(`${directory}/${randomUUID()}`);
      const isMoved =
        path.length > Math.max(longPath, shorter.length) &&
        (await rename(path, shorter).then(
          () => true,
          () => false,
        ));
      folders.push(isMoved ? shorter : path);
    }
  }
}
