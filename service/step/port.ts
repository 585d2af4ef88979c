import { createHash } from "node:crypto";

/** Below the ports that Linux gives to outgoing connections, 32768 and more. */
const firstPort = 20_000;
const ports = 10_000;

/** Returns the usual port of a project: the same in each run, so that logs and settings of runs look alike. */
export function portOf(projectId: string): number {
  return firstPort + (createHash("sha256").update(projectId).digest().readUInt32BE() % ports);
}
