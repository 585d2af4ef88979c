import { expect, test } from "vitest";
import { type PullRequestPage, renderPullRequestPage } from "../../../../src/service/pulls/local-page.ts";

const page: PullRequestPage = {
  number: 7,
  title: "Fix the links",
  branch: "agent/job_1",
  targetBranch: "main",
  repositoryName: "https://example.com/docs",
  state: "open",
  turns: [
    { title: "Fix the links", state: "completed" },
    { title: "And of the others", state: "failed" },
  ],
  commits: [
    { commit: "0123456789abcdef", message: "Fix the links\n\nAgent-Turn: 1\n" },
    { commit: "fedcba9876543210", message: "More" },
  ],
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
  isTruncated: false,
};

/** Returns the rendered page after its style sheet. */
const render = (changes: Partial<PullRequestPage> = {}) =>
  renderPullRequestPage({ ...page, ...changes }).replace(/^.*<\/style>\n/s, "");

test("shows a pull request with its turns, commits and changes", () => {
  expect(render()).toBe(`<main>
<p class="quiet">https://example.com/docs</p>
<h1>Fix the links <span class="quiet">#7</span></h1>
<p><span class="state open">Open</span>
The agent wants to merge 2 commits into <code>main</code> from <code>agent/job_1</code></p>
<h2>Turns</h2>
<ol><li>Fix the links</li>
<li>And of the others <span class="minus">Failed</span></li></ol>
<h2>Commits</h2>
<ul><li><code>01234567</code> Fix the links</li>
<li><code>fedcba98</code> More</li></ul>

<h2>1 file changed <span class="plus">+3</span> <span class="minus">−1</span></h2>
<section><h3><code>guide.md</code> <span class="quiet">old mode 100644</span> <span class="quiet">new mode 100755</span></h3><table><tr class="hunk"><td></td><td></td><td>@@ -1,2 +1,2 @@</td></tr>
<tr class="context"><td>1</td><td>1</td><td>  one</td></tr>
<tr class="removed"><td>2</td><td></td><td>- two</td></tr>
<tr class="added"><td></td><td>2</td><td>+ 2</td></tr>
<tr class="added"><td></td><td>3</td><td>+ 3</td></tr>
<tr class="marker"><td></td><td></td><td>\\ No newline at end of file</td></tr>
<tr class="hunk"><td></td><td></td><td>@@ -9 +10 @@</td></tr>
<tr class="added"><td></td><td>10</td><td>+ ten</td></tr></table></section>
</main>
</html>
`);
});

test("names the pull request in its title, and has light and dark colors", () => {
  const html = renderPullRequestPage({ ...page, title: "a < b" });
  expect(html).toContain("<title>a &lt; b · Pull request 7</title>");
  expect(html).toContain("@media (prefers-color-scheme: dark)");
});

test("shows the state, if it is known", () => {
  expect(render({ state: "merged" })).toContain('<span class="state merged">Merged</span>');
  expect(render({ state: "closed" })).toContain('<span class="state closed">Closed</span>');
  expect(render({ state: undefined })).toContain("<p>\nThe agent wants");
});

test("says that a diff is truncated", () => {
  const notice = "<p>This diff is too large to display completely; only the beginning is shown.</p>";
  expect(render()).not.toContain(notice);
  expect(render({ isTruncated: true })).toContain(notice);
});

test("counts one commit, and no file", () => {
  const html = render({ commits: page.commits.slice(0, 1), files: [] });
  expect(html).toContain("merge 1 commit into");
  expect(html).toContain('<h2>0 files changed <span class="plus">+0</span> <span class="minus">−0</span></h2>');
});

test("shows several files below each other", () => {
  const file = { title: "a", extendedHeaders: [], hunks: [] };
  expect(render({ files: [file, { ...file, title: "b" }] })).toContain(
    "<section><h3><code>a</code> </h3><table></table></section>\n<section><h3><code>b</code>",
  );
});

test("escapes all content, and shows control characters that would reorder it", () => {
  const hostile = `<b> & "x" 'y' \u202e\u2066`;
  const escaped =
    '&lt;b&gt; &amp; &quot;x&quot; &#39;y&#39; <span class="quiet">U+202e</span><span class="quiet">U+2066</span>';
  const html = render({
    title: hostile,
    branch: hostile,
    targetBranch: hostile,
    repositoryName: hostile,
    turns: [{ title: hostile, state: "running" }],
    commits: [{ commit: "<commit>", message: hostile }],
    files: [
      {
        title: hostile,
        extendedHeaders: [hostile],
        hunks: [{ header: hostile, lines: [{ kind: "added", text: hostile, after: 1 }] }],
      },
    ],
  });
  expect(html.split(escaped)).toHaveLength(11);
  expect(html).not.toContain("<b>");
  expect(html).toContain("&lt;commit&gt;");
});
