import type { TerminalStatus } from "../../client/contract.ts";
import {
  HttpError,
  InvalidResponseError,
  messageOf,
  type RequestError,
  type SubmissionError,
} from "../../client/errors.ts";
import { joinSentences, type Message, say, type Text, trusted } from "../../runner-kit/text.ts";
import { outcomes } from "../outcome.ts";
import type { RunResult } from "../result.ts";
import {
  checkService,
  hasDashboard,
  howToContinue,
  howToStartAnother,
  howToWait,
  type ResultContext,
  rerunWarning,
  serviceName,
} from "./advice.ts";
import { duration } from "./format.ts";
import { describeBlocked, describeSkip } from "./not-sent-text.ts";
import { explainRequestFailure, failureReason } from "./request-failure.ts";

/** Describes a result: what happened, whether a job is running now, and what to do next. */
export function describeResult(result: RunResult, context: ResultContext): Message {
  switch (result.kind) {
    case "invalid-inputs":
      return {
        title: "Invalid inputs",
        what: say`No job was started, because the inputs are invalid:`,
        points: result.problems.map(({ input, problem }) => [`${input} `, ...problem, "."]),
        next: say`Correct these inputs in the step's "with" block, or where it takes them from, such as the form of a manual run.`,
      };
    case "done":
      return describeDone(result.status, context);
    case "started":
      return describeStarted(context);
    case "timed-out":
      return describeTimeout(result.lastError, context);
    case "cancelled":
      return describeCancellation(result, context);
    case "submission-failed":
      return describeSubmissionFailure(result.operation, result.error, context);
    case "poll-failed":
      return describePollFailure(result.error, context);
    case "skipped":
      return describeSkip(result, context);
    case "blocked":
      return describeBlocked(result, context);
    case "crashed":
      return {
        title: "Internal error",
        what: joinSentences(say`The action itself failed: ${messageOf(result.error)}.`, runningJob(context)),
        next: joinSentences(
          say`Report this bug with the log of a run with step debug logging.`,
          context.state.jobId ? howToWait(context) : [],
        ),
      };
  }
}

function describeDone(status: TerminalStatus, context: ResultContext): Message {
  const message = describeStatus(status, context);
  if (!context.state.isUnproven) return message;
  const warning = say`The job was not seen to start on the message, so this may be its state from before it.`;
  return { ...message, what: joinSentences(message.what, warning) };
}

function describeStatus(status: TerminalStatus, context: ResultContext): Message {
  const { jobId, pullRequest, hasInvalidLink } = context.state;
  const newJob =
    context.rerun.usable === "resumes" ? [] : say`To start a new job, run the action with a prompt and no job-id.`;
  const dashboard = hasDashboard(context);
  switch (status) {
    case "completed":
      if (pullRequest) {
        const isUpdate = context.state.origin === "continued";
        return {
          title: isUpdate ? "Pull request updated" : outcomes["pr-created"].title,
          what: isUpdate
            ? say`The agent finished the follow-up to job ${jobId}, which has a pull request.`
            : say`The agent finished job ${jobId} and opened a pull request.`,
          next: [],
        };
      }
      if (hasInvalidLink) {
        return {
          title: outcomes["no-changes"].title,
          what: say`The agent finished job ${jobId}, but the service returned an invalid pull request link.`,
          next: joinSentences(
            dashboard
              ? say`Look for the pull request in the dashboard.`
              : say`Look for the pull request on its platform.`,
            howToContinue(context),
          ),
        };
      }
      return {
        title: outcomes["no-changes"].title,
        what: say`The agent finished job ${jobId} without opening a pull request: it changed nothing, or the project publishes without one.`,
        next: joinSentences(
          say`If you expected a pull request, make the prompt more specific.`,
          howToContinue(context),
        ),
      };
    case "failed":
      return describeFailure(context, newJob);
    case "archived":
      return {
        title: outcomes.archived.title,
        what: say`Job ${jobId} was archived in the service and is no longer running.`,
        next: newJob.length > 0 ? joinSentences(say`If you still need its work:`, newJob) : [],
      };
  }
}

