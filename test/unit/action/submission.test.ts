import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Exchange, SeenRequest } from "../../support/fake-transport.ts";
import { key, prLink, record, respondWith, runMain } from "../../support/run-main.ts";

const completed = record({ status: "completed", prLink });
const posts = (requests: SeenRequest[]) => requests.filter(({ method }) => method === "POST");

/** A service that answers creates with these exchanges in turn, then accepts one. */
function creates(...exchanges: Exchange[]) {
  let next = 0;
  return ({ method }: { method: string }): Exchange =>
    method === "GET" ? respondWith(200, completed) : (exchanges[next++] ?? respondWith(201, record()));
}

describe("the request", () => {
  test("creates a job with one POST: the prompt in the body, the key in a header", async () => {
    const { requests } = await runMain({ respond: creates() });
    expect(requests[0]).toMatchObject({
      method: "POST",
      path: "/v2/agent/docs/job",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" },
      body: { prompt: "Update the quickstart" },
    });
    expect(posts(requests)).toHaveLength(1);
  });

  test("sends the prompt as written", async () => {
    const prompt = "  First line\n\n- item ##[x] 😀\n";
    const { requests } = await runMain({ inputs: { prompt }, respond: creates() });
    expect(requests[0]?.body).toEqual({ prompt });
  });

  test.each([
    ["Windows", 32_753, "sent"],
    ["Windows", 32_754, "not sent, because it may be cut off"],
    ["Linux", 100_000, "sent"],
  ])("on %s, a prompt of %i characters is %s", async (RUNNER_OS, length, what) => {
    const environment = { RUNNER_OS };
    const run = await runMain({ inputs: { prompt: "x".repeat(length) }, environment, respond: creates() });
    expect(run.requests.length > 0).toBe(what === "sent");
    if (what === "sent") return;
    expect(run.outputs.outcome).toBe("error");
    expect(run.toolkit.annotations.map(({ text }) => text).join()).toMatch(
      /prompt has 32754 characters\. Windows passes at most 32753 .*use prompt-file/,
    );
  });

  test("reads a prompt file from the workspace", async () => {
    const folder = mkdtempSync(join(tmpdir(), "workspace-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "prompt.md"), "From the file");
    const inputs = { prompt: "", "prompt-file": "prompt.md" };
    const { requests } = await runMain({ inputs, environment: { GITHUB_WORKSPACE: folder }, respond: creates() });
    expect(requests[0]?.body).toEqual({ prompt: "From the file" });
  });

  test("encodes ids and keeps the path of base-url", async () => {
    const inputs = { "project-id": "a/b ?", "job-id": "x/../y#1", "base-url": "https://example.com/api/", prompt: "" };
    const { requests } = await runMain({
      inputs,
      respond: () => respondWith(200, record({ id: "x/../y#1", status: "failed" })),
    });
    expect(requests).toMatchObject([{ path: "/api/v2/agent/a%2Fb%20%3F/job/x%2F..%2Fy%231" }]);
  });

  test.each([200, 201, 202, 206, 299])("accepts any 2xx: %i", async (status) => {
    const { outputs } = await runMain({ respond: creates(respondWith(status, record())) });
    expect(outputs.outcome).toBe("pr-created");
  });
});

describe("a create that was provably not accepted", () => {
  test("is retried after a 429, no sooner than Retry-After", async () => {
    const { outputs, requests } = await runMain({ respond: creates(respondWith(429, {}, { "retry-after": "40" })) });
    expect(outputs.outcome).toBe("pr-created");
    expect(posts(requests)).toMatchObject([{ at: 0 }, { at: 40_000 }]);
  });

  test("is retried after a 503 with Retry-After as a date", async () => {
    const date = "Thu, 01 Jan 2026 00:00:20 GMT";
    const { requests } = await runMain({ respond: creates(respondWith(503, "<html>", { "retry-after": date })) });
    expect(posts(requests)).toMatchObject([{ at: 0 }, { at: 20_000 }]);
  });

  test("is retried after failed connections with exponential backoff", async () => {
    const down: Exchange = { failure: "not-connected" };
    const { requests, outputs } = await runMain({ respond: creates(down, down, down), random: () => 0.99 });
    expect(outputs.outcome).toBe("pr-created");
    expect(posts(requests).map(({ at }) => at)).toEqual([0, 990, 990 + 1980, 990 + 1980 + 3960]);
  });

  test("is announced with one warning, and with one log line once it succeeds", async () => {
    const throttled = respondWith(429, { error: "slow down" });
    const { toolkit } = await runMain({ respond: creates(throttled, throttled, throttled) });
    expect(toolkit.annotations).toMatchObject([
      { level: "warning", text: expect.stringContaining("HTTP 429: slow down") },
    ]);
    expect(toolkit.lines.filter((line) => line === "The service is responding again.")).toHaveLength(1);
  });
});

describe("a create that is never accepted", () => {
  test("is retried after 429 until the timeout", async () => {
    const { outputs, requests, clock, toolkit } = await runMain({
      inputs: { "timeout-minutes": "10" },
      respond: () => respondWith(429),
    });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(toolkit.annotations.at(-1)?.text).toMatch(/rate limit is exceeded.*No job was started/s);
    expect(clock.elapsedMs).toBe(599_000);
    expect(Math.max(...requests.map(({ at }) => at))).toBe(599_000);
  });

  test("fails immediately if Retry-After exceeds the time left", async () => {
    const { outputs, requests, clock, toolkit } = await runMain({
      inputs: { "timeout-minutes": "10" },
      respond: () => respondWith(429, {}, { "retry-after": "600" }),
    });
    expect(outputs.outcome).toBe("error");
    expect(requests).toHaveLength(1);
    expect(clock.elapsedMs).toBe(0);
    expect(toolkit.annotations.at(-1)?.text).toContain("HTTP 429, retry after 10 min");
  });

  test("fails after a minute without a connection", async () => {
    const { outputs, clock, toolkit } = await runMain({ respond: () => ({ failure: "not-connected" }) });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(clock.elapsedMs).toBe(60_000);
    const text = toolkit.annotations.at(-1)?.text;
    expect(text).toContain("https://api.mintlify.com/");
    expect(text).toContain("No job was started");
  });

  test("fails immediately on an untrusted certificate", async () => {
    const { outputs, requests, toolkit } = await runMain({ respond: () => ({ failure: "certificate" }) });
    expect(outputs.outcome).toBe("error");
    expect(requests).toHaveLength(1);
    expect(toolkit.annotations.at(-1)?.text).toMatch(
      /certificate of https:\/\/api\.mintlify\.com\/ is not trusted.*No job was started.*NODE_EXTRA_CA_CERTS/s,
    );
  });

  test("is not retried with less than a second left", async () => {
    const { requests } = await runMain({ inputs: { "timeout-minutes": "0.01" }, respond: () => respondWith(429) });
    expect(requests).toHaveLength(1);
  });
});

describe("a create or message that may have been accepted is not retried", () => {
  test.each<[string, Exchange]>([
    ["408", respondWith(408)],
    ["500", respondWith(500)],
    ["502", respondWith(502)],
    ["503 without Retry-After", respondWith(503)],
    ["503 with an invalid Retry-After", respondWith(503, "", { "retry-after": "0" })],
    ["504", respondWith(504)],
    ["a reset after the request was sent", { failure: "no-response" }],
    ["no response within 30 s", { responseMs: 60_000, response: { status: 201, body: record() } }],
    ["a 201 that is not JSON", respondWith(201, "<html>ok</html>")],
    ["a 201 without an id", respondWith(201, { status: "active" })],
    ["a 201 with an empty id", respondWith(201, { id: "", status: "active" })],
    ["a 201 with an id that would change the path of a URL", respondWith(201, { id: "..", status: "active" })],
    ["a 201 with a control character in the id", respondWith(201, record({ id: "job_1\n::error::x" }))],
    ["a 201 that is cut off after an id with a control character", respondWith(201, '{"id":"job_1\\u001b[31m","sta')],
    ["a 500 with a control character in the id", respondWith(500, record({ id: "job_1\u0000" }))],
    ["a 204", respondWith(204)],
  ])("%s", async (_name, exchange) => {
    const { outputs, requests, toolkit, hasPassed } = await runMain({ respond: () => exchange });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(hasPassed).toBe(false);
    expect(toolkit.events.filter((event) => /^output job-id=./.test(event))).toEqual([]);
    expect(toolkit.annotations).toMatchObject([{ level: "error", title: "Job may have been started" }]);
    expect(toolkit.annotations[0]?.text).toMatch(/A job may have been started.*a re-run may start a second job/s);
  });

  test("publishes the id from a response that is not a complete record", async () => {
    const { outputs, requests, toolkit } = await runMain({ respond: () => respondWith(201, { id: "job_9" }) });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_9" });
    expect(toolkit.annotations[0]?.text).toContain("run the action with job-id job_9 and no prompt");
  });

  test("a message: says that a re-run may send it again", async () => {
    const { outputs, requests, toolkit } = await runMain({
      inputs: { "job-id": "job_1" },
      respond: () => respondWith(500),
    });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(toolkit.annotations[0]).toMatchObject({ title: "Message may have been sent" });
    expect(toolkit.annotations[0]?.text).toContain("A re-run of this workflow run may send it a second time");
  });

  test("a message whose response is the record of another job", async () => {
    const { outputs, requests } = await runMain({
      inputs: { "job-id": "job_1" },
      respond: () => respondWith(200, record({ id: "job_2" })),
    });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1", model: "" });
  });
});

test("ignores the id in an invalid response to a message", async () => {
  const { outputs } = await runMain({
    inputs: { "job-id": "job_1" },
    respond: () => respondWith(200, { id: "job_2" }),
  });
  expect(outputs["job-id"]).toBe("job_1");
});

test.each([408, 500, 502, 504])("does not retry a create after a %i with Retry-After", async (status) => {
  const { outputs, requests, toolkit } = await runMain({
    respond: () => respondWith(status, "", { "retry-after": "1" }),
  });
  expect(requests).toHaveLength(1);
  expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
  expect(toolkit.annotations[0]?.title).toBe("Job may have been started");
});

test("asks for a response without compression, whose beginning is readable if it is cut off", async () => {
  const { requests } = await runMain({
    respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : respondWith(200, completed)),
  });
  for (const { headers } of requests) expect(headers["accept-encoding"]).toBe("identity");
});

test.each<[string, Record<string, string>, string]>([
  [
    "as the workflow names it",
    { GITHUB_ACTION_REPOSITORY: "acme/agent-job-action", GITHUB_ACTION_REF: "releases/v1" },
    "agent-job-action/releases-v1 (+https://github.com/acme/agent-job-action)",
  ],
  ["of a local action", { GITHUB_ACTION_REPOSITORY: "", GITHUB_ACTION_REF: "" }, "agent-job-action"],
])("names the action and its version to the service, %s", async (_name, environment, userAgent) => {
  const { requests } = await runMain({
    respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : respondWith(200, completed)),
    environment,
  });
  expect(new Set(requests.map(({ headers }) => headers["user-agent"]))).toEqual(new Set([userAgent]));
});

