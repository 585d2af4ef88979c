import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server on loopback. Disposing of it closes all connections. */
export interface LoopbackServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  url: string;
  server: Server;
}

/**
 * Starts an HTTP server on 127.0.0.1, which no other machine can reach.
 *
 * @param port - default: 0, any free port
 */
export async function listen(listener: RequestListener, port = 0): Promise<LoopbackServer> {
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    server,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
