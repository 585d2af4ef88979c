import { request as httpRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApi } from "../../src/service/http/api.ts";
import { type LoopbackServer, listen } from "../../src/service/http/listen.ts";
import type { Engine } from "../../src/service/jobs/engine.ts";
import { ScriptedEngine } from "../support/scripted-engine.ts";
import { inMemoryRateLimiters } from "../support/sliding-window-rate-limiter.ts";

const key = "mint_service_key";
let now = 0;
let log: string[];
let service: LoopbackServer;

/** Starts the API on an engine, for the projects `docs` and `a/b`. */
function serve(engine: Engine): Promise<LoopbackServer> {
  const rateLimiters = inMemoryRateLimiters(() => now);
  const projects = ["docs", "a/b"];
  return listen(createApi({ engine, apiKey: key, projects, rateLimiters, log: (line) => void log.push(line) }));
}

beforeEach(async () => {
  now = Date.UTC(2026, 0, 1);
  log = [];
  const engine = new ScriptedEngine({
    now: () => now,
    script: (prompt) => ({ durationMs: 1000, result: prompt === "fail" ? "failed" : "pull-request" }),
  });
  service = await serve(engine);
});

afterEach(() => service[Symbol.asyncDispose]());

interface Call {
  method?: string;
  authorization?: string | undefined;
  body?: string;
  contentType?: string;
}

