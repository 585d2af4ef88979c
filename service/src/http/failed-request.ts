import type { IncomingMessage } from "node:http";
import { errorStack } from "../error-message.ts";
import type { Log } from "../log/log.ts";
import { OutcomeUnknown, StoreUnavailable } from "../store-errors.ts";
import { HttpException } from "./http-exception.ts";
import { pathOf } from "./request-url.ts";

/**
 * Returns the error that answers a failed request. The log gets what the service did not expect, with its stack; the client
 * learns nothing about it.
 */
export function failedRequest(error: unknown, request: IncomingMessage, log: Log): HttpException {
  if (error instanceof HttpException) return error;
  if (error instanceof StoreUnavailable)
    return new HttpException(503, "The service cannot use its store now", { "retry-after": "30" });
  log(`${request.method} ${pathOf(request)}: ${errorStack(error)}`, "error");
  // Clients that follow the specification neither retry it nor treat it as a rejection.
  if (error instanceof OutcomeUnknown) return new HttpException(500, "It is unknown whether the request was accepted");
  return new HttpException(500, "Internal error: see the log of the service");
}
