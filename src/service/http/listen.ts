import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that listens on loopback. */
export interface Listening extends AsyncDisposable {
  /** Its base address, without a slash at the end. */
  url: string;
  server: Server;
}

/**
 * Serves on 127.0.0.1, where nobody else can reach it.
 *
 * @param port - 0 for any free one
 */
export async function listen(listener: RequestListener, port = 0): Promise<Listening> {
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
