import { RefusalError, type RequestError } from "../../client/errors.ts";
import type { Ending, Operation, Outcome } from "../outcome.ts";
import type { Facts } from "../run-state.ts";
import { describeNoAdmission, describeSkip } from "./comment-text.ts";
import { duration } from "./format.ts";
import type { Message } from "./message.ts";
import { type Context, describeFault, describeRequestError } from "./request-failure.ts";
import { join, own, say, type Text } from "./text.ts";

/** What happened, whether a job runs now, and what to do: for each way in which a run can end. */
export function describeEnding(ending: Ending, outcome: Outcome, context: Context): Message {
  const { facts } = context;
  switch (ending.kind) {
    case "refused-inputs":
      return {
        title: "Inputs refused",
        what: say`No job was started, because the inputs cannot be used:`,
        points: ending.problems.map(({ input, problem }) => [`${input} `, ...problem, "."]),
        next: say`Correct what is listed in the step's "with" block.`,
      };
    case "settled":
    case "started":
      return describeState(outcome, context);
    case "timed-out":
      return describeTimeOut(ending.lastError, context);
    case "cancelled":
      return describeCancellation(ending.operation, ending.taken, facts);
    case "not-submitted":
      return describeSubmission(ending.operation, ending.error.taken, ending.error.cause, context);
    case "poll-refused":
      return describePollRefusal(ending.error, context);
    case "skipped":
      return describeSkip(ending.reason);
    case "not-admitted":
      return describeNoAdmission(ending.why, ending.detail);
    case "broken": {
      const cause = ending.error instanceof Error ? ending.error.message : String(ending.error);
      return {
        title: "Fault in the action",
        what: join([say`The action itself failed: ${cause}.`, runningJob(facts)], " "),
        next: join(
          [say`Report it, with the log of a run with step debug logging.`, facts.jobId ? howToWait(facts) : []],
          " ",
        ),
      };
    }
  }
}

function describeState(outcome: Outcome, { task, facts }: Context): Message {
  const { jobId } = facts;
  const newJob = say`To start a new job, run with a prompt and no job-id.`;
  const followUp = say`To go on with this one, send a follow-up: set job-id to ${jobId} and give a prompt.`;
  switch (outcome) {
    case "pr-created":
      return {
        title: "Pull request created",
        what: say`The agent has finished job ${jobId} and created a pull request.`,
        next: [],
      };
    case "no-changes":
      return {
        title: "No changes",
        what: facts.hasBadLink
          ? say`The agent has finished job ${jobId}, but the service gave no usable link to a pull request.`
          : say`The agent has finished job ${jobId} without a pull request: it changed no files.`,
        next: join(
          [
            facts.hasBadLink
              ? say`Look for the pull request in the dashboard.`
              : say`If a change was expected, make the prompt more specific.`,
            followUp,
          ],
          " ",
        ),
      };
    case "failed":
      return {
        title: "Job failed",
        what: say`The agent hit an unrecoverable error in job ${jobId}. The job has ended and does not run any more.`,
        next: join([say`See the dashboard for the cause.`, newJob, followUp], " "),
      };
    case "archived":
      return {
        title: "Job archived",
        what: say`Job ${jobId} has been archived: it was put away in the service and does not run any more.`,
        next: join([say`If its work is still wanted:`, newJob], " "),
      };
    default:
      return task?.kind === "attach"
        ? { title: "Job is active", what: say`Job ${jobId} has not ended; it goes on.`, next: howToWait(facts) }
        : {
            title: task?.kind === "message" ? "Message sent" : "Job started",
            what: say`The service has accepted the work. Job ${jobId} goes on without this step.`,
            next: howToWait(facts),
          };
  }
}

function describeTimeOut(lastError: RequestError | undefined, { settings, facts }: Context): Message {
  const limit = own(duration(settings?.timeoutMs ?? 0));
  const isStale = facts.status !== "" && facts.status !== "active";
  const old = own(isStale ? " (it still showed the state from before the message)" : "");
  return {
    title: "Timed out",
    what: lastError
      ? say`The state of job ${facts.jobId} could not be read when the time was up, after ${limit}: ${describeFault(lastError, settings?.baseUrl.href)}. The job may be running: the time limit does not stop it.`
      : say`Job ${facts.jobId} had not ended when the time was up, after ${limit}${old}. It goes on: the time limit does not stop it.`,
    next: join([howToWait(facts), say`For the next run, raise timeout-minutes.`], " "),
  };
}

