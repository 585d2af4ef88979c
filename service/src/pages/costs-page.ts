import type { Access } from "../http/authentication.ts";
import type { ProjectSpent } from "../model.ts";
import { hourMs } from "../time.ts";
import { type Html, html } from "./html.ts";
import { pageEnd, pageHeader, pageStart } from "./layout.ts";
import type { PageReply } from "./page-reply.ts";
import type { PageStore } from "./page-store.ts";
import type { View } from "./view.ts";

const shownMonths = 12;

interface MonthSpent extends ProjectSpent {
  /** As `2026-11`. */
  month: string;
}

/** Returns the page with what the turns of each project took and cost in each of the last months, newest first. */
export async function showCosts(
  lists: Pick<PageStore["lists"], "spentIn">,
  view: View,
  { projects }: Access,
  now: number,
): Promise<PageReply> {
  const rows: MonthSpent[] = [];
  const date = new Date(now);
  for (let back = 0; back < shownMonths; back++) {
    const [from = 0, before = 0] = [0, 1].map((add) =>
      Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back + add),
    );
    const month = new Date(from).toISOString().slice(0, 7);
    rows.push(...(await lists.spentIn(projects, from, before)).map((spent) => ({ ...spent, month })));
  }
  return { status: 200, body: [renderCosts(view, rows)] };
}

/** The numbers have no units, so that a spreadsheet takes them as such. */
function renderCosts(view: View, rows: readonly MonthSpent[]): Html {
  const row = ({ month, project, turns, tookMs, costUsd, unknownCosts }: MonthSpent): Html =>
    html`<tr><td>${month}</td><td>${project}</td><td>${turns}</td><td>${(tookMs / hourMs).toFixed(2)}</td><td>${costUsd.toFixed(2)}</td><td>${unknownCosts}</td></tr>`;
  const table = html`<div class="wide" tabindex="0" role="region" aria-label="Costs"><table class="costs">
<thead><tr><th>Month</th><th>Project</th><th>Turns</th><th>Hours</th><th>US dollars</th><th>Without cost</th></tr></thead>
<tbody>${rows.map(row)}</tbody></table></div>`;
  return html`${pageStart("Costs")}${pageHeader(view)}<main>
<h1>Costs</h1>
<p>What the turns took and cost that ended in the last ${shownMonths} months (UTC), by the agents’ own estimates. Some agents do not say what a turn cost. To have the table in a spreadsheet, select and copy it.</p>
${rows.length === 0 ? html`<p>No turn has ended.</p>` : table}
${pageEnd}`;
}
