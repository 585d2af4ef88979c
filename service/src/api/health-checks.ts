import { type Machine, thisMachine } from "../machine.ts";
import type { HealthCheck } from "./health.ts";

/** More than turns need to start. */
const minFreeBytes = 256_000_000;

/** Checks that the store can be written. */
export function checkStore(store: { probe(): Promise<void> }): HealthCheck {
  return () =>
    store.probe().then(
      () => undefined,
      () => "cannot be written",
    );
}

/** Checks that the disk of a folder has room. */
export function checkDisk(folder: string, machine: Pick<Machine, "freeBytes"> = thisMachine): HealthCheck {
  return () =>
    machine.freeBytes(folder).then(
      (free) => (free < minFreeBytes ? `less than ${minFreeBytes / 1_000_000} MB are free` : undefined),
      () => "cannot be read",
    );
}

/** The state of a worker that health depends on. */
export interface CheckedWorker {
  /** Whether the store does not answer the worker. */
  readonly isStuck: boolean;
  /** Whether the worker cannot take or run turns. */
  readonly isFailing: boolean;
}

/**
 * Checks that the worker of this process is not stuck.
 *
 * @param worker - returns the worker; `undefined` before it has started
 */
export function checkLiveness(worker: () => Pick<CheckedWorker, "isStuck"> | undefined): HealthCheck {
  return async () => {
    const running = worker();
    if (running === undefined) return "has not started";
    return running.isStuck ? "does not get an answer when it asks for a turn" : undefined;
  };
}

/** Checks that the worker of this process is not stuck and can run turns. If it cannot, a restart may not help. */
export function checkWorker(worker: () => CheckedWorker | undefined): HealthCheck {
  const checkIsLive = checkLiveness(worker);
  return async () => (await checkIsLive()) ?? (worker()?.isFailing ? "cannot run turns; its log says why" : undefined);
}
