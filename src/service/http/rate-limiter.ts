/** Limits how often a project may do something. */
export interface RateLimiter {
  /**
   * Counts one use, if the project's limit allows it.
   *
   * @returns 0 if the use was counted, otherwise the milliseconds until the next use is allowed
   */
  acquire(projectId: string): number;
}

/** Creates, and messages, that the API accepts per project in any hour. */
export const hourlyLimit = 100;

export const hourMs = 3_600_000;
