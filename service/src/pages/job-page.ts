import type { JobProgress, PageJob, Spent } from "../model.ts";
import { applyCommand } from "../store/kept-commits.ts";
import { renderAsker, type TurnAsker } from "./asker.ts";
import { fieldValue, type Html, html } from "./html.ts";
import type { JobDetail } from "./job-detail.ts";
import { renderStatus, statusOf } from "./job-list-page.ts";
import { pageEnd, pageHeader, pageStart } from "./layout.ts";
import type { LogTail } from "./log-tail.ts";
import { pullRequestLink } from "./pull-request-link.ts";
import type { View } from "./view.ts";
import { spentWords, time } from "./words.ts";

/** A message that was not sent. */
export interface MessageDraft {
  text: string;
  error: string;
}

export interface JobPage {
  view: View;
  job: PageJob;
  /** Who asked for its first turn. */
  asker: TurnAsker;
  spent: Spent;
  progress: JobProgress;
  detail: JobDetail;
  /** The first line of the job's first prompt. */
  title: string;
  repositoryName: string | undefined;
  /** The job's pull requests that are pages, newest first. */
  pages: readonly { number: number; title: string }[];
  turns: Html;
  log: LogTail;
  /** The token of the form for messages. Default: the page has no form. */
  form: string | undefined;
  draft: MessageDraft | undefined;
  scriptPath: string;
  baseUrl: string;
}

/**
 * Renders the page of a job. Its script finds elements by ids and `data-` attributes: it replaces `status`, `facts` and the
 * items of `turns` with newer ones, and appends to `log`.
 */
export function renderJobPage(page: JobPage): Html {
  const { view, job, title, repositoryName, progress, turns, form, scriptPath } = page;
  const { basePath } = view;
  const script = html`<script type="module" src="${scriptPath}"></script>\n`;
  return html`${pageStart(`${title} · Job`, script)}${pageHeader(view, repositoryName)}<main data-job="${basePath}/job/${job.id}" data-progress="${JSON.stringify(progress)}">
<h1>${title}</h1>
<p id="status" role="status">${renderStatus(statusOf(job), page.detail)}${page.detail.state === "waiting" && page.detail.reason}</p>
${renderFacts(page)}${turns}${renderLog(page)}${form !== undefined && renderForm(page, form)}${pageEnd}`;
}

function renderFacts(page: JobPage): Html {
  const { view, job, pages, asker, spent } = page;
  const { basePath, zone } = view;
  const askedBy = renderAsker(asker, basePath);
  const took = spentWords(spent);
  const last = pullRequestLink({ ...job, lastPage: pages[0]?.number ?? null }, basePath);
  const pathOf = (number: number): string => `${basePath}/pull/${number}`;
  const others = pages.filter(({ number }) => pathOf(number) !== last?.href);
  return html`<div id="facts">
<p class="quiet">${askedBy && html`Asked by ${askedBy} · `}${job.project} · created ${time(job.createdAt, zone)}${job.model !== null && html` · ${job.model}`}${
    job.archivedAt !== null && html` · archived ${time(job.archivedAt, zone)}`
  }${took && html` · ${took}`}</p>
${last && html`<p><a href="${last.href}">${last.text}</a>${statusOf(job) === "completed" && " waits for a review"}</p>\n`}${
  others.length > 0 &&
  html`<p>Earlier pull requests: ${others.map(({ number }) => html`<a href="${pathOf(number)}">#${number}</a>`)}</p>\n`
}${renderKept(page)}</div>
`;
}

/** Says where the work is that no pull request has, and how people get it. */
function renderKept({ job, repositoryName = "origin", baseUrl }: JobPage): Html | undefined {
  const { id, kept, branch } = job;
  if (kept === null) return undefined;
  const fetched = `git fetch ${shellWord(repositoryName)} ${branch} && git switch --detach FETCH_HEAD`;
  const sent = `echo "Authorization: Bearer $AGENT_SERVICE_KEY" | curl -sSf -H @- ${baseUrl}/job/${id}/patch | ${applyCommand}`;
  return html`<p role="note">${keptWords[kept]} To get it:</p>
<pre tabindex="0">${kept === "pull-request" ? fetched : sent}</pre>
`;
}

const shellWord = (text: string): string => (/^[\w@:/.~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const keptWords = {
  "pull-request":
    "The work of the last turn has no pull request, and is kept on its branch. The next turn publishes it.",
  push: "The commit of the last turn is kept by the service, and could not be pushed. The next turn publishes it: send a message.",
  unfinished:
    "What the agent changed in the last turn is kept by the service, and not published. The next turn begins in it: send a message.",
} as const;

function renderLog({ view, job, log }: JobPage): Html {
  return html`<section>
<h2>Log <span id="connection" class="quiet"></span></h2>
<p class="quiet"><span id="cut"${!log.isCut && html` hidden`}>Only the end is shown. </span><a href="${view.basePath}/job/${job.id}/log">Full log as text</a></p>
<pre id="log" tabindex="0" role="log" aria-live="off" aria-label="Log" data-position="${log.position}">\n${log.text}</pre>
</section>
`;
}

function renderForm({ view, job, draft }: JobPage, form: string): Html {
  return html`<section>
<h2>Send a message</h2>
${draft && html`<p class="minus" role="alert">${draft.error}</p>\n`}<form class="message" method="post" action="${view.basePath}/job/${job.id}/message">
<input type="hidden" name="form" value="${form}">
<label for="prompt">Message</label>
<textarea id="prompt" name="prompt" rows="4" required aria-describedby="message-hint">\n${draft && fieldValue(draft.text)}</textarea>
<p class="quiet" id="message-hint">The agent gets it as its next prompt, when the turns before it have ended.</p>
<button>Send</button>
</form>
</section>
`;
}
