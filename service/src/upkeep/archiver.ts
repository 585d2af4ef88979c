import { setImmediate } from "node:timers/promises";
import { errorMessage } from "../error-message.ts";
import type { JobWithPullRequest } from "../model.ts";
import type { PerProject } from "../per-project.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import type { Store } from "../store/store.ts";
import { dayMs, days } from "../time.ts";
import { NameList } from "./list-of.ts";
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

/** How many jobs are archived before other work of the service has its turn. */
const batchSize = 100;
/** How many jobs are read, and their pull requests judged, at a time. */
const pageSize = 1000;
/** How many of these pages a round reads. The next one continues after them. */
const maxPages = 10;

/**
 * Archives jobs whose pull request is closed or merged, and jobs that have been idle for a number of days. Few of them get another
 * message, so the homes of their agents are not kept in the database, where one takes up to 2 MB.
 */
export class Archiver implements Round {
  readonly name = "Archiver";
  readonly #options: ArchiverOptions;
  readonly #lastErrors = new Map<PullRequests, string>();
  /** The last job that a round has read; `undefined`: the next one begins with the first. */
  #last: JobWithPullRequest | undefined;

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
    const archived = new NameList();
    for (let count = batchSize; count === batchSize && !signal.aborted; await setImmediate()) {
      const ids = await store.idleJobs.archiveOldest(now - afterDays * dayMs, now, batchSize);
      await store.homes?.deleteArchived(ids);
      archived.add(ids);
      count = ids.length;
    }
    if (archived.count > 0) log(`Archived, idle for ${days(afterDays)}: ${archived.text}`);
  }

  /** Keeps no more than a page of jobs in memory. */
  async #archiveClosed(now: number): Promise<void> {
    const { store, ownProjects, signal, log } = this.#options;
    const own = await ownProjects?.();
    // Platforms that failed are not asked again in this round.
    const failed = new Set<PullRequests>();
    const round = {};
    const archived = new NameList();
    try {
      for (let pages = 0; pages < maxPages && !signal.aborted; pages++) {
        const page = await store.idleJobs.withPullRequest(pageSize, this.#last);
        this.#last = page.length === pageSize ? page.at(-1) : undefined;
        for (const jobs of batchesOf(await this.#closedOf(page, own, round, failed))) {
          if (signal.aborted) break;
          const ids = await store.idleJobs.archive(jobs, now);
          archived.add(ids);
          await store.homes?.deleteArchived(ids);
          await setImmediate();
        }
        if (this.#last === undefined) break;
      }
    } finally {
      // Also if the store cannot be used any longer.
      if (archived.count > 0) log(`Archived, pull request closed or merged: ${archived.text}`);
    }
  }

  /** Returns the jobs whose pull request is closed or merged. */
  async #closedOf(
    page: readonly JobWithPullRequest[],
    own: readonly string[] | undefined,
    round: object,
    failed: Set<PullRequests>,
  ): Promise<JobWithPullRequest[]> {
    const { pullRequests } = this.#options;
    const platforms = Map.groupBy(page, ({ project }) =>
      own?.includes(project) === false ? undefined : pullRequests.get(project),
    );
    // No project waits for another one's platform that does not answer.
    const found = await Promise.all(
      [...platforms].map(async ([platform, jobs]) => {
        if (platform === undefined || failed.has(platform)) return [];
        const links = await this.#findClosed(platform, jobs, round);
        if (links === undefined) failed.add(platform);
        return jobs.filter(({ pullRequest }) => links?.has(pullRequest));
      }),
    );
    return found.flat();
  }

  /** Returns the links of those that are closed or merged; `undefined` if no state can be read. */
  async #findClosed(
    pullRequests: PullRequests,
    jobs: readonly JobWithPullRequest[],
    round: object,
  ): Promise<ReadonlySet<string> | undefined> {
    const { signal, log } = this.#options;
    const opened = jobs.map(({ branch, pullRequest: link, head }) => ({ link, branch, head }));
    try {
      const closed = await pullRequests.findClosed(opened, round);
      this.#lastErrors.delete(pullRequests);
      return closed;
    } catch (error) {
      // Logged once per outage, because a round runs every minute.
      const message = errorMessage(error);
      if (message !== this.#lastErrors.get(pullRequests) && !signal.aborted)
        log(`Cannot read which pull requests are closed: ${message}`);
      this.#lastErrors.set(pullRequests, message);
      return undefined;
    }
  }
}

function* batchesOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += batchSize) yield all.slice(start, start + batchSize);
}