function describePollRefusal(error: RequestError, context: Context): Message {
  const { task, facts } = context;
  const { what, next } = describeRequestError("poll", error, context);
  const title = "Job cannot be followed";
  if (task?.kind === "attach" && facts.timeline.length === 0) {
    const isUnknown = error instanceof RefusalError && error.status === 404;
    const state = isUnknown
      ? say`This step has started nothing.`
      : say`This step has started nothing; whether job ${facts.jobId} runs is not known.`;
    return { title, what: join([what, state], " "), next };
  }
  return {
    title,
    what: join([what, say`What became of job ${facts.jobId} is not known; it may be running.`], " "),
    next: join([next, own(again[task?.kind ?? "attach"]), howToWait(facts)], " "),
  };
}

/** What a plain re-run would do, where the service has taken something already. */
const again = {
  create: "A re-run would start a second job.",
  message: "A re-run would send the message a second time.",
  attach: "",
};

function describeCancellation(operation: Operation, taken: "no" | "unclear" | "yes", facts: Facts): Message {
  const title = "Cancelled";
  const { jobId, status } = facts;
  if (taken === "unclear") {
    const what = say`The step was cancelled while the request was on its way.`;
    return { ...describeDoubt(operation, what, facts), title };
  }
  if (operation === "create" && taken === "no") {
    return {
      title,
      what: say`The step was cancelled before it started a job: it has sent nothing that the service took.`,
      next: [],
    };
  }
  if (operation === "message" && taken === "no") {
    return {
      title,
      what: say`The step was cancelled before the message was sent. Job ${jobId} is as it was.`,
      next: say`Run again to send the message.`,
    };
  }
  if (operation === "poll" && status === "") {
    const what = say`The step was cancelled before the state of job ${jobId} was read. The job may be running.`;
    return { title, what, next: howToWait(facts) };
  }
  if (operation !== "message" && status !== "" && status !== "active") {
    const what = say`The step was cancelled. Job ${jobId} had already ended as ${own(status)}.`;
    return { title, what, next: howToWait(facts) };
  }
  return {
    title,
    what: say`The step was cancelled, but job ${jobId} goes on: the service has no way to stop a job.`,
    next: howToWait(facts),
  };
}

function describeSubmission(
  operation: "create" | "message",
  taken: "no" | "unclear",
  cause: RequestError,
  context: Context,
): Message {
  const { what, next } = describeRequestError(operation, cause, context);
  if (taken === "unclear") return describeDoubt(operation, what, context.facts);
  return operation === "create"
    ? { title: "No job was started", what: join([what, say`No job was started.`], " "), next }
    : { title: "Message not sent", what: join([what, say`The message was not taken and started no work.`], " "), next };
}

/** A create or message that may have been taken: the one case in which running again can do harm. */
function describeDoubt(operation: Operation, what: Text, facts: Facts): Message {
  if (operation !== "create") {
    return {
      title: "Message may have been sent",
      what: join([what, say`The message may have reached job ${facts.jobId}, which may be running.`], " "),
      next: join([say`A re-run may send it a second time.`, howToWait(facts)], " "),
    };
  }
  const title = "Job may have been started";
  if (facts.jobId) {
    return {
      title,
      what: join([what, say`The answer names job ${facts.jobId}, which may be running.`], " "),
      next: join([say`A re-run may start a second job.`, howToWait(facts)], " "),
    };
  }
  return {
    title,
    what: join([what, say`A job may have been started and be running, but its id is not known.`], " "),
    next: say`Look in the dashboard before you run again: a re-run may start a second job.`,
  };
}

function runningJob(facts: Facts): Text {
  if (facts.jobId) return say`Job ${facts.jobId} may be running.`;
  return facts.startedAt === undefined ? say`No job was started.` : say`A job may have been started.`;
}

function howToWait(facts: Facts): Text {
  return say`To wait for it, run the action with job-id ${facts.jobId} and no prompt.`;
}
