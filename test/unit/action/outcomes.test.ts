import { describe, expect, test } from "vitest";
import { outputNames } from "../../support/metadata.ts";
import { pollsReturn, prLink, record, respondWith, runMain } from "../../support/run-main.ts";

const completed = record({ status: "completed", prLink });

describe("a finished job", () => {
  test.each([
    { name: "completed with a pull request", last: completed, outcome: "pr-created", passes: true },
    { name: "completed without one", last: record({ status: "completed" }), outcome: "no-changes", passes: true },
    { name: "failed", last: record({ status: "failed" }), outcome: "failed", passes: false },
    { name: "archived", last: record({ status: "archived" }), outcome: "archived", passes: true },
  ])("$name: outcome $outcome", async ({ last, outcome, passes }) => {
    const { outputs, hasPassed } = await runMain({ respond: pollsReturn(record(), last) });
    expect(outputs).toMatchObject({ "job-id": "job_1", outcome, status: last.status });
    expect(hasPassed).toBe(passes);
  });

  test.each([
    ["failed", "failed", false],
    ["failed", "timed-out", true],
    ["failed", "none", true],
    ["archived", "archived", false],
    ["archived", "failed, archived", false],
    ["no-changes", "no-changes", false],
    ["no-changes", "none", true],
  ])("outcome %s with fail-on: %s passes: %s", async (outcome, failOn, passes) => {
    const last = outcome === "no-changes" ? record({ status: "completed" }) : record({ status: outcome });
    const run = await runMain({ inputs: { "fail-on": failOn }, respond: pollsReturn(last) });
    expect(run.outputs.outcome).toBe(outcome);
    expect(run.hasPassed).toBe(passes);
  });

  test("annotates by outcome: a notice for no-changes, a warning for archived, an error for failed, nothing for pr-created", async () => {
    const levels = async (last: Record<string, unknown>) =>
      (await runMain({ respond: pollsReturn(last) })).toolkit.annotations.map(({ level }) => level);
    expect(await levels(record({ status: "completed" }))).toEqual(["notice"]);
    expect(await levels(record({ status: "archived" }))).toEqual(["warning"]);
    expect(await levels(record({ status: "failed" }))).toEqual(["error"]);
    expect(await levels(completed)).toEqual([]);
  });

  test("leaves a warning if a failed job passes", async () => {
    const run = await runMain({ inputs: { "fail-on": "none" }, respond: pollsReturn(record({ status: "failed" })) });
    expect(run.toolkit.annotations).toMatchObject([{ level: "warning", title: "Job failed" }]);
  });

  test("is not polled if the response to the create is already terminal", async () => {
    const { outputs, requests } = await runMain({ respond: () => respondWith(201, completed) });
    expect(outputs).toMatchObject({ outcome: "pr-created", "pr-link": prLink });
    expect(requests).toHaveLength(1);
  });
});

