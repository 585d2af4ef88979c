import { placeOf } from "./history.ts";
import { placesOf, sawEnd, wasTold } from "./places.ts";
import { hasRecord } from "./received.ts";
import type { AttemptRun, History } from "./simulate.ts";
import { submissionsOf, wasNotFound } from "./submissions.ts";

/** Says that nothing was started or sent. */
const nothingStarted =
  /No job was started|nothing was started|sent nothing|started nothing|started no work|did not receive it/i;
/** Says that a re-run only waits, or does nothing. */
const nothingOnRerun = /nothing is sent again|A re-run sends nothing/;
/** Says that a re-run waits for the same job. */
const waitsOnRerun = /nothing is sent again/;
/** Says that something may have been started. */
const maybeStarted = /job may have been started|may have been sent|may have reached job/i;

/** What is said about the request is true, even if the request reaches the service only later. */
export function checkStatements(history: History, run: AttemptRun, index: number): string[] {
  const violations: string[] = [];
  const { statements } = run.runner;
  for (const { text, requests } of statements) {
    if (nothingStarted.test(text) && run.requests.slice(0, requests).some(({ actedAt }) => actedAt !== undefined)) {
      violations.push(`something was started, but the step says: ${text}`);
    }
  }
  const next = nextAttempt(history, index);
  const isHistory = history.scenario.workflow !== undefined;
  const promise = statements.find(({ text }) => nothingOnRerun.test(text));
  // With a cache, a re-run sends its request again if the job has failed by then.
  // A service that can be asked resolves a doubt.
  const isResolved =
    next !== undefined &&
    wasTold(next) &&
    (maybeStarted.test(promise?.text ?? "") || !waitsOnRerun.test(promise?.text ?? ""));
  const isForgotten = isHistory && isJobLost(history, index, next);
  // What could not be saved, only a service can tell that answers the next attempt, too.
  const isUnsaved =
    isHistory &&
    next !== undefined &&
    wasTold(run) &&
    !wasTold(next) &&
    statements.some(({ text }) => text.startsWith("Cannot remember the job"));
  const isExpected =
    isForgotten ||
    isUnsaved ||
    isUnwitnessed(run) ||
    (next !== undefined && (isResolved || wasNotFound(next) || ((isHistory || wasTold(next)) && sawEnd(next))));
  // With the same key, a request does nothing again.
  const isRepeated = next !== undefined && submissionsOf(next).some(({ actedAt }) => actedAt !== undefined);
  if (promise && isRepeated && !isExpected) {
    violations.push(`the next attempt starts something, but the step says: ${promise.text}`);
  }
  const waited = statements.find(({ text }) => waitsOnRerun.test(text));
  const polled = next?.requests.find(({ kind }) => kind === "poll")?.jobId ?? "";
  if (
    waited &&
    isHistory &&
    !isExpected &&
    !run.hasInternalFault &&
    polled !== "" &&
    polled !== run.runner.outputs["job-id"]
  ) {
    violations.push(`the next attempt waits for job ${polled}, but the step says: ${waited.text}`);
  }
  const doubt = statements.find(({ text }) => maybeStarted.test(text));
  // An earlier attempt may have left a doubt; an internal fault may hide what is certain.
  if (doubt && placeOf(history.scenario, index).number === 1 && !run.hasInternalFault && !hasSent(run)) {
    violations.push(`no request can have arrived, but the step says: ${doubt.text}`);
  }
  return violations;
}

/** Returns the next attempt of the same step, unless it cannot know of this one: by its inputs, or because of the cache. */
function nextAttempt(history: History, index: number): AttemptRun | undefined {
  const places = placesOf(history);
  const place = places[index];
  if (!place) return history.attempts.slice(index + 1).find(({ end }) => end !== "not-started");
  const next = places.find((one) => one.index > index && one.unit === place.unit && one.run.end !== "not-started");
  if (!next || next.execution.onRerun === "new" || next.execution.cache.state === "absent") return undefined;
  const isEvicted = places.slice(index + 1, next.index + 1).some(({ execution }) => execution.cacheLoss === "evicted");
  return isEvicted ? undefined : next.run;
}

/** Returns whether GitHub refused both the reaction and the reply, so that a later attempt that it lets write is the first to do so. */
function isUnwitnessed({ gitHubRequests, requests }: AttemptRun): boolean {
  const sentAt = requests.find(({ kind }) => kind === "create" || kind === "message")?.sentAt ?? 0;
  const writes = gitHubRequests.filter((one) => one.route.startsWith("POST") && one.sentAt <= sentAt);
  return writes.length > 0 && writes.every(({ data }) => typeof data !== "object");
}

/** Returns whether the service lost or archived a job between two attempts, or before the first, which may not have found out. */
function isJobLost({ scenario, attempts }: History, index: number, next: AttemptRun | undefined): boolean {
  const until = next ? attempts.indexOf(next) : index;
  // Nor may those before it that were given no record.
  const seen = attempts.slice(0, index + 1).findLastIndex(({ requests }) => requests.some(hasRecord));
  const lost = scenario.attempts.slice(Math.min(index, seen + 1), until + 1);
  return lost.some(({ execution }) => execution?.jobLoss !== undefined);
}

/** Returns whether a create or message was sent over a connection. */
function hasSent(run: AttemptRun): boolean {
  return submissionsOf(run).some(({ received }) => !(received?.kind === "failure" && received.phase === "connecting"));
}
