import type { Message, Text } from "../../runner-kit/text.ts";
import { code, forHtml, textToHtml } from "../../runner-kit/untrusted.ts";
import { type Outcome, outcomes } from "../outcome.ts";
import { isJobNotFound, type RunResult } from "../result.ts";
import type { RunState } from "../run-state.ts";
import { quoteMessage } from "./agent-message.ts";
import { duration, timeWord } from "./format.ts";
import { jobPageLink } from "./job-page-link.ts";
import { pullRequestLink } from "./pull-request-link.ts";
import { failureReason } from "./request-failure.ts";

/** The parts of a reply that do not depend on the state of the job. */
export interface ReplyFrame {
  /** The address of this workflow run. */
  runUrl: string;
  /** The trigger phrase and the trigger label; at least one is not empty. */
  phrase: string;
  label: string;
  /** Whether the workflow names the job, so that no comment starts another one. */
  hasFixedJob: boolean;
  /** The address of the review that the reply answers, or empty. */
  reviewUrl: string;
  /** A remark beside the state, or empty. */
  note: Text;
  /** The hidden last line, or empty. */
  marker: string;
  /** Whether the marker names a job, so that a comment in the thread continues it. */
  remembersJob: boolean;
}

/**
 * Renders the reply while the job is running: GitHub's Markdown, made of HTML blocks like the job summary. It says only what
 * a person cares about, since every change of it is an edit.
 *
 * @param since - when the agent began, if that is known
 */
export function renderProgress(
  frame: ReplyFrame,
  { since, state }: { since: Date | undefined; state: Pick<RunState, "pullRequest" | "pageUrl"> },
): string {
  const links = [`<a href="${forHtml(frame.runUrl, 4096)}">Follow the run</a>`, ...reviewLink(frame)];
  const time = since && `${since.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const working = time ? `The agent has been working on it since ${time}.` : "The agent is working on it.";
  const progress = frame.remembersJob ? working : "Sending the request to the agent.";
  if (frame.remembersJob && state.pageUrl !== "") links.push(jobPageLink(state.pageUrl));
  if (frame.remembersJob && state.pullRequest) links.push(pullRequestLink(state.pullRequest));
  return blocks([`<p>⏳ <b>${progress}</b> ${links.join(" · ")}.</p>`, note(frame), frame.marker]);
}

/** Renders the reply after the run: the outcome, the pull request, what to do next and how to continue. */
export function renderResult(
  run: { outcome: Outcome; message: Message; state: RunState; elapsedMs: number },
  frame: ReplyFrame,
): string {
  const { outcome, message, state, elapsedMs } = run;
  const head = [`${outcomes[outcome].icon} <b>${forHtml(message.title)}</b>`];
  if (state.pullRequest) head.push(pullRequestLink(state.pullRequest));
  if (state.jobId) head.push(`${timeWord(state.status, state.origin)} ${duration(elapsedMs)}`);
  if (state.pageUrl !== "") head.push(jobPageLink(state.pageUrl));
  head.push(`<a href="${forHtml(frame.runUrl, 4096)}">Run</a>`, ...reviewLink(frame));
  return blocks([
    `<p>${head.join(" · ")}</p>`,
    `<p>${textToHtml(message.what)}</p>`,
    message.next.length > 0 ? `<p>${textToHtml(message.next)}</p>` : "",
    quoteMessage(state.finalMessage),
    note(frame),
    frame.marker && frame.remembersJob ? `<p><sub>${howToContinue(frame)}</sub></p>` : "",
    frame.marker,
  ]);
}

/** A job as one poll has found it, in a state of its own. */
interface JobReading {
  result: RunResult;
  state: RunState;
}

/** The answer to a command. */
export type CommandAnswer =
  | { kind: "help" }
  /** The state is being read. */
  | { kind: "reading" }
  | { kind: "no-job" }
  | { kind: "unreadable-thread" }
  | { kind: "job"; jobId: string; reading: JobReading };

/** What the answer to a command depends on. */
export type CommandFrame = Pick<ReplyFrame, "phrase" | "label" | "hasFixedJob">;

/** Renders the answer to a command. It has no marker, because it is about no request. */
export function renderAnswer(answer: CommandAnswer, { phrase, label, hasFixedJob }: CommandFrame): string {
  switch (answer.kind) {
    case "help": {
      const items = [
        `${code(`${phrase} …`)} starts a job with this instruction, or sends it to the job of this thread.`,
        hasFixedJob ? "" : `${code(`${phrase} new …`)} starts a new job.`,
        `${code(`${phrase} status`)} shows the state of the job.`,
        `${code(`${phrase} help`)} shows this list.`,
        label === "" ? "" : `The label ${code(label)} asks for what the issue or pull request says.`,
      ].filter(Boolean);
      return blocks([
        "<p>Comments that ask the agent:</p>",
        `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`,
      ]);
    }
    case "reading":
      return "<p>⏳ Reading the state of the job.</p>";
    case "no-job":
      return `<p>This thread has no job. To start one, comment ${code(`${phrase} …`)}.</p>`;
    case "unreadable-thread":
      return "<p>The thread, which names the job, cannot be read.</p>";
    case "job":
      return `<p>${describeJob(answer.jobId, answer.reading)}</p>`;
  }
}

function describeJob(jobId: string, { result, state }: JobReading): string {
  const status = state.timeline.at(-1)?.status;
  if (isJobNotFound(result, state)) return `Job ${code(jobId)} was not found.`;
  if (status === undefined) {
    const error =
      result.kind === "poll-failed" ? result.error : result.kind === "timed-out" ? result.lastError : undefined;
    const reason = error ? `: ${textToHtml(failureReason(error))}` : "";
    return `The state of job ${code(jobId)} cannot be read${reason}.`;
  }
  const parts = [`<b>Job ${code(jobId)} is ${code(status)}</b>`];
  if (state.pullRequest) parts.push(pullRequestLink(state.pullRequest));
  if (state.pageUrl !== "") parts.push(jobPageLink(state.pageUrl));
  if (state.createdAt) parts.push(`created ${code(state.createdAt)}`);
  return parts.join(" · ");
}

function reviewLink({ reviewUrl }: ReplyFrame): string[] {
  return reviewUrl === "" ? [] : [`<a href="${forHtml(reviewUrl, 4096)}">Review</a>`];
}

function howToContinue({ phrase, label, hasFixedJob }: ReplyFrame): string {
  if (phrase === "") return `To continue with this job, set the label ${code(label)} again.`;
  const another = hasFixedJob ? "" : ` To start another one, comment ${code(`${phrase} new …`)}.`;
  return `To continue with this job, comment ${code(`${phrase} …`)}.${another}`;
}

function note({ note: text }: ReplyFrame): string {
  return text.length > 0 ? `<p>${textToHtml(text)}</p>` : "";
}

function blocks(parts: readonly string[]): string {
  return parts.filter(Boolean).join("\n\n");
}
