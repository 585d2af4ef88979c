/** What the checks use of a valid job. */
export interface JobRecord {
  id: string;
  status: string;
  prLink?: unknown;
}

const statuses = ["active", "completed", "archived", "failed"];
/** ISO 8601, as RFC 3339 narrows it. */
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Returns what is wrong with a job, by field. The specification says of no field that it is always there; without `id` and `status`,
 * nothing can be done with a job. Specification: "Agent job".
 */
export function faultsOf(body: unknown): string[] {
  if (!isObject(body)) return ["it is not a JSON object"];
  const { id, status, source, model, prLink, createdAt, archivedAt } = body;
  const faults = [
    typeof id === "string" && isSegment(id) ? "" : "`id` is not a text that can stand in a path",
    statuses.includes(String(status)) ? "" : `\`status\` is none of ${statuses.join(", ")}`,
    source === undefined || isObject(source) ? "" : "`source` is not an object",
    !isObject(source) || isTextOrAbsent(source.repository) ? "" : "`source.repository` is not a text",
    !isObject(source) || isTextOrAbsent(source.ref ?? undefined) ? "" : "`source.ref` is neither a text nor null",
    isTextOrAbsent(model) ? "" : "`model` is not a text",
    prLink === undefined || prLink === null || isLink(prLink)
      ? ""
      : "`prLink` is neither an absolute http(s) URL nor null",
    status === "active" && (prLink ?? null) !== null ? "`prLink` is not null although the job is active" : "",
    createdAt === undefined || isTime(createdAt) ? "" : "`createdAt` is not an ISO 8601 date and time",
    (archivedAt ?? null) === null || isTime(archivedAt)
      ? ""
      : "`archivedAt` is neither an ISO 8601 date and time nor null",
  ];
  return faults.filter((fault) => fault !== "");
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Clients put the id into a path, so it must stay one segment when encoded, and be printable. */
function isSegment(id: string): boolean {
  return id !== "" && id !== "." && id !== ".." && !/[\p{Cc}\p{Cs}]/u.test(id);
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isTime(value: unknown): boolean {
  return typeof value === "string" && dateTime.test(value) && !Number.isNaN(Date.parse(value));
}

function isLink(value: unknown): boolean {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}
