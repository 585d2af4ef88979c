import { describe, expect, test } from "vitest";
import type { Exchange } from "../../support/fake-transport.ts";
import { answer, prLink, record, runMain, scripted } from "../../support/run-main.ts";

const completed = record({ status: "completed", prLink });

/** A create that works, and polls that go one after the other, the last for ever. */
function polls(...exchanges: Exchange[]) {
  let next = 0;
  return ({ method }: { method: string }): Exchange =>
    method === "POST" ? answer(201, record()) : (exchanges[Math.min(next++, exchanges.length - 1)] ?? {});
}

describe("the schedule", () => {
  test("the first delay is the shortest, later ones a tenth of the time waited, up to the longest", async () => {
    const { requests } = await runMain({ respond: scripted(record()), inputs: { "timeout-minutes": "5" } });
    const times = requests.map(({ at }) => at / 1000);
    expect(times.slice(0, 4)).toEqual([0, 5, 10, 15]);
    const delays = times.map((time, index) => time - (times[index - 1] ?? 0));
    const at60 = times.findIndex((time) => time >= 60);
    expect(delays[at60 + 1]).toBeCloseTo((times[at60] ?? 0) * 0.1);
    expect(Math.max(...delays)).toBe(15);
  });

  test("jitter: the first delay within 0.5 to 1.5 times, later ones within 0.8 to 1.2", async () => {
    const times = async (random: number) =>
      (await runMain({ respond: scripted(record(), completed), random: () => random })).requests.map(({ at }) => at);
    expect(await times(0)).toEqual([0, 2500, 6500]);
    expect(await times(0.999)).toEqual([0, expect.closeTo(7495), expect.closeTo(7495 + 5998)]);
  });

  test("a job waited for by its id is polled at once", async () => {
    const { requests, outputs } = await runMain({
      inputs: { prompt: "", "job-id": "job_1" },
      respond: () => answer(200, completed),
    });
    expect(requests).toMatchObject([{ at: 0, method: "GET" }]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "duration-seconds": "0" });
  });

  test("each request has 30 s, or the time left where that is less", async () => {
    const { requests } = await runMain({ inputs: { "timeout-minutes": "0.6" }, respond: scripted(record()) });
    expect(requests[0]?.timeoutMs).toBe(30_000);
    for (const { at, timeoutMs } of requests) expect(timeoutMs).toBe(Math.min(30_000, 36_000 - at));
  });
});

describe("time out", () => {
  test("at timeout-minutes, with a last poll just before", async () => {
    const { outputs, clock, requests, hasPassed, toolkit } = await runMain({
      inputs: { "timeout-minutes": "2" },
      respond: scripted(record()),
    });
    expect(outputs).toMatchObject({
      outcome: "timed-out",
      status: "active",
      "job-id": "job_1",
      "duration-seconds": "120",
    });
    expect(clock.now()).toBe(120_000);
    expect(requests.at(-1)?.at).toBeGreaterThanOrEqual(115_000);
    expect(hasPassed).toBe(false);
    expect(toolkit.annotations.at(-1)?.text).toMatch(
      /It keeps running.*run the action with job-id job_1 and no prompt/s,
    );
  });

  test("passes where the author lets it", async () => {
    const run = await runMain({
      inputs: { "timeout-minutes": "1", "fail-on": "failed" },
      respond: scripted(record()),
    });
    expect(run.outputs.outcome).toBe("timed-out");
    expect(run.hasPassed).toBe(true);
    expect(run.toolkit.annotations).toMatchObject([{ level: "warning" }]);
  });

  test("a poll in flight is cut off at the deadline", async () => {
    const { outputs, clock } = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: polls({ answerMs: 600_000, answer: { status: 200, body: completed } }),
    });
    expect(outputs.outcome).toBe("timed-out");
    expect(clock.now()).toBe(60_000);
  });

  test("with the service away to the end, says that the state is not known", async () => {
    const { outputs, toolkit } = await runMain({ inputs: { "timeout-minutes": "1" }, respond: polls(answer(502)) });
    expect(outputs.outcome).toBe("timed-out");
    expect(toolkit.annotations.at(-1)?.text).toMatch(
      /the state of job job_1 could not be read.*HTTP 502.*may still be running/s,
    );
  });
});

describe("trouble that passes", () => {
  test.each<[string, Exchange]>([
    ["no connection", { failure: "not-connected" }],
    ["a reset", { failure: "no-response" }],
    ["a certificate, after the create was answered", { failure: "certificate" }],
    ["408", answer(408)],
    ["429", answer(429)],
    ["500", answer(500)],
    ["502 with HTML", answer(502, "<html>")],
    ["503", answer(503)],
    ["a 200 that is no JSON", answer(200, "oops")],
    ["a 200 that is no record", answer(200, { hello: "world" })],
    ["a 200 without a body", answer(200)],
    ["the record of another job", answer(200, record({ id: "job_2", status: "completed" }))],
    ["no answer in 30 s", { answerMs: 31_000, answer: { status: 200, body: record() } }],
  ])("%s: one warning, then the wait goes on to the end", async (_name, trouble) => {
    const { outputs, toolkit, hasPassed } = await runMain({
      respond: polls(answer(200, record()), trouble, trouble, answer(200, completed)),
    });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(hasPassed).toBe(true);
    expect(toolkit.annotations).toMatchObject([{ level: "warning", title: "Polling is failing" }]);
    expect(toolkit.lines.filter((line) => line === "The service is responding again.")).toHaveLength(1);
  });

  test("Retry-After is the least wait", async () => {
    const { requests } = await runMain({
      respond: polls(answer(429, "", { "retry-after": "60" }), answer(200, completed)),
    });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 65_000]);
  });

  test("Retry-After is clamped to the time left", async () => {
    const { outputs, clock } = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: polls(answer(503, "", { "retry-after": "99999999999" })),
    });
    expect(outputs.outcome).toBe("timed-out");
    expect(clock.now()).toBe(60_000);
  });

  test("a status it does not know: one warning, never success", async () => {
    const { outputs, toolkit } = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: scripted(record({ status: "succeeded", prLink })),
    });
    expect(outputs).toMatchObject({ outcome: "timed-out", status: "active" });
    expect(toolkit.annotations.filter(({ title }) => title === "Unknown status")).toHaveLength(1);
  });
});

