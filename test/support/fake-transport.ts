import type { HttpRequest, HttpResponse, Transport } from "../../src/runner-kit/transport.ts";
import { NetworkError } from "../../src/runner-kit/transport.ts";
import type { FakeClock } from "./fake-clock.ts";

/** What happens to one request: how long it takes, and how it ends. */
export interface Exchange {
  /** How long until the connection is established and the request sent, in milliseconds. Default: 0. */
  connectMs?: number;
  /** How long the response takes after that, in milliseconds. Default: 0. */
  responseMs?: number;
  /** The response, or a function that acts on the request and returns it. A `body` other than a string is sent as JSON. */
  response?: FakeResponse | (() => FakeResponse);
  /** The connection fails, before or after the request is sent, so there is no response. */
  failure?: "not-connected" | "no-response" | "certificate";
}

export interface FakeResponse {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface SeenRequest {
  /** Milliseconds since the start of the clock. */
  at: number;
  method: string;
  path: string;
  /** With the question mark, or empty. */
  query: string;
  headers: Readonly<Record<string, string>>;
  body: unknown;
  timeoutMs: number;
}

/** Creates a transport on a fake clock whose requests end as `respond` says. It keeps the real transport's contract. */
export function fakeTransport(
  clock: FakeClock,
  respond: (request: SeenRequest, index: number) => Exchange,
): { transport: Transport; requests: SeenRequest[] } {
  const requests: SeenRequest[] = [];
  const transport: Transport = async (request) => {
    if (request.signal.aborted) throw networkError("not-connected", "aborted");
    const startedAt = clock.now();
    const seen = describe(request, clock.elapsedMs);
    const exchange = respond(seen, requests.length);
    requests.push(seen);
    pass(exchange.connectMs ?? 0, "not-connected", request, startedAt);
    if (exchange.failure === "not-connected") throw networkError("not-connected", "network");
    if (exchange.failure === "certificate") throw networkError("not-connected", "certificate");
    const response = typeof exchange.response === "function" ? exchange.response() : exchange.response;
    pass(exchange.responseMs ?? 0, "no-response", request, startedAt);
    if (exchange.failure === "no-response" || !response) throw networkError("no-response", "network");
    return httpResponse(response);
  };

  /** Lets `ms` pass, up to the timeout of the request or the end of its grace period after an abort. */
  function pass(ms: number, stage: "not-connected" | "no-response", request: HttpRequest, startedAt: number): void {
    const timeoutAt = startedAt + request.timeoutMs;
    const isLate = clock.now() + ms > timeoutAt;
    const end = Math.min(clock.now() + ms, timeoutAt);
    clock.advance(end - clock.now(), request.signal);
    if (request.signal.aborted && clock.now() < end) {
      const graceEnd = stage === "not-connected" ? clock.now() : Math.min(end, clock.now() + (request.graceMs ?? 0));
      clock.advance(graceEnd - clock.now());
      if (clock.now() < end) throw networkError(stage, "aborted");
    }
    if (isLate) throw networkError(stage, "timeout");
  }

  return { transport, requests };
}

function describe(request: HttpRequest, at: number): SeenRequest {
  const { method, url, headers, timeoutMs } = request;
  const body: unknown = request.body === undefined ? undefined : JSON.parse(String(request.body));
  return { at, method, path: url.pathname, query: url.search, headers, body, timeoutMs };
}

function httpResponse({ status, headers = {}, body = "" }: FakeResponse): HttpResponse {
  return { status, headers, body: typeof body === "string" ? body : JSON.stringify(body) };
}

function networkError(stage: "not-connected" | "no-response", reason: NetworkError["reason"]): NetworkError {
  const phase = stage === "not-connected" ? "connecting" : "waiting";
  return new NetworkError(`simulated ${reason} failure`, { phase, reason });
}
