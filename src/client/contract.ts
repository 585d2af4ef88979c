import * as z from "zod/mini";

/** The four states of a job. Specification: "States and transitions". */
export const knownStatuses = ["active", "completed", "archived", "failed"] as const;
export type KnownStatus = (typeof knownStatuses)[number];

/** A field that is optional on the wire; one of a wrong type counts as absent, never as a fault. */
const lenientText = z.catch(z.optional(z.string()), undefined);

/** `.` and `..` would change the path of every later request; a lone surrogate cannot be put into one. */
const identifier = z.string().check(
  z.minLength(1),
  z.refine((id) => id !== "." && id !== ".." && id.isWellFormed()),
);

/**
 * An agent job record. Specification: "Agent job"; only `id` and `status` can be relied on, and a status outside
 * the four known ones is kept as it came.
 */
const jobRecord = z.object({
  id: identifier,
  status: z.string(),
  source: z.catch(z.optional(z.object({ repository: lenientText, ref: lenientText })), undefined),
  model: lenientText,
  prLink: lenientText,
  createdAt: lenientText,
  archivedAt: lenientText,
});

/** A job as the service last described it; absent fields are empty. */
export interface Job {
  id: string;
  /** As the service gave it; see {@link isKnownStatus}. */
  status: string;
  model: string;
  repository: string;
  ref: string;
  /** As the service gave it: not checked to be a URL. */
  prLink: string;
  createdAt: string;
  archivedAt: string;
}

export function isKnownStatus(status: string): status is KnownStatus {
  return (knownStatuses as readonly string[]).includes(status);
}

/** A state in which polling ends. Specification: "States and transitions". */
export function isTerminal(status: string): boolean {
  return isKnownStatus(status) && status !== "active";
}

/**
 * A response body as data, or `undefined` where it is no JSON.
 *
 * @param clean - what every string in it passes through
 */
export function parseBody(body: string, clean: (text: string) => string): unknown {
  try {
    return JSON.parse(body, (_key, value: unknown) => (typeof value === "string" ? clean(value) : value));
  } catch {
    return undefined;
  }
}

/** The job record that a response holds, or `undefined` where it holds none. */
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

const identified = z.object({ id: identifier });

/** An object cut off anywhere behind its first member, where that is the id. */
const leadingId = /^\s*\{\s*"id"\s*:\s*("(?:[^"\\]|\\.)*")/;

/**
 * The id in a body that is no whole job record, or is not whole at all: better than none where a job was started.
 *
 * @param clean - what the id passes through
 */
export function salvageId(body: string, clean: (text: string) => string): string | undefined {
  const whole = identified.safeParse(parseBody(body, clean));
  if (whole.success) return whole.data.id;
  const text = leadingId.exec(body)?.[1];
  return text === undefined ? undefined : identifier.safeParse(parseBody(text, clean)).data;
}

const errorBody = z.object({ error: z.string() });

/** The service's own words in an error body: `{ "error": "…" }`. Gateways answer with HTML or nothing: then none. */
export function parseErrorMessage(data: unknown): string {
  return errorBody.safeParse(data).data?.error.trim() ?? "";
}
