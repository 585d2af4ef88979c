import type { IncomingMessage } from "node:http";
import type { BodyReader } from "../http/body-reader.ts";
import { HttpException } from "../http/http-exception.ts";

/**
 * Returns the fields of a form that a page of this service sent.
 *
 * @throws HttpException 403 if another site sent it, 400 if it is not a form, and as `BodyReader` does
 */
export async function readForm(request: IncomingMessage, bodies: BodyReader): Promise<URLSearchParams> {
  requireSameOrigin(request);
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers["content-type"] ?? ""))
    throw new HttpException(400, "Content-Type must be application/x-www-form-urlencoded");
  return new URLSearchParams(await bodies.read(request));
}

/** Rejects forms that another site, or another server on this machine, made a browser send. */
export function requireSameOrigin({ headers }: IncomingMessage): void {
  const { host, origin, "sec-fetch-site": site } = headers;
  // Only a browser sends these headers. One without `Sec-Fetch-Site` sends `Origin` with forms.
  const isOwn =
    site === undefined
      ? origin === undefined || [`http://${host}`, `https://${host}`].includes(origin)
      : ["same-origin", "none"].includes(site);
  if (!isOwn) throw new HttpException(403, "The form was sent from another site");
}
