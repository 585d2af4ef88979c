import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { answerClientErrors } from "./client-error.ts";
import { defaultMaxConnections, limitConnections } from "./connections.ts";

/** An HTTP server. Disposing of it closes all connections. */
export interface LoopbackServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a trailing slash; with another address, if it listens only on that. */
  url: string;
  server: Server;
}

export interface ListenOptions {
  /** The address of this machine to listen on. Default: 127.0.0.1, which no other machine can reach. */
  address?: string | undefined;
  /** Default: half of the descriptors of the process, at most 1000. */
  maxConnections?: number;
  /** From the connection, or the end of the request before, until the headers have arrived. Default: 15 seconds. */
  headersTimeoutMs?: number;
  /** From the connection until the body has arrived. Default: 2 minutes. */
  requestTimeoutMs?: number;
  /** Receives one line per outage when connections are dropped. */
  log?: (line: string) => void;
}

/**
 * Starts an HTTP server.
 *
 * @param port - default: 0, any free port
 */
export async function listen(
  listener: RequestListener,
  port = 0,
  options: ListenOptions = {},
): Promise<LoopbackServer> {
  const {
    address = "127.0.0.1",
    maxConnections = defaultMaxConnections(),
    headersTimeoutMs = 15_000,
    requestTimeoutMs = 120_000,
    log = () => {},
  } = options;
  const timeouts = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    // Between two requests of a connection.
    keepAliveTimeout: 5000,
    connectionsCheckingInterval: Math.min(5000, headersTimeoutMs, requestTimeoutMs),
  };
  // The listener answers a missing `Host`, with JSON.
  const server = createServer({ ...timeouts, requireHostHeader: false }, listener);
  limitConnections(server, maxConnections, log);
  answerClientErrors(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  const host = ["0.0.0.0", "::"].includes(address) ? "127.0.0.1" : address;
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    server,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
