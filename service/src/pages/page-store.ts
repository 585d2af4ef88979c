import type { JobProgress, JobQuery, ListedJob, LocalPullRequest, PageJob, TurnExcerpt } from "../model.ts";

/** Where the content of pages is stored. */
export interface PageStore {
  /** Returns `undefined` if there is no such job. */
  job(id: string): Promise<PageJob | undefined>;
  /** Returns the project of a job; `undefined` if there is no such job. */
  projectOf(jobId: string): Promise<string | undefined>;
  /** Returns jobs, newest first. */
  jobs(query: JobQuery): Promise<ListedJob[]>;
  /** Returns `undefined` if there is no such job. */
  progress(jobId: string): Promise<JobProgress | undefined>;
  pullRequest(number: number): Promise<LocalPullRequest | undefined>;
  /** Returns the newest pull requests of a job that are pages, newest first. */
  pullRequestsOf(jobId: string, count: number): Promise<{ number: number; title: string }[]>;
  /** Returns the id of a job's first turn. */
  firstTurn(jobId: string): Promise<number | undefined>;
  countTurns(jobId: string): Promise<number>;
  /** Returns the ids of a job's newest turns, oldest first. */
  latestTurns(jobId: string, count: number): Promise<number[]>;
  /** Returns a turn with at most `length` characters of its texts; `undefined` if it was deleted. */
  turnExcerpt(id: number, length: number): Promise<TurnExcerpt | undefined>;
}
