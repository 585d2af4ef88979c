import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes a directory, even if an agent left read-only directories in it. Does nothing if it does not exist. */
export async function removeDirectory(directory: string): Promise<void> {
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async () => {
    await makeWritable(directory);
    await remove();
  });
}

async function makeWritable(directory: string): Promise<void> {
  if (!(await lstat(directory)).isDirectory()) return;
  await chmod(directory, 0o700);
  // Errors are ignored here: the second removal reports whatever still cannot be removed.
  for (const entry of await readdir(directory)) await makeWritable(join(directory, entry)).catch(() => {});
}
