import { opendir } from "node:fs/promises";
import { removeDirectory } from "../remove-directory.ts";
import { JobDirectory, jobsFolder } from "./job-directory.ts";

/**
 * Removes the directories of jobs that the store does not have, such as those of a store that was removed or restored from a
 * backup. It can run while turns are running, because a job is stored before its directory is created.
 *
 * @returns how many it removed
 */
export async function removeUnknownJobs(
  folder: string,
  isJob: (id: string) => boolean,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for await (const { name } of await opendir(jobsFolder(folder))) {
    if (signal.aborted) return removed;
    if (isJob(name)) continue;
    await removeDirectory(new JobDirectory(folder, name).path);
    removed++;
  }
  return removed;
}