test("names base-url as a likely cause if the response is a web page", async () => {
  const { toolkit } = await runMain({ respond: () => respondWith(200, "<html>") });
  expect(toolkit.annotations[0]).toMatchObject({ title: "Job may have been started" });
  expect(toolkit.annotations[0]?.text).toContain("Check base-url.");
});

test("does not blame the address for a gateway's 403, nor the hour for a shorter Retry-After", async () => {
  const gateway = await runMain({ respond: () => respondWith(403, "<html>") });
  expect(gateway.toolkit.annotations[0]?.text).toContain("Access was denied.");
  const limited = await runMain({
    inputs: { "timeout-minutes": "1" },
    respond: () => respondWith(429, {}, { "retry-after": "300" }),
  });
  expect(limited.toolkit.annotations[0]?.text).toContain("Run this again after 5 min");
});

test("does not blame the prompt for a gateway's web page", async () => {
  const { toolkit } = await runMain({ respond: () => respondWith(400, "<html>Bad Request</html>") });
  const text = toolkit.annotations[0]?.text;
  expect(text).toMatch(
    /^The service answered HTTP 400\. No job was started\.\n.*gateway or proxy in front of the service/,
  );
  expect(text).not.toContain("prompt");
});

test.each([
  ["an error's own id", { id: "internal_server_error" }],
  ["a whole record", record({ id: "job_5" })],
])("does not publish an id from a 500: %s", async (_name, body) => {
  const { outputs, toolkit } = await runMain({ respond: () => respondWith(500, body) });
  expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
  expect(toolkit.annotations[0]?.text).toContain("its id is unknown");
});

