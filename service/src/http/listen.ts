import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { defaultMaxConnections, limitConnections } from "./connections.ts";

/** An HTTP server. Its disposal answers the requests that have arrived, then closes all connections. */
export interface LoopbackServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a trailing slash; has the address instead if the server listens only on another one. */
  url: string;
  server: Server;
}

export interface ListenOptions {
  /** The IP address to listen on. Default: 127.0.0.1, which no other machine can reach. */
  address?: string | undefined;
  /** Default: half of the process's file descriptors, at most 4000. */
  maxConnections?: number;
  /** From the connection, or the end of the previous request, until the headers have arrived. Default: 15 seconds. */
  headersTimeoutMs?: number;
  /** From the connection until the body has arrived. Default: 2 minutes. */
  requestTimeoutMs?: number;
  /** How long disposal waits for requests that have arrived. Default: 5 seconds. */
  graceMs?: number;
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
    graceMs = 5000,
    log = () => {},
  } = options;
  const timeouts = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    // Between two requests on a connection. Longer than reverse proxies and load balancers keep one, up to 75 seconds: they would
    // send a request on it while it is being closed.
    keepAliveTimeout: 80_000,
    connectionsCheckingInterval: Math.min(5000, headersTimeoutMs, requestTimeoutMs),
  };
  // The listener answers a missing `Host` itself, with JSON.
  const server = createServer({ ...timeouts, requireHostHeader: false }, listener);
  limitConnections(server, maxConnections, log);
  answerClientErrors(server);
  const close = closeAfterRequests(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const host = ["0.0.0.0", "::"].includes(address) ? "127.0.0.1" : address;
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    server,
    [Symbol.asyncDispose]: () => close(graceMs),
  };
}

/** Returns a function that closes a server once the requests that have arrived are answered, or `graceMs` has passed. */
function closeAfterRequests(server: Server): (graceMs: number) => Promise<void> {
  const idle = new Set<Socket>();
  let isClosing = false;
  server.on("connection", (socket) => {
    idle.add(socket);
    socket.once("close", () => idle.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    idle.delete(socket);
    response.once("close", () => {
      if (isClosing) socket.end();
      else if (!socket.destroyed) idle.add(socket);
    });
  });
  return async (graceMs) => {
    isClosing = true;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of idle) socket.destroy();
    // A client whose create is cut off cannot know whether it was accepted.
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  };
}

const clientErrors: Readonly<Record<string, { status: number; error: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, error: "Request header fields too large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: "The request took too long to arrive" },
};

/** Answers unreadable requests with JSON: if they are malformed, have too many headers, or take too long. */
function answerClientErrors(server: Server): void {
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.on("request", ({ socket }, response) => responses.set(socket, response));
  server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) => {
    const response = responses.get(socket);
    const isAnswering = response?.headersSent && !response.writableFinished;
    if (!socket.writable || isAnswering) return void socket.destroy();
    const { status, error } = clientErrors[code ?? ""] ?? { status: 400, error: "Malformed request" };
    const body = JSON.stringify({ error });
    const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close`;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n\r\n${body}`, () => socket.destroy());
  });
}
