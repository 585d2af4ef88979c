import { createHash } from "node:crypto";
import { createServer } from "node:net";

/** Below the ports that Linux gives to outgoing connections, 32768 and more. */
const firstPort = 20_000;
const ports = 10_000;

/**
 * Returns the port of a project. It is the same in each run, because the action finds a session or an earlier attempt only at
 * the same `base-url`.
 */
export function portOf(projectId: string): number {
  return firstPort + (createHash("sha256").update(projectId).digest().readUInt32BE() % ports);
}

/** Returns whether nothing listens on a port of the loopback interface. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
