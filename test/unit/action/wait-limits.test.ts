import { describe, expect, test } from "vitest";
import type { Exchange } from "../../support/fake-transport.ts";
import { prLink, record, respondWith, runMain } from "../../support/run-main.ts";

const completed = record({ status: "completed", prLink });
const slow: Exchange = { responseMs: 600_000, response: { status: 200, body: completed } };

/** Waits for a job; polls end in these ways, in turn. */
function attach(timeoutMinutes: string, ...polls: Exchange[]) {
  return runMain({
    inputs: { prompt: "", "job-id": "job_1", "timeout-minutes": timeoutMinutes },
    respond: (_request, index) => polls[Math.min(index, polls.length - 1)] ?? {},
  });
}

describe("the last poll", () => {
  test.each([
    ["a second before the deadline", "2", 119_000],
    ["a tenth of a short timeout before it", "0.05", 2700],
  ])("is sent %s", async (_name, timeoutMinutes, at) => {
    const { requests } = await attach(timeoutMinutes, respondWith(200, record()));
    expect(requests.at(-1)?.at).toBe(at);
  });
});

test("a job that is only read once is given up after three minutes, however long the step may take", async () => {
  const { outputs, toolkit } = await runMain({
    inputs: { prompt: "", "job-id": "job_1", wait: "false", "timeout-minutes": "60" },
    respond: () => respondWith(502),
  });
  expect(outputs.outcome).toBe("timed-out");
  expect(toolkit.annotations).toHaveLength(1);
  expect(toolkit.annotations.at(-1)?.text).toContain("After 3 min, the state of job job_1 could not be read");
});

describe("a poll that the deadline cuts off", () => {
  const unreadable = /the state of job job_1 could not be read/;

  test("leaves the last failure as the reason, also if no poll has succeeded", async () => {
    const { toolkit } = await attach("0.3", respondWith(502), slow);
    expect(toolkit.annotations.at(-1)?.text).toContain("HTTP 502");
  });

  test("says nothing about the job after a poll that succeeded", async () => {
    const { outputs, toolkit } = await attach("0.2", respondWith(200, record()), slow);
    expect(outputs).toMatchObject({ outcome: "timed-out", status: "active" });
    expect(toolkit.annotations.at(-1)?.text).not.toMatch(unreadable);
  });

  test("leaves the last failure as the reason", async () => {
    const { outputs, toolkit } = await attach("0.3", respondWith(200, record()), respondWith(502), slow);
    expect(outputs.outcome).toBe("timed-out");
    expect(toolkit.annotations.at(-1)?.text).toMatch(unreadable);
    expect(toolkit.annotations.at(-1)?.text).toContain("HTTP 502");
  });

  test("is the reason if no poll has succeeded", async () => {
    const { outputs, toolkit } = await attach("0.2", slow);
    expect(outputs).toMatchObject({ outcome: "timed-out", status: "" });
    expect(toolkit.annotations.at(-1)?.text).toMatch(unreadable);
  });
});

describe("the first poll", () => {
  test("is repeated if the connection fails", async () => {
    const { outputs, requests } = await attach("2", { failure: "not-connected" }, respondWith(200, completed));
    expect(outputs.outcome).toBe("pr-created");
    expect(requests).toHaveLength(2);
  });

  test("after a create is repeated if the certificate is not trusted, because the service has been reached", async () => {
    const polls: Exchange[] = [{ failure: "certificate" }, respondWith(200, completed)];
    const { outputs } = await runMain({
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : (polls.shift() ?? {})),
    });
    expect(outputs.outcome).toBe("pr-created");
  });
});

test("a cancellation between two polls sends no other request", async () => {
  const { outputs, toolkit } = await runMain({
    cancelAt: 7000,
    respond: ({ method }) => respondWith(method === "POST" ? 201 : 200, record()),
  });
  expect(outputs.outcome).toBe("cancelled");
  const requests = toolkit.events.filter((event) => /^debug (POST|GET) /.test(event));
  expect(requests).toHaveLength(2);
});
