import type { DiffLine, FileDiff } from "./diff.ts";
import type { PullRequestState } from "./pull-requests.ts";

/**
 * A turn of the pull request's job. The page has neither its whole prompt nor the agent's answer: everyone on the machine
 * can read it, also the agents of other jobs.
 */
export interface PullRequestTurn {
  /** As in the subject of its commit. */
  title: string;
  state: "waiting" | "running" | "completed" | "failed";
}

/** The content of a pull request's page. */
export interface PullRequestPage {
  number: number;
  title: string;
  branch: string;
  targetBranch: string;
  repositoryName: string;
  /** `undefined` if it cannot be read. */
  state: PullRequestState | undefined;
  turns: readonly PullRequestTurn[];
  commits: readonly { commit: string; message: string }[];
  files: readonly FileDiff[];
  /** Whether `files` are only the beginning of the diff. */
  isTruncated: boolean;
}

const states = { open: "Open", closed: "Closed", merged: "Merged" } as const;

/** Renders the page as HTML. All content is escaped, so none of it can become a tag or a link. */
export function renderPullRequestPage(page: PullRequestPage): string {
  const { number, title, branch, targetBranch, repositoryName, state, turns, commits, files, isTruncated } = page;
  const added = countLines(files, "added");
  const removed = countLines(files, "removed");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${html(title)} · Pull request ${number}</title>
<style>${style}</style>
<main>
<p class="quiet">${html(repositoryName)}</p>
<h1>${html(title)} <span class="quiet">#${number}</span></h1>
<p>${state === undefined ? "" : `<span class="state ${state}">${states[state]}</span>`}
The agent wants to merge ${plural(commits.length, "commit")} into <code>${html(targetBranch)}</code> from <code>${html(branch)}</code></p>
<h2>Turns</h2>
<ol>${turns.map(renderTurn).join("\n")}</ol>
<h2>Commits</h2>
<ul>${commits.map(({ commit, message }) => `<li><code>${html(commit.slice(0, 8))}</code> ${html(message.split("\n")[0] ?? "")}</li>`).join("\n")}</ul>
${isTruncated ? "<p>This diff is too large to display completely; only the beginning is shown.</p>" : ""}
<h2>${plural(files.length, "file")} changed <span class="plus">+${added}</span> <span class="minus">−${removed}</span></h2>
${files.map(renderFile).join("\n")}
</main>
</html>
`;
}

function renderTurn({ title, state }: PullRequestTurn): string {
  const note = { waiting: "Waiting", running: "Running", completed: "", failed: "Failed" }[state];
  return `<li>${html(title)}${note === "" ? "" : ` <span class="minus">${note}</span>`}</li>`;
}

function renderFile({ title, extendedHeaders, hunks }: FileDiff): string {
  const rows = hunks.map(
    ({ header, lines }) =>
      `<tr class="hunk"><td></td><td></td><td>${html(header)}</td></tr>\n${lines.map(renderLine).join("\n")}`,
  );
  const headers = extendedHeaders.map((header) => `<span class="quiet">${html(header)}</span>`).join(" ");
  return `<section><h3><code>${html(title)}</code> ${headers}</h3><table>${rows.join("\n")}</table></section>`;
}

const prefixes = { context: " ", added: "+", removed: "-", marker: "\\" } as const;

function renderLine({ kind, text, before, after }: DiffLine): string {
  return `<tr class="${kind}"><td>${before ?? ""}</td><td>${after ?? ""}</td><td>${prefixes[kind]} ${html(text)}</td></tr>`;
}

function countLines(files: readonly FileDiff[], kind: DiffLine["kind"]): number {
  return files.flatMap(({ hunks }) => hunks.flatMap(({ lines }) => lines)).filter((line) => line.kind === kind).length;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for HTML, and shows the control characters that would reorder it. */
function html(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => entities[character] ?? "")
    .replace(
      /[\u202a-\u202e\u2066-\u2069]/g,
      (control) => `<span class="quiet">U+${control.codePointAt(0)?.toString(16)}</span>`,
    );
}

const style = `
:root { color-scheme: light dark; --text: #1f2328; --quiet: #59636e; --line: #d1d9e0; --back: #fff; --soft: #f6f8fa;
  --added: #dafbe1; --removed: #ffebe9; --hunk: #ddf4ff; --plus: #1a7f37; --minus: #d1242f }
@media (prefers-color-scheme: dark) { :root { --text: #f0f6fc; --quiet: #9198a1; --line: #3d444d; --back: #0d1117;
  --soft: #151b23; --added: #12261e; --removed: #25171c; --hunk: #121d2f; --plus: #3fb950; --minus: #f85149 } }
body { margin: 0; background: var(--back); color: var(--text); font: 14px/1.5 system-ui, sans-serif }
main { max-width: 1000px; margin: 0 auto; padding: 24px 16px 64px }
h1 { font-weight: 400; margin: 0 0 8px } h2 { font-size: 16px; margin: 24px 0 8px }
.quiet { color: var(--quiet); font-weight: 400 } .plus { color: var(--plus) } .minus { color: var(--minus) }
.state { display: inline-block; border-radius: 2em; padding: 3px 12px; margin-right: 8px; color: #fff }
.open { background: #1f883d } .merged { background: #8250df } .closed { background: #cf222e }
code, pre, table { font: 12px/20px ui-monospace, monospace }
code { background: var(--soft); border-radius: 6px; padding: 2px 5px }
section { border: 1px solid var(--line); border-radius: 6px; margin: 0 0 16px; overflow: hidden }
h3 { margin: 0; padding: 8px; background: var(--soft); border-bottom: 1px solid var(--line); font-size: 12px }
table { width: 100%; border-collapse: collapse; table-layout: fixed }
td { padding: 0 8px; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere }
td:nth-child(-n+2) { width: 32px; text-align: right; color: var(--quiet); user-select: none }
.added { background: var(--added) } .removed { background: var(--removed) }
.hunk { background: var(--hunk) } .hunk, .marker { color: var(--quiet) }
`;
