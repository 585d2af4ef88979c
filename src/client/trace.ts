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

/**
 * Tells of traces what may be told: without the key, should the service or an address give it back. It never throws, since
 * it stands between an answer, which may hold the id of a job that was started, and whoever waits for that.
 */
export function discreetly(onTrace: (trace: Trace) => void, redact: (text: string) => string): (trace: Trace) => void {
  return ({ path, result, ...rest }) => {
    const shown =
      "fault" in result ? { fault: redact(result.fault) } : { ...result, requestId: redact(result.requestId) };
    try {
      onTrace({ ...rest, path: redact(path), result: shown });
    } catch {
      // A trace is worth less than an answer.
    }
  };
}