function describeFailure(context: ResultContext, newJob: Text): Message {
  const { jobId, failure, pageUrl } = context.state;
  // Only a service that tells of turns is asked for one that failed, and may be sent its request again.
  const again =
    failure && context.rerun.usable === "resumes" ? say`To send the request again, re-run this workflow run.` : [];
  const reason = failure?.reason ? say`The service says why: ${failure.reason}` : [];
  if (failure?.isStopped) {
    return {
      title: "Job stopped",
      what: joinSentences(
        say`Job ${jobId} was stopped before its agent had finished. It is no longer running.`,
        reason,
      ),
      next: joinSentences(again, newJob, howToContinue(context)),
    };
  }
  const log = pageUrl === "" ? [] : say`The job page has the log.`;
  return {
    title: outcomes.failed.title,
    what: joinSentences(
      say`The agent hit an unrecoverable error in job ${jobId}. The job is no longer running.`,
      reason,
    ),
    next: joinSentences(
      hasDashboard(context) ? say`See the dashboard for the cause.` : log,
      again,
      newJob,
      howToContinue(context),
    ),
  };
}

function describeStarted(context: ResultContext): Message {
  const { jobId } = context.state;
  if (context.task?.kind === "attach") {
    return { title: "Job is running", what: say`Job ${jobId} is still running.`, next: howToWait(context) };
  }
  return {
    title: context.task?.kind === "message" ? "Message sent" : outcomes.started.title,
    what: say`Job ${jobId} is running, and this step does not wait for it.`,
    next: howToWait(context),
  };
}

function describeTimeout(lastError: RequestError | undefined, context: ResultContext): Message {
  const { settings, state, task, rerun } = context;
  const limit = trusted(duration(settings?.timeoutMs ?? 0));
  if (task === undefined && lastError) {
    return {
      title: outcomes["timed-out"].title,
      what: say`After ${limit}, the state of job ${state.jobId}, the last of the session, could not be read: ${failureReason(lastError, settings?.baseUrl.href)}. This run sent nothing.`,
      next: say`Re-run the workflow run. To start a new job regardless, run it without session.`,
    };
  }
  const isStale = state.status !== "" && state.status !== "active";
  const stale = trusted(isStale ? " (its status was still the one from before the message)" : "");
  const addInput =
    rerun.usable === "resumes" || task?.kind === "attach"
      ? []
      : say`If the workflow has no input for it, add job-id to the inputs of on.workflow_dispatch and job-id: \${{ inputs.job-id }} to the step, with a prompt that is empty when job-id is set.`;
  return {
    title: outcomes["timed-out"].title,
    what: lastError
      ? say`After ${limit}, the state of job ${state.jobId} could not be read: ${failureReason(lastError, settings?.baseUrl.href)}. The job may still be running: the timeout does not stop it.`
      : say`Job ${state.jobId} was still running after ${limit}${stale}. It keeps running: the timeout does not stop it.`,
    next: joinSentences(
      howToWait(context),
      addInput,
      rerunWarning(context),
      say`If jobs often take this long, raise timeout-minutes.`,
    ),
  };
}

function describePollFailure(error: RequestError, context: ResultContext): Message {
  const { task, state } = context;
  const { what, next } = explainRequestFailure("poll", error, context);
  const title = "Polling failed";
  // Without a task, the step was still reading the last job of its session.
  if ((task === undefined || task.kind === "attach") && !state.hasRecord) {
    const isNotFound = error instanceof HttpError && error.status === 404;
    const effect = isNotFound
      ? say`This step started nothing.`
      : say`This step started nothing. The state of job ${state.jobId} is unknown.`;
    return { title, what: joinSentences(what, effect), next };
  }
  return {
    title,
    what: joinSentences(what, say`The state of job ${state.jobId} is unknown; it may still be running.`),
    next: joinSentences(next, rerunWarning(context), howToWait(context)),
  };
}

