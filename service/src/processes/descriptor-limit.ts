import { readFileSync } from "node:fs";

/** The service itself has some 40 open, and a turn needs a few dozen for a moment. */
const minDescriptors = 128;

/**
 * Returns how many descriptors the process can have open: files, pipes and connections.
 *
 * @param file - in which Linux lists the limits of the process
 */
export function descriptorLimit(file = "/proc/self/limits"): number {
  try {
    return Number(/Max open files +(\d+)/.exec(readFileSync(file, "utf8"))?.[1] ?? Infinity);
  } catch {
    // Only Linux has this file. Elsewhere the limit is high: Node.js raises it as far as it may when it starts.
    return Infinity;
  }
}

/** @throws if the process can open too few descriptors to run a turn */
export function checkDescriptors(limit: number = descriptorLimit()): void {
  if (limit < minDescriptors)
    throw new Error(
      `the service can have only ${limit} files and connections open, and needs ${minDescriptors}: raise the limit, such as with ulimit -n 1024`,
    );
}
