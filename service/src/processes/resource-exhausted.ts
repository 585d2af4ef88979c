import { thisMachine } from "../machine.ts";

/** Too many open files, no more processes, no memory, or no space. */
const codes = ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "ENOSPC", "EDQUOT"];

// Git says of some failed writes neither why nor "No space left on device": of a ref, of an index, and of its configuration.
const messages =
  /couldn't write '|Out of diskspace|failed to write new configuration file|No space left on device|Disk quota exceeded|Too many open files|Cannot allocate memory|[Oo]ut of memory|cannot fork|unable to (?:fork|create threaded)|fork: (?:retry: )?Resource temporarily unavailable/;

/** With less free space, what failed is not known to fail again. */
const lowSpaceBytes = 100_000_000;

/** Signals that end a program for lack of memory or space, or because somebody stops what is on the machine. */
const exhaustedSignals: readonly (string | null)[] = ["SIGKILL", "SIGBUS", "SIGTERM", "SIGXFSZ"];
/** How a program says that such a signal has ended one that it has started: it has no other way to tell. */
const childSignals = /died of signal (?:7|9|15|25)\b|^(?:remote: )?(?:\S+: (?:line )?\d+: +\d+ )?Killed\b/m;

/** How a program ended that failed. */
export interface FailedExit {
  /** That has ended it; `null` if none has. */
  signal: string | null;
  stderr: string;
  folder: string;
}

/**
 * Returns whether a program has failed because the machine lacks something for now: by its signal, the free space, and its words.
 *
 * @param freeBytes - returns what is free on the disk of a folder. Default: this machine's
 */
export async function failedForLack(
  { signal, stderr, folder }: FailedExit,
  freeBytes: (folder: string) => Promise<number> = thisMachine.freeBytes,
): Promise<boolean> {
  if (exhaustedSignals.includes(signal) || childSignals.test(stderr) || saysResourceExhausted(stderr)) return true;
  return (await freeBytes(folder).catch(() => lowSpaceBytes)) < lowSpaceBytes;
}

/** Thrown when the machine lacks something for now, such as disk space. The same can succeed later without any change. */
export class ResourceExhausted extends Error {}

/** Returns whether something thrown means that the machine lacks something for now. */
export function isResourceExhausted(error: unknown): error is Error {
  if (error instanceof ResourceExhausted) return true;
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Returns whether the output of a program says that the machine lacks something for now. */
export function saysResourceExhausted(output: string): boolean {
  return messages.test(output);
}
