import { lastPollReserveMs, rounding } from "./limits.ts";
import type { ServiceRequest } from "./network.ts";
import { isHushed } from "./received.ts";
import type { Attempt, Scenario } from "./scenario.ts";
import type { AttemptRun } from "./simulate.ts";

/** How long a poll may be held at most, in seconds. */
const maxHoldSeconds = 25;
/** How much sooner than its own limit a poll that is held has to be answered, in milliseconds. */
const answerMs = 2000;
/** A poll that ends sooner was not held. */
const minHeldMs = 1000;

/** Asks the service to hold only what it can hold, polls again at once when it did, and never polls in a loop. */
export function checkHolds(scenario: Scenario, run: AttemptRun, attempt: Attempt): string[] {
  const violations: string[] = [];
  const { requests, firstRequestAt = 0, signalAt } = run;
  const deadline = firstRequestAt + scenario.timeoutSeconds * 1000;
  const minMs = scenario.minSeconds * 1000;
  const isPaused = attempt.pauses.length > 0;
  let failures = 0;
  for (const [index, request] of requests.entries()) {
    const { kind, jobId, sentAt, holdSeconds, timeoutAt, received } = request;
    // A wait of its own follows each message.
    if (requests[index - 1]?.jobId !== jobId || requests[index - 1]?.kind !== "poll") failures = 0;
    if (holdSeconds > 0 && kind !== "poll") violations.push(`the service was asked to hold a ${kind}`);
    if (holdSeconds > maxHoldSeconds) violations.push(`the service was asked to hold a poll for ${holdSeconds} s`);
    if (holdSeconds > 0 && failures >= 2) violations.push("a poll could be held after two that failed");
    // A token may have to be requested first.
    if (holdSeconds > 0 && !scenario.usesTokens && timeoutAt - sentAt < holdSeconds * 1000 + answerMs - rounding) {
      violations.push(`a poll that could be held for ${holdSeconds} s had a timeout of ${timeoutAt - sentAt} ms`);
    }
    const lastPollAt = deadline - lastPollReserveMs;
    if (holdSeconds > 0 && scenario.timeoutSeconds >= 10 && timeoutAt > lastPollAt - 1000 + rounding) {
      violations.push("a poll that could be held leaves no time for the last one");
    }
    if (!received || holdSeconds === 0) continue;
    failures = nextFailures(failures, request);

    const next = requests[index + 1];
    if (next?.kind !== "poll" || next.jobId !== jobId) continue;
    if (next.holdSeconds > 0 && next.sentAt - sentAt < minMs / 2 - rounding) {
      violations.push(`polls that could be held were sent ${next.sentAt - sentAt} ms apart`);
    }
    const wasHeld = received.kind === "response" && received.isHoldApplied && received.at - sentAt >= minHeldMs;
    if (!wasHeld || !received.record || isPaused || signalAt !== undefined || run.hasInternalFault) continue;
    // Unless the service may be asked how the turn ended, the poll counts as failed.
    if (scenario.usesTokens || (received.record.status !== "active" && isHushed(requests, received.at))) continue;
    const lateMs = next.sentAt - Math.max(received.at, sentAt + minMs);
    if (lateMs > rounding) violations.push(`the poll after one that was held was sent ${lateMs} ms late`);
  }
  return violations;
}

/** Returns how many polls in a row, of those that could be held, failed after they may have been. */
function nextFailures(failures: number, { sentAt, received }: ServiceRequest): number {
  if (!received) return failures;
  if (received.kind === "response" && received.record !== undefined) return 0;
  const isConnecting = received.kind === "failure" && received.phase === "connecting";
  return isConnecting || received.at - sentAt < minHeldMs ? failures : failures + 1;
}
