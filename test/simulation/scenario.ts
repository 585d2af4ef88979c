import fc from "fast-check";
import { hostileText } from "../support/hostile-text.ts";
import type { Execution, Workflow } from "./history.ts";
import type { Pause } from "./process.ts";

/** The `Retry-After` of a response. A date is in the server's time, which `Date` tells if the response has it. */
export type RetryAfter =
  | { kind: "absent" }
  | { kind: "text"; text: string }
  | { kind: "date"; inSeconds: number; hasDateHeader: boolean };

/** What goes wrong with one request to the service. */
export type Fault =
  | { kind: "none" }
  /** There is no connection, so the request is not sent. */
  | { kind: "connection-refused" | "untrusted-certificate" }
  /** The request is sent, but does not reach the service. */
  | { kind: "lost-request" }
  /** The service acts on the request, but the connection is closed before the response. */
  | { kind: "lost-response" }
  /** The service acts on the request, but only this part of the body of its response arrives. */
  | { kind: "cut-off"; part: number }
  /** A gateway responds; `hasActed`: after the service has acted on the request. */
  | {
      kind: "gateway-error";
      status: 408 | 500 | 502 | 503 | 504;
      hasActed: boolean;
      /** The body is JSON with an id of its own. */
      isJson: boolean;
      retryAfter: RetryAfter;
    }
  /** Rejected for now, without acting on it. */
  | { kind: "throttled"; status: 429 | 503; retryAfter: RetryAfter }
  /** Rejected permanently, without acting on it. */
  | {
      kind: "http-error";
      status: 301 | 307 | 400 | 401 | 403 | 404 | 410 | 422;
      /** The service itself says it, not a gateway. */
      isJson: boolean;
      text: string;
      retryAfter: RetryAfter;
    }
  /** The service acts on the request, but the body of the 2xx response is not a record of the job. */
  | { kind: "invalid-body"; body: "html" | "empty" | "no-status" | "unusable-id" | "other-job" | "array" }
  /** The service acts on the request, and returns a complete record with unexpected values. */
  | {
      kind: "odd-record";
      oddity: "unknown-status" | "wrong-types" | "echoes-key" | "hostile-text" | "bad-link";
      text: string;
    };

/** The fault and the latency of one request to the service, in milliseconds. */
export interface Exchange {
  fault: Fault;
  connectMs: number;
  /** Until the service acts on the request. */
  requestMs: number;
  /** From then until the head and a part of the body arrive. */
  responseMs: number;
  /** From then until the rest of the body arrives. */
  bodyMs: number;
  /** How much of the body arrives with the head. */
  part: number;
  /** In a fleet: a machine of an older version answers. */
  isOld: boolean;
}

/** What goes wrong with one request to GitHub. A lost request or response is noticed when its time is up. */
export type GitHubFault = "none" | "lost-request" | "lost-response" | "rejected" | "unusable-response";

export interface GitHubExchange {
  fault: GitHubFault;
  requestMs: number;
  responseMs: number;
}

/** What goes wrong with one request for an OIDC token, how long it takes, and how long the token is valid. */
export interface TokenExchange {
  fault: "none" | "unavailable" | "forbidden" | "garbage" | "lost";
  ms: number;
  lifetimeSeconds: number;
}

/** A time in which every request to the service has the same fault. Milliseconds; `at` since the start of the attempt. */
export interface Outage {
  at: number;
  ms: number;
  fault: Fault;
}

/** When the process vanishes: at a time, or at a moment of a request, of which `index` counts those before it. */
export type Kill =
  | { kind: "time"; at: number }
  | { kind: "request"; to: "service" | "github" | "cache"; index: number; moment: "sent" | "acted" | "answered" };

/** Methods of the ports that may throw unexpectedly. */
export const fallibleMethods = [
  "setOutput",
  "writeSummary",
  "connect",
  "connectGitHub",
  "now",
  "wallTime",
  "random",
  "info",
  "annotate",
  "debug",
  "startGroup",
  "endGroup",
] as const;

/** A method of a port throws on one of its calls, counted from 1, or from that call on. */
export interface InternalFault {
  method: (typeof fallibleMethods)[number];
  call: number;
  isPermanent: boolean;
}

