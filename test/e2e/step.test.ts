import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { outputNames } from "../support/metadata.ts";
import { inputsFor, type ScriptedService, serviceKey, startScriptedService } from "../support/scripted-service.ts";
import { step, temporaryFolder } from "../support/step.ts";

test("creates a job, waits for it, and writes outputs, log and summary", async () => {
  await using service = await startScriptedService({ script: () => ({ durationMs: 300 }) });
  const { exitCode, outputs, log, summary, annotations } = await step(inputsFor(service));
  expect(exitCode).toBe(0);
  expect(outputs).toEqual({
    "job-id": expect.stringMatching(/^job_/),
    "final-message": "",
    "check-result": "",
    "cost-usd": "",
    status: "completed",
    "pr-link": "https://github.com/example/docs/pull/1",
    "pr-number": "1",
    "last-pr-link": "",
    "last-pr-state": "",
    "log-file": "",
    "work-file": "",
    outcome: "pr-created",
    "skip-reason": "",
    "job-origin": "created",
    "changed-files": "",
    author: "",
    "thread-url": "",
    model: "scripted",
    repository: "https://github.com/example/docs",
    ref: "agent/1",
    "created-at": expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    "archived-at": "",
    "duration-seconds": expect.stringMatching(/^\d+$/),
  });
  expect(Object.keys(outputs).sort()).toEqual(outputNames().sort());
  expect(annotations).toEqual([]);
  expect(log).toContain("Outcome: pr-created after");
  expect(summary).toContain("Pull request created");
  expect(service.requests.filter((request) => request.startsWith("POST"))).toEqual(["POST /v2/agent/docs/job"]);
  expect(service.engine.prompts).toEqual(["Update the quickstart"]);
  expect(log.replace(`::add-mask::${serviceKey}`, "")).not.toContain(serviceKey);
});

test("creates a job, sends it a message, then waits for it by its id", async () => {
  await using service: ScriptedService = await startScriptedService({
    // The record shows a message when it was read twice since, and the end of a turn when it was read twice more.
    script: (_prompt, round) => {
      const reads = () => service.requests.filter((request) => request.startsWith("GET")).length;
      const before = reads();
      const after = (count: number) => (reads() - before > count ? 0 : 3_600_000);
      return {
        get lagMs() {
          return round === 0 ? 0 : after(2);
        },
        get durationMs() {
          return after(round === 0 ? 2 : 4);
        },
      };
    },
  });
  const first = await step(inputsFor(service));
  const jobId = first.outputs["job-id"] ?? "";
  const second = await step(inputsFor(service, { "job-id": jobId, prompt: "And the links" }));
  expect(second.outputs).toMatchObject({ "job-id": jobId, outcome: "pr-created", status: "completed" });
  expect(second.log).toContain("active");
  const third = await step(inputsFor(service, { "job-id": jobId, prompt: "" }));
  expect(third.outputs).toMatchObject({ "job-id": jobId, outcome: "pr-created" });
  expect(service.engine.prompts).toEqual(["Update the quickstart", "And the links"]);
});

test("starts a job in one step and waits for it in another", async () => {
  await using service = await startScriptedService({ script: () => ({ durationMs: 300 }) });
  const started = await step(inputsFor(service, { wait: "false" }));
  expect(started).toMatchObject({ exitCode: 0, outputs: { outcome: "started", status: "active", "pr-link": "" } });
  const waited = await step(inputsFor(service, { "job-id": started.outputs["job-id"] ?? "", prompt: "" }));
  expect(waited).toMatchObject({ exitCode: 0, outputs: { outcome: "pr-created" } });
});

