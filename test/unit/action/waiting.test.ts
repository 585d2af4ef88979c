import { describe, expect, test } from "vitest";
import type { Exchange } from "../../support/fake-transport.ts";
import { pollsReturn, prLink, record, respondWith, runMain } from "../../support/run-main.ts";

const completed = record({ status: "completed", prLink });

/** A service that accepts the create, then answers polls with these exchanges, one per poll; the last one repeats. */
function polls(...exchanges: Exchange[]) {
  let next = 0;
  return ({ method }: { method: string }): Exchange =>
    method === "POST" ? respondWith(201, record()) : (exchanges[Math.min(next++, exchanges.length - 1)] ?? {});
}

describe("the poll schedule", () => {
  test("waits a tenth of the time waited so far, within the two intervals", async () => {
    const { requests } = await runMain({ respond: pollsReturn(record()), inputs: { "timeout-minutes": "5" } });
    const times = requests.map(({ at }) => at / 1000);
    expect(times.slice(0, 4)).toEqual([0, 5, 10, 15]);
    const delays = times.map((time, index) => time - (times[index - 1] ?? 0));
    const at60 = times.findIndex((time) => time >= 60);
    expect(delays[at60 + 1]).toBeCloseTo((times[at60] ?? 0) * 0.1);
    expect(Math.max(...delays)).toBe(15);
  });

  test("spreads the first delay by half and later ones by a fifth", async () => {
    const times = async (random: number) =>
      (await runMain({ respond: pollsReturn(record(), completed), random: () => random })).requests.map(({ at }) => at);
    expect(await times(0)).toEqual([0, 2500, 6500]);
    expect(await times(0.999)).toEqual([0, expect.closeTo(7495), expect.closeTo(7495 + 5998)]);
  });

  test("polls immediately if only job-id is set", async () => {
    const { requests, outputs } = await runMain({
      inputs: { prompt: "", "job-id": "job_1" },
      respond: () => respondWith(200, completed),
    });
    expect(requests).toMatchObject([{ at: 0, method: "GET" }]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "duration-seconds": "0" });
  });

  test("limits each request to 30 s or the time left, whichever is less", async () => {
    const { requests } = await runMain({ inputs: { "timeout-minutes": "0.6" }, respond: pollsReturn(record()) });
    expect(requests[0]?.timeoutMs).toBe(30_000);
    for (const { at, timeoutMs, headers } of requests) {
      // One that the service may hold leaves a second for the last poll, which is sent a second before the deadline.
      const leftMs = 36_000 - at - (headers.prefer === undefined ? 0 : 2000);
      expect(timeoutMs).toBe(Math.min(30_000, leftMs));
    }
  });
});

test("a job that is done two seconds before the deadline ends as such", async () => {
  const { outputs } = await runMain({
    inputs: { "timeout-minutes": "1" },
    respond: ({ method, at }) =>
      method === "POST" ? respondWith(201, record()) : respondWith(200, at < 58_000 ? record() : completed),
  });
  expect(outputs).toMatchObject({ outcome: "pr-created", status: "completed" });
});

