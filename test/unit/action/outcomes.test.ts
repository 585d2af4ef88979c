import { describe, expect, test } from "vitest";
import { outputNames } from "../../support/metadata.ts";
import { answer, prLink, record, runMain, scripted } from "../../support/run-main.ts";

const completed = record({ status: "completed", prLink });

describe("a job that ends", () => {
  test.each([
    { name: "completed with a pull request", last: completed, outcome: "pr-created", passes: true },
    { name: "completed without one", last: record({ status: "completed" }), outcome: "no-changes", passes: true },
    { name: "failed", last: record({ status: "failed" }), outcome: "failed", passes: false },
    { name: "archived", last: record({ status: "archived" }), outcome: "archived", passes: true },
  ])("$name: outcome $outcome", async ({ last, outcome, passes }) => {
    const { outputs, hasPassed } = await runMain({ respond: scripted(record(), last) });
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
    const run = await runMain({ inputs: { "fail-on": failOn }, respond: scripted(last) });
    expect(run.outputs.outcome).toBe(outcome);
    expect(run.hasPassed).toBe(passes);
  });

  test("no changes is a notice, archived a warning, failed an error, a pull request none of them", async () => {
    const levels = async (last: Record<string, unknown>) =>
      (await runMain({ respond: scripted(last) })).toolkit.annotations.map(({ level }) => level);
    expect(await levels(record({ status: "completed" }))).toEqual(["notice"]);
    expect(await levels(record({ status: "archived" }))).toEqual(["warning"]);
    expect(await levels(record({ status: "failed" }))).toEqual(["error"]);
    expect(await levels(completed)).toEqual([]);
  });

  test("a job that fails where the author lets it pass still leaves a warning", async () => {
    const run = await runMain({ inputs: { "fail-on": "none" }, respond: scripted(record({ status: "failed" })) });
    expect(run.toolkit.annotations).toMatchObject([{ level: "warning", title: "Job failed" }]);
  });

  test("created already ended: no poll is sent", async () => {
    const { outputs, requests } = await runMain({ respond: () => answer(201, completed) });
    expect(outputs).toMatchObject({ outcome: "pr-created", "pr-link": prLink });
    expect(requests).toHaveLength(1);
  });
});

describe("outputs", () => {
  test("all are set, with what the service gave", async () => {
    const last = record({ status: "archived", prLink, archivedAt: "2026-01-02T00:00:00Z" });
    const { outputs } = await runMain({ respond: scripted(last) });
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

  test("all are set on refused inputs, empty but for the outcome", async () => {
    const { outputs, requests, hasPassed } = await runMain({ inputs: { "api-key": "" }, respond: () => answer(201) });
    expect(Object.keys(outputs).sort()).toEqual(outputNames().sort());
    expect(Object.entries(outputs).filter(([, value]) => value !== "")).toEqual([["outcome", "error"]]);
    expect(requests).toEqual([]);
    expect(hasPassed).toBe(false);
  });

  test("a record with only id and status is enough", async () => {
    const { outputs } = await runMain({
      respond: ({ method }) => answer(200, { id: "job_1", status: method === "POST" ? "active" : "completed" }),
    });
    expect(outputs).toMatchObject({
      "job-id": "job_1",
      status: "completed",
      outcome: "no-changes",
      model: "",
      ref: "",
    });
  });

  test("fields of a wrong type count as absent", async () => {
    const odd = {
      id: "job_1",
      status: "completed",
      source: "x",
      model: 3,
      prLink: ["x"],
      createdAt: {},
      archivedAt: 0,
    };
    const { outputs } = await runMain({ respond: () => answer(201, odd) });
    expect(outputs).toMatchObject({
      outcome: "no-changes",
      model: "",
      repository: "",
      "pr-link": "",
      "created-at": "",
    });
  });

  test("the job's id is an output as soon as the service has answered", async () => {
    const { toolkit } = await runMain({ respond: scripted(completed) });
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
  ])("a prLink of %s counts as none, with one warning", async (link) => {
    const { outputs, toolkit } = await runMain({
      respond: scripted(record({ prLink: link }), record({ status: "completed", prLink: link })),
    });
    expect(outputs).toMatchObject({ outcome: "no-changes", "pr-link": "", "pr-number": "" });
    expect(toolkit.annotations.filter(({ level }) => level === "warning")).toMatchObject([
      { title: "Invalid pull request link" },
    ]);
  });
});

describe("wait: false", () => {
  const inputs = { wait: "false" };

  test("an active job: started, one request", async () => {
    const { outputs, requests, hasPassed } = await runMain({ inputs, respond: scripted(completed) });
    expect(outputs).toMatchObject({ outcome: "started", status: "active", "job-id": "job_1" });
    expect(requests).toHaveLength(1);
    expect(hasPassed).toBe(true);
  });

  test("a job created already ended has its own outcome", async () => {
    const { outputs } = await runMain({ inputs, respond: () => answer(201, record({ status: "failed" })) });
    expect(outputs.outcome).toBe("failed");
  });

  test("a message is started whatever state the record shows", async () => {
    const { outputs, requests } = await runMain({
      inputs: { ...inputs, "job-id": "job_1" },
      respond: () => answer(200, completed),
    });
    expect(outputs).toMatchObject({ outcome: "started", status: "completed" });
    expect(requests).toMatchObject([{ method: "POST", path: "/v2/agent/docs/job/job_1/message" }]);
  });

  test("job-id alone: one poll, whose state is the outcome", async () => {
    const attach = (poll: Record<string, unknown>) =>
      runMain({ inputs: { ...inputs, prompt: "", "job-id": "job_1" }, respond: () => answer(200, poll) });
    const active = await attach(record());
    expect(active.outputs.outcome).toBe("started");
    expect(active.requests).toMatchObject([{ at: 0, method: "GET", path: "/v2/agent/docs/job/job_1" }]);
    expect((await attach(completed)).outputs.outcome).toBe("pr-created");
  });

  test("job-id alone: a poll that fails in passing is repeated until one is answered", async () => {
    const { outputs, requests } = await runMain({
      inputs: { ...inputs, prompt: "", "job-id": "job_1" },
      respond: (_request, index) => (index === 0 ? answer(502) : answer(200, record())),
    });
    expect(outputs.outcome).toBe("started");
    expect(requests).toHaveLength(2);
  });

  test("a status the action does not know counts as active", async () => {
    const { outputs, hasPassed } = await runMain({ inputs, respond: () => answer(201, record({ status: "queued" })) });
    expect(outputs).toMatchObject({ outcome: "started", status: "", "job-id": "job_1" });
    expect(hasPassed).toBe(true);
  });
});
