import type { RequestListener } from "node:http";
import { routes } from "./routes.ts";

/**
 * Returns the URL at which a reverse proxy serves the service, without a slash at its end.
 *
 * @throws if it is neither https nor on this machine, or has a path that the service cannot be served below
 */
export function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Over http, the API key would be sent in plain text.
  const isLocal = url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (!(url?.protocol === "https:" || isLocal) || url.href !== url.origin + url.pathname)
    throw new Error(
      "--public-url must be an https URL, such as https://agents.example.com or https://example.com/agents.",
    );
  const basePath = url.pathname.replace(/\/$/, "");
  // Needs no escaping in pages, headers and cookies.
  if (!/^(\/[\w.~-]+)*$/.test(basePath))
    throw new Error("--public-url: names in the path may have letters, digits and -._~ only.");
  const [, first = ""] = basePath.split("/");
  // Otherwise, it could not be told which of them a request is for.
  if (basePath !== "" && ownNames.has(first))
    throw new Error(`--public-url: the path must not begin with /${first}, at which the service has pages of its own.`);
  return url.origin + basePath;
}

/** The first names in the paths of the service. */
const ownNames = new Set(Object.values(routes).map(({ path }) => path.split("/")[1]));

/**
 * Returns the path below which browsers and clients reach the service, without a slash at its end: empty without a public URL,
 * or if that has no path. Links within the service begin with it.
 *
 * @param publicUrl - see `parsePublicUrl`
 */
export function basePathOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/$/, "");
}

/**
 * Returns a listener that removes the base path from the URL of a request before `next` reads it. Some reverse proxies pass the
 * base path on, others do not, and programs on this machine need none.
 */
export function withoutBasePath(basePath: string, next: RequestListener): RequestListener {
  return (request, response) => {
    request.url = belowBasePath(request.url ?? "", basePath);
    next(request, response);
  };
}

/** Returns the part of a path, or of one with a query, that is below the base path, or all of it if it is not below. */
export function belowBasePath(path: string, basePath: string): string {
  if (!path.startsWith(basePath)) return path;
  const rest = path.slice(basePath.length);
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : path;
}
