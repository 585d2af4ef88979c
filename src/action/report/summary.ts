import type { Text } from "../../runner-kit/text.ts";
import { code, forHtml, textToHtml } from "../../runner-kit/untrusted.ts";
import type { Changes } from "../changes/repository.ts";
import { type Outcome, outcomes } from "../outcome.ts";
import type { Ending } from "../result.ts";
import type { RunState } from "../run-state.ts";
import { promptOf } from "../settings.ts";
import { describeCounts, duration, jobLinks, link, quoteMessage, shortRef, size, timeWord } from "./format.ts";
import type { ResultContext } from "./message.ts";

/** How many characters of the prompt are shown: enough to recognize it. */
const promptLimit = 2000;

/** Renders the job summary as HTML blocks, with untrusted text escaped. */
export function renderSummary(
  { outcome, message, elapsedMs }: Ending,
  { state, settings, task }: Pick<ResultContext, "state" | "settings" | "task">,
): string {
  const blocks = [
    `<h2>${outcomes[outcome].icon} ${forHtml(message.title)}</h2>`,
    headline(state, elapsedMs),
    `<p>${textToHtml(message.what)}</p>`,
    list(message.points ?? []),
    message.next.length > 0 ? `<p><b>What to do next:</b> ${textToHtml(message.next)}</p>` : "",
    quoteMessage(state.finalMessage),
    details(outcome, state, settings),
    task && task.kind !== "attach" ? prompt(promptOf(task)) : "",
  ];
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}

function headline(state: RunState, elapsedMs: number): string {
  const { pullRequest, page } = jobLinks(state);
  const parts = [...pullRequest.map((html) => `<b>${html}</b>`), ...page];
  if (state.jobId && state.startedAt !== undefined) parts.push(`${timeWord(state)} ${duration(elapsedMs)}`);
  if (state.costUsd !== undefined) parts.push(`$${state.costUsd} by the agent's own estimate`);
  const line = parts.join(" · ");
  return line === "" ? "" : `<p>${line.charAt(0).toUpperCase()}${line.slice(1)}</p>`;
}

function list(points: readonly Text[]): string {
  return points.length > 0 ? `<ul>${points.map((point) => `<li>${textToHtml(point)}</li>`).join("")}</ul>` : "";
}

function details(outcome: Outcome, state: RunState, settings: ResultContext["settings"]): string {
  const rows: [string, string][] = [
    ["Outcome", outcome],
    ["Job", state.jobId],
    ["Origin", state.origin],
    ["Status", state.status],
    ["Check", state.check],
    ["Project", settings?.projectId ?? ""],
    ["Session", settings?.session ?? ""],
    ["Repository", state.repository],
    ["Ref", state.ref],
    ["Base", state.base],
    ["Model", state.model],
    ["Created", state.createdAt],
    ["Archived", state.archivedAt],
  ];
  const cells = rows.filter(([, value]) => value !== "").map(([name, value]) => [`<b>${name}</b>`, code(value)]);
  if (state.changes) cells.push(["<b>Changes</b>", changesCell(state.changes)]);
  const rowsOf = cells.map(([name, value]) => `<tr><td>${name}</td><td>${value}</td></tr>`);
  return ["<details><summary>Details</summary>", "<table>", ...rowsOf, "</table>", "</details>"].join("\n");
}

/** Links GitHub's page of the comparison. The URL is made of encoded parts. */
function changesCell(changes: Changes): string {
  const { base, head, url } = changes;
  const comparison = link(url, code(`${shortRef(base)}...${shortRef(head)}`));
  return `${comparison} · ${describeCounts(changes)}`;
}

function prompt(text: string): string {
  const note = text.length > promptLimit ? ", truncated" : "";
  return `<details><summary>Prompt (${size(text)}${note})</summary>\n<pre>${code(text, promptLimit)}</pre>\n</details>`;
}
