import { acceptanceOf } from "./received.ts";
import type { AttemptRun, History } from "./simulate.ts";

/** Returns the creates and messages of an attempt. */
export function submissionsOf({ requests }: AttemptRun) {
  return requests.filter(({ kind }) => kind !== "poll");
}

/** Announces that a job or message may be running, that a re-run would send another, or that the thread or cache has no memory. */
export const doubt =
  /may have been (started|sent)|may have reached|may start a second job|may send it a second time|may start another job|may send the message again|Cannot update the thread|Cannot remember the job/;

/** Never starts a job or sends a message twice, in one attempt or in several of one comment. */
export function checkSubmissions({ scenario, attempts }: History, run: AttemptRun, index: number): string[] {
  const violations: string[] = [];
  const submissions = submissionsOf(run);
  const accepted = submissions.filter(({ actedAt }) => actedAt !== undefined);
  if (accepted.length > 1) violations.push(`${accepted.length} jobs were started or messages accepted`);
  if (
    submissions.slice(0, -1).some((request) => request.actedAt !== undefined || acceptanceOf(request) !== "rejected")
  ) {
    violations.push("a create or message was retried although the first may have been accepted");
  }
  const earlier = attempts.slice(0, index);
  const wasStarted = earlier.some((one) => submissionsOf(one).some(({ actedAt }) => actedAt !== undefined));
  const hasThread = scenario.mode.kind === "comment" && scenario.mode.reply;
  if (hasThread && accepted.length > 0 && wasStarted && !wasNotFound(run)) {
    const wasAnnounced = earlier.some(({ runner }) => runner.statements.some(({ text }) => doubt.test(text)));
    if (run.isRemembered) violations.push("a job or message was sent again, although the thread remembers the first");
    else if (!wasAnnounced) violations.push("a job or message was sent again, and no attempt had announced a doubt");
  }
  return violations;
}

/** Returns whether the service did not find a job, so that another one may be started. */
export function wasNotFound({ requests }: AttemptRun): boolean {
  return requests.some(({ received }) => received?.kind === "response" && received.status === 404);
}
