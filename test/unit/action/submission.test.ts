import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Exchange, SeenRequest } from "../../support/fake-transport.ts";
import { answer, key, prLink, record, runMain } from "../../support/run-main.ts";

const completed = record({ status: "completed", prLink });
const posts = (requests: SeenRequest[]) => requests.filter(({ method }) => method === "POST");

/** The n-th create goes as the n-th of these, and the last is followed by one that works. */
function creates(...exchanges: Exchange[]) {
  let next = 0;
  return ({ method }: { method: string }): Exchange =>
    method === "GET" ? answer(200, completed) : (exchanges[next++] ?? answer(201, record()));
}

describe("the request", () => {
  test("a create: one POST with the prompt, and the key in its header", async () => {
    const { requests } = await runMain({ respond: creates() });
    expect(requests[0]).toMatchObject({
      method: "POST",
      path: "/v2/agent/docs/job",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" },
      body: { prompt: "Update the quickstart" },
    });
    expect(posts(requests)).toHaveLength(1);
  });

  test("the prompt is sent as it was written", async () => {
    const prompt = "  First line\n\n- item ##[x] 😀\n";
    const { requests } = await runMain({ inputs: { prompt }, respond: creates() });
    expect(requests[0]?.body).toEqual({ prompt });
  });

  test("a prompt file is looked for in the workspace", async () => {
    const folder = mkdtempSync(join(tmpdir(), "workspace-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "prompt.md"), "From the file");
    const inputs = { prompt: "", "prompt-file": "prompt.md" };
    const { requests } = await runMain({ inputs, environment: { GITHUB_WORKSPACE: folder }, respond: creates() });
    expect(requests[0]?.body).toEqual({ prompt: "From the file" });
  });

  test("ids are encoded, and a path of the base address is kept", async () => {
    const inputs = { "project-id": "a/b ?", "job-id": "x/../y#1", "base-url": "https://example.com/api/", prompt: "" };
    const { requests } = await runMain({
      inputs,
      respond: () => answer(200, record({ id: "x/../y#1", status: "failed" })),
    });
    expect(requests).toMatchObject([{ path: "/api/v2/agent/a%2Fb%20%3F/job/x%2F..%2Fy%231" }]);
  });

  test.each([200, 201, 202, 206, 299])("any 2xx will do: %i", async (status) => {
    const { outputs } = await runMain({ respond: creates(answer(status, record())) });
    expect(outputs.outcome).toBe("pr-created");
  });
});

describe("provably not taken: sent again", () => {
  test("429: after Retry-After at the least", async () => {
    const { outputs, requests } = await runMain({ respond: creates(answer(429, {}, { "retry-after": "40" })) });
    expect(outputs.outcome).toBe("pr-created");
    expect(posts(requests)).toMatchObject([{ at: 0 }, { at: 40_000 }]);
  });

  test("503 with Retry-After, as a date too", async () => {
    const date = "Thu, 01 Jan 2026 00:00:20 GMT";
    const { requests } = await runMain({ respond: creates(answer(503, "<html>", { "retry-after": date })) });
    expect(posts(requests)).toMatchObject([{ at: 0 }, { at: 20_000 }]);
  });

  test("not connected: with growing delays", async () => {
    const down: Exchange = { failure: "not-connected" };
    const { requests, outputs } = await runMain({ respond: creates(down, down, down), random: () => 0.99 });
    expect(outputs.outcome).toBe("pr-created");
    expect(posts(requests).map(({ at }) => at)).toEqual([0, 990, 990 + 1980, 990 + 1980 + 3960]);
  });

  test("one warning when it begins, one line when it ends", async () => {
    const throttled = answer(429, { error: "slow down" });
    const { toolkit } = await runMain({ respond: creates(throttled, throttled, throttled) });
    expect(toolkit.annotations).toMatchObject([
      { level: "warning", text: expect.stringContaining("HTTP 429: slow down") },
    ]);
    expect(toolkit.lines.filter((line) => line === "The service is responding again.")).toHaveLength(1);
  });
});

describe("provably not taken to the end: nothing was started", () => {
  test("429 until the time is up", async () => {
    const { outputs, requests, clock, toolkit } = await runMain({
      inputs: { "timeout-minutes": "10" },
      respond: () => answer(429),
    });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(toolkit.annotations.at(-1)?.text).toMatch(/rate limit is exceeded.*No job was started/s);
    expect(clock.now()).toBe(599_000);
    expect(Math.max(...requests.map(({ at }) => at))).toBe(599_000);
  });

  test("a Retry-After past the deadline fails at once", async () => {
    const { outputs, requests, clock, toolkit } = await runMain({
      inputs: { "timeout-minutes": "10" },
      respond: () => answer(429, {}, { "retry-after": "600" }),
    });
    expect(outputs.outcome).toBe("error");
    expect(requests).toHaveLength(1);
    expect(clock.now()).toBe(0);
    expect(toolkit.annotations.at(-1)?.text).toContain("HTTP 429, retry after 10 min");
  });

  test("not connected for a minute", async () => {
    const { outputs, clock, toolkit } = await runMain({ respond: () => ({ failure: "not-connected" }) });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(clock.now()).toBe(60_000);
    const text = toolkit.annotations.at(-1)?.text;
    expect(text).toContain("https://api.mintlify.com/");
    expect(text).toContain("No job was started");
  });

  test("a certificate that is not trusted fails at once", async () => {
    const { outputs, requests, toolkit } = await runMain({ respond: () => ({ failure: "certificate" }) });
    expect(outputs.outcome).toBe("error");
    expect(requests).toHaveLength(1);
    expect(toolkit.annotations.at(-1)?.text).toMatch(
      /certificate of https:\/\/api\.mintlify\.com\/ is not trusted.*No job was started.*NODE_EXTRA_CA_CERTS/s,
    );
  });

  test("never sent with less than a second left", async () => {
    const { requests } = await runMain({ inputs: { "timeout-minutes": "0.01" }, respond: () => answer(429) });
    expect(requests).toHaveLength(1);
  });
});

describe("may have been taken: never sent again", () => {
  test.each<[string, Exchange]>([
    ["408", answer(408)],
    ["500", answer(500)],
    ["502", answer(502)],
    ["503 without Retry-After", answer(503)],
    ["503 with a Retry-After that says nothing", answer(503, "", { "retry-after": "0" })],
    ["504", answer(504)],
    ["a reset after it was sent", { failure: "no-response" }],
    ["no answer in 30 s", { answerMs: 60_000, answer: { status: 201, body: record() } }],
    ["a 201 that is no JSON", answer(201, "<html>ok</html>")],
    ["a 201 without an id", answer(201, { status: "active" })],
    ["a 201 with an empty id", answer(201, { id: "", status: "active" })],
    ["a 201 with an id that would change paths", answer(201, { id: "..", status: "active" })],
    ["a 204", answer(204)],
  ])("%s", async (_name, exchange) => {
    const { outputs, requests, toolkit, hasPassed } = await runMain({ respond: () => exchange });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(hasPassed).toBe(false);
    expect(toolkit.annotations).toHaveLength(1);
    expect(toolkit.annotations[0]?.text).toMatch(/A job may have been started.*a re-run may start a second job/s);
  });

  test("an id in an answer that is no whole record is not lost", async () => {
    const { outputs, requests, toolkit } = await runMain({ respond: () => answer(201, { id: "job_9" }) });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_9" });
    expect(toolkit.annotations[0]?.text).toContain("run the action with job-id job_9 and no prompt");
  });

  test("a message: says that it may have been sent", async () => {
    const { outputs, requests, toolkit } = await runMain({
      inputs: { "job-id": "job_1" },
      respond: () => answer(500),
    });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(toolkit.annotations[0]).toMatchObject({ title: "Message may have been sent" });
    expect(toolkit.annotations[0]?.text).toContain("A re-run of this workflow run may send it a second time");
  });

  test("the answer to a message that is another job's record", async () => {
    const { outputs, requests } = await runMain({
      inputs: { "job-id": "job_1" },
      respond: () => answer(200, record({ id: "job_2" })),
    });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1", model: "" });
  });
});

test("the id in a message's unusable answer is not taken for the job's", async () => {
  const { outputs } = await runMain({ inputs: { "job-id": "job_1" }, respond: () => answer(200, { id: "job_2" }) });
  expect(outputs["job-id"]).toBe("job_1");
});

test("the id in a 500 is not lost", async () => {
  const { outputs } = await runMain({ respond: () => answer(500, record({ id: "job_5" })) });
  expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_5" });
});

test("the minute for connections that fail begins anew when the service has answered", async () => {
  const down: Exchange = { failure: "not-connected" };
  const { outputs, clock } = await runMain({
    respond: ({ at, method }) => {
      if (method === "GET") return answer(200, completed);
      if (at < 50_000) return down;
      return at < 55_000 ? answer(429) : at < 110_000 ? down : answer(201, record());
    },
    random: () => 0.15,
  });
  expect(outputs.outcome).toBe("pr-created");
  expect(clock.now()).toBeGreaterThan(110_000);
});

describe("refused: fails at once and says what to do", () => {
  test.each([
    [400, "rejected the prompt", "Change the prompt"],
    [401, "rejected the API key", "Create an admin key"],
    [403, "The API key is not allowed from this IP address", "Allow the runner's address"],
    [404, "Project docs was not found", "Copy project-id"],
    [413, "HTTP 413", "Check the inputs"],
    [418, "HTTP 418", "Check the inputs"],
  ])("HTTP %i", async (status, what, next) => {
    const { outputs, requests, toolkit, hasPassed } = await runMain({
      respond: () => answer(status, { error: "Its own words." }),
    });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(hasPassed).toBe(false);
    expect(toolkit.annotations).toHaveLength(1);
    const text = toolkit.annotations[0]?.text;
    for (const part of [what, next, "Its own words.", "No job was started."]) expect(text).toContain(part);
  });

  test.each([300, 301, 302, 303, 307, 308, 304])("a redirect is not followed: %i", async (status) => {
    const { outputs, requests, toolkit } = await runMain({
      respond: () => answer(status, "", { location: "https://elsewhere.example/x" }),
    });
    expect(requests).toHaveLength(1);
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations[0]?.text).toMatch(/a redirect to https:\/\/elsewhere\.example\/x.*Correct base-url/s);
  });

  test("a message to an unknown job", async () => {
    const { outputs, toolkit } = await runMain({ inputs: { "job-id": "job_x" }, respond: () => answer(404) });
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations[0]?.text).toMatch(
      /Job job_x was not found in project docs.*The message was not sent and started no work/s,
    );
  });
});
