import { describe, expect, test } from "vitest";
import type { Exchange, SeenRequest } from "../../support/fake-transport.ts";
import { prLink, record, respondWith, runMain } from "../../support/run-main.ts";

const completed = record({ status: "completed", prLink });

/** Returns the seconds that a request asks the service to wait; 0 if it does not. */
function secondsOf({ headers }: SeenRequest): number {
  const [, seconds] = /^wait=([1-9]\d*)$/.exec(headers.prefer ?? "") ?? [];
  if (headers.prefer !== undefined && seconds === undefined) throw new Error(`unexpected: ${headers.prefer}`);
  return Number(seconds ?? 0);
}

interface ServiceOptions {
  /** When the job ends, in milliseconds since the start. */
  endsAt: number;
  /** How long the service holds a poll at most, in seconds. Default: as long as it is asked to. */
  maxSeconds?: number;
  applied?: string;
}

/** A service that accepts the create or message, and holds polls until the job ends. */
function holdingService({ endsAt, maxSeconds = Number.POSITIVE_INFINITY, applied = "wait" }: ServiceOptions) {
  return (request: SeenRequest): Exchange => {
    if (request.method === "POST") return respondWith(201, record());
    const holdMs = Math.min(secondsOf(request), maxSeconds) * 1000;
    const responseMs = Math.max(0, Math.min(holdMs, endsAt - request.at));
    const body = request.at + responseMs >= endsAt ? completed : record();
    const headers: Record<string, string> = holdMs > 0 ? { "preference-applied": applied } : {};
    return { responseMs, response: { status: 200, body, headers } };
  };
}

const polls = (requests: SeenRequest[]) => requests.filter(({ method }) => method === "GET");

describe("a service that holds polls", () => {
  test("is polled again at once, and the end of the job is noticed at once", async () => {
    const { requests, outputs, clock, toolkit } = await runMain({ respond: holdingService({ endsAt: 93_456 }) });
    expect(outputs.outcome).toBe("pr-created");
    expect(clock.elapsedMs).toBe(93_456);
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 30_000, 55_000, 80_000]);
    expect(requests.map(secondsOf)).toEqual([0, 25, 25, 25, 25]);
    expect(toolkit.lines).toContain("00:30  active, next poll at once");
    expect(toolkit.lines.join("\n")).not.toContain("0.0 s");
  });

  test.each(["wait", "WAIT", "wait=25", "respond-async, wait", "Wait = 25; x=y", "a=b,wait,c"])(
    "may say so in other words: %s",
    async (applied) => {
      const { clock } = await runMain({ respond: holdingService({ endsAt: 61_000, applied }) });
      expect(clock.elapsedMs).toBe(61_000);
    },
  );

  test.each(["", "respond-async", "waiting", "no-wait", "wait-for"])(
    "is polled as often as any other if it does not: %j",
    async (applied) => {
      const { requests } = await runMain({ respond: holdingService({ endsAt: 40_000, applied }) });
      expect(requests.map(({ at }) => at)).toEqual([0, 5000, 35_000]);
    },
  );

  test("may hold them for a shorter time", async () => {
    const { requests } = await runMain({ respond: holdingService({ endsAt: 27_000, maxSeconds: 10 }) });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 15_000, 25_000]);
  });

  test("is not polled more often than poll-interval-seconds says", async () => {
    const { requests } = await runMain({ respond: holdingService({ endsAt: 14_000, maxSeconds: 2 }) });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 10_000, 15_000]);
  });

  test("is polled by the schedule if it responds in less than a second", async () => {
    const respond = holdingService({ endsAt: 22_000, maxSeconds: 0.999 });
    const { requests } = await runMain({ respond, inputs: { "poll-interval-seconds": "0.5" } });
    const starts = requests.map(({ at }) => at);
    expect(starts.slice(0, 3)).toEqual([0, 500, 500 + 999 + 500]);
    expect(requests.length).toBeLessThan(22);
  });

  test("can be asked to hold a poll for a second", async () => {
    const respond = holdingService({ endsAt: 4200, maxSeconds: 1 });
    const { requests } = await runMain({ respond, inputs: { "poll-interval-seconds": "0.5" } });
    expect(requests.map(({ at }) => at)).toEqual([0, 500, 1500, 2500, 3500]);
  });

  test("is asked for less if less time is left, and is polled a last time a second before the deadline", async () => {
    const { requests, outputs, clock } = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: holdingService({ endsAt: 600_000 }),
    });
    expect(outputs.outcome).toBe("timed-out");
    expect(clock.elapsedMs).toBe(60_000);
    expect(requests.map((request) => [request.at, secondsOf(request)])).toEqual([
      [0, 0],
      [5000, 25],
      [30_000, 25],
      [55_000, 1],
      [59_000, 0],
    ]);
  });

  test("still gets its own second to respond before the deadline", async () => {
    for (const timeout of ["0.2", "0.3", "0.5", "0.61", "1", "1.1"]) {
      const { requests } = await runMain({
        inputs: { "timeout-minutes": timeout },
        respond: holdingService({ endsAt: 600_000 }),
      });
      for (const request of requests.filter((each) => secondsOf(each) > 0)) {
        expect(request.timeoutMs).toBeGreaterThanOrEqual(secondsOf(request) * 1000 + 2000);
        expect(request.at + request.timeoutMs).toBeLessThanOrEqual(Number(timeout) * 60_000 - 2000);
      }
      expect(requests.at(-1)?.at).toBe(Number(timeout) * 60_000 - 1000);
    }
  });

  test("has its poll ended by a cancellation at once", async () => {
    const { outputs, clock } = await runMain({ respond: holdingService({ endsAt: 600_000 }), cancelAt: 12_345 });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1" });
    expect(clock.elapsedMs).toBe(12_345);
  });
});

