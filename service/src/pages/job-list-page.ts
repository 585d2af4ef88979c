import type { JobStatus, ListedJob } from "../model.ts";
import { renderAsker, type TurnAsker } from "./asker.ts";
import { fieldValue, type Html, html } from "./html.ts";
import type { JobDetail } from "./job-detail.ts";
import { pageEnd, pageHeader, pageStart } from "./layout.ts";
import { pullRequestLink } from "./pull-request-link.ts";
import type { View } from "./view.ts";
import { plural, spentWords, time } from "./words.ts";

/** Which jobs are shown, as the address of the page says. Default: all. */
export interface JobFilter {
  /** Words of prompts and of reasons. */
  q?: string | undefined;
  project?: string | undefined;
  state?: JobStatus | undefined;
  asker?: string | undefined;
  /** The first and the last day, as `2026-11-27`. */
  from?: string | undefined;
  to?: string | undefined;
}

export interface JobListPage {
  view: View;
  /** `undefined` if the jobs have several repositories. */
  repositoryName: string | undefined;
  /** All projects that the reader may see, and those who asked for jobs of these. */
  projects: readonly string[];
  askers: readonly string[];
  filter: JobFilter;
  jobs: readonly (ListedJob & TurnAsker & { title: string; detail: JobDetail })[];
  isFirst: boolean;
  /** Where the next page begins; `undefined` on the last one. */
  next: string | undefined;
}

export const statusNames: Readonly<Record<JobStatus, string>> = {
  active: "Active",
  completed: "Completed",
  failed: "Failed",
  archived: "Archived",
};

/** Returns the status of a job as it is shown. */
export const statusOf = ({ state, archivedAt }: Pick<ListedJob, "state" | "archivedAt">): JobStatus =>
  archivedAt === null ? state : "archived";

/** Renders the status of a job. */
export const renderStatus = (status: JobStatus, { state }: JobDetail = {}): Html =>
  html`<span class="state ${state ?? status}">${state === undefined ? statusNames[status] : detailNames[state]}</span>`;

const detailNames = { waiting: "Waiting", stopped: "Stopped" } as const;

/** Without a script, a browser loads the page again while it shows jobs that are not at their end. */
const reload = html`<meta http-equiv="refresh" content="30">
`;

/** Renders a page of the list of jobs. */
export function renderJobList(page: JobListPage): Html {
  const { view, repositoryName, jobs, isFirst, filter } = page;
  const isFiltered = !isFirst || Object.values(filter).some((value) => value !== undefined);
  const empty = html`<p>${isFiltered ? "There are no such jobs." : "There are no jobs yet."}</p>`;
  const hasActive = jobs.some((job) => statusOf(job) === "active");
  return html`${pageStart("Jobs", isFirst && hasActive ? reload : undefined)}${pageHeader(view, repositoryName)}<main>
<h1>Jobs</h1>
${renderFilter(page)}
${jobs.length === 0 ? empty : html`<ol class="jobs">${jobs.map((job) => renderJob(job, view))}</ol>`}
${renderPaging(page)}${pageEnd}`;
}

function renderFilter({ view, projects, askers, filter }: JobListPage): Html {
  const { q = "", project, state, asker, from = "", to = "" } = filter;
  const select = (
    label: string,
    name: string,
    chosen: string | undefined,
    choices: readonly (readonly [string, string])[],
  ) =>
    html`<label>${label} <select name="${name}"><option value="">All</option>
${choices.map(([value, text]) => html`<option value="${fieldValue(value)}"${value === chosen && html` selected`}>${text}</option>`)}</select></label>
`;
  const same = (names: readonly string[]) => names.map((name) => [name, name] as const);
  const known = asker === undefined || askers.includes(asker) ? askers : [asker, ...askers];
  return html`<form class="filter" role="search" action="${view.basePath}/">
<label class="search">Search <input type="search" name="q" value="${fieldValue(q)}" maxlength="200"></label>
${projects.length > 1 && select("Project", "project", project, same(projects))}${select("State", "state", state, Object.entries(statusNames))}${
  known.length > 0 && select("Asked by", "asker", asker, same(known))
}<label>From <input type="date" name="from" value="${from}"></label>
<label>To <input type="date" name="to" value="${to}"></label>
<button class="plain">Show</button>
</form>`;
}

function renderJob(job: JobListPage["jobs"][number], { basePath, zone }: View): Html {
  const link = pullRequestLink(job, basePath);
  const asker = renderAsker(job, basePath);
  const spent = spentWords(job);
  const isToReview = statusOf(job) === "completed";
  return html`<li><a class="title" href="${basePath}/job/${job.id}">${job.title}</a>
<p class="quiet">${renderStatus(statusOf(job), job.detail)} ${asker && html`${asker} · `}${job.project} · ${time(job.createdAt, zone)} · <span class="words">${plural(job.turns, "turn")}</span>${
    spent && html` · ${spent}`
  }${
    link && html` · <a href="${link.href}">${link.text}</a>${isToReview && " waits for a review"}`
  }</p>${job.detail.reason !== undefined && html`\n<p class="quiet">${job.detail.reason}</p>`}</li>`;
}

function renderPaging({ view, filter, isFirst, next }: JobListPage): Html | undefined {
  if (isFirst && next === undefined) return undefined;
  const given = Object.entries(filter).filter((field): field is [string, string] => field[1] !== undefined);
  const address = (before?: string) =>
    `${view.basePath}/?${new URLSearchParams(before === undefined ? given : [...given, ["before", before]])}`;
  return html`<nav class="paging" aria-label="Pages">
${!isFirst && html`<a href="${address()}">Newest jobs</a>`}
${next !== undefined && html`<a href="${address(next)}" rel="next">Older jobs</a>`}
</nav>
`;
}
