import { readGroupUse } from "./own-processes.ts";

/** Watches a process group for silence. */
export interface StallWatch extends Disposable {
  /** Aborts when the group has read and written nothing for long enough. */
  readonly signal: AbortSignal;
}

/** How often it is looked at within the time without a byte. */
const looks = 12;
/** The share of a processor with which a group computes, and does not just wait. */
const busyRatio = 0.1;

/**
 * Starts to watch a process group: one that waits for a network reads and writes nothing, whatever program talks to the network. Where the
 * kernel does not tell, no group is silent.
 *
 * @param leader - its process; `undefined` if it was not started
 */
export function watchStall(leader: number | undefined, stallMs: number): StallWatch {
  const controller = new AbortController();
  const everyMs = stallMs / looks;
  let silentLooks = 0;
  let last = leader === undefined ? undefined : readGroupUse(leader);
  const look = (): void => {
    const use = leader === undefined ? undefined : readGroupUse(leader);
    const isSilent = use !== undefined && use.bytes === last?.bytes && use.cpuMs - last.cpuMs < busyRatio * everyMs;
    silentLooks = isSilent ? silentLooks + 1 : 0;
    last = use;
    if (silentLooks >= looks) controller.abort();
  };
  const timer = setInterval(look, everyMs);
  return { signal: controller.signal, [Symbol.dispose]: () => clearInterval(timer) };
}