describe("asks for no wait", () => {
  test("in the first poll of an existing job, so that its status is shown at once", async () => {
    const { requests, toolkit } = await runMain({
      inputs: { prompt: "", "job-id": "job_1" },
      respond: holdingService({ endsAt: 40_000 }),
    });
    expect(requests.map((request) => [request.at, secondsOf(request)])).toEqual([
      [0, 0],
      [5000, 25],
      [30_000, 25],
    ]);
    expect(toolkit.lines).toContain("00:00  active, next poll in 5.0 s");
  });

  test("if the job is only read once", async () => {
    const { requests } = await runMain({
      inputs: { prompt: "", "job-id": "job_1", wait: "false" },
      respond: holdingService({ endsAt: 40_000 }),
    });
    expect(requests.map(secondsOf)).toEqual([0]);
  });

  test("in a create or message", async () => {
    for (const jobId of ["", "job_1"]) {
      const { requests } = await runMain({ inputs: { "job-id": jobId }, respond: holdingService({ endsAt: 30_000 }) });
      expect(requests[0]?.headers).not.toHaveProperty("prefer");
      expect(requests.length).toBeGreaterThan(1);
    }
  });
});

test("a service that ignores the preference is polled by the schedule", async () => {
  const endsAt = 120_000;
  const respond = ({ method, at }: SeenRequest) =>
    method === "POST" ? respondWith(201, record()) : respondWith(200, at >= endsAt ? completed : record());
  const { requests } = await runMain({ respond });
  const delays = requests.map(({ at }, index) => at - (requests[index - 1]?.at ?? at));
  expect(delays.slice(1, 10)).toEqual(Array(9).fill(5000));
  expect(Math.min(...delays.slice(1))).toBe(5000);
  expect(polls(requests).map(secondsOf)).toEqual(Array(requests.length - 1).fill(25));
});

