import type { Outcome } from "../outcome.ts";
import type { Facts } from "../run-state.ts";
import { duration } from "./format.ts";
import { icons } from "./icons.ts";
import type { Message } from "./message.ts";
import { say, type Text } from "./text.ts";
import { code, forHtml, sentence } from "./untrusted.ts";

/** What every reply holds, whatever its state. */
export interface ReplyFrame {
  /** The address of this run. */
  runUrl: string;
  /** The phrase that begins a comment to the agent. */
  phrase: string;
  /** Something to know beside the state, or empty. */
  note: Text;
  /** The hidden last line, or empty. */
  marker: string;
}

/** The reply while the job is at work: GitHub's Markdown, made of blocks of HTML as the job summary is. */
export function renderWorking(frame: ReplyFrame): string {
  const link = `<a href="${forHtml(frame.runUrl, 4096)}">Follow the run</a>`;
  return blocks([`<p>⏳ <b>The agent is at work.</b> ${link}.</p>`, note(frame), frame.marker]);
}

/** The reply when the run has ended: the outcome, the pull request, what to do next and how to go on. */
export function renderResult(
  run: { outcome: Outcome; message: Message; facts: Facts; elapsedMs: number },
  frame: ReplyFrame,
): string {
  const { outcome, message, facts, elapsedMs } = run;
  const head = [`${icons[outcome]} <b>${forHtml(message.title)}</b>`];
  if (facts.pullRequest) {
    const { url, number } = facts.pullRequest;
    head.push(`<a href="${forHtml(url, url.length)}">${number ? `Pull request ${number}` : "Pull request"}</a>`);
  }
  if (facts.jobId) head.push(`took ${duration(elapsedMs)}`);
  head.push(`<a href="${forHtml(frame.runUrl, 4096)}">Run</a>`);
  const advice = (frame.marker && adviceInThread[outcome]) || message.next;
  const goOn = `<sub>To go on with this job, comment ${code(`${frame.phrase} …`)}. ${code(`${frame.phrase} new …`)} starts another.</sub>`;
  return blocks([
    `<p>${head.join(" · ")}</p>`,
    `<p>${sentence(message.what)}</p>`,
    advice.length > 0 ? `<p>${sentence(advice)}</p>` : "",
    note(frame),
    frame.marker ? `<p>${goOn}</p>` : "",
    frame.marker,
  ]);
}

const waitOn = say`To wait for it, re-run the workflow's run: that sends nothing again.`;

/** What to do next where the thread remembers the job, so that nobody has to care for its id. */
const adviceInThread: Partial<Record<Outcome, Text>> = {
  "no-changes": say`If a change was expected, say more precisely what is wanted.`,
  failed: say`See the dashboard for the cause.`,
  archived: [],
  "timed-out": waitOn,
  cancelled: waitOn,
  started: waitOn,
};

function note({ note: text }: ReplyFrame): string {
  return text.length > 0 ? `<p>${sentence(text)}</p>` : "";
}

function blocks(parts: readonly string[]): string {
  return parts.filter(Boolean).join("\n\n");
}
