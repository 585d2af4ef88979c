import type { ServerResponse } from "node:http";
import { sendJson } from "../http/send-json.ts";
import type { HealthReport } from "./health.ts";

/**
 * Returns an endpoint that tells anyone whether the service works: 200 or 503.
 *
 * @param report - never rejects
 */
export function healthEndpoint(report: () => Promise<HealthReport>) {
  return {
    access: "anyone",
    answer: async (_request: unknown, response: ServerResponse): Promise<void> => {
      const result = await report();
      sendJson(response, result.status === "ok" ? 200 : 503, result, { "cache-control": "no-store" });
    },
  } as const;
}
