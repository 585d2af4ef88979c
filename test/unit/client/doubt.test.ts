import { describe, expect, test } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { keyCredentials } from "../../../src/client/credentials.ts";
import type { SubmissionError } from "../../../src/client/errors.ts";
import type { RetryNotice } from "../../../src/client/submit.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { type Exchange, fakeTransport, type SeenRequest } from "../../support/fake-transport.ts";
import { key, record, respondWith } from "../../support/run-main.ts";

const idempotencyKey = { step: "abc", request: "def" };
const announced = respondWith(200, { step: "abc", features: [], turns: [] });
const lost: Exchange = { failure: "no-response" };
const created = respondWith(201, record());

interface Options {
  canBeAsked?: boolean;
  deadlineMs?: number;
  cancelAt?: number;
}

/** Creates a job with a service that answers each request in turn; the last answer repeats. */
async function create(exchanges: Exchange[], { canBeAsked = true, deadlineMs = 600_000, cancelAt }: Options = {}) {
  const clock = new FakeClock();
  const cancellation = new AbortController();
  if (cancelAt !== undefined) clock.at(cancelAt, () => cancellation.abort());
  const { transport, requests } = fakeTransport(
    clock,
    (_request, index) => exchanges[index] ?? exchanges.at(-1) ?? lost,
  );
  const notices: RetryNotice[] = [];
  const client = createClient(
    {
      baseUrl: new URL("https://example.com"),
      projectId: "docs",
      userAgent: "agent-job-action",
      credentials: keyCredentials(key),
      canBeAsked,
      asked: {},
    },
    { transport, clock, random: () => 0.5 },
  );
  const limits = { deadline: clock.now() + deadlineMs, signal: cancellation.signal };
  const result = await client
    .createJob({ prompt: "Fix it", key: idempotencyKey }, limits, (notice) => notices.push(notice))
    .catch((error: SubmissionError) => error);
  return { result, requests, routes: requests.map(routeOf), notices, elapsedMs: clock.elapsedMs };
}

const routeOf = ({ method, query }: SeenRequest): string => `${method}${query}`;

test("every create and question carries the key, as a quoted string", async () => {
  const { requests } = await create([lost, announced, created]);
  expect(requests.map(({ headers }) => headers["idempotency-key"])).toEqual(Array(3).fill('"abc.def"'));
});

describe("after a doubt", () => {
  test.each<[string, Exchange]>([
    ["a lost response", lost],
    ["502", respondWith(502)],
    ["408", respondWith(408)],
    ["503 without Retry-After", respondWith(503)],
    ["a response that is no record", respondWith(201, "<html>")],
  ])("%s: a service that announces it is sent the same request again", async (_name, exchange) => {
    const { result, routes, notices } = await create([exchange, announced, created]);
    expect(routes).toEqual(["POST", "GET?step=abc", "POST"]);
    expect(result).toMatchObject({ job: { id: "job_1" }, isReplay: false });
    expect(notices).toMatchObject([{ isDoubt: true }]);
  });

  test("a replay of one's own request is not one of somebody else's", async () => {
    const replay = respondWith(201, record(), { "idempotent-replayed": "true" });
    expect((await create([lost, announced, replay])).result).toMatchObject({ isReplay: false });
    expect((await create([replay])).result).toMatchObject({ isReplay: true });
  });

  test.each<[string, Exchange]>([
    ["answers 404", respondWith(404, { error: "Not found" })],
    ["answers 401", respondWith(401)],
    ["answers a page", respondWith(200, "<html>")],
    ["repeats another step", respondWith(200, { step: "abd", features: [], turns: [] })],
    ["lists no turns", respondWith(200, { step: "abc", features: [] })],
    ["lists a turn that is none", respondWith(200, { step: "abc", features: [], turns: [{ job: "job_1" }] })],
    ["lists a turn without a status", respondWith(200, { step: "abc", turns: [turn({ status: 5 })] })],
    ["lists a turn of a job without a usable id", respondWith(200, { step: "abc", turns: [turn({ job: ".." })] })],
    ["did not receive the key", respondWith(200, { step: "abc", features: [], turns: [], key: null })],
    ["is a record", created],
  ])("a service that %s announces nothing: nothing is sent again", async (_name, exchange) => {
    const { result, routes } = await create([lost, exchange, created]);
    expect(routes).toEqual(["POST", "GET?step=abc"]);
    expect(result).toMatchObject({ name: "SubmissionError", acceptance: "unknown" });
  });

  test("a service that may not be asked is not", async () => {
    const { result, routes } = await create([lost, announced, created], { canBeAsked: false });
    expect(routes).toEqual(["POST"]);
    expect(result).toMatchObject({ acceptance: "unknown" });
  });

  test("the service is asked again while it does not answer, for a minute at most", async () => {
    expect((await create([lost, respondWith(503), lost, announced, created])).routes).toEqual([
      "POST",
      ...Array(3).fill("GET?step=abc"),
      "POST",
    ]);
    const { result, routes, elapsedMs } = await create([lost]);
    expect(routes.filter((route) => route === "POST")).toHaveLength(1);
    expect(result).toMatchObject({ acceptance: "unknown" });
    expect(elapsedMs).toBeGreaterThan(30_000);
    expect(elapsedMs).toBeLessThan(100_000);
  });

  test("not past the deadline", async () => {
    const { elapsedMs } = await create([lost], { deadlineMs: 10_000 });
    expect(elapsedMs).toBeLessThanOrEqual(20_000);
    expect((await create([lost, announced, created], { deadlineMs: 900 })).routes).toEqual(["POST"]);
  });

  test("a doubt that follows another is asked about anew", async () => {
    const { routes, result } = await create([lost, announced, lost, announced, created]);
    expect(routes).toEqual(["POST", "GET?step=abc", "POST", "GET?step=abc", "POST"]);
    expect(result).toMatchObject({ job: { id: "job_1" } });
  });

  test("a rejection does not end it: the first request may still be on its way", async () => {
    const { result } = await create([lost, announced, respondWith(401)]);
    expect(result).toMatchObject({ acceptance: "unknown", cause: { name: "NetworkError" } });
  });

  test("the id in a part of the first response is kept", async () => {
    const { result } = await create([respondWith(201, '{"id":"job_7","st'), respondWith(404)]);
    expect(result).toMatchObject({ acceptance: "unknown", jobId: "job_7" });
  });

  test("a signal ends it", async () => {
    const { result, routes } = await create([lost, { ...announced, responseMs: 2000 }, created], { cancelAt: 1000 });
    expect(routes).toEqual(["POST", "GET?step=abc"]);
    expect(result).toMatchObject({ acceptance: "unknown" });
  });
});

