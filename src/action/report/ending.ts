import type { TerminalStatus } from "../../client/contract.ts";
import { InvalidResponseError, messageOf } from "../../client/errors.ts";
import { joinSentences, type Message, message, say, type Text, trusted } from "../../runner-kit/text.ts";
import { type FailReason, levelOf } from "../outcome.ts";
import { type Ending, outcomeOf, type RunResult } from "../result.ts";
import { duration } from "./format.ts";
import {
  addressOf,
  checkService,
  hasDashboard,
  howToContinue,
  howToSendAnew,
  howToStartAnother,
  howToWait,
  type ResultContext,
  reportBug,
  rerunWarning,
  serviceName,
  startsOver,
} from "./message.ts";
import { describeBlocked, describeSkip } from "./not-sent.ts";
import { explainRequestFailure, failureReason, isNotFound } from "./request-failure.ts";

/**
 * Returns how a run ended, as log, summary and reply show it.
 *
 * @param failOn - the outcomes with which the step fails, besides those with which it always does
 * @param elapsedMs - the time since the first request, in milliseconds
 */
export function endingOf(
  result: RunResult,
  context: ResultContext,
  failOn: ReadonlySet<FailReason>,
  elapsedMs: number,
): Ending {
  const outcome = outcomeOf(result, context.state);
  return {
    outcome,
    level: levelOf(outcome, failOn, context.state.check),
    message: describeResult(result, context),
    elapsedMs,
  };
}

/** Describes a result: what happened, whether a job is running now, and what to do next. */
export function describeResult(result: RunResult, context: ResultContext): Message {
  const describe = results[result.kind] as (result: RunResult, context: ResultContext) => Message;
  return describe(result, context);
}

type Describe<Kind> = (result: Extract<RunResult, { kind: Kind }>, context: ResultContext) => Message;

