import { expect, test } from "vitest";
import { pollsReturn, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

async function summaryOf(...args: Parameters<typeof runMain>): Promise<string> {
  return (await runMain(...args)).toolkit.summary;
}

test("shows the outcome, the link, the details and the prompt of a job that succeeds", async () => {
  const summary = await summaryOf({ respond: pollsReturn(record(), record({ status: "completed", prLink })) });
  expect(summary).toContain("<h2>✅ Pull request created</h2>");
  expect(summary).toContain(`<b><a href="${prLink}">Pull request 7</a></b>`);
  expect(summary).toContain("<tr><td><b>Repository</b></td><td><code>https://github.com/acme/docs</code></td></tr>");
  expect(summary).toContain("<summary>Prompt (21 characters)</summary>");
  expect(summary).not.toContain("What to do next");
});

test("shows what to do next after a failure", async () => {
  const failed = await summaryOf({ respond: pollsReturn(record({ status: "failed" })) });
  expect(failed).toContain("<h2>❌ Job failed</h2>");
  expect(failed).toContain("<b>What to do next:</b> See the dashboard");
  const rejected = await summaryOf({ respond: () => respondWith(401, { error: "Expired" }) });
  expect(rejected).toContain("Create an admin key");
});

test("lists invalid inputs, without the key", async () => {
  const summary = await summaryOf({ inputs: { "api-key": "x y", wait: "x" }, respond: () => respondWith(500) });
  expect(summary).toContain("<li>wait must be true or false, not <code>x</code>.</li>");
  expect(summary).not.toContain("x y");
});

test("truncates a long prompt, and says so", async () => {
  const prompt = "😀".repeat(3000);
  const summary = await summaryOf({ inputs: { prompt }, respond: pollsReturn(record({ status: "completed" })) });
  expect(summary).toContain("<summary>Prompt (3,000 characters, truncated)</summary>");
  expect(summary.length).toBeLessThan(5000);
  expect(summary).toContain("😀…</code>");
});

test("escapes untrusted text: as code, on one line", async () => {
  const hostile = "</code></td>\n\n# @acme/team <img src=x onerror=alert(1)> ![x](http://x) | #1 ```";
  const summary = await summaryOf({
    inputs: { prompt: hostile, "project-id": hostile },
    respond: pollsReturn(
      record({
        model: hostile,
        source: { repository: hostile, ref: hostile },
        status: "completed",
        prLink: "https://x.example/'><img>",
      }),
    ),
  });
  const ownWords = summary.replaceAll(/<code>[^<]*<\/code>/g, "");
  for (const trace of ["@acme", "<img", "![x]", "```", "onerror"]) expect(ownWords).not.toContain(trace);
  // A blank line would end the HTML block, and the rest would be rendered as Markdown.
  for (const block of summary.split("\n\n")) expect(block.trim()).toMatch(/^<(h2|h3|p|ul|table|details)/);
});

test("limits long fields", async () => {
  let poll = 0;
  const summary = await summaryOf({
    inputs: { "timeout-minutes": "30" },
    respond: ({ method }) =>
      method === "POST"
        ? respondWith(201, record())
        : respondWith(200, record({ status: `s${poll++}`.repeat(1000), model: "m".repeat(100_000) })),
  });
  expect(summary.length).toBeLessThan(20_000);
});
