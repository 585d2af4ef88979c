/** Time as the client sees it: a port, so that tests and simulations can pass their own. */
export interface Clock {
  /** Monotonic time in milliseconds, with an arbitrary zero. */
  now(): number;
  /** Wall-clock time in milliseconds since 1970. Only HTTP dates are compared with it. */
  wallTime(): number;
  /** Resolves after `ms` milliseconds, or as soon as `signal` aborts. Never rejects, and leaves no timer or listener. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The limits of a call. */
export interface CallLimits {
  /** Monotonic time of the clock by which the call has to be over, in milliseconds. */
  deadline: number;
  signal: AbortSignal;
}

/** The longest delay that `setTimeout` accepts; it fires immediately on anything longer. */
const maxTimerMs = 2 ** 31 - 1;

/** The system clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(Math.max(ms, 0), maxTimerMs));
      signal?.addEventListener("abort", wake);
    }),
};
