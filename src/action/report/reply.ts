import { isTerminal } from "../../client/contract.ts";
import { type Outcome, outcomes } from "../outcome.ts";
import type { RunState } from "../run-state.ts";
import { duration } from "./format.ts";
import { pullRequestLink } from "./pull-request-link.ts";
import type { Message, Text } from "./text.ts";
import { code, forHtml, textToHtml } from "./untrusted.ts";

/** What every reply contains, whatever the state of the job. */
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

/** Renders the reply while the job is running: GitHub's Markdown, made of HTML blocks like the job summary. */
export function renderProgress(frame: ReplyFrame): string {
  const links = [`<a href="${forHtml(frame.runUrl, 4096)}">Follow the run</a>`, ...reviewLink(frame)].join(" · ");
  const progress = frame.remembersJob ? "The agent is working on it." : "Sending the request to the agent.";
  return blocks([`<p>⏳ <b>${progress}</b> ${links}.</p>`, note(frame), frame.marker]);
}

/** Renders the reply after the run: the outcome, the pull request, what to do next and how to continue. */
export function renderResult(
  run: { outcome: Outcome; message: Message; state: RunState; elapsedMs: number },
  frame: ReplyFrame,
): string {
  const { outcome, message, state, elapsedMs } = run;
  const head = [`${outcomes[outcome].icon} <b>${forHtml(message.title)}</b>`];
  if (state.pullRequest) head.push(pullRequestLink(state.pullRequest));
  if (state.jobId) head.push(`${isTerminal(state.status) ? "took" : "after"} ${duration(elapsedMs)}`);
  head.push(`<a href="${forHtml(frame.runUrl, 4096)}">Run</a>`, ...reviewLink(frame));
  return blocks([
    `<p>${head.join(" · ")}</p>`,
    `<p>${textToHtml(message.what)}</p>`,
    message.next.length > 0 ? `<p>${textToHtml(message.next)}</p>` : "",
    note(frame),
    frame.marker && frame.remembersJob ? `<p><sub>${howToContinue(frame)}</sub></p>` : "",
    frame.marker,
  ]);
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