function describeCancellation(
  { operation, acceptance }: Extract<RunResult, { kind: "cancelled" }>,
  context: ResultContext,
): Message {
  const { title } = outcomes.cancelled;
  const { jobId, status, stop } = context.state;
  if (stop === "stopped") {
    return {
      title,
      what: say`The step was cancelled, and the service stopped job ${jobId}: its agent is no longer running.`,
      next: say`To send the request again, re-run this workflow run.`,
    };
  }
  if (stop === "asked") {
    return {
      title,
      what: say`The step was cancelled, and the service was asked to stop job ${jobId}. It did not confirm that within 2 s, so the agent may still be running.`,
      next: say`A re-run of this workflow run asks the service what became of it, and starts nothing twice.`,
    };
  }
  if (acceptance === "unknown") {
    const what = say`The step was cancelled while the request was in flight.`;
    return { ...describeUnknownAcceptance(operation, what, context), title };
  }
  if (operation === "create" && acceptance === "rejected") {
    return {
      title,
      what: say`The step was cancelled before the service accepted its request. No job was started.`,
      next: joinSentences(say`Run this again to start the job.`, needsNewRun(context)),
    };
  }
  if (operation === "message" && acceptance === "rejected") {
    return {
      title,
      what: say`The step was cancelled before the service accepted the message. Job ${jobId} did not receive it.`,
      next: joinSentences(say`Run this again to send the message.`, needsNewRun(context)),
    };
  }
  if (operation === "poll" && status === "") {
    const what = say`The step was cancelled before the state of job ${jobId} was read. The job may be running.`;
    return { title, what, next: howToWait(context) };
  }
  if (operation !== "message" && status !== "" && status !== "active") {
    const what = say`The step was cancelled. Job ${jobId} had already reached the status ${trusted(status)}.`;
    const isOver = context.rerun.usable === "resumes" && !context.comment && status !== "completed";
    return {
      title,
      what,
      next: isOver ? say`To start over, re-run this workflow run.` : howToWait(context, "read its result"),
    };
  }
  return {
    title,
    what: say`The step was cancelled, but job ${jobId} keeps running: ${trusted(whyNotStopped(context))}.`,
    next: joinSentences(howToWait(context), rerunWarning(context)),
  };
}

/** Says which way of running it again works if nothing was started, and a re-run cannot know that. */
function needsNewRun({ rerun, comment }: ResultContext): Text {
  if (rerun.usable !== "stops" || comment) return [];
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

function describeSubmissionFailure(
  operation: "create" | "message",
  { acceptance, cause }: SubmissionError,
  context: ResultContext,
): Message {
  const { what, next } = explainRequestFailure(operation, cause, context);
  if (acceptance === "unknown") {
    // Any other advice ends with running it again, which nobody should do before they have looked for the job.
    const hint = cause instanceof InvalidResponseError ? next : [];
    return describeUnknownAcceptance(operation, what, context, hint);
  }
  return operation === "create"
    ? {
        title: "No job was started",
        what: joinSentences(what, say`No job was started.`),
        next: joinSentences(next, needsNewRun(context)),
      }
    : {
        title: "Message not accepted",
        what: joinSentences(what, say`The service did not accept the message, so the agent started no work.`),
        next: joinSentences(next, needsNewRun(context)),
      };
}

/** Describes a create or message that the service may have accepted: the one case in which a re-run can do harm. */
function describeUnknownAcceptance(
  operation: "create" | "message" | "poll",
  what: Text,
  context: ResultContext,
  hint: Text = [],
): Message {
  const { jobId } = context.state;
  if (operation !== "create") {
    return {
      title: "Message may have been sent",
      what: joinSentences(what, say`The message may have reached job ${jobId}, which may be running.`),
      next: joinSentences(
        hint,
        context.rerun.usable === "repeats"
          ? say`A re-run of this workflow run may send it a second time.`
          : say`A re-run sends nothing.`,
        howToWait(context),
        context.rerun.usable === "repeats" ? [] : howToStartAnother(context),
      ),
    };
  }
  const title = "Job may have been started";
  if (jobId) {
    return {
      title,
      what: joinSentences(what, say`The response contains the id of job ${jobId}, which may be running.`),
      next: joinSentences(
        hint,
        context.rerun.usable === "repeats" ? say`A re-run of this workflow run may start a second job.` : [],
        howToWait(context),
      ),
    };
  }
  return {
    title,
    what: joinSentences(what, say`A job may have been started, but its id is unknown.`),
    next:
      context.rerun.usable === "stops"
        ? joinSentences(hint, checkService(context), say`A re-run sends nothing.`, howToStartAnother(context))
        : joinSentences(
            hint,
            say`Check ${serviceName(context)} before you run this again: a re-run may start a second job.`,
          ),
  };
}

function runningJob({ state }: ResultContext): Text {
  if (state.jobId) return say`Job ${state.jobId} may be running.`;
  return state.startedAt === undefined ? say`No job was started.` : say`A job may have been started.`;
}
