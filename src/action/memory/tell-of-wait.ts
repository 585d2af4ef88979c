import { message } from "../../runner-kit/text.ts";
import type { Run } from "../run.ts";
import { isOnTag, runAttempt } from "../runner/environment.ts";
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

/** Says that the session of a run on a tag ends with it. GitHub's documentation: "Dependency caching reference", restrictions. */
export function tellOfTag({ settings, state, ports, log }: Run): void {
  if (settings.session === "" || !isOnTag(ports.environment)) return;
  // That service knows its sessions itself.
  if (settings.agent || state.features?.has("session")) return;
  log.notice(message`
    Session of a tag
    This run is on a tag, and GitHub gives each tag a cache of its own. So the next release does not find the job of this run, and starts a new one. To keep one pull request, run on schedule, or on push to a branch.`);
}
