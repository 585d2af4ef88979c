/** The four states of a job. Specification: "States and transitions". */
export const knownStatuses = ["active", "completed", "archived", "failed"] as const;
export type KnownStatus = (typeof knownStatuses)[number];
export type TerminalStatus = Exclude<KnownStatus, "active">;

/**
 * Returns whether a job id can be used: `.`, `..` and lone surrogates would change or break the path of later requests,
 * and a control character could end a line in a script or log that prints the id.
 */
export function isUsableJobId(id: string): boolean {
  return id !== "" && id !== "." && id !== ".." && id.isWellFormed() && !/\p{Cc}/u.test(id);
}

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
  /** The branch that it started from, if that is not the project's own and the service says it. */
  base: string;
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

/**
 * Returns the job record in a response, or `undefined` if it is not one. Specification: "Agent job". Only `id` and `status`
 * can be relied on: another field of the wrong type counts as absent. A status outside the four known ones is kept as
 * received.
 */
export function parseJob(data: unknown): Job | undefined {
  if (!isObject(data)) return undefined;
  const { id, status, source } = data;
  if (typeof id !== "string" || !isUsableJobId(id) || typeof status !== "string") return undefined;
  const { repository, ref } = isObject(source) ? source : {};
  return {
    id,
    status,
    model: textOf(data.model),
    repository: textOf(repository),
    ref: textOf(ref),
    prLink: textOf(data.prLink),
    createdAt: textOf(data.createdAt),
    archivedAt: textOf(data.archivedAt),
    base: textOf(data.base),
  };
}

/** Returns the message of an error body, `{ "error": "…" }`; empty for the HTML or nothing that gateways send. */
export function parseErrorMessage(data: unknown): string {
  return isObject(data) ? textOf(data.error).trim() : "";
}

/** Returns whether a value is a JSON object. */
export function isObject(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
