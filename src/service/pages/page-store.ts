import type { JobRecord } from "../jobs/engine.ts";
import type { LocalPullRequest } from "../pulls/local.ts";

/** A job as pages show it. Times are milliseconds since 1970. */
export interface PageJob {
  id: string;
  project: string;
  createdAt: number;
  state: "active" | "completed" | "failed";
  archivedAt: number | null;
  /** The link to its last pull request. */
  pullRequest: string | null;
  /** `null` if it is unknown. */
  model: string | null;
}

export type JobStatus = JobRecord["status"];

/** Where a list of jobs goes on: after this one. */
export interface JobPosition {
  createdAt: number;
  id: string;
}

export interface JobQuery {
  projects: readonly string[];
  /** Default: any. */
  status?: JobStatus | undefined;
  /** Default: the list begins with the newest job. */
  after?: JobPosition | undefined;
  limit: number;
}

/** A job in a list. */
export interface ListedJob extends Omit<PageJob, "model"> {
  /** How many turns it has. */
  turns: number;
  /** The id of its first turn. */
  firstTurn: number | null;
  /** The number of its last pull request that is a page. */
  lastPage: number | null;
}

/** How far a job is. It changes whenever a turn of the job is added, starts, or ends. */
export interface JobProgress {
  state: PageJob["state"];
  turns: number;
  /** The id of the turn that is running. */
  running: number | null;
}

/** A turn, with the beginning of its texts. Times are milliseconds since 1970. */
export interface TurnExcerpt {
  state: "waiting" | "running" | "completed" | "failed";
  prompt: string;
  /** What the agent said last; `null` if that is unknown. */
  answer: string | null;
  /** When it was first taken, and when it ended; `null` if it was not, or that is unknown. */
  startedAt: number | null;
  endedAt: number | null;
  /** Why it failed; `null` if it did not, or that is unknown. */
  reason: string | null;
}

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
