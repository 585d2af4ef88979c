import type { PullRequestState } from "../pulls/pull-requests.ts";
import type { DiffLine, FileDiff } from "./diff.ts";
import { html, pageHeader, pageStart } from "./html.ts";

/** The beginning of a pull request's page, which changes with its job. */
export interface PullRequestHead {
  number: number;
  jobId: string;
  title: string;
  branch: string;
  targetBranch: string;
  repositoryName: string;
  /** `undefined` if it cannot be read. */
  state: PullRequestState | undefined;
}

/** A turn of the pull request's job. */
export interface PullRequestTurn {
  /** As in the subject of its commit. */
  title: string;
  state: "waiting" | "running" | "completed" | "failed";
  prompt: Excerpt;
  /** What the agent said last; `null` if that is unknown. */
  answer: Excerpt | null;
}

/** The beginning of a text. */
export interface Excerpt {
  text: string;
  /** Whether there is more of it. */
  isCut: boolean;
}

/** What a pull request changes. */
export interface PullRequestChanges {
  /** The newest commits, oldest first. */
  commits: readonly { commit: string; subject: string }[];
  /** Whether there are more commits. */
  hasMoreCommits: boolean;
  files: readonly FileDiff[];
  /** Whether `files` are only the beginning of the diff. */
  isTruncated: boolean;
}

const states = { open: "Open", closed: "Closed", merged: "Merged" } as const;

/** Renders the beginning of the page as HTML. Here and below, all content is escaped, so none of it can become a tag or a link. */
export function renderHead(pullRequest: PullRequestHead): string {
  const { number, jobId, title, branch, targetBranch, repositoryName, state } = pullRequest;
  return `${pageStart(`${title} · Pull request ${number}`)}${pageHeader(repositoryName)}<main>
<h1>${html(title)} <span class="quiet">#${number}</span></h1>
<p>${state === undefined ? "" : `<span class="state ${state}">${states[state]}</span>`}
The agent wants to merge <code>${html(branch)}</code> into <code>${html(targetBranch)}</code></p>
<p><a href="/job/${html(jobId)}/log">Log</a></p>
`;
}

/**
 * Renders the turns of the job, which follow the head.
 *
 * @param turns - the newest ones, oldest first
 * @param count - how many turns the job has
 */
export function renderTurns(turns: readonly string[], count: number): string {
  const first = count - turns.length + 1;
  const notice = first === 1 ? "" : `<p class="quiet">Only the last ${turns.length} of ${count} turns are shown.</p>\n`;
  return `<h2>Turns</h2>\n${notice}<ol start="${first}">${turns.join("\n")}</ol>\n`;
}

export function renderTurn({ title, state, prompt, answer }: PullRequestTurn): string {
  const note = { waiting: "Waiting", running: "Running", completed: "", failed: "Failed" }[state];
  const said = answer === null ? "" : `\nLast message of the agent${renderExcerpt(answer)}`;
  return `<li><details><summary>${html(title)}${note === "" ? "" : ` <span class="minus">${note}</span>`}</summary>
Prompt${renderExcerpt(prompt)}${said}</details></li>`;
}

function renderExcerpt({ text, isCut }: Excerpt): string {
  // A parser drops a line break at the start of `pre`.
  return `${isCut ? ' <span class="quiet">(only the beginning)</span>' : ""}\n<pre>\n${html(text)}</pre>`;
}

/** How many lines of a diff are rendered at once. */
const linesPerPart = 500;

/** Renders the rest of the page, part by part. */
export function* renderChanges({ commits, hasMoreCommits, files, isTruncated }: PullRequestChanges): Generator<string> {
  yield `<h2>${hasMoreCommits ? `Last ${commits.length} commits` : plural(commits.length, "commit")}</h2>
<ul>${commits.map(({ commit, subject }) => `<li><code>${html(commit.slice(0, 8))}</code> ${html(subject)}</li>`).join("\n")}</ul>
${isTruncated ? "<p>This diff is too large to display completely; only the beginning is shown.</p>" : ""}
<h2>${plural(files.length, "file")} changed <span class="plus">+${countLines(files, "added")}</span> <span class="minus">−${countLines(files, "removed")}</span></h2>
`;
  for (const file of files) yield* renderFile(file);
  yield "</main>\n</html>\n";
}

function* renderFile({ title, extendedHeaders, hunks }: FileDiff): Generator<string> {
  const headers = extendedHeaders.map((header) => `<span class="quiet">${html(header)}</span>`).join(" ");
  yield `<section><h3><code>${html(title)}</code> ${headers}</h3><table>`;
  for (const { header, lines } of hunks) {
    yield `<tr class="hunk"><td></td><td></td><td>${html(header)}</td></tr>\n`;
    for (let line = 0; line < lines.length; line += linesPerPart)
      yield lines
        .slice(line, line + linesPerPart)
        .map(renderLine)
        .join("");
  }
  yield "</table></section>\n";
}

const prefixes = { context: " ", added: "+", removed: "-", marker: "\\" } as const;

function renderLine({ kind, text, before, after }: DiffLine): string {
  return `<tr class="${kind}"><td>${before ?? ""}</td><td>${after ?? ""}</td><td>${prefixes[kind]} ${html(text)}</td></tr>\n`;
}

function countLines(files: readonly FileDiff[], kind: DiffLine["kind"]): number {
  let count = 0;
  for (const { hunks } of files)
    for (const { lines } of hunks) for (const line of lines) if (line.kind === kind) count++;
  return count;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
