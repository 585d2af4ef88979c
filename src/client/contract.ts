/** The four states of a job. Specification: "States and transitions". */
export const knownStatuses = ["active", "completed", "archived", "failed"] as const;
export type KnownStatus = (typeof knownStatuses)[number];
export type TerminalStatus = Exclude<KnownStatus, "active">;

/** Returns whether an id can be used: no change of the path of a request, and no line end in a script or log. */
export function isUsableJobId(id: string): boolean {
  return id !== "" && id !== "." && id !== ".." && id.isWellFormed() && !/\p{Cc}/u.test(id);
}

/** A service that knows the header does the work of a request once, however often it arrives. */
export interface IdempotencyKey {
  /** Hash of the step; the same in all attempts of a workflow run. */
  step: string;
  /** Hash of the request; the same whenever the same request is sent again. */
  request: string;
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
  /** Whether the service keeps work of its last turn, which failed, and publishes that first if the job gets another prompt. */
  isKept: boolean;
  /** Whether it keeps what an agent changed that did not complete: the next agent of the job begins in it. */
  isUnfinished: boolean;
  /** The address of its page for people, if the response named one: on the service's own origin. */
  pageUrl?: string;
}

/** Returns how the record of a job or a turn says its work is kept. */
export const keptIn = ({ kept }: Readonly<Record<string, unknown>>) => ({
  isKept: kept === "push" || kept === "pull-request",
  isUnfinished: kept === "unfinished",
});

export function isKnownStatus(status: string): status is KnownStatus {
  return (knownStatuses as readonly string[]).includes(status);
}

/** Returns whether polling ends in this state. Specification: "States and transitions". */
export function isTerminal(status: string): status is TerminalStatus {
  return isKnownStatus(status) && status !== "active";
}

/** Parses a response body, with `redact` applied to every string; returns `undefined` if it is not JSON. */
export function parseBody(body: string, redact: (text: string) => string): unknown {
  try {
    return JSON.parse(body, (_key, value: unknown) => (typeof value === "string" ? redact(value) : value));
  } catch {
    return undefined;
  }
}

/**
 * Returns the job record in a response. Specification: "Agent job". Only `id` and `status` can be relied on: another field of
 * the wrong type counts as absent, and an unknown status is kept.
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
    ...keptIn(data),
  };
}

/** In characters. A longer text is a page, or a log. */
const maxPlainLength = 500;

/**
 * Returns `error`, `message` or `detail` (RFC 9457) of an error body, or the first line of a short text that is not JSON; empty for other
 * formats.
 */
export function parseErrorMessage(data: unknown, body = ""): string {
  if (isObject(data)) return (textOf(data.error) || textOf(data.message) || textOf(data.detail)).trim();
  const isPlain = data === undefined && body.length <= maxPlainLength && !body.includes("<");
  return isPlain ? (body.trim().split("\n", 1)[0] ?? "").trim() : "";
}

/** Returns whether a value is a JSON object. */
export function isObject(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}

/** Returns a text; empty for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
