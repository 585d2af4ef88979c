import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { errorStack } from "../error-message.ts";
import type { Log } from "../log/log.ts";
import { OutcomeUnknown, SourceUnavailable, StoreUnavailable } from "../store-errors.ts";
import { hostProblem } from "./host.ts";
import { HttpException } from "./http-exception.ts";
import { pathOf } from "./request-url.ts";
import { matchRoute, type NamedRoute, type Parameters, type RouteName, type routes, takesMethod } from "./routes.ts";
import { sendJson } from "./send-json.ts";

export interface Endpoint<Name extends RouteName> {
  /** The access that the endpoint checks. The compiler compares it with the table of routes. */
  access: (typeof routes)[Name]["access"];
  /**
   * Makes the checks that come before the check of the method. Default: none.
   *
   * @throws HttpException to reject the request
   */
  admit?: (request: IncomingMessage, parameters: Parameters<Name>) => Promise<void>;
  /**
   * Answers a request that has a method of the route.
   *
   * @throws HttpException to answer with an HTTP error
   */
  answer: (request: IncomingMessage, response: ServerResponse, parameters: Parameters<Name>) => Promise<void>;
  /** Answers with an HTTP error. Default: as JSON. */
  fail?: (request: IncomingMessage, response: ServerResponse, error: HttpException) => void;
}

export type Endpoints<Names extends RouteName> = { readonly [Name in Names]: Endpoint<Name> };

export interface DispatchOptions {
  /** A route without an endpoint is not found. */
  endpoints: Partial<Endpoints<RouteName>>;
  /** Answers requests that no endpoint answers. Default: 404 as JSON. */
  notFound?: ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined;
  /** The URL at which a reverse proxy serves the service. Default: there is none. */
  publicUrl?: string | undefined;
  /** Receives unexpected errors, with their stack. */
  log: Log;
}

/** Returns a listener that finds the endpoint for the path of a request in the table of routes, and checks the method. */
export function dispatch({ endpoints, notFound = rejectUnknown, publicUrl, log }: DispatchOptions): RequestListener {
  return async (request, response) => {
    const match = matchRoute(pathOf(request));
    const served = match?.routes.filter(({ name }) => endpoints[name] !== undefined) ?? [];
    // If none has the method, the first one rejects the request: all check the same access.
    const found = served.find(({ route }) => takesMethod(route, request.method)) ?? served[0];
    const endpoint = found && endpoints[found.name];
    const problem = found?.route.takesAnyHost ? undefined : hostProblem(request.headers.host, publicUrl);
    if (problem !== undefined) return sendError(request, response, problem);
    const parameters = match?.parameters;
    const isFound = endpoint !== undefined && parameters !== undefined;
    try {
      if (!isFound) return await notFound(request, response);
      await endpoint.admit?.(request, parameters);
      requireMethod(served, request.method);
      await endpoint.answer(request, response, parameters);
    } catch (error) {
      const failed = failedRequest(error, request, log);
      const fail = (isFound && endpoint.fail) || sendError;
      // What was being sent is cut off by now.
      if (!response.headersSent) fail(request, response, failed);
    }
  };
}

/** @param served - the routes of a path that have endpoints */
function requireMethod(served: readonly NamedRoute[], method: string | undefined): void {
  if (served.some(({ route }) => takesMethod(route, method))) return;
  const allow = served.flatMap(({ route }) => route.methods).join(", ");
  throw new HttpException(405, "Method not allowed", { allow });
}

async function rejectUnknown(): Promise<never> {
  throw new HttpException(404, "Not found");
}

function sendError(_request: IncomingMessage, response: ServerResponse, error: HttpException): void {
  sendJson(response, error.status, { error: error.message }, error.headers);
}

/**
 * Returns the error that answers a failed request. The log gets what the service did not expect, with its stack; the client
 * learns nothing about it.
 */
function failedRequest(error: unknown, request: IncomingMessage, log: Log): HttpException {
  if (error instanceof HttpException) return error;
  if (error instanceof SourceUnavailable && error.isLasting)
    // RFC 4918: "424 Failed Dependency". Clients do not send it again.
    return new HttpException(424, `${error.message}. Nothing was started`);
  if (error instanceof SourceUnavailable) return new HttpException(503, error.message, { "retry-after": "10" });
  if (error instanceof StoreUnavailable)
    return new HttpException(503, "The service cannot use its store now", { "retry-after": "30" });
  log(`${request.method} ${pathOf(request)}: ${errorStack(error)}`, "error");
  // Clients that follow the specification neither retry it nor treat it as a rejection.
  if (error instanceof OutcomeUnknown) return new HttpException(500, "It is unknown whether the request was accepted");
  return new HttpException(500, "Internal error: see the log of the service");
}
