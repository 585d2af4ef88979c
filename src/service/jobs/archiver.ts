import { errorMessage } from "../error-message.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import { jobBranch } from "./job-files.ts";
import type { Store } from "./store.ts";

export interface ArchiverOptions {
  store: Store;
  pullRequests: PullRequests;
  /** Days without a turn after which a job is archived in any case. Default: never. */
  afterDays?: number | undefined;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

const dayMs = 86_400_000;

/** Archives jobs whose pull request is closed or merged, and jobs that have been idle for a number of days. */
export class Archiver {
  readonly #options: ArchiverOptions;
  #lastError: string | undefined;

  constructor(options: ArchiverOptions) {
    this.#options = options;
  }

  /** Runs one round, at a time in milliseconds since 1970. */
  async run(now: number): Promise<void> {
    const { store, afterDays = Number.POSITIVE_INFINITY, log } = this.#options;
    const jobs = store.idleJobs();
    const closed = await this.#findClosed(jobs);
    for (const job of jobs) {
      const isExpired = now - job.idleSince >= afterDays * dayMs;
      if (!isExpired && !closed.has(job.pullRequest ?? "")) continue;
      if (store.archiveJob(job, now))
        log(`${job.id}: archived, ${isExpired ? `idle for ${afterDays} days` : "pull request closed or merged"}`);
    }
  }

  async #findClosed(jobs: ReturnType<Store["idleJobs"]>): Promise<ReadonlySet<string>> {
    const { pullRequests, signal, log } = this.#options;
    const opened = jobs.flatMap(({ id, pullRequest: link, head }) =>
      link === null || head === null ? [] : [{ link, branch: jobBranch(id), head }],
    );
    try {
      const closed = await pullRequests.findClosed(opened);
      this.#lastError = undefined;
      return closed;
    } catch (error) {
      // Once per outage, because a round runs every minute.
      const message = errorMessage(error);
      if (message !== this.#lastError && !signal.aborted) log(`Cannot read which pull requests are closed: ${message}`);
      this.#lastError = message;
      return new Set();
    }
  }
}
