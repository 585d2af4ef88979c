import type { JobCopy } from "../model.ts";

/** Copies of jobs outside this machine, from which a later service on another machine continues them. */
export interface JobCopies {
  /**
   * Saves a job, which has changed. Not called again for the same job before it settles.
   *
   * @param home - the job's home directory, unless a turn needs it; it does not change before this settles
   * @throws if the job cannot be saved
   */
  save(job: JobCopy, home: string | undefined): Promise<void>;
  /**
   * Returns the last copy of a job, and restores its home directory; `undefined` if there is no copy.
   *
   * @param home - where the home directory will be
   * @param into - where it is restored; does not exist yet, and need not exist afterwards
   * @throws if the copy cannot be read, for example because the storage does not respond
   */
  restore(jobId: string, home: string, into: string): Promise<JobCopy | undefined>;
}
