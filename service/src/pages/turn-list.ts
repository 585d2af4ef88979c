import { setImmediate } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { dollars } from "../cost.ts";
import type { TurnExcerpt } from "../model.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { shownLength } from "../store/text-search.ts";
import { renderAsker } from "./asker.ts";
import { type Html, html } from "./html.ts";
import { isStopped } from "./job-detail.ts";
import type { PageStore } from "./page-store.ts";
import type { View } from "./view.ts";
import { duration, time } from "./words.ts";

const maxTurns = 50;
/** How many characters of each prompt and each answer are shown. */
const maxTextLength = shownLength;
/** Greater ids are timestamps, which avoid collisions with other services. */
const largestCount = 1_000_000_000;

/** Where the turns of jobs are read. */
export type TurnLists = Pick<PageStore["lists"], "countTurns" | "latestTurns" | "turnExcerpt">;

export interface TurnListOptions {
  /** Whether the texts of the last turn are shown without a click. Default: no. */
  isJobPage?: boolean;
  /** Whether turns can be stopped and run again. Default: no. */
  hasActions?: boolean;
}

/** Reads and renders the newest turns of a job, oldest first. */
export async function renderTurns(
  lists: TurnLists,
  jobId: string,
  view: View,
  { isJobPage = false, hasActions = false }: TurnListOptions = {},
): Promise<Html> {
  const page = `${view.basePath}/job/${jobId}`;
  const ids = await lists.latestTurns(jobId, maxTurns);
  const count = Math.max(ids.length, await lists.countTurns(jobId));
  const turns: Html[] = [];
  for (const [index, id] of ids.entries()) {
    // SQLite reads all of a text to return its beginning, which takes some milliseconds for 30 MiB.
    await setImmediate();
    // One extra character tells whether the text is cut off.
    const turn = await lists.turnExcerpt(id, maxTextLength + 1);
    if (turn === undefined) continue;
    const isLast = id === ids.at(-1);
    const action = hasActions ? renderAction(`${page}/turn/${id}`, turn, isLast) : undefined;
    // As the log and the commits name it.
    const name = `Turn ${id > largestCount ? count - ids.length + index + 1 : id}`;
    turns.push(renderTurn({ id, name, page, view, action, isOpen: isJobPage && isLast }, turn));
  }
  return html`<section id="turns">
<h2>Turns</h2>
${count > ids.length && html`<p class="quiet">Only the last ${ids.length} of ${count} turns are shown.</p>\n`}<ol>${turns}</ol>
</section>
`;
}

interface ShownTurn {
  id: number;
  name: string;
  /** The path of its job's page. */
  page: string;
  view: View;
  action: Html | undefined;
  isOpen: boolean;
}

function renderTurn({ id, name, page, view, action, isOpen }: ShownTurn, turn: TurnExcerpt): Html {
  const { prompt, answer, reason, checkOutput, startedAt } = turn;
  const asker = renderAsker(turn, view.basePath);
  const log = startedAt !== null && html`<a href="${page}/turn/${id}/log">Log with times</a>`;
  return html`<li id="turn-${id}"><details${isOpen && html` open`}><summary><strong>${name}</strong> ${commitTitle(prompt)} ${renderState(turn, view)}${renderCheck(turn)}</summary>
${(asker || log) && html`<p class="quiet">${asker && html`Asked by ${asker}`}${asker && log && " · "}${log}</p>\n`}${reason !== null && html`<p class="${isStopped(reason) ? "quiet" : "minus"}">${reason}</p>\n`}Prompt${renderExcerpt(prompt)}${
    answer !== null && html`\nLast message of the agent${renderExcerpt(answer)}`
  }${checkOutput !== null && checkOutput !== "" && html`\nEnd of the output of the check${renderExcerpt(checkOutput)}`}</details>${action}</li>`;
}

/** Returns the button of a turn; `undefined` if it has none. */
function renderAction(path: string, { state }: TurnExcerpt, isLast: boolean): Html | undefined {
  const button = (action: string, label: string): Html =>
    html`<form method="post" action="${path}/${action}"><button class="small">${label}</button></form>`;
  if (state === "waiting") return button("stop", "Take out of the queue");
  if (state === "running") return button("stop", "Stop");
  return state === "failed" && isLast ? button("retry", "Run again") : undefined;
}

function renderState(turn: TurnExcerpt, { zone }: View): Html {
  const { state, startedAt, endedAt, reason, costUsd, waitReason, waitUntil } = turn;
  const took = startedAt !== null && endedAt !== null && ` in ${duration(endedAt - startedAt)}`;
  const cost = dollars(costUsd);
  const spent = cost !== undefined && html` <span class="quiet" title="The agent's own estimate">· ${cost}</span>`;
  if (state === "waiting" && waitReason !== null)
    return html`<span class="quiet">Waiting${waitUntil !== null && html` until ${time(waitUntil, zone)}`}: ${waitReason}</span>`;
  if (state === "waiting") return html`<span class="quiet">Waiting</span>`;
  if (state === "running")
    return html`<span class="running">Running</span>${startedAt !== null && html` <span class="quiet">since ${time(startedAt, zone)} <span data-since="${startedAt}"></span></span>`}`;
  if (state === "failed" && isStopped(reason)) return html`<span class="quiet">Stopped${took}</span>${spent}`;
  if (state === "failed") return html`<span class="minus">Failed${took}</span>${spent}`;
  return html`<span class="quiet">Completed${took}</span>${spent}`;
}

function renderCheck({ checkResult }: TurnExcerpt): Html | undefined {
  if (checkResult === null) return undefined;
  if (checkResult === "passed") return html` <span class="quiet">· check passed</span>`;
  return checkResult === "failed"
    ? html` <span class="minus">· check failed</span>`
    : html` <span class="quiet">· check failed before, too</span>`;
}

function renderExcerpt(text: string): Html {
  const isCut = text.length > maxTextLength;
  // A parser drops a line break at the start of `pre`.
  return html`${isCut && html` <span class="quiet">(only the beginning)</span>`}\n<pre>\n${stripVTControlCharacters(text.slice(0, maxTextLength))}</pre>`;
}
