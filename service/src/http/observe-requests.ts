import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { LogEvent } from "../log/log.ts";
import { withLogContext } from "../log/log-context.ts";
import { type Machine, thisMachine } from "../machine.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { pathOf } from "./request-url.ts";
import { matchRoute } from "./routes.ts";

export interface RequestObservers {
  metrics: Metrics;
  /** Receives a line for each request. Default: none. */
  logEvent?: LogEvent | undefined;
  /** Default: this machine. */
  machine?: Pick<Machine, "now">;
}

/** The status that nginx logs if the client leaves before it is answered. */
const clientClosedRequest = 499;

/**
 * Gives each request an id, which is in the answer and in all log lines about the request, and counts the request once it is
 * answered. A client can choose the id with `X-Request-Id`, if that is safe to log. Otherwise it is the `Idempotency-Key`'s,
 * which lines about the turn have, too, on any machine.
 */
export function observeRequests(
  { metrics, logEvent, machine = thisMachine }: RequestObservers,
  next: RequestListener,
): RequestListener {
  return (request, response) => {
    const job = matchRoute(pathOf(request))?.parameters?.job ?? "";
    const context = { request: requestId(request), ...(/^job_[\da-f-]{36}$/.test(job) && { job }) };
    const begin = machine.now();
    response.setHeader("x-request-id", context.request);
    response.once("close", () => {
      const method = knownMethod(request.method);
      const route = routeLabel(request);
      const status = statusOf(response);
      const ms = machine.now() - begin;
      metrics.requestAnswered({ method, route, status, seconds: ms / 1000 });
      withLogContext(context, () => logEvent?.("request answered", { method, route, status, ms: Math.round(ms) }));
    });
    withLogContext(context, () => next(request, response));
  };
}

/**
 * Returns a label for the path of a request that is neither personal nor secret, and of which there are few, whatever clients
 * request: `other` for paths without a route.
 */
export function routeLabel(request: Pick<IncomingMessage, "url">): string {
  return matchRoute(pathOf(request))?.path ?? "other";
}

const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Returns the method of a request; `other` if the service does not know it. */
export function knownMethod(method: string | undefined): string {
  return method !== undefined && knownMethods.includes(method) ? method : "other";
}

function requestId({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  if (typeof given === "string" && /^[\w.-]{1,64}$/.test(given)) return given;
  const [, keyed] = /^"(?:[^".]*\.)?([\w.-]{1,64})"$/.exec(String(headers["idempotency-key"] ?? "")) ?? [];
  return keyed ?? randomUUID();
}

function statusOf({ headersSent, statusCode }: ServerResponse): number {
  return headersSent ? statusCode : clientClosedRequest;
}
