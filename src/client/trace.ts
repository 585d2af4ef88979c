import type { Transport } from "./transport.ts";

/** One request and what came of it, as far as it may be told: no header but the request's id, and no body. */
export interface Trace {
  method: string;
  path: string;
  durationMs: number;
  /** The status and the service's own id of the request, empty where it sent none; or the fault in its place. */
  result: { status: number; requestId: string } | { fault: string };
}

/** The same transport, which tells of every exchange once it is over. */
export function traced(transport: Transport, now: () => number, onTrace: (trace: Trace) => void): Transport {
  return async (request) => {
    const startedAt = now();
    const tell = (result: Trace["result"]): void =>
      onTrace({ method: request.method, path: request.url.pathname, durationMs: now() - startedAt, result });
    try {
      const answer = await transport(request);
      tell({ status: answer.status, requestId: answer.headers["x-request-id"] ?? "" });
      return answer;
    } catch (error) {
      tell({ fault: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  };
}

/** The same trace without the key, in case that the service or an address gives it back. */
export function redacted(trace: Trace, redact: (text: string) => string): Trace {
  const { path, result } = trace;
  return {
    ...trace,
    path: redact(path),
    result: "fault" in result ? { fault: redact(result.fault) } : { ...result, requestId: redact(result.requestId) },
  };
}
