import { lstat, opendir } from "node:fs/promises";
import { JobDirectory, jobsFolder } from "../files/job-directory.ts";
import { removeDirectory } from "../remove-directory.ts";

/**
 * Removes the directories of jobs that the store does not have, such as those of a store that was removed or restored from a
 * backup. It can run while turns are running, because a job is stored before its directory is created.
 *
 * @returns how many it removed, and the directories with a worktree
 */
export async function tidyJobDirectories(
  folder: string,
  isJob: (id: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<{ removed: number; withWorktree: JobDirectory[] }> {
  const withWorktree: JobDirectory[] = [];
  let removed = 0;
  for await (const { name } of await opendir(jobsFolder(folder))) {
    if (signal.aborted) break;
    const directory = new JobDirectory(folder, name);
    if (await isJob(name)) {
      if (await lstat(directory.tree).catch(() => undefined)) withWorktree.push(directory);
    } else {
      await removeDirectory(directory.path);
      removed++;
    }
  }
  return { removed, withWorktree };
}
