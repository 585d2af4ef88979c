import { NetworkError } from "../../src/client/errors.ts";
import type { HttpRequest, HttpResponse, Transport } from "../../src/client/transport.ts";
import type { FakeClock } from "./fake-clock.ts";

/** What becomes of a request: how long it takes to be connected and to be answered, and how it ends. */
export interface Exchange {
  /** Until the request has been sent, in milliseconds. Default: 0. */
  connectMs?: number;
  /** From there to the answer. Default: 0. */
  answerMs?: number;
  /** The answer, or what happens when the request arrives and makes it. A `body` that is no string is sent as JSON. */
  answer?: Answer | (() => Answer);
  /** No answer: the connection fails, before or after the request was sent. */
  failure?: "not-connected" | "no-response" | "certificate";
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface SeenRequest {
  at: number;
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: unknown;
  timeoutMs: number;
}

/** The way to a service that answers as `respond` says, on a fake clock, with the manners of the real transport. */
export function fakeTransport(
  clock: FakeClock,
  respond: (request: SeenRequest, index: number) => Exchange,
): { transport: Transport; requests: SeenRequest[] } {
  const requests: SeenRequest[] = [];
  const transport: Transport = async (request) => {
    if (request.signal.aborted) throw failure("not-connected", "aborted");
    const seen = describe(request, clock.now());
    const exchange = respond(seen, requests.length);
    requests.push(seen);
    pass(exchange.connectMs ?? 0, "not-connected", request);
    if (exchange.failure === "not-connected") throw failure("not-connected", "network");
    if (exchange.failure === "certificate") throw failure("not-connected", "certificate");
    const answer = typeof exchange.answer === "function" ? exchange.answer() : exchange.answer;
    pass(exchange.answerMs ?? 0, "no-response", request, seen.at);
    if (exchange.failure === "no-response" || !answer) throw failure("no-response", "network");
    return answerOf(answer);
  };

  function pass(
    ms: number,
    stage: "not-connected" | "no-response",
    request: HttpRequest,
    startedAt = clock.now(),
  ): void {
    const end = Math.min(clock.now() + ms, startedAt + request.timeoutMs);
    const isLate = clock.now() + ms > startedAt + request.timeoutMs;
    clock.advance(end - clock.now(), request.signal);
    if (request.signal.aborted && clock.now() < end) {
      const graceEnd = stage === "not-connected" ? clock.now() : Math.min(end, clock.now() + (request.graceMs ?? 0));
      clock.advance(graceEnd - clock.now());
      if (clock.now() < end) throw failure(stage, "aborted");
    }
    if (isLate) throw failure(stage, "timeout");
  }

  return { transport, requests };
}

function describe(request: HttpRequest, at: number): SeenRequest {
  const { method, url, headers, timeoutMs } = request;
  const body: unknown = request.body === undefined ? undefined : JSON.parse(request.body);
  return { at, method, path: url.pathname, headers, body, timeoutMs };
}

function answerOf({ status, headers = {}, body = "" }: Answer): HttpResponse {
  return { status, headers, body: typeof body === "string" ? body : JSON.stringify(body) };
}

function failure(stage: "not-connected" | "no-response", reason: NetworkError["reason"]): NetworkError {
  const phase = stage === "not-connected" ? "connecting" : "waiting";
  return new NetworkError(`simulated ${reason} failure`, { phase, reason });
}
