import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server on loopback whose answers a test decides. */
export interface HttpServer extends AsyncDisposable {
  url: string;
  /** Every request, in order. */
  requests: IncomingMessage[];
}

/** @param answer - called with every request and its number, counted from 1 */
export async function httpServer(
  answer: (n: number, ...exchange: Parameters<RequestListener>) => void,
): Promise<HttpServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const n = requests.push(request);
    request.resume();
    answer(n, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
