import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { fixedHeaders } from "./page-reply.ts";

/** An answer that is sent while it is being produced. */
export interface StreamReply {
  headers: Readonly<Record<string, string>>;
  /**
   * Returns the parts of the answer. The next part is requested once the client's connection has accepted the previous one.
   *
   * @param signal - aborts when the connection is closed
   */
  content: (signal: AbortSignal) => AsyncIterable<Buffer>;
}

const defaultStallMs = 120_000;

/**
 * Sends a reply, without a body if the request is a `HEAD`. Resolves when it is sent, or the connection is closed.
 *
 * @param stallMs - a client that reads nothing for this long is disconnected. Default: 2 minutes
 * @throws if the content cannot be read. Then the connection is closed, so that the client does not consider it complete
 */
export async function sendStream(
  response: ServerResponse,
  { headers, content }: StreamReply,
  stallMs = defaultStallMs,
): Promise<void> {
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  if (response.destroyed) closed.abort();
  response.writeHead(200, { ...fixedHeaders, ...headers });
  if (response.req.method === "HEAD") return void response.end();
  // Detects a client that has disappeared even while nothing is sent.
  response.req.socket.setKeepAlive(true, 30_000);
  response.flushHeaders();
  try {
    for await (const part of content(closed.signal)) {
      if (!response.write(part)) await event(response, "drain", stallMs);
      if (response.destroyed) return;
    }
    if (response.destroyed) return;
    response.end();
    await event(response, "finish", stallMs);
  } catch (error) {
    if (!closed.signal.aborted) throw error;
  } finally {
    // If everything was sent, the connection stays open.
    if (!response.writableFinished) response.destroy();
  }
}

/** Waits for an event of a response. Destroys the response if the event does not come in time. */
async function event(response: ServerResponse, name: "drain" | "finish", limitMs: number): Promise<void> {
  if (response.destroyed || response.writableFinished) return;
  const end = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once(name, resolve).once("close", resolve);
  const timer = setTimeout(limitMs, undefined, { signal: end.signal }).then(
    () => void response.destroy(),
    () => {},
  );
  await Promise.race([promise, timer]);
  end.abort();
  response.off(name, resolve).off("close", resolve);
}
