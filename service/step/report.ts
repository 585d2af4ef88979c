import { errorMessage } from "../src/error-message.ts";
import type { JobCopy } from "../src/model.ts";
import type { JobCopies } from "../src/store/job-copies.ts";
import { MayNotBeKept } from "../src/store/kept-commits.ts";
import { isForSecret } from "../src/turns/refusal.ts";
import { isOpen } from "./memory/turn-row.ts";

/** What is told about the jobs of a run at its end. */
export class Report {
  /** Links of the pull requests that were opened, in that order. */
  readonly pullRequests: string[] = [];
  /** Jobs with a turn that failed. */
  readonly failedJobs: string[] = [];
  /** Jobs with a turn that has not ended. */
  readonly openJobs = new Set<string>();
  /** Jobs that a later run cannot continue, with the reason. */
  readonly unsavedJobs = new Map<string, string>();
  /** Work that is neither published nor kept elsewhere, as text, by the ids of its turns' jobs. */
  readonly unkeptWork = new Map<string, Uint8Array>();
  /** Pull requests of jobs from earlier runs. */
  readonly #known = new Set<string | null>();
  readonly #knownTurns = new Set<number>();

  /** Leaves out what a job of an earlier run already had. */
  exclude({ pullRequest, turns }: JobCopy): void {
    this.#known.add(pullRequest);
    for (const { id, state } of turns) if (state === "failed") this.#knownTurns.add(id);
  }

  update({ id, pullRequest, turns }: JobCopy): void {
    const { pullRequests, failedJobs } = this;
    const last = turns.at(-1);
    if (last && isOpen(last)) this.openJobs.add(id);
    else this.openJobs.delete(id);
    // Then it is on a branch.
    if (last?.state === "completed" || last?.kept === "pull-request") this.unkeptWork.delete(id);
    if (pullRequest !== null && !this.#known.has(pullRequest) && !pullRequests.includes(pullRequest))
      pullRequests.push(pullRequest);
    const hasFailed = turns.some((turn) => turn.state === "failed" && !this.#knownTurns.has(turn.id));
    if (hasFailed && !failedJobs.includes(id)) failedJobs.push(id);
  }
}

/**
 * Reports what happens to jobs, and hands them to where their copies are.
 *
 * @param copies - `undefined` if jobs are not remembered
 */
export function reportedCopies(report: Report, copies: JobCopies | undefined): JobCopies {
  return {
    save: async (job, home) => {
      report.update(job);
      try {
        await copies?.save(job, home);
        report.unsavedJobs.delete(job.id);
      } catch (error) {
        report.unsavedJobs.set(job.id, errorMessage(error));
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
    busyJobOf: async (...session) => copies?.busyJobOf?.(...session),
    keptCommits: {
      isOnlyPlace: true,
      save: async (turn, packed) => {
        const { keptCommits } = copies ?? {};
        if (keptCommits === undefined) throw new Error("this run remembers nothing");
        const { unkeptWork } = report;
        const before = unkeptWork.get(turn.job);
        // The step may end before it is known.
        unkeptWork.set(turn.job, packed);
        try {
          await keptCommits.save(turn, packed);
          unkeptWork.delete(turn.job);
        } catch (error) {
          // A secret must be nowhere.
          if (isForSecret(error) || error instanceof MayNotBeKept) unkeptWork.delete(turn.job);
          if (error instanceof MayNotBeKept && before !== undefined) unkeptWork.set(turn.job, before);
          throw error;
        }
      },
      load: async (job, turn) => copies?.keptCommits?.load(job, turn),
      begin: async (turn, message) => copies?.keptCommits?.begin?.(turn, message),
      besides: async (turn) => (await copies?.keptCommits?.besides?.(turn)) ?? [],
      end: async (turn, message) => copies?.keptCommits?.end?.(turn, message),
      forget: async (turn, message) => {
        report.unkeptWork.delete(turn.job);
        await copies?.keptCommits?.forget?.(turn, message);
      },
      commandFor: (...turn) => copies?.keptCommits?.commandFor?.(...turn),
    },
  };
}
