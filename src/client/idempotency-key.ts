/**
 * What a create or message is known by: who sends it, and which of the sender's requests it is. A service that knows the
 * header does the work of a request once, however often it arrives.
 */
export interface IdempotencyKey {
  /** Hash of the step; the same in all attempts of a workflow run. */
  step: string;
  /** Hash of the request; the same whenever the same request is sent again. */
  request: string;
}

/** Returns the value of `Idempotency-Key`, a string. IETF draft "The Idempotency-Key HTTP Header Field"; RFC 9651, section 3.3.3. */
export function formatIdempotencyKey({ step, request }: IdempotencyKey): string {
  return `"${step}.${request}"`;
}

/** Returns whether `Idempotent-Replayed` says that the service had received the request before. */
export function isReplayed(header = ""): boolean {
  return header.trim().toLowerCase() === "true";
}
