import type { JobCopy, RequestKey } from "../model.ts";
import type { KeptCommits } from "./kept-commits.ts";

/** What a caller has sent for a step to jobs of a project. */
export type SentForStep = Pick<RequestKey, "caller" | "step"> & { project: string };

/** Copies of jobs outside this machine, from which a later service on another machine continues them. */
export interface JobCopies {
  /** Default: commits whose push was refused are only on this machine. */
  readonly keptCommits?: KeptCommits | undefined;
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
  /**
   * Returns the ids of jobs that can have turns of a step. Those that the store does not know are restored then, before it is
   * decided whether a request is new. Default: a job is only found by its id.
   *
   * @throws if it is unknown which jobs there are, for example because the storage does not respond
   */
  jobsOfStep?(sent: SentForStep): Promise<readonly string[]>;
  /**
   * Returns the id of the job that a session can continue. Default: a session is only found in the store.
   *
   * @throws if that is unknown, for example because the storage does not respond
   */
  jobOfSession?(session: string): Promise<string | undefined>;
  /**
   * Returns the job of a session that another machine works on. Default: none does that the store does not know.
   *
   * @param claimedBy - the step for which the session counts as busy on other machines from now on, unless it does already. Default: none
   * @throws as `jobOfSession`
   */
  busyJobOf?(session: string, claimedBy?: string): Promise<BusyJob | undefined>;
}

/** A job that another machine works on. */
export interface BusyJob {
  job: string;
  /** At most, in milliseconds since 1970. */
  until: number;
}
