import { setImmediate } from "node:timers/promises";
import { errorMessage } from "../error-message.ts";
import { type JobWithPullRequest, jobBranch } from "../model.ts";
import type { PerProject } from "../per-project.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import type { Store } from "../store/store.ts";
import { dayMs, days } from "../time.ts";
import { listOf } from "./list-of.ts";
import type { Round } from "./rounds.ts";

export interface ArchiverOptions {
  store: Store;
  /** The pull requests of each project. Jobs of other projects stay as they are. */
  pullRequests: PerProject<PullRequests>;
  /** Returns the projects whose jobs may be archived now; `undefined` for all of the above. Default: all. */
  ownProjects?: (() => Promise<readonly string[] | undefined>) | undefined;
  /** Days without a turn after which a job is archived in any case. Default: never. */
  afterDays?: number | undefined;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

/** How many jobs are read or archived before other work of the service has its turn. */
const batchSize = 100;

/**
 * Archives jobs whose pull request is closed or merged, and jobs that have been idle for a number of days. Few of them get another
 * message, so the homes of their agents are not kept in the database, where one takes up to 20 MB.
 */
export class Archiver implements Round {
  readonly name = "Archiver";
  readonly #options: ArchiverOptions;
  readonly #lastErrors = new Map<PullRequests, string>();

  constructor(options: ArchiverOptions) {
    this.#options = options;
  }

  /** Runs one round, at a time in milliseconds since 1970. */
  async run(now: number): Promise<void> {
    await this.#archiveIdle(now);
    await this.#archiveClosed(now);
  }

  async #archiveIdle(now: number): Promise<void> {
    const { store, afterDays, signal, log } = this.#options;
    if (afterDays === undefined) return;
    const archived: string[] = [];
    for (let count = batchSize; count === batchSize && !signal.aborted; await setImmediate()) {
      const ids = await store.idleJobs.archiveOldest(now - afterDays * dayMs, now, batchSize);
      await store.homes?.deleteArchived(ids);
      archived.push(...ids);
      count = ids.length;
    }
    if (archived.length > 0) log(`Archived, idle for ${days(afterDays)}: ${listOf(archived)}`);
  }

  async #archiveClosed(now: number): Promise<void> {
    const { store, signal, log } = this.#options;
    const { pullRequests, ownProjects } = this.#options;
    const all = await this.#jobsWithPullRequest();
    const own = await ownProjects?.();
    const jobs = Map.groupBy(all, ({ project }) =>
      own?.includes(project) === false ? undefined : pullRequests.get(project),
    );
    // No project waits for another one's platform that does not answer.
    const found = await Promise.all(
      pullRequests.values.map(async (each) => {
        const asked = jobs.get(each) ?? [];
        const links = await this.#findClosed(each, asked);
        return asked.filter(({ pullRequest }) => links.has(pullRequest));
      }),
    );
    const closed = found.flat();
    const archived: string[] = [];
    for (let start = 0; start < closed.length && !signal.aborted; start += batchSize) {
      const ids = await store.idleJobs.archive(closed.slice(start, start + batchSize), now);
      await store.homes?.deleteArchived(ids);
      archived.push(...ids);
      await setImmediate();
    }
    if (archived.length > 0) log(`Archived, pull request closed or merged: ${listOf(archived)}`);
  }

  async #jobsWithPullRequest(): Promise<JobWithPullRequest[]> {
    const { store, signal } = this.#options;
    const jobs: JobWithPullRequest[] = [];
    for (let count = batchSize; count === batchSize && !signal.aborted; await setImmediate()) {
      const batch = await store.idleJobs.withPullRequest(batchSize, jobs.at(-1));
      jobs.push(...batch);
      count = batch.length;
    }
    return jobs;
  }

  async #findClosed(pullRequests: PullRequests, jobs: readonly JobWithPullRequest[]): Promise<ReadonlySet<string>> {
    const { signal, log } = this.#options;
    const opened = jobs.map(({ id, pullRequest: link, head }) => ({ link, branch: jobBranch(id), head }));
    try {
      const closed = await pullRequests.findClosed(opened);
      this.#lastErrors.delete(pullRequests);
      return closed;
    } catch (error) {
      // Logged once per outage, because a round runs every minute.
      const message = errorMessage(error);
      if (message !== this.#lastErrors.get(pullRequests) && !signal.aborted)
        log(`Cannot read which pull requests are closed: ${message}`);
      this.#lastErrors.set(pullRequests, message);
      return new Set();
    }
  }
}
