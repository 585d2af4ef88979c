import { describe, expect, test } from "vitest";
import { pollsReturn, record, respondWith, runMain } from "../../support/run-main.ts";

describe("a signal", () => {
  test("before the first request: sends nothing", async () => {
    const { outputs, requests, hasPassed, toolkit } = await runMain({ cancelAt: 0, respond: pollsReturn(record()) });
    expect(requests).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "", "duration-seconds": "" });
    expect(hasPassed).toBe(false);
    expect(toolkit.annotations[0]?.text).toBe(
      "The step was cancelled before the service accepted its request. No job was started.\nRun this again to start the job.",
    );
  });

  test("while connecting for a create: ends immediately, nothing was started", async () => {
    const { outputs, clock, toolkit } = await runMain({ cancelAt: 1000, respond: () => ({ connectMs: 9000 }) });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
    expect(clock.elapsedMs).toBe(1000);
    expect(toolkit.annotations[0]?.text).toBe(
      "The step was cancelled before the service accepted its request. No job was started.\nRun this again to start the job.",
    );
  });

  test("with a create in flight: waits for the response and publishes the id", async () => {
    const { outputs, clock, requests, toolkit } = await runMain({
      cancelAt: 1000,
      respond: () => ({ responseMs: 4900, response: { status: 201, body: record() } }),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1", status: "active" });
    expect(clock.elapsedMs).toBe(4900);
    expect(requests).toHaveLength(1);
    expect(toolkit.annotations[0]?.text).toMatch(/job job_1 keeps running.*run the action with job-id job_1/s);
  });

  test("with a create in flight and no response within 4 s: a job may have been started", async () => {
    const { outputs, clock, toolkit } = await runMain({
      cancelAt: 1000,
      respond: () => ({ responseMs: 6500, response: { status: 201, body: record() } }),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
    expect(clock.elapsedMs).toBe(5000);
    expect(toolkit.annotations[0]?.text).toMatch(/may have been started.*a re-run may start a second job/s);
  });

  test("between two attempts of a create: does not retry", async () => {
    const { outputs, requests, clock } = await runMain({
      cancelAt: 1000,
      respond: () => respondWith(429, "", { "retry-after": "60" }),
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(requests).toHaveLength(1);
    expect(clock.elapsedMs).toBe(1000);
  });

  test("after a message whose job still shows the old state: the job is not called done", async () => {
    const { outputs, toolkit } = await runMain({
      inputs: { "job-id": "job_1" },
      cancelAt: 8000,
      respond: () => respondWith(200, record({ status: "completed" })),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", status: "completed" });
    expect(toolkit.annotations.at(-1)?.text).toContain("job job_1 keeps running");
    expect(toolkit.annotations.at(-1)?.text).not.toContain("already");
  });

  test("with a message in flight and no response within 4 s: it may have been sent", async () => {
    const { outputs, clock, toolkit } = await runMain({
      inputs: { "job-id": "job_1" },
      cancelAt: 1000,
      respond: () => ({ responseMs: 9000, response: { status: 200, body: record() } }),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1" });
    expect(clock.elapsedMs).toBe(5000);
    expect(toolkit.annotations[0]?.text).toContain("The message may have reached job job_1");
  });

  test("between two polls: ends immediately", async () => {
    const { outputs, clock, toolkit } = await runMain({ cancelAt: 7000, respond: pollsReturn(record()) });
    expect(outputs).toMatchObject({
      outcome: "cancelled",
      "job-id": "job_1",
      status: "active",
      "duration-seconds": "7",
    });
    expect(clock.elapsedMs).toBe(7000);
    expect(toolkit.events.at(-2)).toContain("Outcome: cancelled after 7 s");
    expect(toolkit.summary).toContain("Cancelled");
  });

  test("with a poll in flight: ends immediately", async () => {
    const { outputs, clock } = await runMain({
      cancelAt: 6000,
      respond: ({ method }) =>
        method === "POST"
          ? respondWith(201, record())
          : { responseMs: 5000, response: { status: 200, body: record() } },
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(clock.elapsedMs).toBe(6000);
  });
});
