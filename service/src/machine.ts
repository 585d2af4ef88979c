import { statfs } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** The machine as the service sees it: a port, so that tests and simulations pass their own. */
export interface Machine {
  /** Monotonic time in milliseconds, with an arbitrary zero. */
  now(): number;
  /** Wall-clock time in milliseconds since 1970. */
  wallTime(): number;
  /** Resolves after `ms` milliseconds, or as soon as `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number from 0 up to but not including 1. */
  random(): number;
  /** Bytes that are free on the disk of a folder. */
  freeBytes(folder: string): Promise<number>;
}

/** The machine that the process runs on. */
export const thisMachine: Machine = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => {}),
  random: () => Math.random(),
  freeBytes: async (folder) => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
};