/** One run attempt of the workflow run. */
export interface Attempt {
  start: StepStart;
  /** The token may read GitHub's record of the attempts. */
  canReadRecord: boolean;
  /** The first requests to the service; later ones have no fault, except in an outage. */
  exchanges: Exchange[];
  outages: Outage[];
  /** The first requests to GitHub; later ones have no fault. */
  github: GitHubExchange[];
  /** The first requests for OIDC tokens, if the step uses them; later ones have no fault. */
  tokens: TokenExchange[];
  /** When the step receives signals, in milliseconds since its start. */
  signalsAt: number[];
  pauses: Pause[];
  kill: Kill | undefined;
  internalFault: InternalFault | undefined;
  /** What `random` returns, in turn. */
  randomNumbers: number[];
  /** How long after its end the next attempt begins, in milliseconds. */
  gapMs: number;
  /** Only in a history. */
  execution?: Execution;
}

/** The comment, the thread and the workflow in comment mode. */
export interface Conversation {
  event: "issue_comment" | "pull_request_review_comment" | "pull_request_review";
  isNew: boolean;
  /** An earlier reply in the thread names the existing job. */
  remembersJob: boolean;
  /** The workflow names the existing job. */
  hasFixedJob: boolean;
  reply: boolean;
  otherComments: number;
  maxPerPage: number;
  /** Somebody else wrote a comment that looks like a reply of the action. */
  hasForgedMarker: boolean;
  /** What the runner says about the Actions cache; `undefined`: it offers none. */
  cacheMode: "read" | "write" | undefined;
}

/** How the service writes a record: where the id stands, and what else has an id. */
export interface RecordFormat {
  membersBeforeId: number;
  hasNestedIds: boolean;
  escapesId: boolean;
}

/**
 * What the service does with a poll that it is asked to hold: `claims`: answers at once, but says that it has waited.
 * `exceeds`: holds it for longer than it is asked to, and than the request may take.
 */
export type HoldBehavior = "ignores" | "applies" | "claims" | "exceeds";

export type JobResult = "pull-request" | "no-changes" | "failed" | "archived";

/**
 * What the service knows of requests. `hosted`: it is the default one, which is never asked; `plain`: it has nothing but the
 * specification; `announces`: it knows keys, and says what was sent under a step; `stripped`: the same, behind a proxy that
 * removes the key; `fleet`: some of its machines have an older version that knows no keys, and can start nothing.
 */
export type ServiceKind = "hosted" | "plain" | "announces" | "stripped" | "fleet";

/**
 * What became of the step in an attempt. `skipped`: a step before it failed; `job-skipped`, `no-runner`: its job was skipped,
 * or cancelled before it had a runner.
 */
export type StepStart = "ran" | "skipped" | "job-skipped" | "no-runner";

/** Everything that determines a run: the same scenario always gives the same run. */
export interface Scenario {
  /** Plain mode: what the step is asked to do. Otherwise, comment mode. */
  mode: { kind: "plain"; task: "create" | "message" | "attach" } | ({ kind: "comment" } & Conversation);
  service: ServiceKind;
  wait: boolean;
  /** Requests to the service have OIDC tokens instead of a key. */
  usesTokens: boolean;
  timeoutSeconds: number;
  minSeconds: number;
  maxSeconds: number;
  failOn: string;
  /** How long a turn is active, in milliseconds, and how it ends. */
  activeMs: number;
  result: JobResult;
  /** How the existing job, which gets messages, ended before them. */
  earlierResult: JobResult;
  /** The service no longer has the existing job. */
  isJobGone: boolean;
  /** How long after a message the record still shows the state from before it, in milliseconds. */
  lagMs: number;
  format: RecordFormat;
  holds: HoldBehavior;
  /** How far the server's clock is ahead of the runner's, in seconds. */
  skewSeconds: number;
  attempts: Attempt[];
  /** Only in a history. */
  workflow?: Workflow;
}

export const text = fc.oneof(fc.constantFrom("", "No.", "##[add-mask]a", "\n::error::x", "@acme/team"), hostileText);

const retryAfter: fc.Arbitrary<RetryAfter> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<RetryAfter>({ kind: "absent" }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("text" as const),
      text: fc.constantFrom("1", "7", "60", "3600", "999999999999", "0", "-5", "1.5", "soon", ""),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("date" as const),
      inSeconds: fc.constantFrom(1, 20, 90, 7200, 0, -30),
      hasDateHeader: fc.boolean(),
    }),
  },
);

/** One that asks for a wait by any clock that is at most an hour off. */
const validRetryAfter: fc.Arbitrary<RetryAfter> = fc.oneof(
  fc.record({ kind: fc.constant("text" as const), text: fc.constantFrom("1", "7", "60", "3600", "999999999999") }),
  fc.record({
    kind: fc.constant("date" as const),
    inSeconds: fc.constantFrom(1, 20, 90, 7200),
    hasDateHeader: fc.constant(true),
  }),
  fc.record({ kind: fc.constant("date" as const), inSeconds: fc.constant(7200), hasDateHeader: fc.constant(false) }),
);

