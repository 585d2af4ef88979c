import type { IncomingMessage } from "node:http";

/** Returns the path of a request, without the query. */
export function pathOf({ url = "" }: Pick<IncomingMessage, "url">): string {
  return url.split("?")[0] ?? "";
}

/** Returns the query of a request. */
export function queryOf({ url = "" }: Pick<IncomingMessage, "url">): URLSearchParams {
  return new URLSearchParams(url.split("?")[1]);
}
