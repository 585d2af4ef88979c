import * as z from "zod/mini";

/** The four states of a job. Specification: "States and transitions". */
export const knownStatuses = ["active", "completed", "archived", "failed"] as const;
export type KnownStatus = (typeof knownStatuses)[number];
export type TerminalStatus = Exclude<KnownStatus, "active">;

/** An optional field. A value of the wrong type counts as absent, not as an error. */
const lenientText = z.catch(z.optional(z.string()), undefined);

/**
 * Returns whether a job id can be used: `.`, `..` and lone surrogates would change or break the path of later requests,
 * and a control character could end a line in a script or log that prints the id.
 */
export function isUsableJobId(id: string): boolean {
  return id !== "" && id !== "." && id !== ".." && id.isWellFormed() && !/\p{Cc}/u.test(id);
}

const jobId = z.string().check(z.refine(isUsableJobId));

/**
 * An agent job record. Specification: "Agent job". Only `id` and `status` can be relied on, and a status outside the
 * four known ones is kept as received.
 */
const jobRecord = z.object({
  id: jobId,
  status: z.string(),
  source: z.catch(z.optional(z.object({ repository: lenientText, ref: lenientText })), undefined),
  model: lenientText,
  prLink: lenientText,
  createdAt: lenientText,
  archivedAt: lenientText,
});

/** A job as the service last described it. Absent fields are empty. */
export interface Job {
  id: string;
  /** As received; see {@link isKnownStatus}. */
  status: string;
  model: string;
  repository: string;
  ref: string;
  /** As received: not checked to be a URL. */
  prLink: string;
  createdAt: string;
  archivedAt: string;
  /** The address of its page for people, if the response named one: on the service's own origin. */
  pageUrl?: string;
}

export function isKnownStatus(status: string): status is KnownStatus {
  return (knownStatuses as readonly string[]).includes(status);
}

/** Returns whether polling ends in this state. Specification: "States and transitions". */
export function isTerminal(status: string): status is TerminalStatus {
  return isKnownStatus(status) && status !== "active";
}

/**
 * Parses a response body; returns `undefined` if it is not JSON.
 *
 * @param redact - applied to every string in it
 */
export function parseBody(body: string, redact: (text: string) => string): unknown {
  try {
    return JSON.parse(body, (_key, value: unknown) => (typeof value === "string" ? redact(value) : value));
  } catch {
    return undefined;
  }
}

/** Returns the job record in a response, or `undefined` if it is not one. */
export function parseJob(data: unknown): Job | undefined {
  const record = jobRecord.safeParse(data);
  if (!record.success) return undefined;
  const { id, status, source, model, prLink, createdAt, archivedAt } = record.data;
  return {
    id,
    status,
    model: model ?? "",
    repository: source?.repository ?? "",
    ref: source?.ref ?? "",
    prLink: prLink ?? "",
    createdAt: createdAt ?? "",
    archivedAt: archivedAt ?? "",
  };
}

const errorBody = z.object({ error: z.string() });

/** Returns the message of an error body, `{ "error": "…" }`; empty for the HTML or nothing that gateways send. */
export function parseErrorMessage(data: unknown): string {
  return errorBody.safeParse(data).data?.error.trim() ?? "";
}
