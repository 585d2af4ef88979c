import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type Authenticator, bearerOf, unauthorized } from "../http/authentication.ts";
import { keepConnection } from "../http/connections.ts";
import { failedRequest } from "../http/failed-request.ts";
import { isLoopbackHost } from "../http/host.ts";
import { sendJson } from "../http/send-json.ts";
import type { Log } from "../log/log.ts";
import type { ReadableMetrics } from "../metrics/metrics.ts";
import type { Census } from "../model.ts";

export interface MetricsEndpointOptions {
  metrics: ReadableMetrics;
  /** Returns what the store has, or `undefined` if that cannot be read. Never rejects. */
  census: () => Promise<Census | undefined>;
  /** Default: nobody has a key. */
  authenticator?: Pick<Authenticator, "authenticate"> | undefined;
  /** Receives unexpected errors, with their stack. */
  log: Log;
}

/** What reverse proxies add to the requests of others. */
const proxyHeaders = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

/**
 * Answers `/metrics`, and passes every other request to `next`. Only programs of this machine and those that have the API key can
 * read metrics, so that a reverse proxy does not publish them.
 */
export function serveMetrics(options: MetricsEndpointOptions, next: RequestListener): RequestListener {
  return async (request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    if (path !== "/metrics") return next(request, response);
    if (!["GET", "HEAD"].includes(request.method ?? ""))
      return sendJson(response, 405, { error: "Method not allowed" }, { allow: "GET, HEAD" });
    await answer(request, response, options).catch((error: unknown) => {
      const { status, message, headers } = failedRequest(error, request, path, options.log);
      sendJson(response, status, { error: message }, headers);
    });
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { metrics, census, authenticator }: MetricsEndpointOptions,
): Promise<void> {
  const { authorization } = request.headers;
  if (authorization !== undefined || !isFromThisMachine(request)) {
    if (authenticator === undefined) throw unauthorized("Missing API key");
    await authenticator.authenticate(bearerOf(authorization));
    keepConnection(request);
  }
  const body = await metrics.render(await census());
  response.writeHead(200, {
    "content-type": metrics.contentType,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  response.end(body);
}

function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const { remoteAddress = "" } = socket;
  const isLoopback = /^(::ffff:)?127\./.test(remoteAddress) || remoteAddress === "::1";
  return isLoopback && isLoopbackHost(headers.host) && proxyHeaders.every((name) => headers[name] === undefined);
}
