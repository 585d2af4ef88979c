import { expect, test } from "vitest";
import { pollsReturn, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

test("the details have only rows with a value, and no block is empty", async () => {
  const { toolkit } = await runMain({ respond: () => respondWith(401) });
  const [heading, what, next, details, prompt] = toolkit.summary.trimEnd().split("\n\n");
  expect(heading).toContain("❌");
  expect(what).toContain("No job was started");
  expect(next).toContain("What to do next");
  expect(details).toBe(
    "<details><summary>Details</summary>\n<table>\n<tr><td><b>Outcome</b></td><td><code>error</code></td></tr>\n" +
      "<tr><td><b>Project</b></td><td><code>docs</code></td></tr>\n</table>\n</details>",
  );
  expect(prompt).toContain("Update the quickstart");
});

test("says how long a job took, with or without a pull request", async () => {
  const summaryOf = async (fields: Record<string, unknown>) =>
    (await runMain({ respond: pollsReturn(record({ status: "completed", ...fields })) })).toolkit.summary;
  expect(await summaryOf({})).toContain("\n\n<p>Took 5 s</p>\n\n");
  expect(await summaryOf({ prLink })).toContain("</b> · took 5 s</p>\n\n");
});

test.each([
  [2000, false],
  [2001, true],
])("a prompt of %i characters is truncated: %s", async (length, isTruncated) => {
  const { toolkit } = await runMain({ inputs: { prompt: "x".repeat(length) }, respond: () => respondWith(401) });
  expect(toolkit.summary.includes(", truncated)")).toBe(isTruncated);
});

test("names no time if nothing was sent", async () => {
  const { toolkit } = await runMain({ inputs: { "job-id": "job_1" }, cancelAt: 0, respond: () => respondWith(500) });
  expect(toolkit.summary.split("\n\n").slice(0, 2)).toEqual([
    "<h2>⏹️ Cancelled</h2>",
    "<p>The step was cancelled before the service accepted the message. Job <code>job_1</code> did not receive it.</p>",
  ]);
});
