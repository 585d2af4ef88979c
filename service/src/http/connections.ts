import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { descriptorLimit } from "../processes/descriptor-limit.ts";

/** Connections with an authenticated request. */
const kept = new WeakSet<Socket>();

/** Keeps the connection of an authenticated request until its response is sent, however many others clients open. */
export function keepConnection(request: IncomingMessage): void {
  kept.add(request.socket);
}

/**
 * Limits the open connections of a server, so that files and processes have descriptors left. One connection more closes the
 * connection that has waited longest without an authenticated request: an idle one, or one that sends its request slowly.
 */
export function limitConnections(server: Server, max: number, log: (line: string) => void): void {
  /** The connection that has waited longest comes first. */
  const waiting = new Set<Socket>();
  let open = 0;
  let isLogged = false;
  server.on("connection", (socket) => {
    open++;
    waiting.add(socket);
    socket.once("close", () => {
      open--;
      waiting.delete(socket);
      if (open <= max / 2) isLogged = false;
    });
    if (open <= max) return;
    const dropped = firstDroppable(waiting) ?? socket;
    waiting.delete(dropped);
    dropped.destroy();
    if (isLogged) return;
    isLogged = true;
    log(
      `Clients have more than ${max} connections open. The service closes those that wait longest without a request that ` +
        "has the key. Jobs and requests with the key are not affected. " +
        "If it lasts, look for the program that opens them, such as with: ss -tnp",
    );
  });
  server.on("request", ({ socket }, response) => {
    response.once("close", () => {
      kept.delete(socket);
      if (waiting.delete(socket)) waiting.add(socket);
    });
  });
}

function firstDroppable(sockets: Iterable<Socket>): Socket | undefined {
  for (const socket of sockets) if (!kept.has(socket)) return socket;
  return undefined;
}

/** Returns the largest number of connections that leaves half of the descriptors, by default the process's, for other uses. */
export function defaultMaxConnections(descriptors = descriptorLimit()): number {
  return Math.min(4000, Math.floor(descriptors / 2));
}