describe("a timeout", () => {
  test("ends the wait at timeout-minutes, after a last poll just before it", async () => {
    const { outputs, clock, requests, hasPassed, toolkit } = await runMain({
      inputs: { "timeout-minutes": "2" },
      respond: pollsReturn(record()),
    });
    expect(outputs).toMatchObject({
      outcome: "timed-out",
      status: "active",
      "job-id": "job_1",
      "duration-seconds": "120",
    });
    expect(clock.elapsedMs).toBe(120_000);
    expect(requests.at(-1)?.at).toBeGreaterThanOrEqual(115_000);
    expect(hasPassed).toBe(false);
    expect(toolkit.annotations.at(-1)?.text).toMatch(
      /It keeps running.*run the action with job-id job_1 and no prompt/s,
    );
  });

  test("passes with a warning if fail-on does not name it", async () => {
    const run = await runMain({
      inputs: { "timeout-minutes": "1", "fail-on": "failed" },
      respond: pollsReturn(record()),
    });
    expect(run.outputs.outcome).toBe("timed-out");
    expect(run.hasPassed).toBe(true);
    expect(run.toolkit.annotations).toMatchObject([{ level: "warning" }]);
  });

  test("cuts off a poll in flight", async () => {
    const { outputs, clock } = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: polls({ responseMs: 600_000, response: { status: 200, body: completed } }),
    });
    expect(outputs.outcome).toBe("timed-out");
    expect(clock.elapsedMs).toBe(60_000);
  });

  test("says that the state is unknown if the last poll failed", async () => {
    const { outputs, toolkit } = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: polls(respondWith(502)),
    });
    expect(outputs.outcome).toBe("timed-out");
    expect(toolkit.annotations.at(-1)?.text).toMatch(
      /the state of job job_1 could not be read.*HTTP 502.*may still be running/s,
    );
  });
});

describe("a transient failure", () => {
  test.each<[string, Exchange]>([
    ["no connection", { failure: "not-connected" }],
    ["a reset", { failure: "no-response" }],
    ["an untrusted certificate after the create was accepted", { failure: "certificate" }],
    ["408", respondWith(408)],
    ["429", respondWith(429)],
    ["500", respondWith(500)],
    ["502 with HTML", respondWith(502, "<html>")],
    ["503", respondWith(503)],
    ["a 200 that is not JSON", respondWith(200, "oops")],
    ["a 200 that is not a record", respondWith(200, { hello: "world" })],
    ["a 200 without a body", respondWith(200)],
    ["the record of another job", respondWith(200, record({ id: "job_2", status: "completed" }))],
    ["a record with a control character in the id", respondWith(200, record({ id: "job_1\n", status: "completed" }))],
    ["no response within 30 s", { responseMs: 31_000, response: { status: 200, body: record() } }],
  ])("%s: warns once and continues polling", async (_name, failure) => {
    const { outputs, toolkit, hasPassed } = await runMain({
      respond: polls(respondWith(200, record()), failure, failure, respondWith(200, completed)),
    });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(hasPassed).toBe(true);
    expect(toolkit.annotations).toMatchObject([{ level: "warning", title: "Polling is failing" }]);
    expect(toolkit.lines.filter((line) => line === "The service is responding again.")).toHaveLength(1);
  });

  test("waits at least as long as Retry-After says", async () => {
    const { requests } = await runMain({
      respond: polls(respondWith(429, "", { "retry-after": "60" }), respondWith(200, completed)),
    });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 65_000]);
  });

  test("limits Retry-After to the time left", async () => {
    const { outputs, clock } = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: polls(respondWith(503, "", { "retry-after": "99999999999" })),
    });
    expect(outputs.outcome).toBe("timed-out");
    expect(clock.elapsedMs).toBe(60_000);
  });

  test("treats an unknown status as active, with one warning", async () => {
    const { outputs, toolkit } = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: pollsReturn(record({ status: "succeeded", prLink })),
    });
    expect(outputs).toMatchObject({ outcome: "timed-out", status: "active" });
    expect(toolkit.annotations.filter(({ title }) => title === "Unknown status")).toHaveLength(1);
  });
});

