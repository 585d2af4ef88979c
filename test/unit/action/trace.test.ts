import { expect, test } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { fakeTransport } from "../../support/fake-transport.ts";
import { answer, key, record, runMain } from "../../support/run-main.ts";

/** The lines of debug of a run whose requests are answered in turn. */
async function debugOf(...answers: ReturnType<typeof answer>[]): Promise<string[]> {
  const { toolkit } = await runMain({ respond: (_request, index) => answers[index] ?? answer(500) });
  return toolkit.events.filter((event) => event.startsWith("debug ")).map((event) => event.slice("debug ".length));
}

test("every request is one line of debug: method, path, status, duration and the service's id of it", async () => {
  const lines = await debugOf(
    { ...answer(201, record(), { "x-request-id": "req-1" }), answerMs: 250 },
    answer(503, "", { "x-request-id": "req-2" }),
    { failure: "not-connected" },
    answer(200, record({ status: "completed" })),
  );
  expect(lines).toEqual([
    "POST /v2/agent/docs/job: 201, request req-1 (250 ms)",
    "GET /v2/agent/docs/job/job_1: 503, request req-2 (0 ms)",
    expect.stringMatching(/^GET \/v2\/agent\/docs\/job\/job_1: .+ \(0 ms\)$/),
    "GET /v2/agent/docs/job/job_1: 200 (0 ms)",
  ]);
});

test("neither headers nor bodies, and no key where the service gives it back", async () => {
  const lines = await debugOf(
    answer(400, { error: "a secret body" }, { "x-request-id": `echo ${key}`, server: "nginx" }),
  );
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("400, request echo ");
  for (const hidden of [key, "secret body", "nginx", "Bearer", "Update the quickstart"])
    expect(lines[0]).not.toContain(hidden);
});

test("a line that cannot be written costs no answer: the id of the job that was started is handed on", async () => {
  const clock = new FakeClock();
  const respond = () => answer(201, record());
  const client = createClient(
    { baseUrl: new URL("https://example.com"), projectId: "docs", apiKey: key },
    {
      transport: fakeTransport(clock, respond).transport,
      clock,
      random: () => 0.5,
      onTrace: () => {
        throw new Error("the disk is full");
      },
    },
  );
  const limits = { deadline: 60_000, signal: new AbortController().signal };
  expect(await client.createJob("Update the quickstart", limits, () => {})).toMatchObject({ id: "job_1" });
});

test("what comes as an id stays one harmless line", async () => {
  const [line = ""] = await debugOf(answer(400, "", { "x-request-id": `::error::x\u202e${"y".repeat(500)}` }));
  expect(line).not.toMatch(/\u202e/);
  expect(line.length).toBeLessThan(250);
});
