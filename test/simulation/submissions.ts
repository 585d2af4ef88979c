import type { ServiceRequest } from "./network.ts";
import { acceptanceOf, isSubmission } from "./received.ts";
import type { AttemptRun } from "./simulate.ts";

/** Returns the creates and messages of an attempt. */
export function submissionsOf({ requests }: AttemptRun): ServiceRequest[] {
  return requests.filter(isSubmission);
}

/** Announces that a job or message may be running, that a re-run would send another, or that the thread or cache has no memory. */
export const doubt =
  /may have been (started|sent)|may have reached|may start a second job|may send it a second time|may start another job|may send the message again|Cannot update the thread|Cannot remember the job/;

/** Never starts a job or sends a message twice in one attempt. */
export function checkSubmissions(run: AttemptRun): string[] {
  const { requests, signalAt } = run;
  const violations: string[] = [];
  const submissions = submissionsOf(run);
  const accepted = submissions.filter(({ actedAt, turn }, index) => {
    // A service that has lost a job knows its key no longer, also for a request that is on its way.
    const wasLost = submissions
      .slice(index + 1)
      .some((next) => next.actedAt !== undefined && (turn?.goneAt ?? Infinity) <= next.actedAt);
    return actedAt !== undefined && !wasLost;
  });
  if (signalAt === undefined && requests.some(({ kind }) => kind === "stop")) {
    violations.push("a turn was stopped although nobody cancelled the step");
  }
  if (accepted.length > 1) violations.push(`${accepted.length} jobs were started or messages accepted`);
  const own = submissions.flatMap(({ turn }) => turn?.id ?? []);
  if (requests.some(({ kind, turnId = "" }) => kind === "stop" && !own.includes(turnId))) {
    violations.push("a turn was stopped that the step had not sent");
  }
  for (const [index, request] of submissions.entries()) {
    const next = submissions[index + 1];
    if (!next || acceptanceOf(request) === "rejected") continue;
    if (!isKnown(request, next, run)) {
      violations.push(`a ${request.kind} was retried although the first may have been accepted`);
    }
  }
  return violations;
}

/** Returns whether the service said, after a doubt, that it knows the same request by its key. */
function isKnown(request: ServiceRequest, next: ServiceRequest, { requests }: AttemptRun): boolean {
  const since = request.received?.at ?? Infinity;
  return (
    request.key !== "" &&
    request.key === next.key &&
    request.jobId === next.jobId &&
    requests.some(
      ({ kind, sentAt, received }) =>
        kind === "lookup" &&
        sentAt >= since &&
        received?.kind === "response" &&
        received.announces &&
        received.at <= next.sentAt,
    )
  );
}

/** Returns whether the service did not find a job, so that another one may be started. */
export function wasNotFound({ requests }: AttemptRun): boolean {
  return requests.some(
    ({ kind, received }) => kind !== "lookup" && received?.kind === "response" && received.status === 404,
  );
}
