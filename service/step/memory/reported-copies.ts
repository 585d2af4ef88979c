import { errorMessage } from "../../src/error-message.ts";
import type { JobCopies } from "../../src/store/job-copies.ts";
import type { ReportFile } from "../report.ts";

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
  };
}
