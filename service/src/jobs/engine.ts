import type { JobRecord, RateLimited, RequestKey, StepTurn, TurnStatus } from "../model.ts";

/** A create or message whose key an earlier request had. Nothing was added. */
export interface ReplayedRecord {
  /** The job of the earlier request's turn, as it is now. */
  replayed: JobRecord;
}

/** How long to wait: for a time in milliseconds, or until the signal aborts. */
export interface Wait {
  ms: number;
  signal: AbortSignal;
}

/** A turn that somebody wanted to stop. */
export interface StoppedTurn {
  /** The turn as it is now: `running` while its agent is ending, or its work is being pushed. */
  status: TurnStatus;
  /** Whether it had ended before. */
  hadEnded: boolean;
}

/** What operators and clients can do with the turns of jobs. */
export interface TurnControl {
  /**
   * Stops a turn of a job: takes it out of the queue, or stops its agent. The turn fails, unless its work is being pushed
   * already. One that has ended stays as it is.
   *
   * @param reason - why it fails, as a sentence
   * @returns `undefined` if the project has no such job, or the job no such turn
   */
  stopTurn(projectId: string, jobId: string, turnId: number, reason: string): Promise<StoppedTurn | undefined>;
  /**
   * Runs the last turn of a job again, which has failed: adds one with the same prompt. It counts as a message.
   *
   * @returns `undefined` if the project has no such job, the turn is not the job's last one, or it has not failed
   */
  retryTurn(projectId: string, jobId: string, turnId: number): Promise<JobRecord | RateLimited | undefined>;
}

/** The most turns that the list of a step has. A step has few: one, and those that replaced it. */
export const stepTurnLimit = 100;

/** Finds turns by the key of their request. */
export interface StepFinder {
  /** Returns the turns that a caller has sent for a step to jobs of a project, newest first, at most `stepTurnLimit`. */
  findStep(projectId: string, caller: string, step: string): Promise<StepTurn[]>;
}

/** Runs jobs, as the HTTP API sees them. */
export interface Engine {
  /**
   * Creates a job with `prompt` as its first turn.
   *
   * @param key - default: the request is not sent again
   * @param base - the branch that the agent starts from and its pull request targets. If it is the branch of a job of the project, the
   *   prompt is added to that job instead. Default: the project's
   * @throws KeyReused if another request had the key
   * @throws UnknownBase if there is no such branch
   */
  create(
    projectId: string,
    prompt: string,
    key?: RequestKey,
    base?: string,
  ): Promise<JobRecord | ReplayedRecord | RateLimited>;
  /**
   * Adds a turn to a job. Returns `undefined` if the project has no such job.
   *
   * @param key - default: the request is not sent again
   * @throws KeyReused if another request had the key
   */
  message(
    projectId: string,
    jobId: string,
    prompt: string,
    key?: RequestKey,
  ): Promise<JobRecord | ReplayedRecord | RateLimited | undefined>;
  /**
   * Returns `undefined` if the project has no such job.
   *
   * @param wait - an active job is returned when it is no longer active, or when the wait is over. Default: at once
   */
  get(projectId: string, jobId: string, wait?: Wait): Promise<JobRecord | undefined>;
}
