import type { ServiceRequest } from "./network.ts";
import type { JobRecord } from "./record.ts";

/**
 * Tells what the response to a create or message, or the lack of one, proves: a second reading of the rules in
 * `docs/reliability.md`.
 */
export function acceptanceOf({ received, kind, jobId }: ServiceRequest): "accepted" | "rejected" | "unknown" {
  if (!received) return "unknown";
  if (received.kind === "failure") return received.phase === "connecting" ? "rejected" : "unknown";
  const { status, waitMs, record } = received;
  if (status < 300) return record && (kind === "create" || record.id === jobId) ? "accepted" : "unknown";
  if (status === 503) return waitMs === undefined ? "unknown" : "rejected";
  return status === 408 || status >= 500 ? "unknown" : "rejected";
}

/** Returns whether a request is a create or a message. */
export function isSubmission({ kind }: ServiceRequest): boolean {
  return kind === "create" || kind === "message";
}

/** Returns the complete records of the job that the requests returned, in the order in which they arrived. */
export function recordsOf(requests: readonly ServiceRequest[]): JobRecord[] {
  return requests.flatMap(({ received }) =>
    received?.kind === "response" && received.record ? [received.record] : [],
  );
}
