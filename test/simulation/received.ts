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

/** Returns whether the service had asked, before a time, not to be asked until after it what was sent. */
export function isHushed(requests: readonly ServiceRequest[], at: number): boolean {
  return requests.some(
    ({ kind, received }) =>
      kind === "lookup" &&
      received?.kind === "response" &&
      received.at <= at &&
      received.at + (received.waitMs ?? 0) > at,
  );
}

/** Returns whether a request was answered with `404`. */
export function isNotFound({ received }: ServiceRequest): boolean {
  return received?.kind === "response" && received.status === 404;
}

/** Returns whether a request was answered with a complete record. */
export function hasRecord({ received }: ServiceRequest): boolean {
  return received?.kind === "response" && received.record !== undefined;
}

/** How long a new job may be invisible, in milliseconds. */
const notFoundGraceMs = 10_000;

/** Returns whether a job was not found because it was created just before. */
export function isTooNew(request: ServiceRequest, requests: readonly ServiceRequest[]): boolean {
  const created = requests.find((one) => one.kind === "create" && acceptanceOf(one) === "accepted")?.received?.at;
  return isNotFound(request) && created !== undefined && request.sentAt - created < notFoundGraceMs;
}
