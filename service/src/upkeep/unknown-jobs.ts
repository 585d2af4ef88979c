import { lstat, readdir, rm } from "node:fs/promises";
import { basename } from "node:path";
import type { Repository } from "../git/repository.ts";
import { removeDirectory } from "../remove-directory.ts";
import { JobDirectory, jobLogFile, jobsFolder, logsFolder } from "../service-folder.ts";
import type { Store } from "../store/store.ts";
import { hourMs } from "../time.ts";
import type { Round } from "./rounds.ts";

export interface UnknownJobsOptions {
  jobs: Pick<Store["jobs"], "find">;
  /** The service's folder. */
  folder: string;
  repositories: readonly Pick<Repository, "jobIds" | "forgetJobs">[];
  /** Aborts when the service stops. */
  signal: AbortSignal;
}

const intervalMs = hourMs;

/**
 * Removes once an hour what this machine has of jobs that were deleted from a store which several machines share: their
 * directories, logs and commits. A job is stored before any of them exists.
 */
export class UnknownJobs implements Round {
  readonly name = "UnknownJobs";
  readonly #options: UnknownJobsOptions;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(options: UnknownJobsOptions) {
    this.#options = options;
  }

  /** Runs one round, at a time in milliseconds since 1970. */
  async run(now: number): Promise<void> {
    if (now < this.#nextAt) return;
    this.#nextAt = now + intervalMs;
    const { jobs, folder, repositories, signal } = this.#options;
    await removeUnknownDirectories(folder, async (id) => (await jobs.find(id)) !== undefined, signal);
    const logs = await readdir(logsFolder(folder)).catch(() => []);
    for (const id of await this.#unknown(logs.map((name) => basename(name, ".log"))))
      await rm(jobLogFile(folder, id), { force: true });
    for (const repository of repositories) await repository.forgetJobs(await this.#unknown(await repository.jobIds()));
  }

  async #unknown(ids: readonly string[]): Promise<string[]> {
    const { jobs, signal } = this.#options;
    const unknown: string[] = [];
    for (const id of ids) {
      if (signal.aborted) return [];
      if ((await jobs.find(id)) === undefined) unknown.push(id);
    }
    return unknown;
  }
}

/**
 * Removes the directories of jobs that the store does not have, for example because the store was removed or restored from a
 * backup. It can run while turns are running, because a job is stored before its directory is created.
 *
 * @param folder - the service's
 * @returns how many it removed, and the directories of other jobs that have a worktree
 */
export async function removeUnknownDirectories(
  folder: string,
  isJob: (id: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<{ removed: number; withWorktree: JobDirectory[] }> {
  const withWorktree: JobDirectory[] = [];
  let removed = 0;
  for (const id of await readdir(jobsFolder(folder)).catch(ignoreMissing)) {
    if (signal.aborted) break;
    const directory = new JobDirectory(folder, id);
    if (await isJob(id)) {
      if (await lstat(directory.tree).catch(() => undefined)) withWorktree.push(directory);
    } else {
      await removeDirectory(directory.path);
      removed++;
    }
  }
  return { removed, withWorktree };
}

function ignoreMissing(error: NodeJS.ErrnoException): [] {
  if (error.code !== "ENOENT") throw error;
  return [];
}
