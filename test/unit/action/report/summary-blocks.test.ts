import { expect, test } from "vitest";
import { pollsReturn, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

test("shows each status, when it was first seen and for how long", async () => {
  const polls = ["active", "queued", "active"].map((status) => record({ status }));
  const { toolkit } = await runMain({
    inputs: { "timeout-minutes": "1" },
    respond: pollsReturn(...polls),
  });
  const [, table] = toolkit.summary.split("<h3>Timeline</h3>\n");
  expect(table?.split("\n\n")[0]?.split("\n")).toEqual([
    "<table>",
    '<tr><th align="left">Status</th><th align="left">Seen after</th><th align="left">Lasted</th></tr>',
    "<tr><td><code>active</code></td><td>0 s</td><td>10 s</td></tr>",
    "<tr><td><code>queued</code></td><td>10 s</td><td>5 s</td></tr>",
    "<tr><td><code>active</code></td><td>15 s</td><td>45 s</td></tr>",
    "</table>",
  ]);
});

test.each([
  [20, 0],
  [21, 1],
  [30, 10],
])("a timeline of %i statuses leaves out %i", async (count, more) => {
  const polls = Array.from({ length: count }, (_, index) => record({ status: `s${index}` }));
  let next = 0;
  const { toolkit } = await runMain({ respond: () => respondWith(200, polls[Math.min(next++, count - 1)]) });
  expect(toolkit.summary.match(/<code>s\d+<\/code><\/td><td>\d/g)).toHaveLength(20);
  expect(/<td>and (\d+) more<\/td><td><\/td><td><\/td>/.exec(toolkit.summary)?.[1]).toBe(more ? `${more}` : undefined);
});

test("the details have only rows with a value, and no block is empty", async () => {
  const { toolkit } = await runMain({ respond: () => respondWith(401) });
  const [heading, what, next, details, prompt] = toolkit.summary.trimEnd().split("\n\n");
  expect(heading).toContain("❌");
  expect(what).toContain("No job was started");
  expect(next).toContain("What to do next");
  expect(details).toBe(
    "<table>\n<tr><td><b>Outcome</b></td><td><code>error</code></td></tr>\n" +
      "<tr><td><b>Project</b></td><td><code>docs</code></td></tr>\n</table>",
  );
  expect(prompt).toContain("Update the quickstart");
});

test("says how long a job took, with or without a pull request", async () => {
  const summaryOf = async (fields: Record<string, unknown>) =>
    (await runMain({ respond: pollsReturn(record({ status: "completed", ...fields })) })).toolkit.summary;
  expect(await summaryOf({})).toContain("\n\n<p>took 5 s</p>\n\n");
  expect(await summaryOf({ prLink })).toContain("</b> · took 5 s</p>\n\n");
});

test.each([
  [2000, false],
  [2001, true],
])("a prompt of %i characters is truncated: %s", async (length, isTruncated) => {
  const { toolkit } = await runMain({ inputs: { prompt: "x".repeat(length) }, respond: () => respondWith(401) });
  expect(toolkit.summary.includes(", truncated)")).toBe(isTruncated);
});

test("says how long the job had a status from before the message", async () => {
  const statuses = ["completed", "completed", "active", "failed"];
  const { toolkit } = await runMain({
    inputs: { "job-id": "job_1" },
    respond: (_request, index) => respondWith(200, record({ status: statuses[index] })),
  });
  expect(toolkit.summary.match(/<tr><td><code>(?:completed|active|failed)<\/code>.*<\/tr>/g)).toEqual([
    "<tr><td><code>completed</code></td><td>0 s</td><td>10 s</td></tr>",
    "<tr><td><code>active</code></td><td>10 s</td><td>5 s</td></tr>",
    "<tr><td><code>failed</code></td><td>15 s</td><td>–</td></tr>",
  ]);
});

test("names no time if nothing was sent", async () => {
  const { toolkit } = await runMain({ inputs: { "job-id": "job_1" }, cancelAt: 0, respond: () => respondWith(500) });
  expect(toolkit.summary.split("\n\n").slice(0, 2)).toEqual([
    "<h2>⏹️ Cancelled</h2>",
    "<p>The step was cancelled before the service accepted the message. Job <code>job_1</code> did not receive it.</p>",
  ]);
});
