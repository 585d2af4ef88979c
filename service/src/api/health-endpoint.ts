import type { RequestListener } from "node:http";
import { sendJson } from "../http/send-json.ts";
import type { HealthReport } from "./health.ts";

/**
 * Answers at some paths whether the service works, to anyone: 200 or 503. Passes every other request to `next`.
 *
 * @param reports - what to answer, by path. They never reject
 */
export function serveHealth(
  reports: Readonly<Record<string, () => Promise<HealthReport>>>,
  next: RequestListener,
): RequestListener {
  const byPath = new Map(Object.entries(reports));
  return async (request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    const report = byPath.get(path);
    if (report === undefined) return next(request, response);
    if (!["GET", "HEAD"].includes(request.method ?? ""))
      return sendJson(response, 405, { error: "Method not allowed" }, { allow: "GET, HEAD" });
    const result = await report();
    sendJson(response, result.status === "ok" ? 200 : 503, result, { "cache-control": "no-store" });
  };
}
