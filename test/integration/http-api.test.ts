import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createHttpFace } from "../../src/service/http/api.ts";
import { type Listening, listen } from "../../src/service/http/listen.ts";
import { ScriptedEngine } from "../support/scripted-engine.ts";
import { memoryLimits } from "../support/sliding-window.ts";

const key = "mint_service_key";
const otherKey = "mint_other_key";
let now = 0;
let service: Listening;

beforeEach(async () => {
  now = Date.UTC(2026, 0, 1);
  const engine = new ScriptedEngine({
    now: () => now,
    script: (prompt) => ({ durationMs: 1000, result: prompt === "fail" ? "failed" : "pull-request" }),
  });
  const keys = [
    { value: key, projects: ["docs", "a/b"] },
    { value: otherKey, projects: ["other"] },
    { value: "mint_expired", projects: ["docs"], expiresAt: now },
    { value: "mint_elsewhere", projects: ["docs"], addresses: ["192.0.2.1"] },
    { value: "mint_dsc_assistant", projects: ["docs"] },
  ];
  service = await listen(createHttpFace({ engine, limits: memoryLimits(), keys, prefix: "/api", now: () => now }));
});

afterEach(() => service[Symbol.asyncDispose]());

interface Call {
  method?: string;
  authorization?: string | undefined;
  body?: string;
  contentType?: string;
}

async function call(path: string, options: Call = {}): Promise<{ status: number; body: unknown; headers: Headers }> {
  const { method = "GET", authorization = `Bearer ${key}`, body, contentType = "application/json" } = options;
  const response = await fetch(`${service.url}/api/v2/agent/${path}`, {
    method,
    headers: { ...(authorization && { authorization }), ...(body !== undefined && { "content-type": contentType }) },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

const post = (path: string, prompt: string, authorization?: string) =>
  call(path, { method: "POST", body: JSON.stringify({ prompt }), ...(authorization && { authorization }) });

const idOf = (body: unknown) => (body as { id: string }).id;

test("a job's life: created, active, completed, at work again after a message", async () => {
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

test("a job fails where its script says so", async () => {
  const { body } = await post("docs/job", "fail");
  now += 1000;
  expect((await call(`docs/job/${idOf(body)}`)).body).toMatchObject({ status: "failed", prLink: null });
});

test("a job belongs to its project", async () => {
  const { body } = await post("docs/job", "Do it");
  expect(await call(`a%2Fb/job/${idOf(body)}`)).toMatchObject({ status: 404, body: { error: "Job not found" } });
  expect(await post(`a%2Fb/job/${idOf(body)}/message`, "x")).toMatchObject({ status: 404 });
  expect(await call(`other/job/${idOf(body)}`)).toMatchObject({ status: 404, body: { error: "Project not found" } });
});

describe("keys", () => {
  test.each([
    ["none", "", 401, "Missing API key"],
    ["another scheme", `Basic ${key}`, 401, "Missing API key"],
    ["a wrong one", "Bearer mint_wrong", 401, "Invalid API key"],
    ["one of another kind", "Bearer mint_dsc_assistant", 401, "This endpoint needs an admin API key"],
    ["an expired one", "Bearer mint_expired", 401, "Expired API key"],
    ["one for other addresses", "Bearer mint_elsewhere", 403, "This API key is restricted to other IP addresses"],
  ])("%s", async (_name, authorization, status, error) => {
    expect(await call("docs/job/x", { authorization })).toMatchObject({ status, body: { error } });
  });
});

describe("requests that cannot be served", () => {
  test.each<[string, string, Call, number]>([
    ["no JSON", "docs/job", { method: "POST", body: "prompt=x" }, 400],
    ["another type", "docs/job", { method: "POST", body: '{"prompt":"x"}', contentType: "text/plain" }, 400],
    ["no prompt", "docs/job", { method: "POST", body: "{}" }, 400],
    ["an empty prompt", "docs/job", { method: "POST", body: '{"prompt":""}' }, 400],
    ["a prompt that is no text", "docs/job", { method: "POST", body: '{"prompt":["x"]}' }, 400],
    ["null", "docs/job", { method: "POST", body: "null" }, 400],
    ["no job", "docs/job/x", {}, 404],
    ["a list of jobs", "docs/job", {}, 405],
    ["another path", "docs/jobs", {}, 404],
    ["a path that is not encoded right", "docs/job/%zz", {}, 400],
    ["another method", "docs/job/x", { method: "DELETE" }, 405],
  ])("%s", async (_name, path, options, status) => {
    const answer = await call(path, options);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: expect.any(String) });
  });
});

describe("limits", () => {
  test("100 creates and 100 messages per project in any hour, each counted for itself", async () => {
    const { body } = await post("docs/job", "Do it");
    for (let use = 1; use < 100; use++) expect((await post("docs/job", "Do it")).status).toBe(201);
    now += 60_000;
    const refused = await post("docs/job", "Do it");
    expect(refused).toMatchObject({ status: 429, body: { error: "Rate limit exceeded" } });
    expect(refused.headers.get("retry-after")).toBe("3540");
    for (let use = 0; use < 100; use++) expect((await post(`docs/job/${idOf(body)}/message`, "x")).status).toBe(200);
    expect((await post(`docs/job/${idOf(body)}/message`, "x")).status).toBe(429);
    expect((await post("a%2Fb/job", "Do it")).status).toBe(201);
    expect((await post("other/job", "Do it", `Bearer ${otherKey}`)).status).toBe(201);
    now += 3_539_999;
    expect((await post("docs/job", "Do it")).status).toBe(429);
    now += 1;
    expect((await post("docs/job", "Do it")).status).toBe(201);
  });

  test("what was refused is not counted", async () => {
    for (let use = 0; use < 101; use++)
      expect((await call("docs/job", { method: "POST", body: "{}" })).status).toBe(400);
    expect((await post("docs/job", "Do it")).status).toBe(201);
  });

  test("a prompt of 3 MB is taken", async () => {
    expect((await post("docs/job", "x".repeat(3_000_000))).status).toBe(201);
  });
});
