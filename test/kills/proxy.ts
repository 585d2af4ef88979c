import { type IncomingMessage, request as sendRequest } from "node:http";
import { type LoopbackServer, listen } from "../../service/src/http/listen.ts";

/** Where a request is: it has arrived at a server, or its response is about to leave. */
export type Point = "request" | "response";

/** Called at each point of each request, which continues when the promise resolves. */
export type Pass = (point: Point) => void | Promise<void>;

/**
 * Starts a proxy in front of a server. A request that has arrived is passed on even if its client has ended since, as it would
 * be on a network.
 */
export function startProxy(target: string, pass: Pass): Promise<LoopbackServer> {
  return listen(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      // The client ended before it had sent everything.
      return;
    }
    await pass("request");
    const { method, url: path, headers } = request;
    const outgoing = sendRequest(target, { method, path, headers, agent: false });
    outgoing.on("error", () => response.destroy());
    outgoing.on("response", async (incoming: IncomingMessage) => {
      const body: Buffer[] = [];
      for await (const chunk of incoming as AsyncIterable<Buffer>) body.push(chunk);
      await pass("response");
      response.writeHead(incoming.statusCode ?? 502, incoming.headers).end(Buffer.concat(body));
    });
    outgoing.end(Buffer.concat(chunks));
  });
}
