import { expect, test } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { keyCredentials } from "../../../src/client/credentials.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { fakeTransport } from "../../support/fake-transport.ts";
import { key, record, respondWith, runMain } from "../../support/run-main.ts";

/** Returns the debug lines of a run whose requests end in these ways, in turn. */
async function debugOf(...responses: ReturnType<typeof respondWith>[]): Promise<string[]> {
  const { toolkit } = await runMain({ respond: (_request, index) => responses[index] ?? respondWith(500) });
  return toolkit.events.filter((event) => event.startsWith("debug ")).map((event) => event.slice("debug ".length));
}

test("prints one debug line per request: method, path, status, request id and duration", async () => {
  const lines = await debugOf(
    { ...respondWith(201, record(), { "x-request-id": "req-1" }), responseMs: 250 },
    respondWith(503, "", { "x-request-id": "req-2" }),
    { failure: "not-connected" },
    respondWith(200, record({ status: "completed" })),
  );
  expect(lines).toEqual([
    "POST /v2/agent/docs/job: 201, request req-1 (250 ms)",
    "GET /v2/agent/docs/job/job_1: 503, request req-2 (0 ms)",
    "GET /v2/agent/docs/job/job_1: simulated network failure (0 ms)",
    "GET /v2/agent/docs/job/job_1: 200 (0 ms)",
  ]);
});

test("prints no headers and no bodies, and redacts a key that the service echoes", async () => {
  const lines = await debugOf(
    respondWith(400, { error: "a secret body" }, { "x-request-id": `echo ${key}`, server: "nginx" }),
  );
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("400, request echo ");
  for (const hidden of [key, "secret body", "nginx", "Bearer", "Update the quickstart"])
    expect(lines[0]).not.toContain(hidden);
});

test("redacts a key in a path, into which somebody pasted it by mistake", async () => {
  const { toolkit } = await runMain({ inputs: { "project-id": `my-${key}` }, respond: () => respondWith(404) });
  expect(toolkit.events).toContain("debug POST /v2/agent/my-***/job: 404 (0 ms)");
});

test("returns the job although the trace listener throws", async () => {
  const clock = new FakeClock();
  const respond = () => respondWith(201, record());
  const client = createClient(
    {
      baseUrl: new URL("https://example.com"),
      projectId: "docs",
      userAgent: "agent-job-action",
      credentials: keyCredentials(key),
      canBeAsked: false,
      asked: {},
    },
    {
      transport: fakeTransport(clock, respond).transport,
      clock,
      random: () => 0.5,
      onTrace: () => {
        throw new Error("the disk is full");
      },
    },
  );
  const limits = { deadline: clock.now() + 60_000, signal: new AbortController().signal };
  expect(
    await client.createJob({ prompt: "Update the quickstart", key: { step: "a", request: "b" } }, limits, () => {}),
  ).toMatchObject({ job: { id: "job_1" } });
});

test("escapes and shortens a request id", async () => {
  const [line = ""] = await debugOf(respondWith(400, "", { "x-request-id": `::error::x\u202e${"y".repeat(500)}` }));
  expect(line).not.toMatch(/\u202e/);
  expect(line.length).toBeLessThan(250);
});
