import type { ServerResponse } from "node:http";

/** An answer with a page. */
export interface PageReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  /** HTML, in parts that are sent one after another. */
  body: readonly (string | Buffer)[];
}

/** Of all pages. */
export const fixedHeaders = {
  "content-type": "text/html; charset=utf-8",
  // No scripts, nothing from elsewhere, and no frame in a page of another site.
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "private, no-store",
};

/** Sends a page. Node.js sends no body if the request is a `HEAD`. */
export function sendPage(response: ServerResponse, { status, headers, body }: PageReply): void {
  const length = body.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  response.writeHead(status, { ...fixedHeaders, "content-length": length, ...headers });
  for (const part of body) response.write(part);
  response.end();
}
