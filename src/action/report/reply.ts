import type { Text } from "../../runner-kit/text.ts";
import { code, forHtml, textToHtml } from "../../runner-kit/untrusted.ts";
import { type Ending, isJobNotFound, type RunResult } from "../result.ts";
import type { RunState } from "../run-state.ts";
import type { CommentMode } from "../settings.ts";
import { duration, iconOf, jobLinks, link, quoteMessage, timeWord } from "./format.ts";
import { failureReason } from "./request-failure.ts";

/** The parts of a reply that do not depend on the state of the job. */
export interface ReplyFrame {
  runUrl: string;
  mode: CommentMode;
  /** The address of the review that the reply answers, or empty. */
  reviewUrl: string;
  /** A remark beside the state, or empty. */
  note: Text;
  /** The hidden last line, or empty. */
  marker: string;
  /** Whether the marker names a job. */
  remembersJob: boolean;
  /** Whether a comment in the thread continues that job. */
  isContinuable: boolean;
}

/** Renders the reply while the job runs, with little, since every change is an edit. `since`: when the agent began. */
export function renderProgress(
  frame: ReplyFrame,
  { since, state }: { since: Date | undefined; state: Pick<RunState, "pullRequest" | "pageUrl"> },
): string {
  const links = [link(frame.runUrl, "Follow the run"), ...reviewLink(frame)];
  const time = since && `${since.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const working = time ? `The agent has been working on it since ${time}.` : "The agent is working on it.";
  const looking = "Looking for what an earlier attempt of this run started.";
  const unsent = frame.marker === "" ? looking : "Sending the request to the agent.";
  const progress = frame.remembersJob ? working : unsent;
  const { pullRequest, page } = jobLinks(state);
  if (frame.remembersJob) links.push(...page, ...pullRequest);
  return blocks([`<p>⏳ <b>${progress}</b> ${links.join(" · ")}.</p>`, note(frame), frame.marker]);
}

/** Renders the reply after the run: the outcome, the pull request, what to do next and how to continue. */
export function renderResult(run: Ending & { state: RunState }, frame: ReplyFrame): string {
  const { outcome, message, state, elapsedMs } = run;
  const { pullRequest, page } = jobLinks(state);
  const head = [`${iconOf(outcome, state)} <b>${forHtml(message.title)}</b>`, ...pullRequest];
  if (state.jobId) head.push(`${timeWord(state)} ${duration(elapsedMs)}`);
  head.push(...page, link(frame.runUrl, "Run"), ...reviewLink(frame));
  return blocks([
    `<p>${head.join(" · ")}</p>`,
    `<p>${textToHtml(message.what)}</p>`,
    message.next.length > 0 ? `<p>${textToHtml(message.next)}</p>` : "",
    quoteMessage(state.finalMessage),
    note(frame),
    frame.marker && frame.remembersJob && frame.isContinuable ? `<p><sub>${howToContinue(frame.mode)}</sub></p>` : "",
    frame.marker,
  ]);
}

/** Renders the answer to the command `help`. An answer to a command has no marker, because it is about no request. */
export function renderHelp({ phrase, label, jobId }: CommentMode): string {
  const items = [
    `${code(`${phrase} …`)} starts a job with this instruction, or sends it to the job of this thread.`,
    jobId !== "" ? "" : `${code(`${phrase} new …`)} starts a new job.`,
    `${code(`${phrase} status`)} shows the state of the job.`,
    `${code(`${phrase} help`)} shows this list.`,
    label === "" ? "" : `The label ${code(label)} asks for what the issue or pull request says.`,
  ].filter(Boolean);
  const list = `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`;
  return blocks(["<p>Comments that ask the agent:</p>", list]);
}

/** What the command `status` says if there is no job to describe. */
export const statusAnswers = {
  reading: (runUrl: string) => `<p>⏳ Reading the state of the job. ${link(runUrl, "Follow the run")}.</p>`,
  cancelled: "<p>The run was cancelled before it had read the state of the job.</p>",
  unreadable: "<p>The thread, which names the job, cannot be read.</p>",
  doubt: "<p>A job may have been started, which no reply names yet. See the replies before this one.</p>",
  noJob: ({ phrase }: CommentMode) => `<p>This thread has no job. To start one, comment ${code(`${phrase} …`)}.</p>`,
};

/** Renders a job as one poll has found it, in a state of its own. */
export function renderJob(jobId: string, result: RunResult, state: RunState): string {
  const status = state.timeline.at(-1)?.status;
  if (isJobNotFound(result, state)) return `<p>Job ${code(jobId)} was not found.</p>`;
  if (status === undefined) {
    const error =
      result.kind === "poll-failed" ? result.error : result.kind === "timed-out" ? result.lastError : undefined;
    const reason = error ? `: ${textToHtml(failureReason(error))}` : "";
    return `<p>The state of job ${code(jobId)} cannot be read${reason}.</p>`;
  }
  const { pullRequest, page } = jobLinks(state);
  const created = state.createdAt ? [`created ${code(state.createdAt)}`] : [];
  return `<p>${[`<b>Job ${code(jobId)} is ${code(status)}</b>`, ...pullRequest, ...page, ...created].join(" · ")}</p>`;
}

function reviewLink({ reviewUrl }: ReplyFrame): string[] {
  return reviewUrl === "" ? [] : [link(reviewUrl, "Review")];
}

function howToContinue({ phrase, label, jobId }: CommentMode): string {
  if (phrase === "") return `To continue with this job, set the label ${code(label)} again.`;
  const another = jobId !== "" ? "" : ` To start another one, comment ${code(`${phrase} new …`)}.`;
  return `To continue with this job, comment ${code(`${phrase} …`)}.${another}`;
}

function note({ note: text }: ReplyFrame): string {
  return text.length > 0 ? `<p>${textToHtml(text)}</p>` : "";
}

function blocks(parts: readonly string[]): string {
  return parts.filter(Boolean).join("\n\n");
}
