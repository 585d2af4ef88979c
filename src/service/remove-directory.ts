import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes a folder, also where an agent has left folders in it that may not be written to. */
export async function discard(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async () => {
    await makeWritable(folder);
    await remove();
  });
}

async function makeWritable(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  // What cannot be changed, or is gone by now, is for the removal to name.
  for (const entry of await readdir(folder)) await makeWritable(join(folder, entry)).catch(() => {});
}
