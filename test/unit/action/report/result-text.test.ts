import { describe, expect, test } from "vitest";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

/** Returns the last annotation of a run in which a create is accepted, with this record, and polls end like this. */
async function lastAnnotation(
  poll: Exchange,
  accepted: Record<string, unknown> = record(),
  inputs: Record<string, string> = {},
): Promise<string> {
  const respond = ({ method }: SeenRequest) => (method === "POST" ? respondWith(201, accepted) : poll);
  const { toolkit } = await runMain({ respond, inputs });
  const { title, text } = toolkit.annotations.at(-1) ?? { title: "", text: "" };
  return `${title}: ${text}`;
}

test.each([403, 410, 301])(
  "a poll that fails permanently after a create (%i): says that the job may still be running, and what a re-run does",
  async (status) => {
    const text = await lastAnnotation(respondWith(status));
    expect(text).toContain("it may still be running");
    expect(text).toContain("A re-run of this workflow run may start another job.");
    expect(text).toContain("run the action with job-id job_1 and no prompt");
    expect(text).not.toMatch(/run (this )?again|started nothing/i);
  },
);

describe("a cancellation", () => {
  test("when the response to the create is terminal: does not say that the job keeps running", async () => {
    const { toolkit, outputs } = await runMain({
      cancelAt: 100,
      respond: () => ({ responseMs: 500, response: { status: 201, body: record({ status: "completed", prLink }) } }),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", status: "completed", "pr-link": prLink });
    expect(toolkit.annotations.at(-1)?.text).toContain("Job job_1 had already reached the status completed.");
  });

  test("when a create is rejected in the meantime: announces no retry", async () => {
    const { toolkit } = await runMain({
      cancelAt: 100,
      respond: () => ({ responseMs: 500, response: { status: 429 } }),
    });
    expect(toolkit.annotations).toMatchObject([{ title: "Cancelled" }]);
    expect(toolkit.lines.join("\n")).not.toMatch(/retrying|not accepted/);
  });
});

test("still warns of an unknown status without waiting", async () => {
  expect(await lastAnnotation({}, record({ status: "queued" }), { wait: "false" })).toContain("Unknown status");
});

test("does not blame the service for a poll that the deadline cut off", async () => {
  const { toolkit, outputs } = await runMain({
    inputs: { "timeout-minutes": "1" },
    respond: ({ method }) =>
      method === "POST" ? respondWith(201, record()) : { responseMs: 1500, response: { status: 200, body: record() } },
  });
  expect(outputs.outcome).toBe("timed-out");
  expect(toolkit.annotations).toMatchObject([
    { title: "Timed out", text: expect.stringContaining("was still running") },
  ]);
});

test("does not mention earlier poll failures in a timeout", async () => {
  let poll = 0;
  const { toolkit } = await runMain({
    inputs: { "timeout-minutes": "1" },
    respond: ({ method }) =>
      method === "POST" ? respondWith(201, record()) : poll++ === 0 ? respondWith(502) : respondWith(200, record()),
  });
  expect(toolkit.annotations.at(-1)?.text).toContain("was still running");
});

test("limits the warnings of recurring failures, so that other annotations fit", async () => {
  let poll = 0;
  const { toolkit } = await runMain({
    respond: ({ method }) => {
      if (method === "POST") return respondWith(201, record());
      if (++poll > 60) return respondWith(200, record({ status: "archived" }));
      return poll % 2 === 0 ? respondWith(200, record()) : respondWith(502);
    },
  });
  expect(toolkit.annotations.filter(({ level }) => level === "warning").length).toBeLessThan(10);
  expect(toolkit.annotations.at(-1)).toMatchObject({ title: "Job archived" });
  expect(toolkit.lines.filter((line) => line === "The service is responding again.")).toHaveLength(30);
});

test("escapes hostile ids, projects, statuses and messages everywhere", async () => {
  const hostile = "x\n::error::y\r##[group]z\u001b[31m";
  const hostileId = "::error::y ##[group]z\u2028\u202e";
  const { toolkit } = await runMain({
    inputs: { "project-id": hostileId, "job-id": hostileId, prompt: "" },
    respond: ({ at }) =>
      at < 20_000 ? respondWith(200, record({ id: hostileId, status: hostile })) : respondWith(401, { error: hostile }),
  });
  const shown = toolkit.events.filter((event) => !event.startsWith("output "));
  expect(shown.length).toBeGreaterThan(5);
  for (const text of shown) {
    expect(text).not.toMatch(/##\[|(?!\n)\p{Cc}|[\u2028\u202e]/u);
    for (const line of text.split("\n")) expect(line.trim()).not.toMatch(/^::/);
  }
});
