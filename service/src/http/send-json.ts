import type { ServerResponse } from "node:http";

/** Answers with JSON. Node.js sends no body if the request is a `HEAD`. */
export function sendJson(
  response: ServerResponse,
  status: number,
  data: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify(data);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
  });
  response.end(body);
}
