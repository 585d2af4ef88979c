import type { LogMark } from "./log-times.ts";

/** The logs of jobs: what their agents print, and the notes of the service, turn after turn. A log only grows, until its job is deleted. */
export interface JobLogs {
  /**
   * Returns the part of a job's log that begins at a position in bytes: at most 128 KiB; an empty buffer at its end.
   *
   * @throws StoreUnavailable if it cannot be read now
   */
  read(jobId: string, from: number): Promise<Buffer>;
  /**
   * Returns the position of the end of a job's log, in bytes.
   *
   * @throws StoreUnavailable if it cannot be read now
   */
  end(jobId: string): Promise<number>;
  /** Returns the turns that wrote each part of a job's log, with times, in log order. Parts of unknown origin are omitted. */
  marks(jobId: string): Promise<LogMark[]>;
  /**
   * Calls `listener` whenever a job's log may have grown, or its turns may have ended.
   *
   * @returns a function that removes the listener
   */
  follow(jobId: string, listener: () => void): () => void;
}
