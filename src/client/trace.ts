import type { Transport } from "../runner-kit/transport.ts";
import { messageOf } from "./errors.ts";

/** What the debug log shows of a request: no body, and no header except the request id. */
export interface Trace {
  method: string;
  path: string;
  durationMs: number;
  /** The status and the server's request id (empty if it sent none), or why there is no response. */
  result: { status: number; requestId: string } | { error: string };
}

/** Wraps a transport so that it reports every request once it is over, by {@link safeTraceListener}. */
export function traceTransport(
  transport: Transport,
  now: () => number,
  onTrace: (trace: Trace) => void,
  redact: (text: string) => string,
): Transport {
  const listener = safeTraceListener(onTrace, redact);
  return async (request) => {
    const startedAt = now();
    const report = (result: Trace["result"]): void =>
      listener({ method: request.method, path: request.url.pathname, durationMs: now() - startedAt, result });
    try {
      const response = await transport(request);
      report({ status: response.status, requestId: response.headers["x-request-id"] ?? "" });
      return response;
    } catch (error) {
      report({ error: messageOf(error) });
      throw error;
    }
  };
}

/** Keeps the key from a trace listener, and its errors from the code that waits for the response. */
export function safeTraceListener(
  onTrace: (trace: Trace) => void,
  redact: (text: string) => string,
): (trace: Trace) => void {
  return ({ path, result, ...rest }) => {
    const redacted =
      "error" in result ? { error: redact(result.error) } : { ...result, requestId: redact(result.requestId) };
    try {
      onTrace({ ...rest, path: redact(path), result: redacted });
    } catch {
      // A lost trace is better than a lost response.
    }
  };
}