describe("trouble that does not pass", () => {
  test.each([401, 403, 400, 410, 301])(
    "a poll refused with %i fails at once, and the job is not called ended",
    async (status) => {
      const { outputs, toolkit, requests } = await runMain({ respond: polls(answer(status)) });
      expect(outputs).toMatchObject({ outcome: "error", status: "active", "job-id": "job_1" });
      expect(requests).toHaveLength(2);
      expect(toolkit.annotations.at(-1)?.text).toContain("The state of job job_1 is unknown; it may still be running.");
    },
  );

  test("404 passes for 10 s after a create, then it is final", async () => {
    const found = await runMain({ respond: polls(answer(404), answer(200, completed)) });
    expect(found.outputs.outcome).toBe("pr-created");
    const lost = await runMain({ respond: polls(answer(404)) });
    expect(lost.outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(lost.requests.map(({ at }) => at)).toEqual([0, 5000, 10_000]);
  });

  test("404 on the first poll by job-id is final", async () => {
    const { outputs, requests } = await runMain({
      inputs: { prompt: "", "job-id": "job_1" },
      respond: () => answer(404),
    });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(requests).toHaveLength(1);
  });

  test("404 after a message is final", async () => {
    const { outputs, requests } = await runMain({
      inputs: { "job-id": "job_1" },
      respond: ({ method }) => (method === "POST" ? answer(200, record()) : answer(404)),
    });
    expect(outputs.outcome).toBe("error");
    expect(requests).toHaveLength(2);
  });

  test("a certificate that is not trusted on the first poll by job-id is final", async () => {
    const { outputs, requests } = await runMain({
      inputs: { prompt: "", "job-id": "job_1" },
      respond: () => ({ failure: "certificate" }),
    });
    expect(outputs.outcome).toBe("error");
    expect(requests).toHaveLength(1);
  });
});

test("what a record leaves out stays known, but for the pull request", async () => {
  const { outputs } = await runMain({
    respond: scripted(record({ prLink }), { id: "job_1", status: "completed" }),
  });
  expect(outputs).toMatchObject({ outcome: "no-changes", model: "model-1", ref: "agent/1", "pr-link": "" });
});

test("a certificate that is not trusted, once the address has been reached, is a passing fault", async () => {
  let poll = 0;
  const { outputs } = await runMain({
    inputs: { prompt: "", "job-id": "job_1" },
    respond: () => [answer(503), { failure: "certificate" } as const, answer(200, completed)][poll++] ?? {},
  });
  expect(outputs.outcome).toBe("pr-created");
});

describe("after a message", () => {
  const inputs = { "job-id": "job_1" };
  const stale = record({ status: "completed", prLink: "https://github.com/acme/docs/pull/1" });

  test("a terminal state counts once active has been seen", async () => {
    const states = [stale, record(), completed];
    const { outputs, requests } = await runMain({ inputs, respond: () => answer(200, states.shift()) });
    expect(outputs).toMatchObject({ outcome: "pr-created", "pr-link": prLink });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 10_000]);
  });

  test("active in the answer to the message counts", async () => {
    const states = [record(), completed];
    const { requests, outputs } = await runMain({ inputs, respond: () => answer(200, states.shift()) });
    expect(outputs).toMatchObject({ outcome: "pr-created", "pr-link": prLink });
    expect(requests).toHaveLength(2);
  });

  test("without active, the state counts 15 s after the message was accepted", async () => {
    const { requests, outputs, toolkit } = await runMain({ inputs, respond: () => answer(200, stale) });
    expect(outputs.outcome).toBe("pr-created");
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 10_000, 15_000]);
    expect(toolkit.lines.filter((line) => line.includes("may be the status from before the message"))).toHaveLength(2);
  });

  test("a poll sent before the 15 s were over does not count, whenever it is answered", async () => {
    let poll = 0;
    const { requests } = await runMain({
      inputs,
      respond: ({ method }) =>
        method === "POST" || poll++ < 1
          ? answer(200, stale)
          : { answerMs: poll === 2 ? 6000 : 0, answer: { status: 200, body: stale } },
    });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 10_000, 21_000]);
  });

  test("an old state at the deadline is a time-out, not an end", async () => {
    const { outputs, toolkit } = await runMain({
      inputs: { ...inputs, "timeout-minutes": "0.2" },
      respond: () => answer(200, stale),
    });
    expect(outputs).toMatchObject({ outcome: "timed-out", status: "completed" });
    expect(toolkit.annotations.at(-1)?.text).toContain("its status was still the one from before the message");
  });
});