describe("a permanent failure", () => {
  test.each([401, 403, 400, 410, 301])(
    "HTTP %i to a poll fails immediately and says that the job may still be running",
    async (status) => {
      const { outputs, toolkit, requests } = await runMain({ respond: polls(respondWith(status)) });
      expect(outputs).toMatchObject({ outcome: "error", status: "active", "job-id": "job_1" });
      expect(requests).toHaveLength(2);
      expect(toolkit.annotations.at(-1)?.text).toContain("The state of job job_1 is unknown; it may still be running.");
    },
  );

  test("retries a 404 until 10 s after a create", async () => {
    const found = await runMain({ respond: polls(respondWith(404), respondWith(200, completed)) });
    expect(found.outputs.outcome).toBe("pr-created");
    const notFound = await runMain({ respond: polls(respondWith(404)) });
    expect(notFound.outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(notFound.requests.map(({ at }) => at)).toEqual([0, 5000, 10_000]);
  });

  test("fails on a 404 to the first poll of a job-id", async () => {
    const { outputs, requests } = await runMain({
      inputs: { prompt: "", "job-id": "job_1" },
      respond: () => respondWith(404),
    });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(requests).toHaveLength(1);
  });

  test("fails on a 404 after a message", async () => {
    const { outputs, requests } = await runMain({
      inputs: { "job-id": "job_1" },
      respond: ({ method }) => (method === "POST" ? respondWith(200, record()) : respondWith(404)),
    });
    expect(outputs.outcome).toBe("error");
    expect(requests).toHaveLength(2);
  });

  test("fails on an untrusted certificate at the first poll of a job-id", async () => {
    const { outputs, requests } = await runMain({
      inputs: { prompt: "", "job-id": "job_1" },
      respond: () => ({ failure: "certificate" }),
    });
    expect(outputs.outcome).toBe("error");
    expect(requests).toHaveLength(1);
  });
});

test("keeps the last value of a field that a record leaves out, except the pull request", async () => {
  const { outputs } = await runMain({
    respond: pollsReturn(record({ prLink }), { id: "job_1", status: "completed" }),
  });
  expect(outputs).toMatchObject({ outcome: "no-changes", model: "model-1", ref: "agent/1", "pr-link": "" });
});

test("retries after an untrusted certificate if the service has been reached before", async () => {
  let poll = 0;
  const { outputs } = await runMain({
    inputs: { prompt: "", "job-id": "job_1" },
    respond: () => [respondWith(503), { failure: "certificate" } as const, respondWith(200, completed)][poll++] ?? {},
  });
  expect(outputs.outcome).toBe("pr-created");
});

describe("after a message", () => {
  const inputs = { "job-id": "job_1" };
  const stale = record({ status: "completed", prLink: "https://github.com/acme/docs/pull/1" });

  test("accepts a terminal state once the job has been active", async () => {
    const states = [stale, record(), completed];
    const { outputs, requests } = await runMain({ inputs, respond: () => respondWith(200, states.shift()) });
    expect(outputs).toMatchObject({ outcome: "pr-created", "pr-link": prLink });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 10_000]);
  });

  test("accepts a terminal state if the response to the message was active", async () => {
    const states = [record(), completed];
    const { requests, outputs } = await runMain({ inputs, respond: () => respondWith(200, states.shift()) });
    expect(outputs).toMatchObject({ outcome: "pr-created", "pr-link": prLink });
    expect(requests).toHaveLength(2);
  });

  test("never takes a completed job that it has not seen active for a success, and says so after 15 s", async () => {
    const { requests, outputs, toolkit } = await runMain({ inputs, respond: () => respondWith(200, stale) });
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations).toMatchObject([{ level: "error", title: "Result of the message is unknown" }]);
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 10_000, 15_000]);
    expect(toolkit.lines.filter((line) => line.includes("may be the status from before the message"))).toHaveLength(2);
  });

  test("ignores a terminal state in a poll sent within 15 s, even if the response is later", async () => {
    let poll = 0;
    const { requests } = await runMain({
      inputs,
      respond: ({ method }) =>
        method === "POST" || poll++ < 1
          ? respondWith(200, stale)
          : { responseMs: poll === 2 ? 6000 : 0, response: { status: 200, body: stale } },
    });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 10_000, 21_000]);
  });

  test("times out if the state is still the one from before the message", async () => {
    const { outputs, toolkit } = await runMain({
      inputs: { ...inputs, "timeout-minutes": "0.2" },
      respond: () => respondWith(200, stale),
    });
    expect(outputs).toMatchObject({ outcome: "timed-out", status: "completed" });
    expect(toolkit.annotations.at(-1)?.text).toContain("its status was still the one from before the message");
  });
});
