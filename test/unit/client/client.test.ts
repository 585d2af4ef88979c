import { describe, expect, test } from "vitest";
import { type AgentJobClient, createClient } from "../../../src/client/client.ts";
import { keyCredentials } from "../../../src/client/credentials.ts";
import type { SubmissionError } from "../../../src/client/errors.ts";
import type { Transport } from "../../../src/runner-kit/transport.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { type Exchange, fakeTransport, type SeenRequest } from "../../support/fake-transport.ts";
import { key, record, respondWith } from "../../support/run-main.ts";

const submission = { prompt: "prompt", key: { step: "a", request: "b" } };
const limits = { deadline: new FakeClock().now() + 60_000, signal: new AbortController().signal };

function clientOf(
  transport: Transport,
  clock = new FakeClock(),
  baseUrl = "https://example.com",
  canBeAsked = false,
): AgentJobClient {
  const address = {
    baseUrl: new URL(baseUrl),
    projectId: "docs",
    userAgent: "agent-job-action",
    credentials: keyCredentials(key),
    canBeAsked,
    asked: {},
  };
  return createClient(address, { transport, clock, random: () => 0.5 });
}

/** Creates a job with a service that answers each request in turn; returns what came of it. */
async function create(...exchanges: Exchange[]): Promise<{ result: unknown; requests: SeenRequest[] }> {
  const clock = new FakeClock();
  const { transport, requests } = fakeTransport(clock, (_request, index) => exchanges[index] ?? respondWith(500));
  const result = await clientOf(transport, clock)
    .createJob(submission, limits, () => {})
    .catch((error: SubmissionError) => error);
  return { result, requests };
}

test.each(["https://example.com/prefix", "https://example.com/prefix/", "https://example.com/prefix//"])(
  "keeps the path of %s, without the slashes at its end",
  async (baseUrl) => {
    const clock = new FakeClock();
    const { transport, requests } = fakeTransport(clock, () => respondWith(200, record()));
    await clientOf(transport, clock, baseUrl).getJob("job_1", limits);
    expect(requests[0]?.path).toBe("/prefix/v2/agent/docs/job/job_1");
  },
);

test("says for how long a poll was held, if it could be and the service says that it was", async () => {
  const heldMs = async (holdSeconds: number, headers: Record<string, string>) => {
    const clock = new FakeClock();
    const { transport } = fakeTransport(clock, () => ({ ...respondWith(200, record(), headers), responseMs: 3000 }));
    return (await clientOf(transport, clock).getJob("job_1", limits, holdSeconds)).heldMs;
  };
  expect(await heldMs(25, { "preference-applied": "wait" })).toBe(3000);
  expect(await heldMs(25, {})).toBe(0);
  expect(await heldMs(0, { "preference-applied": "wait" })).toBe(0);
});

test("does not take a bug for a failed request", async () => {
  const bug = new TypeError("x is not a function");
  const client = clientOf(() => Promise.reject(bug));
  await expect(client.createJob(submission, limits, () => {})).rejects.toBe(bug);
  await expect(client.getJob("job_1", limits)).rejects.toBe(bug);
});

describe("a create with Retry-After", () => {
  test("is sent again if a second is left after the wait", async () => {
    const { result, requests } = await create(
      respondWith(429, "", { "retry-after": "59" }),
      respondWith(201, record()),
    );
    expect(requests.map(({ at }) => at)).toEqual([0, 59_000]);
    expect(result).toMatchObject({ job: { id: "job_1" } });
  });

  test("fails at once if less is left", async () => {
    const { result, requests } = await create(respondWith(429, "", { "retry-after": "60" }));
    expect(requests).toHaveLength(1);
    expect(result).toMatchObject({ acceptance: "rejected", cause: { status: 429 } });
  });
});

test.each([0, 101, 199, 300])("a job record in a response with status %i is not a job", async (status) => {
  const { result, requests } = await create(respondWith(status, record()));
  expect(requests).toHaveLength(1);
  expect(result).toMatchObject({ acceptance: status < 300 ? "unknown" : "rejected", jobId: undefined });
});

test.each([200, 201, 202, 299])("a job record in a response with status %i is a job", async (status) => {
  expect((await create(respondWith(status, record()))).result).toMatchObject({
    job: { id: "job_1", status: "active" },
  });
});

describe("a create that is in doubt", () => {
  /** Creates a job with a service whose first answer is in doubt, and which answers the question like this. */
  async function doubt(answer: Exchange, lookup: Exchange) {
    const clock = new FakeClock();
    const { transport, requests } = fakeTransport(clock, ({ method }) => (method === "POST" ? answer : lookup));
    const ids: [string, number][] = [];
    const onJobId = (id: string): void => void ids.push([id, requests.length]);
    const startedAt = clock.now();
    const result = await clientOf(transport, clock, "https://example.com", true)
      .createJob(submission, limits, () => {}, onJobId)
      .catch((error: SubmissionError) => error);
    return { result, ids, ms: clock.now() - startedAt };
  }

  test("is given up at once if the service wants to be asked after the deadline", async () => {
    const { result, ms } = await doubt(respondWith(500), respondWith(503, "", { "retry-after": "3600" }));
    expect(result).toMatchObject({ name: "SubmissionError", acceptance: "unknown" });
    expect(ms).toBeLessThan(limits.deadline);
    expect(ms).toBeLessThan(60_000);
  });

  test("names the job in its response before the service is asked", async () => {
    const { ids } = await doubt(respondWith(201, { id: "job_9" }), respondWith(404, { error: "Not found" }));
    expect(ids).toEqual([["job_9", 1]]);
  });

  const named = respondWith(201, { id: "job_9" });
  test.each<[string, Exchange[], string[]]>([
    ["only a later response has", [respondWith(504), named], ["job_9"]],
    ["only the first response has", [named, respondWith(504)], ["job_9"]],
    [
      "the first response has if a later one has another",
      [named, respondWith(201, { id: "job_8" })],
      ["job_9", "job_8"],
    ],
  ])("names the job that %s", async (_name, exchanges, known) => {
    const clock = new FakeClock();
    const answers = exchanges.values();
    const { transport } = fakeTransport(clock, ({ method }, index) => {
      if (method === "POST") return answers.next().value ?? respondWith(429);
      return index === 1 ? respondWith(200, { step: "a", turns: [] }) : respondWith(404, { error: "Not found" });
    });
    const ids: string[] = [];
    const result = await clientOf(transport, clock, "https://example.com", true)
      .createJob(
        submission,
        limits,
        () => {},
        (id) => ids.push(id),
      )
      .catch((error: SubmissionError) => error);
    expect(result).toMatchObject({ acceptance: "unknown", jobId: "job_9" });
    expect(ids).toEqual(known);
  });
});
