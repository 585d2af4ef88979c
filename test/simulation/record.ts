import { epoch } from "../support/fake-clock.ts";
import type { Fault, RecordFormat, RetryAfter } from "./scenario.ts";

/** A job record, before it is written as JSON. */
export type Members = Record<string, unknown> & { id: string; status: string; prLink: string | null };

/** What a complete record says. */
export interface JobRecord {
  id: string;
  status: string;
  /** Empty if it is not the URL of a pull request. */
  link: string;
}

/** A turn, as the service lists it when it is asked what was sent under a step. */
export interface ListedTurn {
  job: string;
  turn: string;
  request: string;
  status: string;
}

/** The response to one request, as it is sent, and what is in it. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Only if the body is a complete record of the job. */
  record?: JobRecord;
  /** The job's id, and how much of the body has to arrive for it. */
  id?: { value: string; end: number };
  /** A complete answer to the question what was sent under a step, from a service that knows the request by its key. */
  announces?: boolean;
  /** What that answer says about turns. */
  turns?: readonly ListedTurn[];
  /** How long `Retry-After` asks to wait, in milliseconds, by a clock at this wall time. */
  waitMs: (wallTime: number) => number | undefined;
}

const noWait = (): undefined => undefined;

/** Writes a record as the body of a 2xx response. */
export function recordAnswer(status: 200 | 201, members: Members, format: RecordFormat): Answer {
  const link = /^https:/.test(String(members.prLink)) ? String(members.prLink) : "";
  const record = { id: members.id, status: members.status, link };
  return { ...writtenRecord(status, members, format), record };
}

/** Puts unexpected values into a complete record. */
export function oddRecordAnswer(
  { oddity, text }: Extract<Fault, { kind: "odd-record" }>,
  members: Members,
  format: RecordFormat,
  key: string,
): Answer {
  const changes: Record<typeof oddity, Record<string, unknown>> = {
    "unknown-status": { status: `paused ${text}` },
    "wrong-types": { source: 7, model: [], prLink: { href: "https://a.example" }, createdAt: false, archivedAt: 0 },
    "echoes-key": { model: key, source: { repository: key, ref: encodeURIComponent(key) } },
    "hostile-text": { model: text, source: { repository: text, ref: text }, createdAt: text },
    "bad-link": { prLink: `javascript:${text}` },
  };
  return recordAnswer(200, { ...members, ...changes[oddity] } as Members, format);
}

/** Writes the body of a 2xx response that is not a record of the job. */
export function invalidAnswer(
  body: Extract<Fault, { kind: "invalid-body" }>["body"],
  members: Members,
  format: RecordFormat,
  isCreate: boolean,
): Answer {
  const complete = writtenRecord(200, members, format);
  const empty = { ...complete, id: undefined };
  switch (body) {
    case "html":
      return withoutId({ ...empty, body: "<html>Please sign in</html>" });
    case "empty":
      return withoutId({ ...empty, body: "" });
    case "array":
      return withoutId({ ...empty, body: `[${complete.body}]` });
    case "no-status":
      return writtenRecord(200, { ...members, status: undefined } as unknown as Members, format);
    case "unusable-id":
      return withoutId(writtenRecord(200, { ...members, id: ".." }, format));
    case "other-job":
      // Only the service knows the id of a job that was just created.
      return withoutId(
        writtenRecord(200, isCreate ? ({ ...members, id: 7 } as never) : { ...members, id: "job_other" }, format),
      );
  }
}

/** Writes an error of the service or of a gateway, which may have an id of its own. */
export function errorAnswer(
  status: number,
  body: string | Record<string, unknown>,
  retryAfter: RetryAfter,
  serverTime: number,
  headers: Record<string, string> = {},
): Answer {
  const { header, date, waitMs } = describeRetryAfter(retryAfter, epoch + serverTime);
  return {
    status,
    headers: { ...headers, ...(header !== undefined && { "retry-after": header }), ...(date && { date }) },
    body: typeof body === "string" ? body : JSON.stringify(body),
    waitMs,
  };
}

function writtenRecord(status: 200 | 201, members: Members, format: RecordFormat): Answer {
  const { id, ...others } = members;
  const entries = Object.entries(others).filter(([, value]) => value !== undefined);
  const nested = { id: "nested", owner: { id: "nested" } };
  if (format.hasNestedIds) entries.unshift(["owner", nested], ["turns", [nested, nested]], ["tags", ["id", "job_tag"]]);
  const parts = entries.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  const at = Math.min(format.membersBeforeId, parts.length);
  parts.splice(at, 0, `"id" : ${literal(id, format)}`);
  const body = `{${parts.join(", ")}}`;
  const end = 1 + parts.slice(0, at + 1).join(", ").length;
  return { status, headers: {}, body, id: { value: id, end }, waitMs: noWait };
}

function literal(id: unknown, { escapesId }: RecordFormat): string {
  const written = JSON.stringify(id);
  if (!escapesId || typeof id !== "string") return written;
  return written.replace("o", "\\u006f");
}

function withoutId({ id: _, ...answer }: Answer | (Omit<Answer, "id"> & { id: undefined })): Answer {
  return answer;
}

/** @param serverTime - in milliseconds since 1970, by the server's clock */
function describeRetryAfter(
  retryAfter: RetryAfter,
  serverTime: number,
): { header?: string; date?: string; waitMs: Answer["waitMs"] } {
  switch (retryAfter.kind) {
    case "absent":
      return { waitMs: noWait };
    case "text": {
      const seconds = /^[1-9]\d*$/.test(retryAfter.text) ? Math.min(Number(retryAfter.text), 365 * 86_400) : 0;
      return { header: retryAfter.text, waitMs: () => (seconds > 0 ? seconds * 1000 : undefined) };
    }
    case "date": {
      const sentAt = Math.floor(serverTime / 1000) * 1000;
      const until = sentAt + retryAfter.inSeconds * 1000;
      return {
        header: new Date(until).toUTCString(),
        ...(retryAfter.hasDateHeader && { date: new Date(sentAt).toUTCString() }),
        waitMs: (wallTime) => {
          const ms = until - (retryAfter.hasDateHeader ? sentAt : wallTime);
          return ms > 0 ? ms : undefined;
        },
      };
    }
  }
}