describe("outputs", () => {
  test("are all set from the record", async () => {
    const last = record({ status: "archived", prLink, archivedAt: "2026-01-02T00:00:00Z" });
    const { outputs } = await runMain({ respond: pollsReturn(last) });
    expect(outputs).toEqual({
      "job-id": "job_1",
      status: "archived",
      "pr-link": prLink,
      "pr-number": "7",
      outcome: "archived",
      "skip-reason": "",
      model: "model-1",
      repository: "https://github.com/acme/docs",
      ref: "agent/1",
      "created-at": "2026-01-01T00:00:00Z",
      "archived-at": "2026-01-02T00:00:00Z",
      "duration-seconds": "5",
    });
    expect(Object.keys(outputs).sort()).toEqual(outputNames().sort());
  });

  test("are all set if the inputs are invalid, but empty except the outcome", async () => {
    const { outputs, requests, hasPassed } = await runMain({
      inputs: { "api-key": "" },
      respond: () => respondWith(201),
    });
    expect(Object.keys(outputs).sort()).toEqual(outputNames().sort());
    expect(Object.entries(outputs).filter(([, value]) => value !== "")).toEqual([["outcome", "error"]]);
    expect(requests).toEqual([]);
    expect(hasPassed).toBe(false);
  });

  test("are empty for fields that a record leaves out", async () => {
    const { outputs } = await runMain({
      respond: ({ method }) => respondWith(200, { id: "job_1", status: method === "POST" ? "active" : "completed" }),
    });
    expect(outputs).toMatchObject({
      "job-id": "job_1",
      status: "completed",
      outcome: "no-changes",
      model: "",
      ref: "",
    });
  });

  test("are empty for fields of the wrong type", async () => {
    const odd = {
      id: "job_1",
      status: "completed",
      source: "x",
      model: 3,
      prLink: ["x"],
      createdAt: {},
      archivedAt: 0,
    };
    const { outputs } = await runMain({ respond: () => respondWith(201, odd) });
    expect(outputs).toMatchObject({
      outcome: "no-changes",
      model: "",
      repository: "",
      "pr-link": "",
      "created-at": "",
    });
  });

  test("contain the job id before the first poll", async () => {
    const { toolkit } = await runMain({ respond: pollsReturn(completed) });
    const id = toolkit.events.indexOf("output job-id=job_1");
    const firstPoll = toolkit.events.findIndex((event) => event.startsWith("group Waiting"));
    expect(id).toBeGreaterThan(0);
    expect(id).toBeLessThan(firstPoll);
  });

  test.each([
    "javascript:alert(1)",
    "https://user:secret@example.com/pull/7",
    "/pull/7",
    "ftp://example.com/pull/7",
    "https://a b/pull/7",
  ])("leave out the prLink %s, with one warning", async (link) => {
    const { outputs, toolkit } = await runMain({
      respond: pollsReturn(record({ prLink: link }), record({ status: "completed", prLink: link })),
    });
    expect(outputs).toMatchObject({ outcome: "no-changes", "pr-link": "", "pr-number": "" });
    expect(toolkit.annotations.filter(({ level }) => level === "warning")).toMatchObject([
      { title: "Invalid pull request link" },
    ]);
  });
});

describe("wait: false", () => {
  const inputs = { wait: "false" };

  test("ends with started after one request if the job is active", async () => {
    const { outputs, requests, hasPassed } = await runMain({ inputs, respond: pollsReturn(completed) });
    expect(outputs).toMatchObject({ outcome: "started", status: "active", "job-id": "job_1" });
    expect(requests).toHaveLength(1);
    expect(hasPassed).toBe(true);
  });

  test("ends with the outcome of a job that is already terminal", async () => {
    const { outputs } = await runMain({ inputs, respond: () => respondWith(201, record({ status: "failed" })) });
    expect(outputs.outcome).toBe("failed");
  });

  test("ends with started after a message, whatever status the record has", async () => {
    const { outputs, requests } = await runMain({
      inputs: { ...inputs, "job-id": "job_1" },
      respond: () => respondWith(200, completed),
    });
    expect(outputs).toMatchObject({ outcome: "started", status: "completed" });
    expect(requests).toMatchObject([{ method: "POST", path: "/v2/agent/docs/job/job_1/message" }]);
  });

  test("polls a job-id once, and ends with the outcome of its state", async () => {
    const attach = (poll: Record<string, unknown>) =>
      runMain({ inputs: { ...inputs, prompt: "", "job-id": "job_1" }, respond: () => respondWith(200, poll) });
    const active = await attach(record());
    expect(active.outputs.outcome).toBe("started");
    expect(active.requests).toMatchObject([{ at: 0, method: "GET", path: "/v2/agent/docs/job/job_1" }]);
    expect((await attach(completed)).outputs.outcome).toBe("pr-created");
  });

  test("retries the poll of a job-id after a transient failure", async () => {
    const { outputs, requests } = await runMain({
      inputs: { ...inputs, prompt: "", "job-id": "job_1" },
      respond: (_request, index) => (index === 0 ? respondWith(502) : respondWith(200, record())),
    });
    expect(outputs.outcome).toBe("started");
    expect(requests).toHaveLength(2);
  });

  test("treats an unknown status as active", async () => {
    const { outputs, hasPassed } = await runMain({
      inputs,
      respond: () => respondWith(201, record({ status: "queued" })),
    });
    expect(outputs).toMatchObject({ outcome: "started", status: "", "job-id": "job_1" });
    expect(hasPassed).toBe(true);
  });
});
