import { readdir, rm } from "node:fs/promises";
import { basename } from "node:path";
import { JobDirectory, jobsFolder } from "../files/job-directory.ts";
import { jobLogFile, logsFolder } from "../files/job-files.ts";
import type { Repository } from "../git/repository.ts";
import { removeDirectory } from "../remove-directory.ts";
import type { Store } from "../store/store.ts";

export interface UnknownJobsOptions {
  jobs: Pick<Store["jobs"], "find">;
  /** The service's folder. */
  folder: string;
  repositories: readonly Pick<Repository, "jobIds" | "forgetJobs">[];
  /** Aborts when the service stops. */
  signal: AbortSignal;
}

const intervalMs = 3_600_000;

/**
 * Removes once an hour what this machine has of jobs that were deleted from a store which several machines share: their
 * directories, logs and commits. A job is stored before any of them exists.
 */
export class UnknownJobs {
  readonly #options: UnknownJobsOptions;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(options: UnknownJobsOptions) {
    this.#options = options;
  }

  /** Runs one round, at a time in milliseconds since 1970. */
  async run(now: number): Promise<void> {
    if (now < this.#nextAt) return;
    this.#nextAt = now + intervalMs;
    const { folder, repositories } = this.#options;
    for (const id of await this.#unknown(await readdir(jobsFolder(folder)).catch(() => [])))
      await removeDirectory(new JobDirectory(folder, id).path);
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
