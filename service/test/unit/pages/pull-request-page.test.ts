import { expect, test } from "vitest";
import {
  type PullRequestChanges,
  type PullRequestHead,
  renderChanges,
  renderHead,
} from "../../../src/pages/pull-request-page.ts";

const pullRequest: PullRequestHead = {
  view: { basePath: "", zone: "UTC", me: undefined, problems: [] },
  number: 7,
  jobId: "job_1",
  title: "Fix the links",
  branch: "agent/job_1",
  targetBranch: "main",
  repositoryName: "https://example.com/docs",
  state: "open",
};

const changes: PullRequestChanges = {
  commits: [
    { commit: "0123456789abcdef", subject: "Fix the links" },
    { commit: "fedcba9876543210", subject: "More" },
  ],
  hasMoreCommits: false,
  files: [
    {
      title: "guide.md",
      extendedHeaders: ["old mode 100644", "new mode 100755"],
      hunks: [
        {
          header: "@@ -1,2 +1,2 @@",
          lines: [
            { kind: "context", text: "one", before: 1, after: 1 },
            { kind: "removed", text: "two", before: 2 },
            { kind: "added", text: "2", after: 2 },
            { kind: "added", text: "3", after: 3 },
            { kind: "marker", text: "No newline at end of file" },
          ],
        },
        { header: "@@ -9 +10 @@", lines: [{ kind: "added", text: "ten", after: 10 }] },
      ],
    },
  ],
};

/** Returns the rendered head after its style sheet. */
const head = (changed: Partial<PullRequestHead> = {}) =>
  String(renderHead({ ...pullRequest, ...changed })).replace(/^.*<\/style>\n/s, "");

const rest = (changed: Partial<PullRequestChanges> = {}) => [...renderChanges({ ...changes, ...changed })].join("");

test("shows a pull request with its state and branches", () => {
  expect(head()).toBe(`<header><nav><a href="/">Jobs</a> <a href="/settings">My jobs</a> <a href="/costs">Costs</a>
<a href="/settings">Settings</a> <span class="quiet">https://example.com/docs</span></nav>
<form method="post" action="/sign-out"><button class="link">Sign out</button></form></header>
<main>
<h1>Fix the links <span class="quiet">#7</span></h1>
<p><span class="state open">Open</span>
The agent wants to merge <code>agent/job_1</code> into <code>main</code></p>
<p><a href="/job/job_1">Job and log</a></p>
`);
});

test("shows its commits and changes", () => {
  expect(rest()).toBe(`<h2>2 commits</h2>
<ul><li><code>01234567</code> Fix the links</li>
<li><code>fedcba98</code> More</li></ul>
<h2>1 file changed <span class="plus">+3</span> <span class="minus">−1</span></h2>
<details class="file" open><summary><h3><code>guide.md</code> <span class="plus">+3</span> <span class="minus">−1</span> <span class="quiet">old mode 100644</span>
<span class="quiet">new mode 100755</span></h3></summary><table id="file-1"><tr class="hunk"><td></td><td></td><td>@@ -1,2 +1,2 @@</td></tr>
<tr class="context"><td>1</td><td>1</td><td>  one</td></tr>
<tr class="removed"><td>2</td><td></td><td>- two</td></tr>
<tr class="added"><td></td><td>2</td><td>+ 2</td></tr>
<tr class="added"><td></td><td>3</td><td>+ 3</td></tr>
<tr class="marker"><td></td><td></td><td>\\ No newline at end of file</td></tr>
<tr class="hunk"><td></td><td></td><td>@@ -9 +10 @@</td></tr>
<tr class="added"><td></td><td>10</td><td>+ ten</td></tr>
</table></details>
</main>
</html>
`);
});

