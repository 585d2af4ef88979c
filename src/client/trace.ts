import type { Transport } from "../runner-kit/transport.ts";
import { excerpt } from "../runner-kit/untrusted.ts";
import { messageOf } from "./errors.ts";

/** Called after every request with a line for the debug log: no body, and no header except the request id. Untrusted text. */
export type TraceListener = (line: string) => void;

/** Reports a request. `end`: the status, or why there is no response. `requestId`: the server's; default: it sent none. */
export type Tracer = (request: string, end: unknown, durationMs: number, requestId?: string) => void;

/** Keeps the key from a trace listener, and its errors from the code that waits for the response. */
export function createTracer(onTrace: TraceListener, redact: (text: string) => string): Tracer {
  return (request, end, durationMs, requestId = "") => {
    const how = typeof end === "number" ? end : redact(messageOf(end));
    const id = requestId === "" ? "" : `, request ${excerpt(redact(requestId), 100)}`;
    try {
      onTrace(`${redact(request)}: ${how}${id} (${Math.round(durationMs)} ms)`);
    } catch {
      // A lost trace is better than a lost response.
    }
  };
}

/** Wraps a transport so that it reports every request once it is over. */
export function traceTransport(transport: Transport, now: () => number, trace: Tracer): Transport {
  return async (request) => {
    const startedAt = now();
    const name = `${request.method} ${request.url.pathname}`;
    const response = await transport(request).catch((error: unknown) => {
      trace(name, error, now() - startedAt);
      throw error;
    });
    trace(name, response.status, now() - startedAt, response.headers["x-request-id"]);
    return response;
  };
}
