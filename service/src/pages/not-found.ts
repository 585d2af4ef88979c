import type { IncomingMessage, ServerResponse } from "node:http";
import { html } from "./html.ts";
import { messagePage } from "./layout.ts";
import { sendPage } from "./page-reply.ts";

/** Paths of the API, whose clients are programs. */
const api = /^\/v\d/;

/**
 * Answers a browser's request for an unknown address with a page. Returns `false` if it is not one.
 *
 * @param basePath - see `basePathOf`
 */
export function sendNotFoundPage(
  { url = "", headers, method }: IncomingMessage,
  response: ServerResponse,
  basePath: string,
): boolean {
  const isBrowser = method === "GET" && /\btext\/html\b/.test(headers.accept ?? "");
  if (!isBrowser || api.test(url)) return false;
  const content = html`<p><a href="${basePath}/">Jobs</a></p>\n`;
  sendPage(response, { status: 404, body: [messagePage("Not found", "There is no page at this address.", content)] });
  return true;
}