function turn(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { job: "job_1", turn: "5", request: "def", status: "running", ...fields };
}

describe("what was sent under a step", () => {
  async function ask(exchange: Exchange) {
    const clock = new FakeClock();
    const { transport } = fakeTransport(clock, () => exchange);
    const client = createClient(
      {
        baseUrl: new URL("https://example.com"),
        projectId: "docs",
        userAgent: "agent-job-action",
        credentials: keyCredentials(key),
        canBeAsked: true,
        asked: {},
      },
      { transport, clock, random: () => 0.5 },
    );
    const limits = { deadline: clock.now() + 60_000, signal: new AbortController().signal };
    return client.lookUpStep(idempotencyKey, limits);
  }

  test("is a list of turns, the newest first, and of features", async () => {
    const turns = [
      turn({ status: "failed", message: "Done", reason: "Why", class: "limit", usage: { costUsd: 0.5 }, kept: "push" }),
      turn({ turn: "4", status: "hibernating", reason: 5 }),
      turn({ status: "waiting" }),
    ];
    const answer = await ask(respondWith(200, { step: "abc", features: ["stop", 5], turns, key: "def" }));
    expect(answer?.turns).toEqual([
      {
        jobId: "job_1",
        turnId: "5",
        request: "def",
        status: "failed",
        message: "Done",
        reason: "Why",
        costUsd: 0.5,
        failureClass: "limit",
        isKept: true,
        isUnfinished: false,
        isUnchanged: false,
        check: "",
      },
      // Unknown to this version, and no proof of success.
      {
        jobId: "job_1",
        turnId: "4",
        request: "def",
        status: "running",
        message: "",
        reason: "",
        costUsd: undefined,
        failureClass: "",
        isKept: false,
        isUnfinished: false,
        isUnchanged: false,
        check: "",
      },
      {
        jobId: "job_1",
        turnId: "5",
        request: "def",
        status: "waiting",
        message: "",
        reason: "",
        costUsd: undefined,
        failureClass: "",
        isKept: false,
        isUnfinished: false,
        isUnchanged: false,
        check: "",
      },
    ]);
    expect([...(answer?.features ?? [])]).toEqual(["stop"]);
    expect(answer?.sessionJobId).toBeUndefined();
    const known = respondWith(200, { step: "abc", turns: [], session: { job: "job_2" } });
    expect((await ask(known))?.sessionJobId).toBe("job_2");
  });

  test.each([404, 405, 501])("is none after HTTP %i", async (status) => {
    expect(await ask(respondWith(status, "<html>"))).toBeUndefined();
  });

  test.each([400, 403, 429, 500, 503])("is unknown after HTTP %i", async (status) => {
    await expect(ask(respondWith(status))).rejects.toMatchObject({ status });
  });

  test("is not asked before the time that the service has named", async () => {
    const clock = new FakeClock();
    const busy = respondWith(429, { error: "Slow down" }, { "retry-after": "60" });
    const { transport, requests } = fakeTransport(clock, () => busy);
    const asked = {};
    const userAgent = "agent-job-action";
    const address = {
      baseUrl: new URL("https://example.com"),
      projectId: "docs",
      credentials: keyCredentials(key),
      userAgent,
    };
    // Each part of a run has a client of its own.
    const look = () =>
      createClient({ ...address, canBeAsked: true, asked }, { transport, clock, random: () => 0.5 }).lookUpStep(
        idempotencyKey,
        { deadline: clock.now() + 1e6, signal: new AbortController().signal },
      );
    for (const pauseMs of [0, 59_999, 1]) {
      await clock.sleep(pauseMs, new AbortController().signal);
      await expect(look()).rejects.toMatchObject({ status: 429 });
    }
    expect(requests).toHaveLength(2);
  });

  test("has no id of a turn that could fill a log", async () => {
    const answer = respondWith(200, { step: "abc", turns: [turn({ turn: "5".repeat(201) })] });
    await expect(ask(answer)).rejects.toMatchObject({ message: "it announces nothing" });
  });
});
