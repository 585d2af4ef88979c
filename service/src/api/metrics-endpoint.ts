import type { IncomingMessage, ServerResponse } from "node:http";
import { type Authenticator, bearerOf, unauthorized } from "../http/authentication.ts";
import { keepConnection } from "../http/connections.ts";
import type { Endpoint } from "../http/dispatch.ts";
import { isLoopbackHost } from "../http/host.ts";
import { HttpException } from "../http/http-exception.ts";
import type { ReadableMetrics } from "../metrics/metrics.ts";
import type { Census } from "../model.ts";

export type MetricsReaders = "with a key" | "with a key, or on this machine" | "all";

export interface MetricsEndpointOptions {
  metrics: ReadableMetrics;
  /** Counts the jobs and turns in the store; `undefined` if the store cannot be read. Never rejects. */
  census: () => Promise<Census | undefined>;
  /**
   * Who may read metrics: those with a key, also programs on this machine, or all that reach the port. Default: with a key, or on
   * this machine.
   */
  readers?: MetricsReaders | undefined;
  /** Default: nobody has a key. */
  authenticator?: Pick<Authenticator, "authenticate"> | undefined;
  /** The projects that metrics are about: a key must be for all of them. */
  projects: readonly string[];
}

/** Headers that reverse proxies add to the requests that they forward. */
const proxyHeaders = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

/**
 * Returns the endpoint for metrics. Only programs on this machine and those with an API key for all projects can read them, so that
 * a reverse proxy does not publish them.
 */
export function metricsEndpoint(options: MetricsEndpointOptions): Endpoint<"metrics"> {
  return { access: "this machine or key", answer: (request, response) => answer(request, response, options) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { metrics, census, authenticator, projects, readers }: MetricsEndpointOptions,
): Promise<void> {
  const { authorization } = request.headers;
  // A reverse proxy that adds no header, as nginx does by default, looks like a program on this machine.
  const isOpen = readers === "all" || (readers !== "with a key" && isFromThisMachine(request));
  if (readers !== "all" && (authorization !== undefined || !isOpen)) {
    if (authenticator === undefined) throw unauthorized("Missing API key");
    const access = await authenticator.authenticate(bearerOf(authorization));
    keepConnection(request);
    if (projects.some((project) => !access.projects.includes(project)))
      throw new HttpException(403, `The API key ${access.name} is not for all projects`);
  }
  const body = await metrics.render(await census());
  response.writeHead(200, {
    "content-type": metrics.contentType,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(body);
}

function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const { remoteAddress = "" } = socket;
  const isLoopback = /^(::ffff:)?127\./.test(remoteAddress) || remoteAddress === "::1";
  return isLoopback && isLoopbackHost(headers.host) && proxyHeaders.every((name) => headers[name] === undefined);
}
