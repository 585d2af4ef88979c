import type { RequestListener } from "node:http";
import { sendJson } from "./send-json.ts";

/** The names and addresses of this machine for itself. */
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Returns whether a `Host` header names this machine for itself. */
export function isLoopbackHost(host: string | undefined): boolean {
  return loopback.test(nameIn(host) ?? "");
}

/** Returns the name in a `Host` header, without the port; `undefined` if it is missing or malformed. */
function nameIn(host: string | undefined): string | undefined {
  return /^(\[[\da-f:.]+\]|[^:]+)(:\d+)?$/i.exec(host ?? "")?.[1]?.toLowerCase();
}

/**
 * Rejects requests whose `Host` is neither loopback nor that of the public URL. Otherwise any website could make its own name
 * resolve to 127.0.0.1 and so read answers of the service in a visitor's browser (DNS rebinding).
 *
 * @param publicUrl - what a reverse proxy serves the service as
 */
export function checkHost(publicUrl: string | undefined, next: RequestListener): RequestListener {
  const publicName = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  return (request, response) => {
    const name = nameIn(request.headers.host);
    if (name === undefined) return sendJson(response, 400, { error: "The Host header is missing or malformed" });
    if (name === publicName || loopback.test(name)) return next(request, response);
    sendJson(response, 421, {
      error: `The service is not known as ${name}. If a reverse proxy serves it as that, start it with --public-url`,
    });
  };
}
