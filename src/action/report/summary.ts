import { isTerminal } from "../../client/contract.ts";
import type { Message, Text } from "../../runner-kit/text.ts";
import { code, forHtml, textToHtml } from "../../runner-kit/untrusted.ts";
import type { Changes } from "../changes/changes.ts";
import { type Outcome, outcomes } from "../outcome.ts";
import type { ObservedStatus, RunState } from "../run-state.ts";
import type { Task } from "../settings.ts";
import { quoteMessage } from "./agent-message.ts";
import { describeFiles, shortRef } from "./changes-text.ts";
import { count, duration, size, timeWord } from "./format.ts";
import { jobPageLink } from "./job-page-link.ts";
import { pullRequestLink } from "./pull-request-link.ts";

/** How many characters of the prompt are shown: enough to recognize it. */
const promptLimit = 2000;
/** How many rows of the timeline are shown; a job has a handful. */
const timelineLimit = 20;

/**
 * Renders the job summary: GitHub's Markdown, made of HTML blocks in which untrusted text is escaped.
 *
 * @param run - `projectId` is empty and `task` is `undefined` if unknown
 */
export function renderSummary(run: {
  outcome: Outcome;
  message: Message;
  state: RunState;
  projectId: string;
  /** Empty without one. */
  session: string;
  task: Task | undefined;
  elapsedMs: number;
}): string {
  const { outcome, message, state, projectId, session, task, elapsedMs } = run;
  const blocks = [
    `<h2>${outcomes[outcome].icon} ${forHtml(message.title)}</h2>`,
    headline(state, elapsedMs),
    `<p>${textToHtml(message.what)}</p>`,
    list(message.points ?? []),
    message.next.length > 0 ? `<p><b>What to do next:</b> ${textToHtml(message.next)}</p>` : "",
    quoteMessage(state.finalMessage),
    details(outcome, state, projectId, session),
    timeline(state.timeline, elapsedMs),
    task && task.kind !== "attach" ? prompt(task.prompt) : "",
  ];
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}

function headline({ pullRequest, jobId, startedAt, status, origin, pageUrl }: RunState, elapsedMs: number): string {
  const parts = [];
  if (pullRequest) parts.push(`<b>${pullRequestLink(pullRequest)}</b>`);
  if (pageUrl !== "") parts.push(jobPageLink(pageUrl));
  if (jobId && startedAt !== undefined) parts.push(`${timeWord(status, origin)} ${duration(elapsedMs)}`);
  return parts.length > 0 ? `<p>${parts.join(" · ")}</p>` : "";
}

function list(points: readonly Text[]): string {
  return points.length > 0 ? `<ul>${points.map((point) => `<li>${textToHtml(point)}</li>`).join("")}</ul>` : "";
}

function details(outcome: Outcome, state: RunState, projectId: string, session: string): string {
  const rows: [string, string][] = [
    ["Outcome", outcome],
    ["Job", state.jobId],
    ["Origin", state.origin],
    ["Status", state.status],
    ["Project", projectId],
    ["Session", session],
    ["Repository", state.repository],
    ["Ref", state.ref],
    ["Base", state.base],
    ["Model", state.model],
    ["Created", state.createdAt],
    ["Archived", state.archivedAt],
  ];
  const cells = rows.filter(([, value]) => value !== "").map(([name, value]) => [`<b>${name}</b>`, code(value)]);
  if (state.costUsd !== undefined)
    cells.push(["<b>Cost</b>", `${code(`$${state.costUsd}`)} · the agent's own estimate`]);
  if (state.changes) cells.push(["<b>Changes</b>", changesCell(state.changes)]);
  return table(cells);
}

/** Links GitHub's page of the comparison. The URL is made of encoded parts. */
function changesCell(changes: Changes): string {
  const { base, head, url, commitCount } = changes;
  const link = `<a href="${forHtml(url, url.length)}">${code(`${shortRef(base)}...${shortRef(head)}`)}</a>`;
  return `${link} · ${count(commitCount, "commit")}, ${describeFiles(changes)}`;
}

/** Renders the statuses seen, and for how long each was. */
function timeline(statuses: readonly ObservedStatus[], elapsedMs: number): string {
  if (statuses.length === 0) return "";
  const rows = statuses.slice(0, timelineLimit).map(({ status, atMs }, index) => {
    const next = statuses[index + 1];
    const isLast = next === undefined;
    const lasted = isLast && isTerminal(status) ? "–" : duration((next?.atMs ?? elapsedMs) - atMs);
    return [code(status), duration(atMs), lasted];
  });
  if (statuses.length > timelineLimit) rows.push([`and ${statuses.length - timelineLimit} more`, "", ""]);
  return `<h3>Timeline</h3>\n${table(rows, ["Status", "Seen after", "Lasted"])}`;
}

function table(rows: readonly string[][], heads: readonly string[] = []): string {
  const head = heads.length > 0 ? [`<tr>${heads.map((cell) => `<th align="left">${cell}</th>`).join("")}</tr>`] : [];
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  return ["<table>", ...head, ...body, "</table>"].join("\n");
}

function prompt(text: string): string {
  const note = text.length > promptLimit ? ", truncated" : "";
  return `<details><summary>Prompt (${size(text)}${note})</summary>\n<pre>${code(text, promptLimit)}</pre>\n</details>`;
}