test("restarts the minute for failed connections once the service has responded", async () => {
  const down: Exchange = { failure: "not-connected" };
  const { outputs, clock } = await runMain({
    respond: ({ at, method }) => {
      if (method === "GET") return respondWith(200, completed);
      if (at < 50_000) return down;
      return at < 55_000 ? respondWith(429) : at < 110_000 ? down : respondWith(201, record());
    },
    random: () => 0.15,
  });
  expect(outputs.outcome).toBe("pr-created");
  expect(clock.elapsedMs).toBeGreaterThan(110_000);
});

describe("a permanent HTTP error fails immediately and says what to do", () => {
  test.each([
    [400, "rejected the request", "Change what the service's message names"],
    [401, "rejected the API key", "Create an admin key"],
    [403, "The API key is not allowed from this IP address", "Allow the runner's address"],
    [404, "Project docs was not found", "Copy project-id"],
    [413, "The prompt is too large", "Make the prompt shorter"],
    [418, "HTTP 418", "See the service's message."],
  ])("HTTP %i", async (status, what, next) => {
    const { outputs, requests, toolkit, hasPassed } = await runMain({
      respond: () => respondWith(status, { error: "The service's message." }),
    });
    expect(requests).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(hasPassed).toBe(false);
    expect(toolkit.annotations).toHaveLength(1);
    const text = toolkit.annotations[0]?.text;
    for (const part of [what, next, "The service's message.", "No job was started."]) expect(text).toContain(part);
  });

  test("HTTP 403 of a service of one's own may mean a key that can only read", async () => {
    const error = 'The API key docs can only read (scope "read")';
    const { toolkit } = await runMain({
      inputs: { "base-url": "https://agents.example.com" },
      respond: () => respondWith(403, { error }),
    });
    const text = toolkit.annotations[0]?.text;
    for (const part of ["Access was denied.", error, "A key that may only read starts nothing", "allow the runner's"])
      expect(text).toContain(part);
    expect(text).not.toContain("IP address");
  });

  test.each([300, 301, 302, 303, 307, 308, 304])("does not follow a redirect: %i", async (status) => {
    const { outputs, requests, toolkit } = await runMain({
      respond: () => respondWith(status, "", { location: "https://elsewhere.example/x" }),
    });
    expect(requests).toHaveLength(1);
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations[0]?.text).toMatch(
      /a redirect to https:\/\/elsewhere\.example\/x.*Set base-url to the service.s own URL/s,
    );
  });

  test.each([
    ["https://docs.example.com/v2", {}],
    ["https://docs.example.com/api/v2/", { "job-id": "job_1" }],
    ["https://docs.example.com/v2", { "job-id": "job_1", prompt: "" }],
  ])("names a base-url that ends in /v2 as the cause of a 404: %s, %j", async (baseUrl, inputs) => {
    const { toolkit } = await runMain({
      inputs: { "base-url": baseUrl, ...inputs },
      respond: () => respondWith(404),
    });
    expect(toolkit.annotations[0]?.text).toContain(
      "base-url ends in /v2, which the action adds itself: remove it from base-url.",
    );
    expect(toolkit.annotations[0]?.text).not.toContain("project-id");
  });

  test.each(["https://docs.example.com", "https://docs.example.com/v2/api", "https://docs.example.com/rev2"])(
    "does not name /v2 as the cause of a 404 with base-url: %s",
    async (baseUrl) => {
      const { toolkit } = await runMain({ inputs: { "base-url": baseUrl }, respond: () => respondWith(404) });
      expect(toolkit.annotations[0]?.text).toContain("Check project-id and base-url.");
      expect(toolkit.annotations[0]?.text).not.toContain("/v2,");
    },
  );

  test("a message to a job that is not found", async () => {
    const respond = () => respondWith(404, { error: "Job not found" });
    const { outputs, toolkit } = await runMain({ inputs: { "job-id": "job_x" }, respond });
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations[0]?.text).toMatch(
      /Job job_x was not found in project docs.*The service did not accept the message, so the agent started no work/s,
    );
  });
});
