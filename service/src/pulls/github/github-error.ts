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

  constructor(message: string, status: number | undefined, waitMs: number) {
    super(message, status);
    this.waitMs = waitMs;
  }

  override get isPermanent(): boolean {
    return false;
  }

  /** It has had no effect. */
  override get isTransient(): boolean {
    return false;
  }
}

/** What to do about what GitHub refuses for any request, by its words. */
const advices: readonly [words: RegExp, advice: string][] = [
  [/was archived so/i, "Unarchive the repository."],
  [/SAML (?:enforcement|SSO)/, "Authorize the token for single sign-on (SSO) in the organization."],
  [
    /IP allow list/i,
    "Add this machine's address to the organization's IP allow list, or run on a machine that is on it.",
  ],
  [/rate limit/i, "Wait until the limit is over, at most an hour."],
  [
    /Bad credentials|Authentication failed|Invalid username|could not read Username/i,
    "The token has ended or was revoked: a GitHub App's lives for an hour. Use a new one.",
  ],
];

/** Returns advice on errors that any request can get, by GitHub's message; otherwise `undefined`. */
export function adviceOn(words: string): string | undefined {
  return advices.find(([pattern]) => pattern.test(words))?.[1];
}

/** Whether GitHub refuses a pull request because the branch has nothing that its target lacks. */
export const hasNoCommits = (error: unknown): boolean =>
  error instanceof GitHubError && error.status === 422 && /No commits between/i.test(error.message);

/** Whether GitHub's API may not have seen yet what was pushed or opened a moment ago. */
export const isTooEarly = (error: GitHubError): boolean =>
  hasNoCommits(error) ||
  (error.status === 422 && /already exists|"field":"head","code":"invalid"/i.test(error.message));
