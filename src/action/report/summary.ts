import { isTerminal } from "../../client/contract.ts";
import type { Task } from "../inputs/schema.ts";
import type { Outcome } from "../outcome.ts";
import type { Facts, StateSeen } from "../run-state.ts";
import { duration, size } from "./format.ts";
import { icons } from "./icons.ts";
import type { Message } from "./message.ts";
import type { Text } from "./text.ts";
import { code, forHtml, sentence } from "./untrusted.ts";

/** Characters of the prompt that are shown: enough to know it again. */
const promptLimit = 2000;
/** States of the timeline that are shown; a job has a handful. */
const timelineLimit = 20;

/**
 * The job summary: GitHub's Markdown, made of blocks of HTML in which text from outside stands for nothing but itself.
 *
 * @param run - `projectId` is empty and `task` is `undefined` where they are not known
 */
export function renderSummary(run: {
  outcome: Outcome;
  message: Message;
  facts: Facts;
  projectId: string;
  task: Task | undefined;
  elapsedMs: number;
}): string {
  const { outcome, message, facts, projectId, task, elapsedMs } = run;
  const blocks = [
    `<h2>${icons[outcome]} ${forHtml(message.title)}</h2>`,
    headline(facts, elapsedMs),
    `<p>${sentence(message.what)}</p>`,
    list(message.points ?? []),
    message.next.length > 0 ? `<p><b>What to do next:</b> ${sentence(message.next)}</p>` : "",
    factTable(outcome, facts, projectId),
    timeline(facts.timeline, elapsedMs),
    task && task.kind !== "attach" ? prompt(task.prompt) : "",
  ];
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}

function headline(facts: Facts, elapsedMs: number): string {
  const parts = [];
  if (facts.pullRequest) {
    const { url, number } = facts.pullRequest;
    const label = number ? `Pull request ${number}` : "Pull request";
    parts.push(`<a href="${forHtml(url, url.length)}"><b>${label}</b></a>`);
  }
  if (facts.jobId && facts.startedAt !== undefined) parts.push(`took ${duration(elapsedMs)}`);
  return parts.length > 0 ? `<p>${parts.join(" · ")}</p>` : "";
}

function list(points: readonly Text[]): string {
  return points.length > 0 ? `<ul>${points.map((point) => `<li>${sentence(point)}</li>`).join("")}</ul>` : "";
}

function factTable(outcome: Outcome, facts: Facts, projectId: string): string {
  const rows: [string, string][] = [
    ["Outcome", outcome],
    ["Job", facts.jobId],
    ["Status", facts.status],
    ["Project", projectId],
    ["Repository", facts.repository],
    ["Ref", facts.ref],
    ["Model", facts.model],
    ["Created", facts.createdAt],
    ["Archived", facts.archivedAt],
  ];
  return table(rows.filter(([, value]) => value !== "").map(([name, value]) => [`<b>${name}</b>`, code(value)]));
}

/** The states seen, with how long each lasted as far as it was seen. */
function timeline(states: readonly StateSeen[], elapsedMs: number): string {
  if (states.length === 0) return "";
  const rows = states.slice(0, timelineLimit).map(({ status, atMs }, index) => {
    const next = states[index + 1];
    const isLast = next === undefined;
    const lasted = isLast && isTerminal(status) ? "–" : duration((next?.atMs ?? elapsedMs) - atMs);
    return [code(status), duration(atMs), lasted];
  });
  if (states.length > timelineLimit) rows.push([`and ${states.length - timelineLimit} more`, "", ""]);
  return `<h3>Timeline</h3>\n${table(rows, ["State", "Seen after", "Lasted"])}`;
}

function table(rows: readonly string[][], heads: readonly string[] = []): string {
  const head = heads.length > 0 ? [`<tr>${heads.map((cell) => `<th align="left">${cell}</th>`).join("")}</tr>`] : [];
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  return ["<table>", ...head, ...body, "</table>"].join("\n");
}

function prompt(text: string): string {
  const note = text.length > promptLimit ? ", its beginning shown" : "";
  return `<details><summary>Prompt (${size(text)}${note})</summary>\n<pre>${code(text, promptLimit)}</pre>\n</details>`;
}