describe("a poll that is held and fails", () => {
  /** A gateway ends polls that it has to hold for longer than 20 s. */
  const gateway =
    (failure: Exchange, failures: number, seen = { failed: 0 }) =>
    (request: SeenRequest): Exchange => {
      if (request.method === "POST") return respondWith(201, record());
      if (secondsOf(request) > 20 && seen.failed < failures) {
        seen.failed++;
        return failure;
      }
      return holdingService({ endsAt: 150_000 })(request);
    };
  const failures: [string, Exchange][] = [
    ["504", { responseMs: 20_000, response: { status: 504, body: "<html>" } }],
    ["502 after a second", { responseMs: 1000, response: { status: 502, body: "" } }],
    ["a reset", { responseMs: 20_000, failure: "no-response" }],
    ["no response", { responseMs: 90_000, response: { status: 200, body: completed } }],
    ["a body that is no record", { responseMs: 20_000, response: { status: 200, body: "<html>" } }],
  ];

  test.each(failures)("twice is not held again: %s", async (_name, failure) => {
    const { requests, outputs, toolkit } = await runMain({ respond: gateway(failure, 1000) });
    expect(outputs.outcome).toBe("pr-created");
    expect(polls(requests).slice(0, 4).map(secondsOf)).toEqual([25, 25, 0, 0]);
    expect(polls(requests).slice(2).map(secondsOf)).toEqual(Array(requests.length - 3).fill(0));
    expect(toolkit.annotations).toMatchObject([{ level: "warning", title: "Polling is failing" }]);
  });

  test.each(failures)("once is held again: %s", async (_name, failure) => {
    const { requests, outputs } = await runMain({ respond: gateway(failure, 1) });
    expect(outputs.outcome).toBe("pr-created");
    expect(polls(requests).map(secondsOf)).toEqual(Array(requests.length - 1).fill(25));
  });

  test("is only counted if the one before it failed, too", async () => {
    const failure: Exchange = { responseMs: 20_000, response: { status: 504, body: "" } };
    let poll = 0;
    const { requests } = await runMain({
      respond: (request) =>
        request.method === "GET" && poll++ % 2 === 0 ? failure : holdingService({ endsAt: 400_000 })(request),
    });
    expect(polls(requests).map(secondsOf)).toEqual(Array(requests.length - 1).fill(25));
  });

  test.each<[string, Exchange]>([
    ["502 at once", respondWith(502)],
    ["a reset within a second", { responseMs: 999, failure: "no-response" }],
    ["no connection", { connectMs: 8000, failure: "not-connected" }],
  ])("has another cause: %s", async (_name, failure) => {
    const { requests, outputs } = await runMain({ respond: gateway(failure, 6) });
    expect(outputs.outcome).toBe("pr-created");
    expect(polls(requests).map(secondsOf)).toEqual(Array(requests.length - 1).fill(25));
  });

  test("to make room for the last poll says nothing about the service", async () => {
    const { requests, outputs, toolkit } = await runMain({
      inputs: { "timeout-minutes": "0.5" },
      respond: (request) =>
        request.method === "POST" || secondsOf(request) === 0
          ? respondWith(200, record())
          : { responseMs: 600_000, response: { status: 200, body: completed } },
    });
    expect(outputs).toMatchObject({ outcome: "timed-out", status: "active" });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 29_000]);
    expect(toolkit.annotations.filter(({ title }) => title === "Polling is failing")).toEqual([]);
  });
});

describe("after a message", () => {
  const inputs = { "job-id": "job_1" };
  const stale = record({ status: "completed", prLink: "https://github.com/acme/docs/pull/1" });

  test("the state from before it is not taken for the result, although the service waited", async () => {
    let poll = 0;
    const { requests, outputs } = await runMain({
      inputs,
      respond: ({ method }) => {
        if (method === "POST") return respondWith(200, stale);
        const body = poll++ === 0 ? stale : completed;
        return { responseMs: 8000, response: { status: 200, body, headers: { "preference-applied": "wait" } } };
      },
    });
    expect(outputs).toMatchObject({ outcome: "error", "pr-link": prLink });
    expect(requests.map(({ at }) => at)).toEqual([0, 5000, 13_000, 21_000]);
  });
});
