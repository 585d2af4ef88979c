import { describe, expect, test } from "vitest";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { answer, prLink, record, runMain } from "../../../support/run-main.ts";

const way = { create: {}, message: { "job-id": "job_1" }, attach: { "job-id": "job_1", prompt: "" } };

/** The last annotation of a run in which POSTs are taken, with this record, and polls go like this. */
async function lastWords(
  kind: keyof typeof way,
  poll: Exchange,
  options: { inputs?: Record<string, string>; taken?: Record<string, unknown>; cancelAt?: number } = {},
): Promise<string> {
  const respond = ({ method }: SeenRequest) => (method === "POST" ? answer(201, options.taken ?? record()) : poll);
  const { toolkit } = await runMain({
    respond,
    inputs: { ...way[kind], ...options.inputs },
    ...(options.cancelAt !== undefined && { cancelAt: options.cancelAt }),
  });
  const { title, text } = toolkit.annotations.at(-1) ?? { title: "", text: "" };
  return `${title}: ${text || toolkit.lines.at(-2)} ${text ? "" : toolkit.lines.at(-1)}`;
}

describe("a poll that is refused", () => {
  test.each([401, 403, 404, 410, 301])(
    "%i after a create: the job may run, and a re-run would start another",
    async (status) => {
      const words = await lastWords("create", answer(status));
      expect(words).toContain("it may still be running");
      expect(words).toContain("A re-run of this workflow run starts another job.");
      expect(words).toContain("run the action with job-id job_1 and no prompt");
      expect(words).not.toMatch(/run (this )?again|started nothing/i);
    },
  );

  test("after a create whose answer had a status nobody knows, too", async () => {
    const words = await lastWords("create", answer(404), { taken: record({ status: "queued" }) });
    expect(words).toContain("it may still be running");
    expect(words).not.toContain("started nothing");
  });

  test("after a message: a re-run would send it again", async () => {
    expect(await lastWords("message", answer(401))).toContain("A re-run of this workflow run sends the message again.");
  });

  test("by job-id alone: this step has started nothing", async () => {
    expect(await lastWords("attach", answer(404))).toMatch(
      /Job job_1 was not found in project docs.*This step started nothing/s,
    );
    expect(await lastWords("attach", answer(401))).toMatch(/started nothing\. The state of job job_1 is unknown/);
  });
});

describe("cancelled", () => {
  test("by job-id alone, before its state was read", async () => {
    const words = await lastWords("attach", answer(500), { cancelAt: 2000 });
    expect(words).toContain("before the state of job job_1 was read. The job may be running.");
  });

  test("before a message was sent", async () => {
    expect(await lastWords("message", {}, { cancelAt: 0 })).toContain("Job job_1 is unchanged.");
  });

  test("when the create's answer shows that the job has ended: nothing is said to go on", async () => {
    const { toolkit, outputs } = await runMain({
      cancelAt: 100,
      respond: () => ({ answerMs: 500, answer: { status: 201, body: record({ status: "completed", prLink }) } }),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", status: "completed", "pr-link": prLink });
    expect(toolkit.annotations.at(-1)?.text).toContain("Job job_1 had already reached the status completed.");
  });

  test("when a create is refused meanwhile: it is not said to be sent again", async () => {
    const { toolkit } = await runMain({ cancelAt: 100, respond: () => ({ answerMs: 500, answer: { status: 429 } }) });
    expect(toolkit.annotations).toMatchObject([{ title: "Cancelled" }]);
    expect(toolkit.lines.join("\n")).not.toMatch(/retrying|not accepted/);
  });
});

describe("not waited for", () => {
  const inputs = { wait: "false" };

  test("says what the step did", async () => {
    expect(await lastWords("create", {}, { inputs })).toContain(
      "The service accepted the work. Job job_1 keeps running",
    );
    expect(await lastWords("attach", answer(200, record()), { inputs })).toContain("Job job_1 is still running.");
  });

  test("a status that nobody knows draws its warning all the same", async () => {
    expect(await lastWords("create", {}, { inputs, taken: record({ status: "queued" }) })).toContain("Unknown status");
  });
});

test("a link that cannot be used is not called a job without changes", async () => {
  const words = await lastWords("create", answer(200, record({ status: "completed", prLink: "javascript:x" })));
  expect(words).toContain("returned an invalid pull request link");
  expect(words).not.toContain("changed nothing");
});

test("a healthy service is not blamed for a poll that the deadline cut off", async () => {
  const { toolkit, outputs } = await runMain({
    inputs: { "timeout-minutes": "1" },
    respond: ({ method }) =>
      method === "POST" ? answer(201, record()) : { answerMs: 1500, answer: { status: 200, body: record() } },
  });
  expect(outputs.outcome).toBe("timed-out");
  expect(toolkit.annotations).toMatchObject([
    { title: "Timed out", text: expect.stringContaining("was still running") },
  ]);
});

test("trouble that is over at the end is not mentioned in the time-out", async () => {
  let poll = 0;
  const { toolkit } = await runMain({
    inputs: { "timeout-minutes": "1" },
    respond: ({ method }) =>
      method === "POST" ? answer(201, record()) : poll++ === 0 ? answer(502) : answer(200, record()),
  });
  expect(toolkit.annotations.at(-1)?.text).toContain("was still running");
});

test("trouble that comes and goes leaves room for other warnings", async () => {
  let poll = 0;
  const { toolkit } = await runMain({
    respond: ({ method }) => {
      if (method === "POST") return answer(201, record());
      if (++poll > 60) return answer(200, record({ status: "archived" }));
      return poll % 2 === 0 ? answer(200, record()) : answer(502);
    },
  });
  expect(toolkit.annotations.filter(({ level }) => level === "warning").length).toBeLessThan(10);
  expect(toolkit.annotations.at(-1)).toMatchObject({ title: "Job archived" });
  expect(toolkit.lines.filter((line) => line === "The service is responding again.")).toHaveLength(30);
});

test("a hostile id, project or status makes no line of its own, and no command", async () => {
  const hostile = "x\n::error::y\r##[group]z\u001b[31m";
  const hostileId = "::error::y ##[group]z\u2028\u202e";
  const { toolkit } = await runMain({
    inputs: { "project-id": hostileId, "job-id": hostileId, prompt: "" },
    respond: ({ at }) =>
      at < 20_000 ? answer(200, record({ id: hostileId, status: hostile })) : answer(401, { error: hostile }),
  });
  const shown = toolkit.events.filter((event) => !event.startsWith("output "));
  expect(shown.length).toBeGreaterThan(5);
  for (const text of shown) {
    expect(text).not.toMatch(/##\[|(?!\n)\p{Cc}|[\u2028\u202e]/u);
    for (const line of text.split("\n")) expect(line.trim()).not.toMatch(/^::/);
  }
});
