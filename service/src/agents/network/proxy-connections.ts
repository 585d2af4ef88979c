import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { descriptorLimit } from "../../processes/descriptor-limit.ts";

/** Each connection of an agent can have another one to its model, so that all proxies use at most a quarter of the descriptors. */
const descriptorsPerConnection = 8;

/**
 * Returns how many connections one of several proxies may have open.
 *
 * @param descriptors - default: how many the process can have open
 */
export function defaultMaxProxyConnections(proxies: number, descriptors = descriptorLimit()): number {
  return Math.max(4, Math.min(256, Math.floor(descriptors / descriptorsPerConnection / proxies)));
}

/** How long a connection may take, in milliseconds. */
export interface ProxyTimes {
  /** Until the headers of a request have arrived. */
  headersMs: number;
  requestMs: number;
  /** Without a byte in either direction. A model may think for long before it answers. */
  idleMs: number;
}

export const defaultProxyTimes: ProxyTimes = { headersMs: 15_000, requestMs: 120_000, idleMs: 15 * 60_000 };

/**
 * Limits the open connections of a proxy. One connection more closes the one that has been without a request for the longest
 * time; if all have one, it is closed itself.
 */
export function limitProxyConnections(server: Server, max: number, log: (line: string) => void): void {
  /** Those without a request; the one that has waited longest comes first. */
  const waiting = new Set<Duplex>();
  let open = 0;
  let isLogged = false;
  server.on("connection", (socket) => {
    open++;
    waiting.add(socket);
    socket.once("close", () => {
      open--;
      waiting.delete(socket);
    });
    if (open <= max) return;
    const [first] = waiting;
    (first ?? socket).destroy();
    // Once, because an agent could fill the log otherwise.
    if (isLogged) return;
    isLogged = true;
    log(`Agents have more than ${max} connections to their model's proxy open. Those without a request are closed.`);
  });
  server.on("request", ({ socket }, response) => {
    waiting.delete(socket);
    response.once("close", () => {
      if (!socket.destroyed) waiting.add(socket);
    });
  });
  server.on("connect", (_request, client) => void waiting.delete(client));
}
