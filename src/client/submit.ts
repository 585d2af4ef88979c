import type { CallLimits, Clock } from "./clock.ts";
import { HttpError, InvalidResponseError, isRequestError, type RequestError, SubmissionError } from "./errors.ts";
import { backoffMs, classifySubmissionFailure, isTransientPollFailure } from "./retry.ts";
import { salvageId } from "./salvage-id.ts";
import type { Announcement } from "./step-lookup.ts";

/** A create or message is not sent with less time left, in milliseconds: no response could arrive. */
export const minTimeLeftMs = 1000;
/** How long failing connections are retried before a create or message is given up, in milliseconds. */
const unreachableLimitMs = 60_000;
/** How long the service is asked about a doubt, in milliseconds. */
const doubtLimitMs = 60_000;

/** Announces that a request will be sent again. `isDoubt`: the service may have acted on it, and does the work of it only once. */
export interface RetryNotice {
  error: RequestError;
  delayMs: number;
  isDoubt?: boolean;
}

export interface SubmitPorts {
  clock: Clock;
  random: () => number;
  redact: (text: string) => string;
  /** Asks what was sent under the step; `undefined` if the service cannot be asked. @throws RequestError */
  ask: () => Promise<Announcement | undefined>;
  /** Called before the service is asked about a doubt, if the response has the id of a job. Untrusted text. */
  onJobId: (jobId: string) => void;
}

/**
 * Sends a create or message until it is accepted: again only if the service has provably not acted on it, or announces, after a
 * doubt, that it knows the request by its key. Returns the result of `send`. @throws SubmissionError
 */
export async function submit<T>(
  send: () => Promise<T>,
  limits: CallLimits,
  ports: SubmitPorts,
  onRetry: (notice: RetryNotice) => void,
): Promise<{ accepted: T; wasInDoubt: boolean }> {
  const { clock, random } = ports;
  let doubt: { error: SubmissionError; since: number } | undefined;
  let unreachableSince: number | undefined;
  for (let attempt = 0; ; attempt++) {
    const sentAt = clock.now();
    try {
      return { accepted: await send(), wasInDoubt: doubt !== undefined };
    } catch (error) {
      if (!isRequestError(error)) throw error;
      const failure = classifySubmissionFailure(error);
      if (failure === "unknown") {
        // Only a 2xx contains a job's id; the `id` of an error belongs to the error, or to a gateway's trace.
        const jobId = "body" in error ? salvageId(error.body, ports.redact) : undefined;
        const found = new SubmissionError("unknown", error, jobId);
        if (jobId !== undefined) ports.onJobId(jobId);
        doubt ??= { error: found, since: clock.now() };
        // A later response may be the one with the job's id.
        if (doubt.error.jobId === undefined && jobId !== undefined) doubt.error = found;
        const latest = Math.min(limits.deadline - minTimeLeftMs, doubt.since + doubtLimitMs);
        const isAnnounced = await askUntil(latest, limits.signal, ports);
        const delayMs = backoffMs(attempt, random());
        if (!isAnnounced || clock.now() + delayMs > latest) throw doubt.error;
        onRetry({ error, delayMs, isDoubt: true });
        await clock.sleep(delayMs, limits.signal);
        if (limits.signal.aborted) throw doubt.error;
        continue;
      }
      // What was in doubt before may still be on its way.
      const rejected = doubt?.error ?? new SubmissionError("rejected", error);
      if (failure === "rejected" || limits.signal.aborted) throw rejected;
      unreachableSince = failure === "unreachable" ? (unreachableSince ?? sentAt) : undefined;
      const now = clock.now();
      const latest = Math.min(limits.deadline - minTimeLeftMs, (unreachableSince ?? Infinity) + unreachableLimitMs);
      const minDelayMs = retryAfterMs(error);
      if (now >= latest || now + minDelayMs > latest) throw rejected;
      const delayMs = Math.min(Math.max(minDelayMs, backoffMs(attempt, random())), latest - now);
      onRetry({ error, delayMs });
      await clock.sleep(delayMs, limits.signal);
    }
  }
}

/** Asks the service until it answers; returns whether it knows requests by their keys. */
async function askUntil(latest: number, signal: AbortSignal, { ask, clock, random }: SubmitPorts): Promise<boolean> {
  for (let attempt = 0; !signal.aborted && clock.now() < latest; attempt++) {
    try {
      return (await ask()) !== undefined;
    } catch (error) {
      // A page in place of an answer announces nothing.
      if (error instanceof InvalidResponseError || !isRequestError(error) || !isTransientPollFailure(error))
        return false;
      const delayMs = Math.max(backoffMs(attempt, random()), retryAfterMs(error));
      if (clock.now() + delayMs >= latest) return false;
      await clock.sleep(delayMs, signal);
    }
  }
  return false;
}

/** Returns how long the service asks to wait before the next request, in milliseconds; 0 if it does not. */
export function retryAfterMs(error: RequestError): number {
  return error instanceof HttpError ? (error.retryAfterMs ?? 0) : 0;
}
