import type { Lasting } from "../../store-errors.ts";

/** Thrown when GitHub cannot be reached or answers with an HTTP error. */
export class GitHubError extends Error implements Lasting {
  /** `undefined` if there was no complete response. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.status = status;
  }

  /** Whether the request may succeed later, and may have had an effect although it failed. */
  get isTransient(): boolean {
    return this.status === undefined || this.status >= 500;
  }

  /** Whether the same request will fail again. */
  get isPermanent(): boolean {
    return !this.isTransient;
  }

  get lasts(): Lasting["lasts"] {
    if (!this.isPermanent) return undefined;
    return this.status === 403 && /Resource not accessible by/i.test(this.message) ? "certainly" : "probably";
  }
}

/** Thrown when GitHub's response has another shape than its documentation says. */
export class MalformedResponse extends Error implements Lasting {
  readonly lasts = "probably";
}

/** Thrown when GitHub's rate limit is reached and the wait would be too long. */
export class RateLimitError extends GitHubError {
  /** How long the limit lasts, in milliseconds. */
  readonly waitMs: number;

  constructor(message: string, status: number, waitMs: number) {
    super(message, status);
    this.waitMs = waitMs;
  }

  override get isPermanent(): boolean {
    return false;
  }
}