const results: { [Kind in RunResult["kind"]]: Describe<Kind> } = {
  "invalid-inputs": ({ problems }, { state }) => ({
    title: "Invalid inputs",
    what: state.mayHaveEarlier
      ? say`An earlier attempt of this workflow run may have started a job. This one sent nothing, because the inputs are invalid:`
      : say`No job was started, because the inputs are invalid:`,
    points: problems.map(({ input, problem }) => [`${input} `, ...problem, "."]),
    next: say`Correct these inputs in the step's "with" block, or where it takes them from, such as the form of a manual run. Then start a new run: a re-run keeps this run's workflow file and form.`,
  }),
  done: ({ status }, context) => {
    const { unproven, jobId } = context.state;
    if (unproven === "change") {
      const again = say`To compare it again, re-run this workflow run: nothing is sent again.`;
      return message`
        Result of the message is unknown
        Job ${jobId} is completed. Its pull request could not be read again, so it is unknown whether that has anything of the message.
        Look at its pull request. ${context.rerun.usable === "resumes" ? again : []}`;
    }
    const warning = say`The job was not seen to start on the message, so this may be its state from before it.`;
    if (unproven && status === "completed")
      return message`
        Result of the message is unknown
        Job ${jobId} is completed. ${warning}
        Look at its pull request. ${howToWait(context)}`;
    const described = withCheck(jobs[status](context), context.state);
    return unproven ? { ...described, what: joinSentences(described.what, warning) } : described;
  },
  started: (_, context) => {
    const { state, task } = context;
    if (task?.kind === "attach") {
      const isStale = state.status !== "" && state.status !== "active";
      return message`
        ${trusted(isStale ? "Result of the message is unknown" : "Job is running")}
        Job ${state.jobId} is ${isStale ? say`${state.status}, which may be its state from before the message` : say`still running`}.
        ${howToWait(context)}`;
    }
    return message`
      ${trusted(task?.kind === "message" ? "Message sent" : "Job started")}
      Job ${state.jobId} is running, and this step does not wait for it.
      ${howToWait(context)}`;
  },
  "timed-out": ({ lastError, timeoutMs }, context) => {
    const { settings, state, task, rerun } = context;
    const limit = trusted(duration(timeoutMs));
    if (settings?.agent) {
      const again = say`If GitHub was slow and not its agent, re-run this workflow run: it continues with what was pushed or saved.`;
      return message`
        Timed out
        Job ${state.jobId} was still running after ${limit}, so its agent was stopped. What was not pushed or saved is lost.
        Make the task smaller, or raise timeout-minutes and ${howToSendAnew(context, true)}: a re-run keeps this run's workflow file. ${rerun.usable === "resumes" ? again : []}`;
    }
    const reason = lastError ? failureReason(lastError, addressOf(settings)) : [];
    const isStale = state.status !== "" && state.status !== "active";
    const stale = trusted(isStale ? " (its status was still the one from before the message)" : "");
    const addInput =
      rerun.usable === "resumes" || task?.kind === "attach"
        ? []
        : say`If the workflow has no input for it, add job-id to the inputs of on.workflow_dispatch and job-id: \${{ inputs.job-id }} to the step, with a prompt that is empty when job-id is set.`;
    const what = lastError
      ? say`After ${limit}, the state of job ${state.jobId} could not be read: ${reason}. The job may still be running: the timeout does not stop it.`
      : say`Job ${state.jobId} was still running after ${limit}${stale}. It keeps running: the timeout does not stop it.`;
    return message`
      Timed out
      ${what}
      ${howToWait(context)} ${addInput} ${rerunWarning(context)} If jobs often take this long, raise timeout-minutes.`;
  },
  cancelled: (result, context) => {
    const [what, next] = whenCancelled(result, context);
    return { title: "Cancelled", what, next };
  },
  "submission-failed": ({ operation, error: { acceptance, cause } }, context) => {
    const { what, next } = explainRequestFailure(operation, cause, context);
    if (acceptance === "unknown") {
      // Any other advice ends with running it again, which nobody should do before they have looked for the job.
      const hint = cause instanceof InvalidResponseError ? next : [];
      return describeUnknownAcceptance(operation, what, context, hint);
    }
    if (operation === "create")
      return message`
        No job was started
        ${what} No job was started.
        ${next} ${needsNewRun(context)}`;
    return message`
      Message not accepted
      ${what} The service did not accept the message, so the agent started no work.
      ${next} ${needsNewRun(context)}`;
  },
  "poll-failed": ({ error }, context) => {
    const { task, state } = context;
    const { what, next } = explainRequestFailure("poll", error, context);
    // Without a task, the step was still reading the last job of its session.
    if ((task === undefined || task.kind === "attach") && !state.hasRecord) {
      return message`
        Polling failed
        ${what} This step started nothing. ${isNotFound("poll", error) || state.jobId === "" ? [] : say`The state of job ${state.jobId} is unknown.`}
        ${next}`;
    }
    return message`
      Polling failed
      ${what} The state of job ${state.jobId} is unknown; it may still be running.
      ${next} ${rerunWarning(context)} ${howToWait(context)}`;
  },
  "agent-failed": ({ title, text, acceptance }, context) => ({
    title,
    what: joinSentences(text, acceptance === "rejected" ? [] : say`The agent is no longer running.`),
    next: acceptance === "rejected" ? needsNewRun(context) : howToWait(context),
  }),
  skipped: describeSkip,
  blocked: describeBlocked,
  crashed: ({ error }, context) => {
    const { jobId, startedAt } = context.state;
    const isUnsent = jobId === "" && startedAt === undefined;
    const job = jobId ? say`Job ${jobId} may be running.` : say`A job may have been started.`;
    return message`
      Internal error
      The action itself failed: ${messageOf(error)}. ${isUnsent ? say`No job was started.` : job}
      ${reportBug} ${jobId ? howToWait(context) : []}`;
  },
};

/** Adds what the check of a pull request showed, if that is bad. */
function withCheck(described: Message, { check, pullRequest }: ResultContext["state"]): Message {
  if (pullRequest === undefined || check === "" || check === "passed") return described;
  if (check === "failed-before") {
    const what = say`Its check fails with and without the change, so it shows nothing: repair what the branch has.`;
    return { ...described, what: joinSentences(described.what, what) };
  }
  return {
    title: `${described.title}, check failed`,
    what: joinSentences(described.what, say`The service's check fails with its change.`),
    next: say`The pull request has the end of the check's output.`,
  };
}

