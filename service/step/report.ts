import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../src/error-message.ts";
import type { JobCopy } from "../src/model.ts";
import type { JobCopies } from "../src/store/job-copies.ts";
import { reportFile } from "./server-protocol.ts";

/** What `post` tells about the jobs of this run. */
export interface Report {
  /** Links of the pull requests that were opened, in that order. */
  pullRequests: string[];
  /** Jobs with a turn that failed. */
  failedJobs: string[];
  /** Jobs that a later run cannot continue, with the reason. */
  unsavedJobs: Record<string, string>;
}

/** Keeps the report up to date in a file, so that it is there however the service ends. */
export class ReportFile {
  readonly #folder: string;
  readonly #report: Report = { pullRequests: [], failedJobs: [], unsavedJobs: {} };
  /** Pull requests of jobs from earlier runs. */
  readonly #known = new Set<string | null>();
  readonly #knownTurns = new Set<number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Says that the service has started. */
  begin(): void {
    this.#write();
  }

  /** Leaves out what a job of an earlier run already had. */
  exclude({ pullRequest, turns }: JobCopy): void {
    this.#known.add(pullRequest);
    for (const { id, state } of turns) if (state === "failed") this.#knownTurns.add(id);
  }

  update({ id, pullRequest, turns }: JobCopy): void {
    const { pullRequests, failedJobs } = this.#report;
    if (pullRequest !== null && !this.#known.has(pullRequest) && !pullRequests.includes(pullRequest))
      pullRequests.push(pullRequest);
    const hasFailed = turns.some((turn) => turn.state === "failed" && !this.#knownTurns.has(turn.id));
    if (hasFailed && !failedJobs.includes(id)) failedJobs.push(id);
    this.#write();
  }

  /** @param reason - `undefined` if it is saved now */
  setUnsaved(jobId: string, reason: string | undefined): void {
    if (reason === undefined) delete this.#report.unsavedJobs[jobId];
    else this.#report.unsavedJobs[jobId] = reason;
    this.#write();
  }

  #write(): void {
    const file = join(this.#folder, reportFile);
    writeFileSync(`${file}.new`, JSON.stringify(this.#report));
    renameSync(`${file}.new`, file);
  }
}

/** Reads the report of a service; `undefined` if it never started. */
export function readReport(folder: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, reportFile), "utf8")) as Report;
  } catch {
    return undefined;
  }
}

/**
 * Reports what happens to jobs, and hands them to where their copies are.
 *
 * @param copies - `undefined` if jobs are not remembered
 */
export function reportedCopies(report: ReportFile, copies: JobCopies | undefined): JobCopies {
  return {
    save: async (job, home) => {
      report.update(job);
      try {
        await copies?.save(job, home);
        report.setUnsaved(job.id, undefined);
      } catch (error) {
        report.setUnsaved(job.id, errorMessage(error));
        throw error;
      }
    },
    restore: async (...place) => {
      const job = await copies?.restore(...place);
      if (job !== undefined) report.exclude(job);
      return job;
    },
    jobsOfStep: async (sent) => (await copies?.jobsOfStep?.(sent)) ?? [],
    jobOfSession: async (session) => copies?.jobOfSession?.(session),
    keptCommits: {
      isOnlyPlace: true,
      save: async (turn, bundle) => {
        const { keptCommits } = copies ?? {};
        if (keptCommits === undefined)
          throw new Error("this run cannot save it in the Actions cache of its own repository");
        await keptCommits.save(turn, bundle);
      },
      load: async (job) => copies?.keptCommits?.load(job),
    },
  };
}
