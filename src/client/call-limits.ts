/** The limits of a call. */
export interface CallLimits {
  /** Monotonic time of the clock by which the call has to be over, in milliseconds. */
  deadline: number;
  signal: AbortSignal;
}
