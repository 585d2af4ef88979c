import { NetworkError } from "../runner-kit/transport.ts";

/** `rejected`: the service provably did not act on a request; `unknown`: sending it again could do the work twice. */
export type Acceptance = "accepted" | "rejected" | "unknown";

/** Thrown when the service, or a gateway in front of it, answered with a status other than 2xx. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  declare readonly status: number;
  /** The service's own message, or empty. Untrusted text. */
  declare readonly serviceMessage: string;
  /** Whether that is the `error` of a JSON object, as the service writes it and a gateway in front of it does not. */
  declare readonly isOfService?: boolean;
  /** The target of a redirect, or empty. Untrusted text. */
  declare readonly location: string;
  /** The minimum wait from `Retry-After`, in milliseconds; `undefined` if there was none that could be read. */
  declare readonly retryAfterMs: number | undefined;
  /** Monotonic time when the request was sent. */
  declare readonly sentAt: number;

  constructor(
    response: Pick<HttpError, "status" | "serviceMessage" | "isOfService" | "location" | "retryAfterMs" | "sentAt">,
  ) {
    super(`HTTP ${response.status}`);
    Object.assign(this, response);
  }
}

/** Thrown when a 2xx response contains no job record, or the record of another job. */
export class InvalidResponseError extends Error {
  override readonly name = "InvalidResponseError";
  /** The response body. Untrusted text. */
  readonly body: string;

  constructor(message: string, body: string) {
    super(message);
    this.body = body;
  }
}

/** Thrown when there is no token to send with a request, so that the request was not sent. */
export class TokenError extends Error {
  override readonly name = "TokenError";
  readonly isTransient: boolean;

  constructor(message: string, isTransient: boolean) {
    super(message);
    this.isTransient = isTransient;
  }
}

export type RequestError = NetworkError | HttpError | InvalidResponseError | TokenError;

export function isRequestError(error: unknown): error is RequestError {
  return [NetworkError, HttpError, InvalidResponseError, TokenError].some((type) => error instanceof type);
}

/** Thrown when a create or message has failed for good; `cause` is the last failure. */
export class SubmissionError extends Error {
  override readonly name = "SubmissionError";
  readonly acceptance: Exclude<Acceptance, "accepted">;
  /** The id in the part of a create's response that arrived, if there is one. Untrusted text. */
  readonly jobId: string | undefined;
  override readonly cause: RequestError;

  constructor(acceptance: SubmissionError["acceptance"], cause: RequestError, jobId?: string) {
    super(cause.message);
    this.acceptance = acceptance;
    this.jobId = jobId;
    this.cause = cause;
  }
}

/** Returns the message of anything that was thrown. Untrusted text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
