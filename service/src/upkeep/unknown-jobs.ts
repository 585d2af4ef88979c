import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Repository } from "../git/repository.ts";
import { removeDirectory } from "../remove-directory.ts";
import { JobDirectory, jobsFolder, logsFolder, removeLog, unknownFolder } from "../service-folder.ts";
import type { Store } from "../store/store.ts";
import { dayMs, hourMs } from "../time.ts";
import type { Round } from "./rounds.ts";

export interface UnknownJobsOptions {
  store: Pick<Store, "jobs" | "counts">;
  folder: string;
  repositories: readonly Pick<Repository, "jobIds" | "forgetJobs">[];
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

const intervalMs = hourMs;
/** Whoever notices that the wrong backup was restored has this long to put the right one in its place. */
const keptMs = 7 * dayMs;

/**
 * Looks once an hour for files on this machine of jobs that are not in the store, because it was restored from a backup or another
 * machine deleted them: their directories, logs and commits. Removes it a week after it was first seen. It can run while turns are
 * running, because a job is stored before any of them exists.
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
    const { store, folder, signal, log } = this.#options;
    const found = await this.#jobsHere();
    // Another store may have been put in place of theirs.
    const isNew = found.size > 0 && (await store.counts.total()).jobs === 0;
    if (isNew || signal.aborted) return;
    const unknown = new Map<string, number>();
    for (const id of found) {
      if (signal.aborted) return;
      if ((await store.jobs.find(id)) === undefined) unknown.set(id, await this.#unknownSince(id, now));
    }
    for (const id of await namesIn(unknownFolder(folder)))
      if (!unknown.has(id)) await rm(join(unknownFolder(folder), id), { force: true });
    const newOnes = [...unknown.values()].filter((since) => since === now).length;
    if (newOnes > 0)
      log(`Jobs that are not in the store: ${newOnes}. What this machine has of them is removed in a week.`);
    const old = [...unknown.keys()].filter((id) => now - (unknown.get(id) ?? now) >= keptMs);
    if (old.length > 0) await this.#remove(old);
  }

  /** Returns the ids of the jobs of which this machine has something. */
  async #jobsHere(): Promise<ReadonlySet<string>> {
    const { folder, repositories } = this.#options;
    const logs = (await namesIn(logsFolder(folder))).map((name) => basename(name, ".log"));
    const commits = await Promise.all(repositories.map((repository) => repository.jobIds()));
    return new Set([...(await namesIn(jobsFolder(folder))), ...logs, ...commits.flat()]);
  }

  /** Returns when a job was first seen not to be in the store, in milliseconds since 1970. */
  async #unknownSince(id: string, now: number): Promise<number> {
    const file = join(unknownFolder(this.#options.folder), id);
    const since = Number.parseInt(await readFile(file, "utf8").catch(() => ""), 10);
    if (!Number.isNaN(since)) return since;
    await mkdir(unknownFolder(this.#options.folder), { recursive: true });
    await writeFile(file, String(now));
    return now;
  }

  async #remove(ids: readonly string[]): Promise<void> {
    const { folder, repositories, log } = this.#options;
    for (const repository of repositories) await repository.forgetJobs(ids);
    for (const id of ids) {
      await removeDirectory(new JobDirectory(folder, id).path);
      await removeLog(folder, id);
      await rm(join(unknownFolder(folder), id), { force: true });
    }
    log(`Removed what this machine had of jobs that are not in the store: ${ids.length}.`);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return [];
  }
}
