import { describe, expect, test } from "vitest";
import type { outcomes } from "../../../src/action/outcome.ts";
import { runComment } from "../../support/comment-run.ts";
import { FakeGitHub } from "../../support/fake-github.ts";
import { outputNames } from "../../support/metadata.ts";
import { type MainOptions, pollsReturn, prLink, record, respondWith, runMain } from "../../support/run-main.ts";

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
      "last-pr-link": "",
      "last-pr-state": "",
      outcome: "archived",
      "skip-reason": "",
      "job-origin": "created",
      "changed-files": "",
      "final-message": "",
      "check-result": "",
      "cost-usd": "",
      "log-file": "",
      "work-file": "",
      author: "",
      "thread-url": "",
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

  test("invalid inputs of a re-run say that an earlier attempt may have started a job", async () => {
    const { toolkit } = await runMain({
      inputs: { "on-rerun": "New" },
      runAttempt: 2,
      respond: () => respondWith(201),
    });
    expect(toolkit.annotations[0]?.text).toContain("may have started a job. This one sent nothing, because");
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
    // For 15 s, a record may show the state from before the message.
    expect(requests[0]).toMatchObject({ method: "POST", path: "/v2/agent/docs/job/job_1/message" });
    expect(requests.slice(1).map(({ method, at }) => [method, at])).toEqual(
      [0, 3000, 6000, 9000, 12_000].map((at) => ["GET", at]),
    );
  });

  test("ends after a message once its job is seen at work: a wait that follows cannot take its last end for its result", async () => {
    const polls = [respondWith(200, completed), respondWith(200, completed), respondWith(200, record())];
    const { outputs, requests } = await runMain({
      inputs: { ...inputs, "job-id": "job_1" },
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : (polls.shift() ?? respondWith(404))),
    });
    expect(outputs.outcome).toBe("started");
    expect(requests.map(({ method, at }) => [method, at])).toEqual([
      ["POST", 0],
      ["GET", 0],
      ["GET", 3000],
      ["GET", 6000],
    ]);
  });

  test("ends after a message 15 s later if its job cannot be read, and asks once", async () => {
    const { outputs, requests, clock } = await runMain({
      inputs: { ...inputs, "job-id": "job_1" },
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : respondWith(401)),
    });
    expect([outputs.outcome, requests.length, clock.now()]).toEqual(["started", 2, 1_015_000]);
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

/** How to reach each outcome in comment mode, and what it shows. `passes` is `fail-on` if that decides. */
const scenarios: Record<keyof typeof outcomes, OutcomeScenario> = {
  "pr-created": {
    run: { respond: pollsReturn(completed) },
    heading: "✅ Pull request created",
    passes: true,
    level: undefined,
    reactions: ["eyes", "hooray"],
  },
  "no-changes": {
    run: { respond: pollsReturn(record({ status: "completed" })) },
    heading: "⚪ No pull request",
    passes: "fail-on",
    level: "notice",
    reactions: ["eyes"],
  },
  failed: {
    run: { respond: pollsReturn(record({ status: "failed" })) },
    heading: "❌ Job failed",
    passes: "fail-on",
    level: "warning",
    reactions: ["eyes", "confused"],
  },
  archived: {
    run: { respond: pollsReturn(record({ status: "archived" })) },
    heading: "📦 Job archived",
    passes: "fail-on",
    level: "warning",
    reactions: ["eyes"],
  },
  "timed-out": {
    run: { respond: pollsReturn(record()) },
    heading: "⏳ Timed out",
    passes: "fail-on",
    level: "warning",
    reactions: ["eyes", "confused"],
  },
  started: {
    run: { respond: pollsReturn(record()), inputs: { wait: "false" } },
    heading: "🚀 Job started",
    passes: true,
    level: undefined,
    reactions: ["eyes"],
  },
  cancelled: {
    run: { respond: pollsReturn(record()), cancelAt: 7000 },
    heading: "⏹️ Cancelled",
    passes: false,
    level: "error",
    reactions: ["eyes"],
  },
  skipped: {
    run: { respond: pollsReturn(record()), text: "hello" },
    heading: "⏭️ Skipped",
    passes: true,
    level: "notice",
    reactions: [],
  },
  error: {
    run: { respond: () => respondWith(401) },
    heading: "❌ No job was started",
    passes: false,
    level: "error",
    reactions: ["eyes", "confused"],
  },
};

interface OutcomeScenario {
  run: MainOptions & { text?: string };
  heading: string;
  passes: boolean | "fail-on";
  /** The annotation if the step passes, or if it always fails. */
  level: "notice" | "warning" | "error" | undefined;
  reactions: string[];
}

describe("each outcome", () => {
  const all = Object.entries(scenarios);
  const runScenario = async ({ run }: OutcomeScenario, failOn: string) => {
    const github = new FakeGitHub();
    const inputs = { "timeout-minutes": "1", "fail-on": failOn, ...run.inputs };
    return { ...(await runComment(github, { ...run, inputs })), github };
  };

  test.each(all)("%s has its icon, annotation level and reactions", async (outcome, scenario) => {
    const { outputs, hasPassed, toolkit, github } = await runScenario(scenario, "none");
    expect(outputs.outcome).toBe(outcome);
    expect(hasPassed).toBe(scenario.passes !== false);
    expect(toolkit.annotations.map(({ level }) => level)).toEqual(scenario.level ? [scenario.level] : []);
    expect(toolkit.summary).toContain(`<h2>${scenario.heading}</h2>`);
    expect(github.reactions).toEqual(scenario.reactions);
    const [icon = "", ...title] = scenario.heading.split(" ");
    if (outcome !== "skipped") expect(github.reply).toContain(`<p>${icon} <b>${title.join(" ")}</b>`);
  });

  test.each(all.filter(([, { passes }]) => passes === "fail-on"))(
    "%s fails with an error annotation if fail-on names it",
    async (outcome, scenario) => {
      const { outputs, hasPassed, toolkit, github } = await runScenario(scenario, outcome);
      expect(outputs.outcome).toBe(outcome);
      expect(hasPassed).toBe(false);
      expect(toolkit.annotations.map(({ level }) => level)).toEqual(["error"]);
      expect(github.reactions).toEqual(scenario.reactions);
    },
  );

  test.each(all.filter(([, { passes }]) => passes !== "fail-on"))("%s cannot be named in fail-on", async (outcome) => {
    const { outputs, toolkit } = await runMain({ inputs: { "fail-on": outcome }, respond: pollsReturn(completed) });
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations).toMatchObject([
      { title: "Invalid inputs", text: expect.stringContaining("fail-on must be a comma-separated list of") },
    ]);
  });
});
