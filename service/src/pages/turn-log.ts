import type { IncomingMessage } from "node:http";
import { HttpException } from "../http/http-exception.ts";
import { queryOf } from "../http/request-url.ts";
import type { PageJob } from "../model.ts";
import type { LogMark } from "../store/log-times.ts";
import type { JobLogs } from "../store/logs.ts";
import { readLog } from "./follow-log.ts";
import { type Html, html } from "./html.ts";
import { pageEnd, pageHeader, pageStart } from "./layout.ts";
import { LogText } from "./log-text.ts";
import type { PageReply } from "./page-reply.ts";
import type { View } from "./view.ts";
import { clockTime, time } from "./words.ts";

/** How much of a log a page shows, in bytes and in lines. */
const maxBytes = 64 * 1024;
const maxLines = 2000;
const lineEnd = 10;

interface Line {
  /** Where it begins in the log, in bytes. */
  position: number;
  text: string;
}

/**
 * Returns the page with a part of a turn's log, with times.
 *
 * @param request - its query can have `from` or `before`, positions in the log of the job, in bytes: where the part begins, or what it ends
 *   before. Default: from the turn's start
 * @throws HttpException 400 if they are no numbers
 */
export async function showTurnLog(
  request: IncomingMessage,
  logs: JobLogs,
  job: PageJob,
  turn: number,
  view: View,
): Promise<PageReply> {
  const [given, before] = [positionIn(request, "from"), positionIn(request, "before")];
  const marks = await logs.marks(job.id);
  const first = marks.findIndex((mark) => mark.turn === turn);
  const start = marks[first]?.start ?? 0;
  const end =
    first === -1 ? 0 : (marks.slice(first).find((mark) => mark.turn !== turn)?.start ?? (await logs.end(job.id)));
  const until = Math.min(before ?? end, end);
  const from = Math.min(Math.max(given ?? (before === undefined ? 0 : until - maxBytes), start), until);
  const { lines, next } = await readLines(logs, job.id, { start, from, end: until, areLast: before !== undefined });
  const page = `${view.basePath}/job/${job.id}`;
  const address = (position: number, key = "before"): string => `${page}/turn/${turn}/log?${key}=${position}`;
  const shownFrom = lines[0]?.position ?? from;
  const day = marks[first] && html`<p class="quiet">Begun ${time(marks[first].at, view.zone)}</p>\n`;
  // Also before the lines, each of which has a link: whoever uses a keyboard would pass all of them.
  const paging = html`<nav class="paging" aria-label="Parts of the log">
${shownFrom > start && html`<a href="${address(shownFrom)}" rel="prev">Earlier</a>`}
${next < end && html`<a href="${address(next, "from")}" rel="next">Later</a>`}
${next < end && html`<a href="${address(end)}">End</a>`}
</nav>
`;
  const body = html`${pageStart(`Log of turn ${turn}`)}${pageHeader(view)}<main>
<h1>Log of turn ${turn}</h1>
<p><a href="${page}">Job</a> · <a href="${page}/log?follow=no">Full log of the job as text</a></p>
${day}${first === -1 && html`<p>There are no times for the log of this turn. The log of the job may have it.</p>\n`}${paging}<ol class="lines">${renderLines(lines, marks, view)}</ol>
${paging}${pageEnd}`;
  return { status: 200, body: [body] };
}

function positionIn(request: IncomingMessage, name: "from" | "before"): number | undefined {
  const given = queryOf(request).get(name);
  if (given === null) return undefined;
  if (!/^\d{1,15}$/.test(given)) throw new HttpException(400, `${name} must be a position in the log, in bytes`);
  return Number(given);
}

/** Reads the lines that begin in a part of a log, up to a limit: the first ones, unless `areLast`. */
async function readLines(
  logs: JobLogs,
  jobId: string,
  { start, from, end, areLast }: { start: number; from: number; end: number; areLast: boolean },
): Promise<{ lines: Line[]; next: number }> {
  // The byte before tells whether a line begins there.
  const first = from > start ? from - 1 : from;
  let content: Buffer = Buffer.alloc(0);
  if (end > first)
    for await (const part of readLog(logs, jobId, first)) {
      content = Buffer.concat([content, part]);
      if (content.length >= end - first || (content.length > maxBytes && content.includes(lineEnd, maxBytes))) break;
    }
  content = content.subarray(0, end - first);
  const lines: Line[] = [];
  let next = from > start ? content.indexOf(lineEnd) + 1 : 0;
  while (next < content.length && next <= maxBytes && (areLast || lines.length < maxLines)) {
    const until = content.indexOf(lineEnd, next);
    const line = content.subarray(next, until === -1 ? content.length : until);
    const reader = new LogText();
    lines.push({ position: first + next, text: reader.add(line) + reader.end() });
    next = until === -1 ? content.length : until + 1;
  }
  return { lines: lines.slice(-maxLines), next: first + next };
}

const ofService = "[service] ";
const ofAgent = "| ";

/** Renders lines. The number of each, by which it can be linked, is its position. */
function renderLines(lines: readonly Line[], marks: readonly LogMark[], { zone }: View): Html[] {
  let mark = -1;
  return lines.map(({ position, text }) => {
    while ((marks[mark + 1]?.start ?? Number.POSITIVE_INFINITY) <= position) mark++;
    const at = marks[mark]?.at;
    const isNote = text.startsWith(ofService);
    const said = isNote ? text.slice(ofService.length) : text.startsWith(ofAgent) ? text.slice(ofAgent.length) : text;
    return html`<li id="b${position}"${isNote && html` class="note"`}><a href="#b${position}">${at === undefined ? "link" : clockTime(at, zone)}</a> <span>${isNote && html`<b>Service</b> `}${said}</span></li>`;
  });
}
