/** What is known of a request that got no usable answer: whether the service can have acted on it. */
export type Delivery = "not-sent" | "unclear";

/** How far an exchange had come when it broke; with `connecting`, the request has not been sent. */
export type Phase = "connecting" | "sending" | "waiting" | "reading";

/** The root of all that the client throws on purpose. */
export abstract class AgentJobError extends Error {
  override readonly name: string = "AgentJobError";
}

/** Thrown when a request got no whole answer: no connection, a reset, a time-out, an abort, a body too large. */
export class ExchangeError extends AgentJobError {
  override readonly name = "ExchangeError";
  readonly phase: Phase;
  readonly reason: "network" | "certificate" | "timeout" | "aborted";
  /** What had come of the body: it may hold the id of a job. Outside text. */
  readonly body: string;

  constructor(
    message: string,
    options: { phase: Phase; reason: ExchangeError["reason"]; cause?: unknown; body?: string },
  ) {
    super(message, { cause: options.cause });
    this.phase = options.phase;
    this.reason = options.reason;
    this.body = options.body ?? "";
  }

  get delivery(): Delivery {
    return this.phase === "connecting" ? "not-sent" : "unclear";
  }
}

/** Thrown when the service, or a gateway before it, answered with anything but a 2xx. */
export class RefusalError extends AgentJobError {
  override readonly name = "RefusalError";
  readonly status: number;
  /** The service's own words, or empty. Outside text. */
  readonly serviceMessage: string;
  /** Where a redirect pointed to, or empty. Outside text. */
  readonly location: string;
  /** The least wait the service asked for, in milliseconds, where it asked for one that can be read. */
  readonly retryAfterMs: number | undefined;
  /** The body of the answer. Outside text. */
  readonly body: string;

  constructor(answer: {
    status: number;
    serviceMessage: string;
    location: string;
    retryAfterMs: number | undefined;
    body: string;
  }) {
    super(`HTTP ${answer.status}`);
    this.status = answer.status;
    this.serviceMessage = answer.serviceMessage;
    this.location = answer.location;
    this.retryAfterMs = answer.retryAfterMs;
    this.body = answer.body;
  }
}

/** Thrown when a 2xx came without a job record, or with the record of another job. */
export class MalformedAnswerError extends AgentJobError {
  override readonly name = "MalformedAnswerError";
  /** The body of the answer. Outside text. */
  readonly body: string;

  constructor(message: string, body: string) {
    super(message);
    this.body = body;
  }
}

/** Any way in which a single request can fail. */
export type RequestError = ExchangeError | RefusalError | MalformedAnswerError;

export function isRequestError(error: unknown): error is RequestError {
  return error instanceof ExchangeError || error instanceof RefusalError || error instanceof MalformedAnswerError;
}

/**
 * Thrown when a create or a message has failed for good. `taken` is what is known of it: `no` where the service
 * provably did not act on it, `unclear` where it may have, so that sending it again could do the work twice.
 * `jobId` is the id in what came of the answer to a create, where there was at least that; outside text.
 */
export class SubmissionError extends AgentJobError {
  override readonly name = "SubmissionError";
  readonly taken: "no" | "unclear";
  readonly jobId: string | undefined;
  override readonly cause: RequestError;

  constructor(taken: "no" | "unclear", cause: RequestError, jobId?: string) {
    super(cause.message, { cause });
    this.taken = taken;
    this.jobId = jobId;
    this.cause = cause;
  }
}
