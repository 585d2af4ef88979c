import { statfs } from "node:fs/promises";
import type { HealthCheck } from "./health.ts";

/** More than what turns need to be started. */
const minFreeBytes = 256_000_000;

/** Checks that the store can be written. */
export function checkStore(store: { probe(): Promise<void> }): HealthCheck {
  return () =>
    store.probe().then(
      () => undefined,
      () => "cannot be written",
    );
}

/**
 * Checks that the disk of a folder has room.
 *
 * @param freeBytes - returns how many bytes of it the service may use. Default: asks the system
 */
export function checkDisk(folder: string, freeBytes = freeBytesOf): HealthCheck {
  return () =>
    freeBytes(folder).then(
      (free) => (free < minFreeBytes ? `less than ${minFreeBytes / 1_000_000} MB are free` : undefined),
      () => "cannot be read",
    );
}

/**
 * Checks that the worker of this process goes on.
 *
 * @param worker - returns it; `undefined` before it has started
 */
export function checkWorker(worker: () => { readonly isStuck: boolean } | undefined): HealthCheck {
  return async () => {
    const running = worker();
    if (running === undefined) return "has not started";
    return running.isStuck ? "does not get an answer when it asks for a turn" : undefined;
  };
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
