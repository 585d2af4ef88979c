import type { ServerResponse } from "node:http";
import type { Html } from "./html.ts";

/** An answer with a page. */
export interface PageReply {
  status: number;
  headers?: Readonly<Record<string, string | readonly string[]>>;
  body: PageBody;
}

/** Parts that are sent one after another. Not strings, so that unescaped text is a type error. */
export type PageBody = readonly (Html | Buffer)[];

/** The headers of all pages. */
export const fixedHeaders = {
  "content-type": "text/html; charset=utf-8",
  // No scripts, nothing from other sites, and no frames in pages of other sites.
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "private, no-store",
};

/** Sends a page. Node.js sends no body if the request is a `HEAD`. */
export function sendPage(response: ServerResponse, { status, headers, body }: PageReply): void {
  const parts = body.map((part) => (part instanceof Buffer ? part : Buffer.from(part.toString())));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(status, { ...fixedHeaders, "content-length": length, ...headers });
  for (const part of parts) response.write(part);
  response.end();
}

/** Returns an answer in plain text, for programs. */
export function textReply(status: number, text: string, headers: Readonly<Record<string, string>> = {}): PageReply {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...headers },
    body: [Buffer.from(`${text}\n`)],
  };
}

/** Leads a browser to another page, and sets cookies. */
export function redirect(location: string, cookie?: string | readonly string[]): PageReply {
  return { status: 303, headers: { location, ...(cookie !== undefined && { "set-cookie": cookie }) }, body: [] };
}
