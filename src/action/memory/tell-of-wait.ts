import { message } from "../../runner-kit/text.ts";
import type { Run } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import type { Decision } from "./decide.ts";

export type Wait = Extract<Decision, { do: "wait" }>;

/** Logs that a re-run waits for an earlier attempt's request, and which doubts remain. */
export function tellOfWait(decision: Wait, { log, ports }: Run): void {
  const { jobId } = decision;
  const prefix = `Attempt ${runAttempt(ports.environment)}:`;
  if (!("turnId" in decision)) log.line(`${prefix} attempt ${decision.attempt} started job ${jobId}; waiting for it`);
  else {
    log.line(
      `${prefix} the service says that an earlier attempt of this step sent its request as job ${jobId}; waiting for that`,
    );
  }
  if ("besides" in decision) {
    log.warning(message`
      Earlier attempt may have started a job
      By GitHub's record, attempt ${decision.besides} of this workflow run ran this step, too, but nothing says what it started. This attempt waits for job ${jobId}; another one may be running.`);
  }
}
