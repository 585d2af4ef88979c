/** How often a project may do something. */
export interface UseLimit {
  /** Counts a use at `now` and returns 0, or leaves it uncounted and returns the milliseconds until one is free. */
  take(projectId: string, now: number): number;
}
