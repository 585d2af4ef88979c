import { isKnownStatus, type Job, type KnownStatus } from "../client/contract.ts";
import { type PullRequest, parsePullRequest } from "./pull-request.ts";

/** A state the job was seen in, and when first: milliseconds since the first request. */
export interface StateSeen {
  status: string;
  atMs: number;
}

/** What the run knows so far: all that outputs, log and summary are made of. */
export class Facts {
  /** Monotonic time of the first request; `undefined` while nothing was sent. */
  startedAt: number | undefined;
  jobId = "";
  /** The last of the four known statuses seen. */
  status: KnownStatus | "" = "";
  pullRequest: PullRequest | undefined;
  /** The last record gave a pull request that cannot be given out. */
  hasBadLink = false;
  model = "";
  repository = "";
  ref = "";
  createdAt = "";
  archivedAt = "";
  readonly timeline: StateSeen[] = [];

  elapsedMs(now: number): number {
    return this.startedAt === undefined ? 0 : now - this.startedAt;
  }

  /**
   * Takes in a record. What a record leaves out stays as it was known, but for the pull request, which is always that
   * of the last record.
   */
  learn(job: Job, now: number): void {
    this.jobId = job.id;
    if (isKnownStatus(job.status)) this.status = job.status;
    if (this.timeline.at(-1)?.status !== job.status) {
      this.timeline.push({ status: job.status, atMs: this.elapsedMs(now) });
    }
    this.pullRequest = parsePullRequest(job.prLink);
    this.hasBadLink = job.prLink !== "" && !this.pullRequest;
    this.model = job.model || this.model;
    this.repository = job.repository || this.repository;
    this.ref = job.ref || this.ref;
    this.createdAt = job.createdAt || this.createdAt;
    this.archivedAt = job.archivedAt || this.archivedAt;
  }
}