async function call(
  path: string,
  options: Call = {},
  to = service,
): Promise<{ status: number; body: unknown; headers: Headers }> {
  const { method = "GET", authorization = `Bearer ${key}`, body, contentType = "application/json" } = options;
  const response = await fetch(`${to.url}/v2/agent/${path}`, {
    method,
    headers: { ...(authorization && { authorization }), ...(body !== undefined && { "content-type": contentType }) },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

const post = (path: string, prompt: string) => call(path, { method: "POST", body: JSON.stringify({ prompt }) });

const idOf = (body: unknown) => (body as { id: string }).id;

test("shows a job as active, completed, and active again after a message", async () => {
  const created = await post("docs/job", "Do it");
  expect(created).toMatchObject({
    status: 201,
    body: { status: "active", prLink: null, archivedAt: null, createdAt: "2026-01-01T00:00:00.000Z" },
  });
  const path = `docs/job/${idOf(created.body)}`;
  expect(await call(path)).toMatchObject({ status: 200, body: { status: "active", prLink: null } });
  now += 1000;
  const completed = await call(path);
  expect(completed.body).toMatchObject({ status: "completed", prLink: expect.stringMatching(/\/pull\/1$/) });
  expect(await post(`${path}/message`, "More")).toMatchObject({
    status: 200,
    body: { status: "active", prLink: null },
  });
  now += 1000;
  expect((await call(path)).body).toEqual(completed.body);
});

test("shows a failed job", async () => {
  const { body } = await post("docs/job", "fail");
  now += 1000;
  expect((await call(`docs/job/${idOf(body)}`)).body).toMatchObject({ status: "failed", prLink: null });
});

test("finds a job only in its own project", async () => {
  const { body } = await post("docs/job", "Do it");
  expect(await call(`a%2Fb/job/${idOf(body)}`)).toMatchObject({ status: 404, body: { error: "Job not found" } });
  expect(await post(`a%2Fb/job/${idOf(body)}/message`, "x")).toMatchObject({ status: 404 });
  expect(await call(`other/job/${idOf(body)}`)).toMatchObject({ status: 404, body: { error: "Project not found" } });
});

describe("answers 401 to", () => {
  test.each([
    ["a missing key", "", "Missing API key"],
    ["another scheme", `Basic ${key}`, "Missing API key"],
    ["a wrong key", "Bearer mint_wrong", "Invalid API key"],
    ["another kind of key", "Bearer mint_dsc_assistant", "This endpoint needs an admin API key"],
  ])("%s", async (_name, authorization, error) => {
    expect(await call("docs/job/x", { authorization })).toMatchObject({ status: 401, body: { error } });
  });
});

describe("rejects", () => {
  test.each<[string, Call, string, number]>([
    ["a body that is not JSON", { method: "POST", body: "prompt=x" }, "docs/job", 400],
    ["another content type", { method: "POST", body: '{"prompt":"x"}', contentType: "text/plain" }, "docs/job", 400],
    ["a missing prompt", { method: "POST", body: "{}" }, "docs/job", 400],
    ["an empty prompt", { method: "POST", body: '{"prompt":""}' }, "docs/job", 400],
    ["a prompt that is not a string", { method: "POST", body: '{"prompt":["x"]}' }, "docs/job", 400],
    ["null as the body", { method: "POST", body: "null" }, "docs/job", 400],
    ["an unknown job", {}, "docs/job/x", 404],
    ["listing jobs", {}, "docs/job", 405],
    ["an unknown path", {}, "docs/jobs", 404],
    ["a malformed path", {}, "docs/job/%zz", 400],
    ["another method", { method: "DELETE" }, "docs/job/x", 405],
  ])("%s", async (_name, options, path, status) => {
    const response = await call(path, options);
    expect(response.status).toBe(status);
    expect(response.body).toEqual({ error: expect.any(String) });
    expect(log).toEqual([]);
  });
});

describe("rate limit", () => {
  test("allows 100 creates and 100 messages per project in any hour", async () => {
    const { body } = await post("docs/job", "Do it");
    for (let use = 1; use < 100; use++) expect((await post("docs/job", "Do it")).status).toBe(201);
    now += 60_000;
    const rejected = await post("docs/job", "Do it");
    expect(rejected).toMatchObject({ status: 429, body: { error: "Rate limit exceeded" } });
    expect(rejected.headers.get("retry-after")).toBe("3540");
    for (let use = 0; use < 100; use++) expect((await post(`docs/job/${idOf(body)}/message`, "x")).status).toBe(200);
    expect((await post(`docs/job/${idOf(body)}/message`, "x")).status).toBe(429);
    expect((await post("a%2Fb/job", "Do it")).status).toBe(201);
    now += 3_539_999;
    expect((await post("docs/job", "Do it")).status).toBe(429);
    now += 1;
    expect((await post("docs/job", "Do it")).status).toBe(201);
  });

  test("does not count rejected requests", async () => {
    for (let use = 0; use < 101; use++)
      expect((await call("docs/job", { method: "POST", body: "{}" })).status).toBe(400);
    expect((await post("docs/job", "Do it")).status).toBe(201);
  });
});

test("accepts a prompt of 3 MB", async () => {
  expect((await post("docs/job", "x".repeat(3_000_000))).status).toBe(201);
});

test("answers 500 to an unexpected error, and logs it with its stack", async () => {
  const failing: Engine = {
    create: () => {
      throw new Error("the disk is full");
    },
    message: () => undefined,
    get: () => undefined,
  };
  await using broken = await serve(failing);
  const response = await call("docs/job", { method: "POST", body: '{"prompt":"x"}' }, broken);
  expect(response).toMatchObject({ status: 500, body: { error: "Internal error" } });
  expect(log).toEqual([expect.stringMatching(/^POST \/v2\/agent\/docs\/job: Error: the disk is full\n +at .*create/)]);
});

test("does not log a client that closes the connection during its request", async () => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "content-length": "100" };
  const closed = new Promise((resolve) => service.server.once("connection", (socket) => socket.once("close", resolve)));
  const request = httpRequest(`${service.url}/v2/agent/docs/job`, { method: "POST", headers });
  request.on("error", () => {});
  request.write('{"prompt":');
  service.server.once("request", () => request.destroy());
  await closed;
  expect((await post("docs/job", "Do it")).status).toBe(201);
  expect(log).toEqual([]);
});