test("shows all lines of a long hunk, in parts of at most 500 lines", () => {
  const lines = Array.from({ length: 1001 }, (_, index) => ({ kind: "added" as const, text: `line ${index}.` }));
  const file = { title: "a", extendedHeaders: [], hunks: [{ header: "@@", lines }] };
  const parts = [...renderChanges({ ...changes, files: [file] })].map(String);
  expect(Math.max(...parts.map((part) => part.split("<tr").length - 1))).toBe(500);
  expect(parts.join("").match(/line \d+\./g)).toEqual(lines.map(({ text }) => text));
});

test("names the pull request in its title, and has light and dark colors", () => {
  const html = String(renderHead({ ...pullRequest, title: "a < b" }));
  expect(html).toContain("<title>a &lt; b · Pull request 7</title>");
  expect(html).toContain("@media (prefers-color-scheme: dark)");
});

test("shows the state, if it is known", () => {
  expect(head({ state: "merged" })).toContain('<span class="state merged">Merged</span>');
  expect(head({ state: "closed" })).toContain('<span class="state closed">Closed</span>');
  expect(head({ state: undefined })).toContain("<p>\nThe agent wants");
});

test("says that a diff is truncated", () => {
  const notice =
    '<p role="note">This diff is too large to display completely: it has more than 500 kB. Only the beginning is shown.</p>';
  expect(rest()).not.toContain(notice);
  const cut = rest({ truncated: "it has more than 500 kB", leftOut: ["b.md", "<b>.md"] });
  expect(cut).toContain(notice);
  expect(cut).toContain("<h2>3 files changed ");
  expect(cut).toContain("<summary>2 files left out</summary>");
  expect(cut).toContain("<li><code>&lt;b&gt;.md</code></li>");
});

test("lists many files, and shows their lines after a click", () => {
  const [file] = changes.files;
  if (file === undefined) throw new Error("there is no file");
  const files = Array.from({ length: 300 }, (_, index) => ({ ...file, title: `page-${index}.md` }));
  const html = rest({ files });
  expect(html).toContain('<li><a href="#file-300">page-299.md</a> <span class="plus">+3</span>');
  expect(html.match(/<details class="file">/g)).toHaveLength(300);
  expect(html).toContain('<table id="file-300">');
  expect(rest({ files: files.slice(0, 2) }).match(/<details class="file" open>/g)).toHaveLength(2);
  const long = { ...file, hunks: [{ header: "@@", lines: Array(401).fill({ kind: "added", text: "x" }) }] };
  expect(rest({ files: [long] })).toContain('<details class="file"><summary>');
});

test("counts one commit, and no file", () => {
  const html = rest({ commits: changes.commits.slice(0, 1), files: [] });
  expect(html).toContain("<h2>1 commit</h2>");
  expect(html).toContain('<h2>0 files changed <span class="plus">+0</span> <span class="minus">−0</span></h2>');
});

test("shows several files below each other", () => {
  const file = { title: "a", extendedHeaders: [], hunks: [] };
  expect(rest({ files: [file, { ...file, title: "b" }] })).toContain(
    '</h3></summary><table id="file-1"></table></details>\n<details class="file" open><summary><h3><code>b</code>',
  );
});

test("escapes all content, and shows control characters that would reorder it", () => {
  const hostile = `<b> & "x" 'y' \u202e\u2066`;
  const escaped = "&lt;b&gt; &amp; &quot;x&quot; &#39;y&#39; [U+202e][U+2066]";
  const html = [
    renderHead({ ...pullRequest, title: hostile, branch: hostile, targetBranch: hostile, repositoryName: hostile }),
    rest({
      commits: [{ commit: "<commit>", subject: hostile }],
      files: [
        {
          title: hostile,
          extendedHeaders: [hostile],
          hunks: [{ header: hostile, lines: [{ kind: "added", text: hostile, after: 1 }] }],
        },
      ],
    }),
  ].join("");
  expect(html.split(escaped)).toHaveLength(11);
  expect(html).not.toContain("<b>");
  expect(html).toContain("&lt;commit&gt;");
});
