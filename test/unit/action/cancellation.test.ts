import { describe, expect, test } from "vitest";
import { answer, record, runMain, scripted } from "../../support/run-main.ts";

describe("a signal", () => {
  test("before anything: nothing is sent", async () => {
    const { outputs, requests, hasPassed, toolkit } = await runMain({ cancelAt: 0, respond: scripted(record()) });
    expect(requests).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "", "duration-seconds": "" });
    expect(hasPassed).toBe(false);
    expect(toolkit.annotations[0]?.text).toBe("The step was cancelled before it started a job. No job was started.");
  });

  test("while connecting for a create: nothing was started", async () => {
    const { outputs, clock, toolkit } = await runMain({ cancelAt: 1000, respond: () => ({ connectMs: 9000 }) });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
    expect(clock.now()).toBe(1000);
    expect(toolkit.annotations[0]?.text).toBe("The step was cancelled before it started a job. No job was started.");
  });

  test("with a create in flight: its answer is waited for, and the id is kept", async () => {
    const { outputs, clock, requests, toolkit } = await runMain({
      cancelAt: 1000,
      respond: () => ({ answerMs: 5500, answer: { status: 201, body: record() } }),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1", status: "active" });
    expect(clock.now()).toBe(5500);
    expect(requests).toHaveLength(1);
    expect(toolkit.annotations[0]?.text).toMatch(/job job_1 keeps running.*run the action with job-id job_1/s);
  });

  test("with a create in flight that is not answered in 5 s: in doubt", async () => {
    const { outputs, clock, toolkit } = await runMain({
      cancelAt: 1000,
      respond: () => ({ answerMs: 6500, answer: { status: 201, body: record() } }),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
    expect(clock.now()).toBe(6000);
    expect(toolkit.annotations[0]?.text).toMatch(/may have been started.*a re-run may start a second job/s);
  });

  test("between two tries of a create: it is not tried again", async () => {
    const { outputs, requests, clock } = await runMain({
      cancelAt: 1000,
      respond: () => answer(429, "", { "retry-after": "60" }),
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(requests).toHaveLength(1);
    expect(clock.now()).toBe(1000);
  });

  test("with a message in flight: ends within 2 s", async () => {
    const { outputs, clock, toolkit } = await runMain({
      inputs: { "job-id": "job_1" },
      cancelAt: 1000,
      respond: () => ({ answerMs: 9000, answer: { status: 200, body: record() } }),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1" });
    expect(clock.now()).toBeLessThanOrEqual(3000);
    expect(toolkit.annotations[0]?.text).toContain("The message may have reached job job_1");
  });

  test("while sleeping between polls: at once", async () => {
    const { outputs, clock, toolkit } = await runMain({ cancelAt: 7000, respond: scripted(record()) });
    expect(outputs).toMatchObject({
      outcome: "cancelled",
      "job-id": "job_1",
      status: "active",
      "duration-seconds": "7",
    });
    expect(clock.now()).toBe(7000);
    expect(toolkit.events.at(-2)).toContain("Outcome: cancelled after 7 s");
    expect(toolkit.summary).toContain("Cancelled");
  });

  test("with a poll in flight: at once", async () => {
    const { outputs, clock } = await runMain({
      cancelAt: 6000,
      respond: ({ method }) =>
        method === "POST" ? answer(201, record()) : { answerMs: 5000, answer: { status: 200, body: record() } },
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(clock.now()).toBe(6000);
  });
});
