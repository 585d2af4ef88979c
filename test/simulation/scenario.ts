import fc from "fast-check";
import { hostileText } from "../support/hostile-text.ts";

/** What goes wrong with one request. */
export type Fault =
  | { kind: "none" }
  /** There is no connection, so the request is not sent. */
  | { kind: "connection-refused" | "untrusted-certificate" }
  /** The request is sent, but does not reach the service. */
  | { kind: "lost-request" }
  /** The service acts on the request, but the response is lost, completely or in part. */
  | { kind: "lost-response" }
  /** A gateway responds; `hasActed`: after the service has acted on the request. */
  | { kind: "gateway-error"; status: 408 | 500 | 502 | 503 | 504; hasActed: boolean }
  /** Rejected for now, without acting on it. */
  | { kind: "throttled"; status: 429 | 503; retryAfter: string }
  /** Rejected permanently, without acting on it. */
  | { kind: "http-error"; status: 301 | 307 | 400 | 401 | 403 | 404 | 410 | 422; text: string }
  /** The service acts on the request, but the body of the 2xx response is not a record of the job. */
  | { kind: "invalid-body"; body: "html" | "empty" | "no-status" | "other-job" | "array" }
  /** The service acts on the request, and returns a complete record with unexpected values. */
  | {
      kind: "odd-record";
      oddity: "unknown-status" | "wrong-types" | "echoes-key" | "hostile-text" | "bad-link";
      text: string;
    };

/** The fault and the latency of one request, in milliseconds. */
export interface Exchange {
  fault: Fault;
  connectMs: number;
  responseMs: number;
}

/** Everything that determines a run: the same scenario always gives the same run. */
export interface Scenario {
  task: "create" | "message" | "attach";
  wait: boolean;
  timeoutSeconds: number;
  minSeconds: number;
  maxSeconds: number;
  failOn: string;
  /** How long the job is active, in milliseconds, and how it ends. */
  activeMs: number;
  result: "pull-request" | "no-changes" | "failed" | "archived";
  /** How long after a message the record still shows the state from before it, in milliseconds. */
  lagMs: number;
  /** The first requests; later ones have no fault. */
  exchanges: Exchange[];
  /** When the step receives signals, in milliseconds since its start. */
  signalsAt: number[];
  /** What `random` returns, in turn. */
  randomNumbers: number[];
}

const text = fc.oneof(fc.constantFrom("", "No.", "##[add-mask]a", "\n::error::x", "@acme/team"), hostileText);

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fault>({ kind: "none" }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("connection-refused", "untrusted-certificate", "lost-request", "lost-response"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("gateway-error" as const),
      status: fc.constantFrom(408, 500, 502, 503, 504),
      hasActed: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("throttled" as const),
      status: fc.constantFrom(429, 503),
      retryAfter: fc.constantFrom("1", "7", "60", "3600", "999999999999", "Thu, 01 Jan 2026 00:00:30 GMT"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("http-error" as const),
      status: fc.constantFrom(301, 307, 400, 401, 403, 404, 410, 422),
      text,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("invalid-body" as const),
      body: fc.constantFrom("html", "empty", "no-status", "other-job", "array"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("odd-record" as const),
      oddity: fc.constantFrom("unknown-status", "wrong-types", "echoes-key", "hostile-text", "bad-link"),
      text,
    }),
  },
);

/** Mostly fast, sometimes slower than the timeout of a request. */
const latency = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 300, max: 45_000 }) },
);

/** All kinds of scenarios; shrinks towards a job that is created and completes without faults. */
export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  task: fc.constantFrom("create", "message", "attach"),
  wait: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  timeoutSeconds: fc.constantFrom(60, 1, 10, 30, 180, 600),
  minSeconds: fc.constantFrom(5, 0.5, 1),
  maxSeconds: fc.constantFrom(15, 5),
  failOn: fc.constantFrom(
    "failed, timed-out",
    "none",
    "archived, no-changes",
    "failed, archived, timed-out, no-changes",
  ),
  activeMs: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 400_000 })),
  result: fc.constantFrom("pull-request", "no-changes", "failed", "archived"),
  lagMs: fc.integer({ min: 0, max: 14_000 }),
  exchanges: fc.array(fc.record({ fault, connectMs: latency, responseMs: latency }), { maxLength: 12 }),
  signalsAt: fc.oneof(
    { weight: 3, arbitrary: fc.constant<number[]>([]) },
    { weight: 2, arbitrary: fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 2 }) },
  ),
  randomNumbers: fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
    minLength: 1,
    maxLength: 6,
  }),
});
