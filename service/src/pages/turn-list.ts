import { setImmediate } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { dollars } from "../cost.ts";
import type { TurnExcerpt } from "../model.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { type Html, html } from "./html.ts";
import { isStopped } from "./job-detail.ts";
import type { PageStore } from "./page-store.ts";
import { duration, time } from "./words.ts";

const maxTurns = 50;
/** How many characters of each prompt and each answer are shown. */
const maxTextLength = 10_000;

/** Where the turns of jobs are read. */
export type TurnLists = Pick<PageStore["lists"], "countTurns" | "latestTurns" | "turnExcerpt">;

export interface TurnListOptions {
  /** Whether the texts of the last turn are shown without a click. Default: no. */
  isJobPage?: boolean;
  /** The path of the job's page, if turns can be stopped and run again below it. Default: they cannot. */
  actionsBelow?: string | undefined;
}

/** Reads and renders the newest turns of a job, oldest first. */
export async function renderTurns(
  lists: TurnLists,
  jobId: string,
  { isJobPage = false, actionsBelow }: TurnListOptions = {},
): Promise<Html> {
  const ids = await lists.latestTurns(jobId, maxTurns);
  const turns: Html[] = [];
  for (const id of ids) {
    // SQLite reads all of a text to return its beginning, which takes some milliseconds for 30 MiB.
    await setImmediate();
    // One extra character tells whether the text is cut off.
    const turn = await lists.turnExcerpt(id, maxTextLength + 1);
    if (turn === undefined) continue;
    const isLast = id === ids.at(-1);
    const action = actionsBelow === undefined ? undefined : renderAction(`${actionsBelow}/turn/${id}`, turn, isLast);
    turns.push(renderTurn(id, turn, isJobPage && isLast, action));
  }
  const count = Math.max(turns.length, await lists.countTurns(jobId));
  const first = count - turns.length + 1;
  return html`<section id="turns">
<h2>Turns</h2>
${first > 1 && html`<p class="quiet">Only the last ${turns.length} of ${count} turns are shown.</p>\n`}<ol start="${first}">${turns}</ol>
</section>
`;
}

function renderTurn(id: number, turn: TurnExcerpt, isOpen: boolean, action: Html | undefined): Html {
  const { prompt, answer, reason, checkOutput } = turn;
  return html`<li id="turn-${id}"><details${isOpen && html` open`}><summary>${commitTitle(prompt)} ${renderState(turn)}${renderCheck(turn)}</summary>
${reason !== null && html`<p class="${isStopped(reason) ? "quiet" : "minus"}">${reason}</p>\n`}Prompt${renderExcerpt(prompt)}${
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

function renderState({ state, startedAt, endedAt, reason, costUsd }: TurnExcerpt): Html {
  const took = startedAt !== null && endedAt !== null && ` in ${duration(endedAt - startedAt)}`;
  const cost = dollars(costUsd);
  const spent = cost !== undefined && html` <span class="quiet" title="The agent's own estimate">· ${cost}</span>`;
  if (state === "waiting") return html`<span class="quiet">Waiting</span>`;
  if (state === "running")
    return html`<span class="running">Running</span>${startedAt !== null && html` <span class="quiet">since ${time(startedAt)} <span data-since="${startedAt}"></span></span>`}`;
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