const throttled: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constant("throttled" as const), status: fc.constant(429 as const), retryAfter }),
  fc.record({
    kind: fc.constant("throttled" as const),
    status: fc.constant(503 as const),
    retryAfter: validRetryAfter,
  }),
);

const httpError: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constant("http-error" as const),
  status: fc.constantFrom(404, 401, 301, 307, 400, 403, 410, 422),
  isJson: fc.boolean(),
  text,
  retryAfter,
});

const noConnection: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constantFrom("connection-refused", "untrusted-certificate"),
});

const gatewayError: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constant("gateway-error" as const),
  status: fc.constantFrom(408, 500, 502, 503, 504),
  hasActed: fc.boolean(),
  isJson: fc.boolean(),
  retryAfter,
});

const part = fc.double({ min: 0, max: 1, noNaN: true });

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Fault>({ kind: "none" }) },
  { weight: 3, arbitrary: noConnection },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("lost-request", "lost-response") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cut-off" as const), part }) },
  { weight: 4, arbitrary: gatewayError },
  { weight: 3, arbitrary: throttled },
  { weight: 2, arbitrary: httpError },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("invalid-body" as const),
      body: fc.constantFrom("html", "empty", "no-status", "unusable-id", "other-job", "array"),
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
export const latency = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 200 }) },
  { weight: 1, arbitrary: fc.integer({ min: 200, max: 45_000 }) },
);

export const exchange: fc.Arbitrary<Exchange> = fc.record({
  fault,
  connectMs: latency,
  requestMs: latency,
  responseMs: latency,
  bodyMs: latency,
  part,
  isOld: rarely(5, fc.constant(true)).map((isOld) => isOld ?? false),
});

/** Most often none. */
export function rarely<T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 10, arbitrary: fc.constant(undefined) }, { weight, arbitrary });
}

export const milliseconds = fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 60_000 }));

const outage: fc.Arbitrary<Outage> = fc.record({
  at: milliseconds,
  ms: fc.integer({ min: 1000, max: 200_000 }),
  fault: fc.oneof(
    { weight: 2, arbitrary: noConnection },
    throttled,
    gatewayError,
    httpError,
    fc.record({
      kind: fc.constant("http-error" as const),
      status: fc.constantFrom(404, 401),
      isJson: fc.boolean(),
      text: fc.constant(""),
      retryAfter: fc.constant({ kind: "absent" as const }),
    }),
  ),
});

const kill: fc.Arbitrary<Kill> = fc.oneof(
  fc.record({
    kind: fc.constant("request" as const),
    to: fc.constant("service" as const),
    index: fc.oneof(fc.constant(0), fc.nat({ max: 4 })),
    moment: fc.constantFrom("answered", "acted", "sent"),
  }),
  fc.record({
    kind: fc.constant("request" as const),
    to: fc.constant("github" as const),
    index: fc.nat({ max: 6 }),
    moment: fc.constantFrom("answered", "acted", "sent"),
  }),
  fc.record({ kind: fc.constant("time" as const), at: milliseconds }),
);

const internalFault: fc.Arbitrary<InternalFault> = fc
  .record({
    method: fc.constantFrom(...fallibleMethods),
    call: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 30 })),
    isPermanent: fc.boolean(),
  })
  // `main` reads the clock once before it sets the outputs for the first time.
  .map((fault) => (fault.method === "now" ? { ...fault, call: fault.call + 1 } : fault));

export const gitHubExchange: fc.Arbitrary<GitHubExchange> = fc.record({
  fault: fc.oneof(
    { weight: 12, arbitrary: fc.constant<GitHubFault>("none") },
    {
      weight: 3,
      arbitrary: fc.constantFrom<GitHubFault>("rejected", "lost-response", "lost-request", "unusable-response"),
    },
  ),
  requestMs: latency,
  responseMs: latency,
});

const tokenExchange: fc.Arbitrary<TokenExchange> = fc.record({
  fault: fc.oneof(
    { weight: 6, arbitrary: fc.constant<TokenExchange["fault"]>("none") },
    { weight: 4, arbitrary: fc.constantFrom<TokenExchange["fault"]>("unavailable", "forbidden", "garbage", "lost") },
  ),
  ms: latency,
  lifetimeSeconds: fc.constantFrom(300, 65, 90, 10),
});

