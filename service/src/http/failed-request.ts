import type { IncomingMessage } from "node:http";
import { errorStack } from "../error-message.ts";
import type { Log } from "../log/log.ts";
import { OutcomeUnknown, StoreUnavailable } from "../store-errors.ts";
import { HttpException } from "./http-exception.ts";

/**
 * Returns how a request is answered that failed. What the service did not expect is logged, with its stack, and tells the client
 * nothing of itself.
 *
 * @param path - of the request, for the log
 */
export function failedRequest(error: unknown, { method }: IncomingMessage, path: string, log: Log): HttpException {
  if (error instanceof HttpException) return error;
  if (error instanceof StoreUnavailable)
    return new HttpException(503, "The service cannot use its store now", { "retry-after": "30" });
  log(`${method} ${path}: ${errorStack(error)}`, "error");
  // Neither retried nor taken for a rejection by clients that keep to the specification.
  if (error instanceof OutcomeUnknown) return new HttpException(500, "It is unknown whether the request was accepted");
  return new HttpException(500, "Internal error: see the log of the service");
}