describe("outcomes that fail the step", () => {
  test("failed", async () => {
    await using service = await startScriptedService({ script: () => ({ durationMs: 100, result: "failed" }) });
    const { exitCode, outputs, annotations } = await step(inputsFor(service));
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ outcome: "failed", status: "failed" });
    expect(annotations).toEqual([expect.stringMatching(/^error Job failed: /)]);
  });

  test("timed out", async () => {
    await using service = await startScriptedService({ script: () => ({ durationMs: 60_000 }) });
    const { exitCode, outputs, annotations } = await step(inputsFor(service, { "timeout-minutes": "0.01" }));
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ outcome: "timed-out", status: "active", "job-id": expect.stringMatching(/^job_/) });
    expect(annotations).toEqual([expect.stringContaining("with job-id job_")]);
  });

  test("invalid inputs: reports all in one annotation and sends nothing", async () => {
    await using service = await startScriptedService();
    const { exitCode, outputs, annotations, log, summary } = await step(
      inputsFor(service, { prompt: "", "api-key": "", wait: "maybe", "timeout-minutes": "-5" }),
    );
    expect(exitCode).toBe(1);
    expect(Object.keys(outputs).sort()).toEqual(outputNames().sort());
    expect(outputs.outcome).toBe("error");
    expect(annotations).toHaveLength(1);
    for (const name of ["prompt", "api-key", "wait", "timeout-minutes"]) expect(annotations[0]).toContain(`- ${name} `);
    expect(service.requests).toEqual([]);
    expect(log).not.toMatch(/^\s+at /m);
    expect(summary).toContain("Invalid inputs");
  });
});

test("fails without any inputs", async () => {
  const { exitCode, outputs, annotations } = await step({});
  expect(exitCode).toBe(1);
  expect(outputs.outcome).toBe("error");
  expect(annotations[0]).toMatch(/- project-id .*- api-key .*- prompt /s);
});

test("sends a prompt file of 3 MB unchanged", async () => {
  await using service = await startScriptedService();
  const folder = temporaryFolder();
  mkdirSync(join(folder, "workspace"));
  const prompt = `Zeile für Zeile\n${"é".repeat(1_500_000)}\n`;
  writeFileSync(join(folder, "workspace", "prompt.md"), prompt);
  const { exitCode, summary } = await step(inputsFor(service, { prompt: "", "prompt-file": "prompt.md" }), { folder });
  expect(exitCode).toBe(0);
  expect(service.engine.prompts).toEqual([prompt]);
  expect(summary.length).toBeLessThan(10_000);
});

test("keeps the path of base-url", async () => {
  await using service = await startScriptedService({ prefix: "/docs-api" });
  const { exitCode } = await step(inputsFor({ url: `${service.url}/docs-api/` }));
  expect(exitCode).toBe(0);
  expect(service.requests[0]).toBe("POST /docs-api/v2/agent/docs/job");
});

test("writes no summary with summary: false", async () => {
  await using service = await startScriptedService();
  expect((await step(inputsFor(service, { summary: "false" }))).summary).toBe("");
});

test("fails if the outputs cannot be written, with the job id in the log", async () => {
  await using service = await startScriptedService();
  const { exitCode, log, annotations } = await step(inputsFor(service), {
    environment: { GITHUB_OUTPUT: "/nowhere/output.txt" },
  });
  expect(exitCode).toBe(1);
  expect(log).toMatch(/Created job job_\S+/);
  expect(annotations).toEqual([expect.stringMatching(/^error Cannot write outputs: /)]);
});

test("starts nothing on an event that it does not know, nor on an agent's own commit", async () => {
  await using service = await startScriptedService();
  const own = `Fix it\n\nAgent-Turn: 1.${"0".repeat(32)}\nAgent-Job: job_${"0".repeat(36)}`;
  const app = { login: "docs-app[bot]", type: "Bot" };
  const head = { head_branch: `agent/job_${"0".repeat(36)}`, head_sha: "c0ffee", head_commit: { message: own } };
  const events = [
    ["discussion", { action: "created", discussion: { body: "/agent x" } }, "no-trigger"],
    ["push", { ref: "refs/heads/main", head_commit: { message: own }, sender: { login: "writer" } }, "own-change"],
    ["workflow_run", { action: "completed", workflow_run: head, sender: app }, "own-change"],
    ["check_suite", { action: "completed", check_suite: head, sender: app }, "own-change"],
    ["push", { ref: "refs/heads/main", head_commit: { message: "Fix it" }, sender: { login: "writer" } }, ""],
  ] as const;
  for (const [name, payload, reason] of events) {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "event.json"), JSON.stringify(payload));
    const { outputs } = await step(inputsFor(service, { "trigger-phrase": "/agent" }), {
      folder,
      environment: { GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: join(folder, "event.json") },
    });
    expect(outputs["skip-reason"]).toBe(reason);
  }
  expect(service.engine.prompts).toHaveLength(1);
});