/** Describes a job that has reached a terminal state. */
const jobs: Readonly<Record<TerminalStatus, (context: ResultContext) => Message>> = {
  completed: (context) => {
    const { jobId, pullRequest, hasInvalidLink, origin, publishesKept, isUnchanged, endedWithout } = context.state;
    const resumed = context.task?.kind === "attach" ? context.task : undefined;
    const isMessage = origin === "continued" || resumed?.resumes === "message";
    if (endedWithout !== undefined)
      return message`
        Not in an open pull request
        The agent finished its turn of job ${jobId}. The job's pull request is ${trusted(endedWithout)}, and has nothing of this request.
        If the agent changed something, look for it ${trusted(hasDashboard(context) ? "in the dashboard" : "in the service")}. ${context.comment ? howToStartAnother(context) : anotherJob}`;
    if (pullRequest && isUnchanged)
      return message`
        Nothing changed
        The agent finished its turn of job ${jobId}, and changed nothing. The job's pull request has nothing of this request.
        If you expected a change, make the prompt more specific. ${howToContinue(context)}`;
    // Kept work may have conflicted and been done again, and a service does not say which request a turn is of.
    if (pullRequest && (publishesKept || resumed?.turnId !== undefined))
      return message`
        Pull request created
        Job ${jobId} has finished, and its work has a pull request.`;
    if (pullRequest && isMessage)
      return message`
        Pull request updated
        The agent finished the follow-up to job ${jobId}, which has a pull request.`;
    if (pullRequest)
      return message`
        Pull request created
        The agent finished job ${jobId} and opened a pull request.`;
    if (hasInvalidLink)
      return message`
        No pull request
        The agent finished job ${jobId}, but the service returned an invalid pull request link.
        Look for the pull request ${trusted(hasDashboard(context) ? "in the dashboard" : "on its platform")}. ${howToContinue(context)}`;
    return message`
      No pull request
      The agent finished job ${jobId} without opening a pull request: it changed nothing${isUnchanged ? [] : say`, or the project publishes without one`}.
      If you expected a pull request, make the prompt more specific. ${howToContinue(context)}`;
  },
  archived: (context) => {
    const another = howToReplace(context);
    return message`
      Job archived
      Job ${context.state.jobId} was archived in the service and is no longer running.
      ${another.length > 0 ? say`If you still need its work: ${another}` : []}`;
  },
  failed: (context) => {
    const { jobId, pageUrl, failure } = context.state;
    const { usable, over } = context.rerun;
    // Only a service that tells of turns is asked for one that failed, and may be sent its request again.
    const again = failure && usable === "resumes" ? adviceOf(failure, context) : [];
    const isSentAgain = !failure && !context.comment && usable === "resumes" && over === "repeats";
    const choice = say`A re-run of this workflow run sends the request again. To continue with this job instead, run the action with job-id ${jobId} and a prompt.`;
    const reason = failure?.reason ? say`The service says why: ${failure.reason}` : [];
    const next = joinSentences(again, isSentAgain ? choice : [], howToReplace(context), howToContinue(context));
    if (failure?.isStopped)
      return message`
        Job stopped
        Job ${jobId} was stopped before its agent had finished. It is no longer running. ${reason}
        ${next}`;
    if (failure?.isKept)
      return message`
        Work is kept, and not published
        ${failure.reason}
        ${again} Job ${jobId} is no longer running.`;
    const page = pageUrl === "" ? [] : say`The job page has the log.`;
    // What the service names need not be the agent's fault.
    const what = failure?.reason
      ? say`Job ${jobId} failed, and is no longer running.`
      : say`The agent hit an unrecoverable error in job ${jobId}. The job is no longer running.`;
    return message`
      Job failed
      ${what} ${reason}
      ${hasDashboard(context) ? say`See the dashboard for the cause.` : page} ${next}`;
  },
};

/** What helps after a failure: its class alone decides. A re-run keeps the workflow file of its run. */
function adviceOf(
  { isStopped, isKept, isUnfinished, failureClass }: NonNullable<ResultContext["state"]["failure"]>,
  context: ResultContext,
): Text {
  const { settings, state } = context;
  const rerun = say`To send the request again, re-run this workflow run.`;
  const anew = howToSendAnew(context, isKept || isUnfinished);
  // The reason of kept work says what to change first.
  if (isKept && settings?.agent)
    return say`${rerun} If the workflow file has to change, ${anew}. A token of another account may not find a job that has a branch.`;
  if (isStopped || isKept) return rerun;
  const repair = say`Fix that, then re-run this workflow run; if the workflow file has to change, ${anew} instead, because a re-run keeps this run's.`;
  switch (failureClass) {
    case "limit": {
      const limit = settings?.agent
        ? say`Raise the limit in the workflow (timeout-minutes for the time, or --time-limit-minutes if it is set; agent-options for others)`
        : say`Raise the limit in the service`;
      const how = settings?.agent ? say` and ${anew}: a re-run has this run's limits.` : say`, then re-run.`;
      const instead = isUnfinished
        ? say`Or re-run this workflow run: its agent continues from what is kept, unless three turns in a row did not complete.`
        : say`Or make the task smaller.${state.workFile === "" ? " Nothing that the agent did in this turn is kept." : ""}`;
      return joinSentences([...limit, ...how], instead);
    }
    case "credit":
      return say`Add credit for the agent's model, then re-run this workflow run.`;
    case "model":
      return joinSentences(say`Check the name of the model, its key and its address.`, repair);
    case "setting":
    case "refused":
      return repair;
    default:
      return rerun;
  }
}

const anotherJob = say`To start a new job, run the action with a prompt and no job-id.`;

/** How to start a job in place of one that is of no use. */
function howToReplace({ rerun }: ResultContext): Text {
  return rerun.usable === "resumes" ? [] : anotherJob;
}

