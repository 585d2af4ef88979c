import { say, type Text, trusted } from "../../runner-kit/text.ts";
import { isMintlify } from "../mintlify.ts";
import type { RerunEffect } from "../result.ts";
import type { RunState } from "../run-state.ts";
import type { CommentMode, Settings, Task } from "../settings.ts";

/** What the messages about a run depend on. */
export interface ResultContext {
  /** `undefined` if the inputs were invalid. */
  settings: Settings | undefined;
  /** What the step set out to do, if it got that far. */
  task: Task | undefined;
  state: RunState;
  rerun: RerunEffect;
  /** Comment mode: the trigger phrase and label, and the job that the workflow names, if any. */
  comment: Pick<CommentMode, "phrase" | "label" | "jobId" | "reply"> | undefined;
}

/** How to wait for a job that may still be running, or to read the result of one that is done. */
export function howToWait(context: ResultContext, purpose: "wait for it" | "read its result" = "wait for it"): Text {
  const { state, settings, rerun, task } = context;
  if (settings?.agent && settings.onRerun === "new" && !context.comment)
    return state.jobId === "" ? [] : howToTakeUp("that job", say`job-id ${state.jobId}`, context);
  if (settings?.agent && rerun.usable !== "resumes") return say`To take it up again, re-run this workflow run.`;
  if (rerun.usable !== "resumes") {
    // Only a run that knows of the message, and its re-runs, compare the pull request with the one before.
    const limit = trusted(task?.kind === "message" ? ", which does not see what the message changed" : "");
    return say`To ${trusted(purpose)}, run the action with job-id ${state.jobId} and no prompt${limit}.`;
  }
  const action = settings?.wait === false ? "check on it" : purpose;
  const exception = trusted(rerun.over === "repeats" && startsOver(context) ? ", unless the job fails" : "");
  return say`To ${trusted(action)}, re-run this workflow run: nothing is sent again${exception}.`;
}

/**
 * Whether a re-run sends the request again once its job has failed, which is what the re-run asks for. Each comment is a request of its own:
 * that it has failed itself, only a service says that can be asked.
 */
export function startsOver({ comment, state }: ResultContext): boolean {
  return comment === undefined || state.features !== undefined;
}

/** How to take up a job of another step, which has ended with that step if an agent ran with it. */
export function howToTakeUp(what: string, jobId: Text, { settings }: ResultContext): Text {
  const [purpose, prompt] = settings?.agent ? ["continue", "a"] : ["wait for", "no"];
  return say`To ${trusted(purpose)} ${trusted(what)}, run the action with ${jobId} and ${trusted(prompt)} prompt.`;
}

/** What a re-run may do, unless it waits for the job. It need not: it asks the service, and finds late saves. */
export function rerunWarning({ task, rerun }: ResultContext): Text {
  if (rerun.usable !== "repeats") return [];
  switch (task?.kind) {
    case "create":
      return say`A re-run of this workflow run may start another job.`;
    case "message":
      return say`A re-run of this workflow run may send the message again.`;
    default:
      return [];
  }
}

/** How to send a follow-up message. A reply in a thread has a line of its own for that. */
export function howToContinue({ state, rerun }: ResultContext): Text {
  return rerun.usable === "resumes"
    ? []
    : say`To continue with this job, send a follow-up: set job-id to ${state.jobId} and give a prompt.`;
}

/** How to send a request again with another workflow file. @param isKept - whether its job has work from which it continues */
export function howToSendAnew({ state, settings, comment }: ResultContext, isKept: boolean): Text {
  const asks = say`ask again in the thread`;
  // Without a reply, every request there starts a new job.
  if (comment && isKept && !comment.reply) return say`set job-id: ${state.jobId} in the workflow and ${asks}`;
  if (comment) return asks;
  // A new run is another step, whose create does not find the job.
  const isSought = isKept && !settings?.session;
  return isSought ? say`start a new run with job-id: ${state.jobId} and the same prompt` : say`start a new run`;
}

export function hasDashboard({ settings }: ResultContext): boolean {
  return settings !== undefined && isMintlify(settings.baseUrl);
}

/** Returns the address of the service; `undefined` if it runs with the step, at one that means nothing to anybody. */
export function addressOf(settings: Pick<Settings, "baseUrl" | "agent"> | undefined): string | undefined {
  return settings?.agent ? undefined : settings?.baseUrl.href;
}

/** How to send a request again on purpose. `unless`: when nobody should. A re-run uses the workflow file of its run, so a changed input has no effect. */
export function howToStartAnother({ comment }: ResultContext, unless = "If there is none"): Text {
  if (!comment)
    return say`${trusted(unless)}, start a new run of the workflow (not a re-run) to send the request. To choose that for a re-run, have on-rerun: \${{ vars.AGENT_ON_RERUN || 'resume' }} in the workflow, and set the variable to new.`;
  if (comment.phrase === "") return say`To send the request regardless, set the label ${comment.label} again.`;
  return comment.jobId === ""
    ? say`To start another job, comment ${`${comment.phrase} new …`}.`
    : say`To send another message, comment ${`${comment.phrase} …`}.`;
}

/** Names the place to look for a job: the dashboard, if there is one. */
export function serviceName(context: ResultContext): Text {
  return trusted(hasDashboard(context) ? "the dashboard" : "the service");
}

/** How to find out about a job whose id is unknown. */
export function checkService(context: ResultContext): Text {
  return say`Check ${serviceName(context)} for the job.`;
}

export const reportBug = say`Report this bug with the log of a run with step debug logging.`;
