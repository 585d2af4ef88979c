import type { PullRequestState } from "../pulls/pull-requests.ts";
import type { DiffLine, FileDiff } from "./diff.ts";
import { type Html, html } from "./html.ts";
import { pageEnd, pageHeader, pageStart } from "./layout.ts";
import type { View } from "./view.ts";
import { plural } from "./words.ts";

/** The beginning of a pull request's page, which changes with its job. */
export interface PullRequestHead {
  view: View;
  number: number;
  jobId: string;
  title: string;
  branch: string;
  targetBranch: string;
  repositoryName: string;
  /** `undefined` if it cannot be read. */
  state: PullRequestState | undefined;
}

/** What a pull request changes. */
export interface PullRequestChanges {
  /** The newest commits, oldest first. */
  commits: readonly { commit: string; subject: string }[];
  /** Whether there are more commits. */
  hasMoreCommits: boolean;
  files: readonly FileDiff[];
  /** Why `files` are only the beginning of the diff; `undefined` if they are all of it. */
  truncated?: string | undefined;
  /** The paths of the files that are not among `files`. Default: none. */
  leftOut?: readonly string[];
  /** Files that run code or instruct agents. Default: none. */
  protectedFiles?: readonly string[];
}

const states = { open: "Open", closed: "Closed", merged: "Merged" } as const;

/** Renders the beginning of the page. */
export function renderHead(pullRequest: PullRequestHead): Html {
  const { view, number, jobId, title, branch, targetBranch, repositoryName, state } = pullRequest;
  return html`${pageStart(`${title} · Pull request ${number}`)}${pageHeader(view, repositoryName)}<main>
<h1>${title} <span class="quiet">#${number}</span></h1>
<p>${state !== undefined && html`<span class="state ${state}">${states[state]}</span>`}
The agent wants to merge <code>${branch}</code> into <code>${targetBranch}</code></p>
<p><a href="${view.basePath}/job/${jobId}">Job and log</a></p>
`;
}

/** How many lines of a diff are rendered at once. */
const linesPerPart = 500;
/** With more files, and in files with more lines, the lines are shown after a click. */
const maxOpenFiles = 20;
const maxOpenLines = 400;
/** How many files are named that are not shown. */
const maxNamed = 1000;

/** Renders the rest of the page, part by part. */
export function* renderChanges(changes: PullRequestChanges): Generator<Html> {
  const { commits, hasMoreCommits, files, truncated, leftOut = [], protectedFiles = [] } = changes;
  yield html`${
    protectedFiles.length > 0 &&
    html`<p role="note"><strong>This changes files that run code, instruct agents or should have passed a Git filter. Review them first:</strong></p>
<ul>${protectedFiles.map((file) => html`<li><code>${file}</code></li>`)}</ul>
`
  }<h2>${hasMoreCommits ? `Last ${commits.length} commits` : plural(commits.length, "commit")}</h2>
<ul>${commits.map(({ commit, subject }) => html`<li><code>${commit.slice(0, 8)}</code> ${subject}</li>`)}</ul>
<h2>${plural(files.length + leftOut.length, "file")} changed ${counts(files)}</h2>
`;
  if (truncated !== undefined) yield renderLeftOut(truncated, leftOut);
  if (files.length > 1)
    yield html`<details class="files"${files.length <= maxOpenFiles && html` open`}><summary>Files</summary><ol>${files.map(
      (file, index) => html`<li><a href="#file-${index + 1}">${file.title}</a> ${counts([file])}</li>`,
    )}</ol></details>\n`;
  for (const [index, file] of files.entries()) {
    const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
    yield* renderFile(file, index + 1, files.length <= maxOpenFiles && lines <= maxOpenLines);
  }
  yield pageEnd;
}

function renderLeftOut(why: string, files: readonly string[]): Html {
  const names = files.slice(0, maxNamed).map((file) => html`<li><code>${file}</code></li>`);
  const rest = files.length > maxNamed && html`<li>and ${files.length - maxNamed} more</li>`;
  const list = html`<details><summary>${plural(files.length, "file")} left out</summary><ul>${names}${rest}</ul></details>`;
  return html`<p role="note">This diff is too large to display completely: ${why}. Only the beginning is shown.</p>${files.length > 0 && list}\n`;
}

const counts = (files: readonly FileDiff[]): Html =>
  html`<span class="plus">+${countLines(files, "added")}</span> <span class="minus">−${countLines(files, "removed")}</span>`;

/** A browser opens what is folded around the target of a link. */
function* renderFile(file: FileDiff, number: number, isOpen: boolean): Generator<Html> {
  const { title, extendedHeaders, hunks } = file;
  const headers = extendedHeaders.map((header) => html`<span class="quiet">${header}</span>`);
  yield html`<details class="file"${isOpen && html` open`}><summary><h3><code>${title}</code> ${counts([file])} ${headers}</h3></summary><table id="file-${number}">`;
  for (const { header, lines } of hunks) {
    yield html`<tr class="hunk"><td></td><td></td><td>${header}</td></tr>\n`;
    for (let line = 0; line < lines.length; line += linesPerPart)
      yield html`${lines.slice(line, line + linesPerPart).map(renderLine)}\n`;
  }
  yield html`</table></details>\n`;
}

const prefixes = { context: " ", added: "+", removed: "-", marker: "\\" } as const;

function renderLine({ kind, text, before, after }: DiffLine): Html {
  return html`<tr class="${kind}"><td>${before}</td><td>${after}</td><td>${prefixes[kind]} ${text}</td></tr>`;
}

function countLines(files: readonly FileDiff[], kind: DiffLine["kind"]): number {
  let count = 0;
  for (const { hunks } of files)
    for (const { lines } of hunks) for (const line of lines) if (line.kind === kind) count++;
  return count;
}
