import fc from "fast-check";
import { hostileText } from "../support/hostile-text.ts";

/** What becomes of one request, whatever it asks for. */
export type Fate =
  /** Served as it should be. */
  | { kind: "served" }
  /** No connection: the request was not sent. */
  | { kind: "refused-connection" | "untrusted-certificate" }
  /** Sent, but lost on its way to the service. */
  | { kind: "lost-request" }
  /** Served, but the answer is lost, whole or in part. */
  | { kind: "lost-answer" }
  /** A gateway answers; `reached` tells whether the service had acted on the request by then. */
  | { kind: "gateway-error"; status: 408 | 500 | 502 | 503 | 504; reached: boolean }
  /** Refused for now, and not acted on. */
  | { kind: "throttled"; status: 429 | 503; retryAfter: string }
  /** Refused for good, and not acted on. */
  | { kind: "refused"; status: 301 | 307 | 400 | 401 | 403 | 404 | 410 | 422; words: string }
  /** Served, but the body of the 2xx says something else. */
  | { kind: "garbled"; body: "html" | "nothing" | "no-status" | "other-job" | "array" }
  /** Served, with a record that is whole and odd. */
  | {
      kind: "odd";
      oddity: "unknown-status" | "wrong-types" | "echoes-key" | "hostile-text" | "bad-link";
      words: string;
    };

/** A request's fate and its pace, in milliseconds. */
export interface Exchange {
  fate: Fate;
  connectMs: number;
  answerMs: number;
}

/** All that a run is made of: the same scenario always gives the same run. */
export interface Scenario {
  way: "create" | "message" | "attach";
  wait: boolean;
  timeoutSeconds: number;
  minSeconds: number;
  maxSeconds: number;
  failOn: string;
  /** How long the job's work takes, in milliseconds, and how it ends. */
  activeMs: number;
  result: "pull-request" | "no-changes" | "failed" | "archived";
  /** How long after a message the record still shows the state from before it. */
  lagMs: number;
  /** What becomes of the first requests; later ones are served. */
  exchanges: Exchange[];
  /** When the step gets signals, in milliseconds since its start. */
  signalsAt: number[];
  /** Drawn from in turn wherever chance decides. */
  chances: number[];
}

const words = fc.oneof(fc.constantFrom("", "No.", "##[add-mask]a", "\n::error::x", "@acme/team"), hostileText);

const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>({ kind: "served" }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("refused-connection", "untrusted-certificate", "lost-request", "lost-answer"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("gateway-error" as const),
      status: fc.constantFrom(408, 500, 502, 503, 504),
      reached: fc.boolean(),
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
      kind: fc.constant("refused" as const),
      status: fc.constantFrom(301, 307, 400, 401, 403, 404, 410, 422),
      words,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("garbled" as const),
      body: fc.constantFrom("html", "nothing", "no-status", "other-job", "array"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("odd" as const),
      oddity: fc.constantFrom("unknown-status", "wrong-types", "echoes-key", "hostile-text", "bad-link"),
      words,
    }),
  },
);

/** Mostly quick, now and then slower than a request may be. */
const pace = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 300, max: 45_000 }) },
);

/** Scenarios of every kind; shrinks towards a job that is created, served and done. */
export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  way: fc.constantFrom("create", "message", "attach"),
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
  exchanges: fc.array(fc.record({ fate, connectMs: pace, answerMs: pace }), { maxLength: 12 }),
  signalsAt: fc.oneof(
    { weight: 3, arbitrary: fc.constant<number[]>([]) },
    { weight: 2, arbitrary: fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 2 }) },
  ),
  chances: fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1, maxLength: 6 }),
});