/** Explains what happened when the step was cancelled, and what to do next. */
function whenCancelled(
  { operation, acceptance }: Extract<RunResult, { kind: "cancelled" }>,
  context: ResultContext,
): [what: Text, next: Text] {
  const { jobId, status, stop } = context.state;
  const step = say`The step was cancelled`;
  if (stop === "stopped")
    return [
      say`${step}, and the service stopped job ${jobId}: its agent is no longer running.`,
      say`To send the request again, re-run this workflow run.`,
    ];
  if (stop === "asked")
    return [
      say`${step}, and the service was asked to stop job ${jobId}. It did not confirm that within 2 s, so the agent may still be running.`,
      context.rerun.usable === "repeats"
        ? say`A re-run of this workflow run sends the request again, beside an agent that still runs.`
        : say`A re-run of this workflow run asks the service what became of it, and starts nothing twice.`,
    ];
  if (acceptance === "unknown") {
    const { what, next } = describeUnknownAcceptance(operation, say`${step} while the request was in flight.`, context);
    return [what, next];
  }
  if (acceptance === "rejected" && operation !== "poll") {
    const [unsent, again] =
      operation === "create"
        ? [say`its request. No job was started.`, say`Run this again to start the job.`]
        : [say`the message. Job ${jobId} did not receive it.`, say`Run this again to send the message.`];
    return [say`${step} before the service accepted ${unsent}`, joinSentences(again, needsNewRun(context))];
  }
  if (operation === "poll" && jobId === "")
    return [
      say`${step} before it was known whether an earlier attempt has started a job, which may be running. This one sent nothing.`,
      say`Re-run this workflow run: it finds that out first.`,
    ];
  if (operation === "poll" && status === "")
    return [say`${step} before the state of job ${jobId} was read. The job may be running.`, howToWait(context)];
  if (operation !== "message" && status !== "" && status !== "active") {
    const isOver = context.rerun.usable === "resumes" && startsOver(context) && status !== "completed";
    return [
      say`${step}. Job ${jobId} had already reached the status ${trusted(status)}.`,
      isOver ? say`To start over, re-run this workflow run.` : howToWait(context, "read its result"),
    ];
  }
  if (stop === "ended" && status === "failed")
    return [say`${step}. Job ${jobId} had already failed.`, say`To send the request again, re-run this workflow run.`];
  if (stop === "ended")
    return [say`${step}. The work of job ${jobId} had already ended.`, howToWait(context, "read its result")];
  return [
    say`${step}, but job ${jobId} keeps running: ${trusted(whyNotStopped(context))}.`,
    joinSentences(howToWait(context), rerunWarning(context)),
  ];
}

/** Says which way of running it again works if nothing was started, and a re-run cannot know that. */
function needsNewRun({ rerun, comment }: ResultContext): Text {
  if (rerun.usable !== "stops") return [];
  if (comment) return say`For that, ask again in the thread: a re-run sends nothing.`;
  return say`For that, start a new run of the workflow: this run could not leave word that it started nothing, so a re-run sends nothing.`;
}

function whyNotStopped(context: ResultContext): string {
  const { settings, task, state } = context;
  if (hasDashboard(context)) return "the service cannot stop a job";
  if (state.stop === "unreached") return "the service was not reached in time to stop it";
  if (task?.kind === "attach") return "a step only stops what it has sent itself";
  if (settings?.onCancel === "keep") return "on-cancel is keep";
  return state.features?.has("stop") ? "the service did not find its turn" : "the service cannot stop a job";
}

/** Describes a create or message that the service may have accepted: the one case in which a re-run can do harm. */
function describeUnknownAcceptance(
  operation: "create" | "message" | "poll",
  what: Text,
  context: ResultContext,
  hint: Text = [],
): Message {
  const { jobId } = context.state;
  const { usable } = context.rerun;
  if (operation !== "create") {
    const rerun =
      usable === "repeats"
        ? say`A re-run of this workflow run may send it a second time.`
        : say`A re-run sends nothing.`;
    return message`
      Message may have been sent
      ${what} The message may have reached job ${jobId}, which may be running.
      ${hint} ${rerun} ${howToWait(context)} ${usable === "repeats" ? [] : howToStartAnother(context, "If it did not arrive")}`;
  }
  if (jobId)
    return message`
      Job may have been started
      ${what} The response contains the id of job ${jobId}, which may be running.
      ${hint} ${usable === "repeats" ? say`A re-run of this workflow run may start a second job.` : []} ${howToWait(context)}`;
  const next =
    usable === "stops"
      ? joinSentences(checkService(context), say`A re-run sends nothing.`, howToStartAnother(context))
      : say`Check ${serviceName(context)} before you run this again: a re-run may start a second job.`;
  return message`
    Job may have been started
    ${what} A job may have been started, but its id is unknown.
    ${hint} ${next}`;
}
