/** Time as the client sees it, so that tests and simulations can bring their own. */
export interface Clock {
  /** Monotonic time in milliseconds; its zero has no meaning. */
  now(): number;
  /** Wall-clock time in milliseconds since 1970, only to read HTTP dates with. */
  wallTime(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts; never rejects, and leaves nothing behind. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay `setTimeout` takes; it fires at once on anything longer. */
const longestTimerMs = 2 ** 31 - 1;

/** The machine's clock. */
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
      const timer = setTimeout(wake, Math.min(Math.max(ms, 0), longestTimerMs));
      signal?.addEventListener("abort", wake, { once: true });
    }),
};