export const members = {
  start: rarely(2, fc.constantFrom<StepStart>("skipped", "job-skipped", "no-runner")).map((start) => start ?? "ran"),
  canReadRecord: fc.boolean(),
  exchanges: fc.array(exchange, { maxLength: 8 }),
  outages: rarely(5, outage).map((one) => (one ? [one] : [])),
  github: fc.array(gitHubExchange, { maxLength: 8 }),
  tokens: fc.array(tokenExchange, { maxLength: 8 }),
  signalsAt: rarely(4, fc.array(milliseconds, { minLength: 1, maxLength: 2 })).map((times) => times ?? []),
  pauses: rarely(
    2,
    fc.array(fc.record({ at: milliseconds, ms: fc.integer({ min: 1, max: 90_000 }) }), { minLength: 1, maxLength: 2 }),
  ).map((pauses) => pauses ?? []),
  kill: rarely(3, kill),
  internalFault: rarely(1, internalFault),
  // Without jitter at all, an outage would see hundreds of retries.
  randomNumbers: fc.array(fc.double({ min: 0.1, max: 1, maxExcluded: true, noNaN: true }), {
    minLength: 1,
    maxLength: 4,
  }),
  gapMs: fc.oneof(fc.integer({ min: 1000, max: 30_000 }), fc.integer({ min: 1000, max: 1_000_000 })),
} satisfies { [Name in keyof Attempt]: fc.Arbitrary<Attempt[Name]> };

const attempt: fc.Arbitrary<Attempt> = fc.record(members);

/** An attempt that is often killed, so that the next one finds things half done. */
const interruptedAttempt: fc.Arbitrary<Attempt> = fc.record({ ...members, kill: rarely(10, kill) });

const conversation = fc.record({
  kind: fc.constant("comment" as const),
  event: fc.constantFrom(
    "issue_comment" as const,
    "pull_request_review_comment" as const,
    "pull_request_review" as const,
  ),
  isNew: fc.boolean(),
  remembersJob: fc.boolean(),
  hasFixedJob: rarely(2, fc.constant(true)).map((isSet) => isSet ?? false),
  reply: rarely(1, fc.constant(false)).map((isSet) => isSet ?? true),
  otherComments: fc.nat({ max: 4 }),
  maxPerPage: fc.constantFrom(100, 1, 2),
  hasForgedMarker: fc.boolean(),
  cacheMode: fc.constantFrom("read" as const, "write" as const, undefined),
});

/** What does not depend on the mode and the attempts. */
export const fields = {
  service: fc.constantFrom<ServiceKind>("plain", "announces", "hosted", "stripped", "fleet", "announces"),
  wait: fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  usesTokens: rarely(4, fc.constant(true)).map((isSet) => isSet ?? false),
  timeoutSeconds: fc.constantFrom(60, 1, 10, 30, 180, 600),
  minSeconds: fc.constantFrom(5, 0.5, 1),
  maxSeconds: fc.constantFrom(15, 5),
  failOn: fc.constantFrom(
    "failed, timed-out",
    "none",
    "archived, no-changes",
    "failed, archived, timed-out, no-changes",
  ),
  activeMs: fc.oneof(
    fc.integer({ min: 0, max: 5000 }),
    fc.integer({ min: 0, max: 60_000 }),
    fc.integer({ min: 0, max: 400_000 }),
  ),
  result: fc.constantFrom("pull-request", "no-changes", "failed", "archived"),
  earlierResult: fc.constantFrom("pull-request", "no-changes", "failed", "archived"),
  isJobGone: rarely(2, fc.constant(true)).map((isGone) => isGone ?? false),
  lagMs: fc.integer({ min: 0, max: 14_000 }),
  format: fc.record({ membersBeforeId: fc.nat({ max: 9 }), hasNestedIds: fc.boolean(), escapesId: fc.boolean() }),
  holds: fc.constantFrom("ignores", "applies", "applies", "claims", "exceeds"),
  skewSeconds: fc.constantFrom(0, 3600, -3600, 5),
} satisfies { [Name in keyof Scenario]?: fc.Arbitrary<Scenario[Name]> };

/** All kinds of scenarios; shrinks towards one attempt at a job that is created and completes without faults. */
export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  mode: fc.oneof(
    fc.record({ kind: fc.constant("plain" as const), task: fc.constantFrom("create", "message", "attach") }),
    conversation,
  ),
  ...fields,
  attempts: fc.oneof(
    { weight: 3, arbitrary: fc.array(attempt, { minLength: 1, maxLength: 1 }) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(interruptedAttempt, fc.array(attempt, { minLength: 1, maxLength: 2 }))
        .map(([first, others]) => [first, ...others]),
    },
  ),
});
