import { setImmediate } from "node:timers/promises";
import { errorMessage } from "../error-message.ts";
import { OutageLog } from "../log/outage-log.ts";
import { removeDirectory } from "../remove-directory.ts";
import { JobDirectory, removeLog } from "../service-folder.ts";
import type { Store } from "../store/store.ts";
import { dayMs, days, hourMs } from "../time.ts";
import { NameList } from "./list-of.ts";
import type { Round } from "./rounds.ts";

export interface RetentionOptions {
  store: Store;
  folder: string;
  /** Removes the commits of jobs from the clone. */
  forgetJobs: (ids: readonly string[]) => Promise<void>;
  /** How many days after the end of its last turn a job is deleted. Default: never. */
  afterDays?: number | undefined;
  /** How long after the first round no job is deleted: a machine's clock may be wrong when it starts. Default: 0. */
  startAfterMs?: number;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

/** How many jobs are deleted before other work of the service has its turn. */
const batchSize = 20;
/** The turns of the last hour are what the hourly limits count. */
const shortestMs = hourMs;

/**
 * Deletes jobs that have been idle for a number of days, archived or not: first from the store, so that no more
 * messages can arrive, then their directories, their logs and their commits. Whatever cannot be removed is retried in the next
 * round, even if that is the next service's.
 */
export class Retention implements Round {
  readonly name = "Retention";
  readonly #options: RetentionOptions;
  readonly #outage: OutageLog;
  #firstRoundAt: number | undefined;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log);
  }

  /** Runs one round, at a time in milliseconds since 1970. */
  async run(now: number): Promise<void> {
    const { store, afterDays, startAfterMs = 0, signal, log } = this.#options;
    this.#firstRoundAt ??= now;
    const deleted = new NameList();
    if (afterDays !== undefined && now - this.#firstRoundAt >= startAfterMs)
      for (let count = batchSize; count === batchSize && !signal.aborted; await setImmediate()) {
        const ids = await store.idleJobs.deleteOldest(now - Math.max(afterDays * dayMs, shortestMs), batchSize);
        deleted.add(ids);
        count = ids.length;
      }
    if (deleted.count > 0) log(`Deleted, idle for ${days(afterDays ?? 0)}: ${deleted.text}`);
    await this.#removeFiles();
  }

  async #removeFiles(): Promise<void> {
    const { store, folder, forgetJobs, signal } = this.#options;
    try {
      for (
        let ids = await store.idleJobs.deleted(batchSize);
        ids.length > 0;
        ids = await store.idleJobs.deleted(batchSize)
      ) {
        if (signal.aborted) return;
        for (const id of ids) {
          await removeDirectory(new JobDirectory(folder, id).path);
          await removeLog(folder, id);
        }
        await forgetJobs(ids);
        await store.idleJobs.forgetDeleted(ids);
      }
      this.#outage.end("The files of deleted jobs can be removed again.");
    } catch (error) {
      if (signal.aborted) return;
      this.#outage.begin(
        `Cannot remove the files of deleted jobs from ${folder}, trying again every minute: ${errorMessage(error)}`,
      );
    }
  }
}
