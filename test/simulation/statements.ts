import type { AttemptRun, History } from "./simulate.ts";
import { submissionsOf, wasNotFound } from "./submissions.ts";

/** Says that nothing was started or sent. */
const nothingStarted =
  /No job was started|nothing was started|sent nothing|started nothing|started no work|did not receive it/i;
/** Says that a re-run only waits, or does nothing. */
const nothingOnRerun = /nothing is sent again|A re-run sends nothing/;
/** Says that something may have been started. */
const maybeStarted = /job may have been started|may have been sent|may have reached job/i;

/** What is said about the request is true, also of requests that reach the service only later. */
export function checkStatements(history: History, run: AttemptRun, index: number): string[] {
  const violations: string[] = [];
  const { statements } = run.runner;
  for (const { text, requests } of statements) {
    if (nothingStarted.test(text) && run.requests.slice(0, requests).some(({ actedAt }) => actedAt !== undefined)) {
      violations.push(`something was started, but the step says: ${text}`);
    }
  }
  const next = history.attempts[index + 1];
  const promise = statements.find(({ text }) => nothingOnRerun.test(text));
  if (promise && next && submissionsOf(next).length > 0 && !wasNotFound(next)) {
    violations.push(`the next attempt sends a request, but the step says: ${promise.text}`);
  }
  const doubt = statements.find(({ text }) => maybeStarted.test(text));
  // An earlier attempt may have left a doubt; an internal fault may hide what is certain.
  if (doubt && index === 0 && !run.hasInternalFault && !hasSent(run)) {
    violations.push(`no request can have arrived, but the step says: ${doubt.text}`);
  }
  return violations;
}

/** Returns whether a create or message was sent over a connection. */
function hasSent(run: AttemptRun): boolean {
  return submissionsOf(run).some(({ received }) => !(received?.kind === "failure" && received.phase === "connecting"));
}
