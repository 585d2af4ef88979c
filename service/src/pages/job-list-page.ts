import type { JobStatus, ListedJob } from "../model.ts";
import { fieldValue, type Html, html } from "./html.ts";
import type { JobDetail } from "./job-detail.ts";
import { pageEnd, pageHeader, pageStart } from "./layout.ts";
import { pullRequestLink } from "./pull-request-link.ts";
import { plural, time } from "./words.ts";

/** A page of the list of jobs. */
export interface JobListPage {
  /** See `basePathOf`. */
  basePath: string;
  /** `undefined` if the jobs have several repositories. */
  repositoryName: string | undefined;
  /** All projects that the reader may see. */
  projects: readonly string[];
  /** The filter. Default: all projects. */
  project: string | undefined;
  status: JobStatus | undefined;
  jobs: readonly (ListedJob & { title: string; detail: JobDetail })[];
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
  const { basePath, repositoryName, jobs, isFirst, project, status } = page;
  const isFiltered = project !== undefined || status !== undefined || !isFirst;
  const empty = html`<p>${isFiltered ? "There are no such jobs." : "There are no jobs yet."}</p>`;
  const hasActive = jobs.some((job) => statusOf(job) === "active");
  return html`${pageStart("Jobs", isFirst && hasActive ? reload : undefined)}${pageHeader(basePath, repositoryName)}<main>
<h1>Jobs</h1>
${renderFilter(page)}
${jobs.length === 0 ? empty : html`<ol class="jobs">${jobs.map((job) => renderJob(job, basePath))}</ol>`}
${renderPaging(page)}${pageEnd}`;
}

function renderFilter({ basePath, projects, project, status }: JobListPage): Html {
  const choice = (value: string, name: string, chosen: string | undefined) =>
    html`<option value="${fieldValue(value)}"${value === chosen && html` selected`}>${name}</option>`;
  const ofProjects = html`<label>Project <select name="project"><option value="">All</option>
${projects.map((name) => choice(name, name, project))}</select></label>
`;
  return html`<form class="filter" action="${basePath}/">
${projects.length > 1 && ofProjects}<label>State <select name="state"><option value="">All</option>
${Object.entries(statusNames).map(([value, name]) => choice(value, name, status))}</select></label>
<button class="plain">Show</button>
</form>`;
}

function renderJob(job: JobListPage["jobs"][number], basePath: string): Html {
  const link = pullRequestLink(job, basePath);
  return html`<li><a class="title" href="${basePath}/job/${job.id}">${job.title}</a>
<p class="quiet">${renderStatus(statusOf(job), job.detail)} ${job.project} · ${time(job.createdAt)} · <span class="words">${plural(job.turns, "turn")}</span>${
    link && html` · <a href="${link.href}">${link.text}</a>`
  }</p>${job.detail.reason !== undefined && html`\n<p class="quiet">${job.detail.reason}</p>`}</li>`;
}

function renderPaging({ basePath, project, status, isFirst, next }: JobListPage): Html | undefined {
  if (isFirst && next === undefined) return undefined;
  const address = (before?: string) => {
    const fields = { ...(project && { project }), ...(status && { state: status }), ...(before && { before }) };
    return `${basePath}/?${new URLSearchParams(fields)}`;
  };
  return html`<nav class="paging" aria-label="Pages">
${!isFirst && html`<a href="${address()}">Newest jobs</a>`}
${next !== undefined && html`<a href="${address(next)}" rel="next">Older jobs</a>`}
</nav>
`;
}
