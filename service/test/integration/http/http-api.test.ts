import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { ApiOptions } from "../../../src/api/jobs-endpoints.ts";
import { createApi } from "../../../src/api/jobs-endpoints.ts";
import { singleKey } from "../../../src/http/authentication.ts";
import { dispatch } from "../../../src/http/dispatch.ts";
import { type LoopbackServer, listen } from "../../../src/http/listen.ts";
import type { JobRecord } from "../../../src/model.ts";
import { OutcomeUnknown, SourceUnavailable, StoreUnavailable } from "../../../src/store-errors.ts";
import { ScriptedEngine } from "../../support/scripted-engine.ts";

const key = "mint_service_key";
const mebibyte = 1024 * 1024;
let now = 0;
let log: string[];
let service: LoopbackServer;

/** Starts the API on an engine, for the projects `docs` and `a/b`. */
function serve(engine: ApiOptions["engine"]): Promise<LoopbackServer> {
  const projects = ["docs", "a/b"];
  return listen(
    dispatch({
      ...createApi({ engine, authenticator: singleKey(key, projects) }),
      log: (line, level) => void log.push(`${level}: ${line}`),
    }),
  );
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

test("ignores a query", async () => {
  const { status, body } = await post("docs/job?from=ci", "Do it");
  expect(status).toBe(201);
  expect((await call(`docs/job/${idOf(body)}?x`)).status).toBe(200);
});

describe("accepts the content type", () => {
  test.each(["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;x=y"])(
    "%s",
    async (contentType) => {
      const options = { method: "POST", body: '{"prompt":"x"}', contentType };
      const { status, headers } = await call("docs/job", options);
      expect(status).toBe(201);
      expect(headers.get("content-type")).toBe("application/json");
      // A cache or a browser on the way takes them for nothing else.
      expect([headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual(["no-store", "nosniff"]);
    },
  );
});

test("accepts the key after any number of spaces, whatever the case of the scheme", async () => {
  for (const authorization of [`bearer ${key}`, `BEARER   ${key}`])
    expect((await call("docs/job/x", { authorization })).body).toEqual({ error: "Job not found" });
});

describe("answers 401 to", () => {
  test.each([
    ["a missing key", "", "Missing API key"],
    ["another scheme", `Basic ${key}`, "Missing API key"],
    ["a scheme that only ends alike", `XBearer ${key}`, "Missing API key"],
    ["a key and more", `Bearer ${key} x`, "Missing API key"],
    ["a wrong key", "Bearer mint_wrong", "Invalid API key"],
    ["the beginning of the key", `Bearer ${key.slice(0, -1)}`, "Invalid API key"],
    ["an assistant's key", "Bearer mint_dsc_assistant", "This endpoint needs an admin API key"],
    ["a user's key", "Bearer mint_us_user", "This endpoint needs an admin API key"],
  ])("%s", async (_name, authorization, error) => {
    const response = await call("docs/job/x", { authorization });
    expect(response).toMatchObject({ status: 401, body: { error } });
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
  });
});

describe("rejects", () => {
  const contentType = "Content-Type must be application/json";
  const prompt = "prompt must be a string that is not blank";
  test.each<[string, Call, string, number, string]>([
    ["a body that is not JSON", { body: "prompt=x" }, "docs/job", 400, "Request body is not valid JSON"],
    ["another content type", { body: '{"prompt":"x"}', contentType: "text/plain" }, "docs/job", 400, contentType],
    ["JSON lines", { body: '{"prompt":"x"}', contentType: "application/jsonl" }, "docs/job", 400, contentType],
    ["a prefix", { body: '{"prompt":"x"}', contentType: "x-application/json" }, "docs/job", 400, contentType],
    ["a missing prompt", { body: "{}" }, "docs/job", 400, prompt],
    ["an empty prompt", { body: '{"prompt":""}' }, "docs/job", 400, prompt],
    ["a prompt of only white space", { body: '{"prompt":" \\n\\t\\u00a0"}' }, "docs/job", 400, prompt],
    ["a prompt that is not a string", { body: '{"prompt":["x"]}' }, "docs/job", 400, prompt],
    [
      "sections that are no list",
      { body: '{"prompt":"x","sections":"y"}' },
      "docs/job",
      400,
      "sections must be a list of strings",
    ],
    [
      "an asker with a script for an address",
      { body: '{"prompt":"x","asked":{"in":"javascript:alert(1)"}}' },
      "docs/job",
      400,
      "asked must be an object with by, in and run: a name and two addresses",
    ],
    [
      "a branch as the commit that is covered",
      { body: '{"prompt":"x","covers":"main"}' },
      "docs/job",
      400,
      "covers must be the full id of a commit",
    ],
    ["null as the body", { body: "null" }, "docs/job", 400, prompt],
    ["a string as the body", { body: '"prompt"' }, "docs/job", 400, prompt],
    ["an unknown job", {}, "docs/job/x", 404, "Job not found"],
    ["a message to an unknown job, whatever it says", { body: "{}" }, "docs/job/x/message", 404, "Job not found"],
    ["listing jobs", {}, "docs/job", 405, "Method not allowed"],
    ["an unknown path", {}, "docs/jobs", 404, "Not found"],
    ["a path that is too long", {}, "docs/job/x/message/y", 404, "Not found"],
    ["a path that only contains one", {}, "../../v1/v2/agent/docs/job/x", 404, "Not found"],
    ["a malformed path", {}, "docs/job/%zz", 400, "Malformed path"],
    ["the id of a job that leads elsewhere", {}, "docs/job/..%2f..%2fetc", 404, "Job not found"],
    ["the id of a job with a NUL", {}, "docs/job/job_x%00", 404, "Job not found"],
    ["a project that leads elsewhere", {}, "..%2f..%2f/job/x", 404, "Project not found"],
    ["a project that is an option of Git", {}, "--upload-pack=id/job/x", 404, "Project not found"],
    ["another method", { method: "DELETE" }, "docs/job/x", 405, "Method not allowed"],
    ["reading a message", {}, "docs/job/x/message", 405, "Method not allowed"],
  ])("%s", async (_name, options, path, status, error) => {
    const response = await call(path, { ...(options.body !== undefined && { method: "POST" }), ...options });
    expect(response).toMatchObject({ status, body: { error } });
    expect(log).toEqual([]);
  });

  test("another method, and names the right one", async () => {
    expect((await call("docs/job")).headers.get("allow")).toBe("POST");
    expect((await call("docs/job/x", { method: "PUT" })).headers.get("allow")).toBe("GET");
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

test("accepts a body of 32 MiB, and no larger one", async () => {
  const prompt = "x".repeat(32 * mebibyte - '{"prompt":""}'.length);
  expect((await post("docs/job", prompt)).status).toBe(201);
  expect(await post("docs/job", `${prompt}x`)).toMatchObject({
    status: 413,
    body: { error: "Request body too large" },
  });
});

test("answers 413 to a body that is larger than all bodies together may be", async () => {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": 129 * mebibyte,
  };
  const request = httpRequest(`${service.url}/v2/agent/docs/job`, { method: "POST", headers, agent: false });
  const answered = once(request, "response");
  const part = Buffer.alloc(mebibyte, "x");
  await pipeline(Readable.from(Array(129).fill(part)), request);
  const [response] = (await answered) as [IncomingMessage];
  expect(response.resume().statusCode).toBe(413);
});

describe("large bodies that are sent at the same time", () => {
  /** Sends the headers and the beginning of a body of up to 32 MiB. */
  async function beginUpload(length: Record<string, string>): Promise<ClientRequest> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...length };
    const received = once(service.server, "request");
    const request = httpRequest(`${service.url}/v2/agent/docs/job`, { method: "POST", headers, agent: false });
    request.on("error", () => {}).write('{"prompt":');
    await received;
    return request;
  }

  test.each([
    ["of a known length", { "content-length": String(32 * mebibyte) }],
    ["of an unknown length", { "transfer-encoding": "chunked" }],
  ])("are limited to 128 MiB together, so that they do not exhaust memory: %s", async (_name, length) => {
    const uploads: ClientRequest[] = [];
    for (let upload = 0; upload < 4; upload++) uploads.push(await beginUpload(length));
    const rejected = await post("docs/job", "Do it");
    expect(rejected).toMatchObject({ status: 503, body: { error: "Too many large requests at a time" } });
    expect(rejected.headers.get("retry-after")).toBe("5");
    // Requests without a body are answered.
    expect((await call("docs/job/x")).status).toBe(404);
    uploads[0]?.destroy();
    const accepted = await waitUntil(async () => {
      const response = await post("docs/job", "Do it");
      return response.status !== 503 && response;
    });
    expect(accepted.status).toBe(201);
    for (const upload of uploads) upload.destroy();
  });
});

test("answers before it has got all of a body that it does not read", async () => {
  const large = "x".repeat(3_000_000);
  for (let request = 0; request < 2; request++) expect((await post("other/job", large)).status).toBe(404);
});

test("answers what has arrived when it is disposed of, and accepts nothing else", async () => {
  const created = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  class SlowEngine extends ScriptedEngine {
    override async create(projectId: string, prompt: string) {
      arrived.resolve();
      await created.promise;
      return super.create(projectId, prompt);
    }
  }
  const stopped = await serve(new SlowEngine());
  const idle = connect(Number(new URL(stopped.url).port), "127.0.0.1");
  await once(idle, "connect");
  const answer = fetch(`${stopped.url}/v2/agent/docs/job`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: '{"prompt":"Go on"}',
  });
  await arrived.promise;
  const closed = stopped[Symbol.asyncDispose]();
  await once(idle, "close");
  await expect(fetch(stopped.url)).rejects.toThrow();
  created.resolve();
  expect((await answer).status).toBe(201);
  await closed;
});

test("waits only for a moment for the rest of a request when it is disposed of", async () => {
  const api = createApi({ engine: new ScriptedEngine(), authenticator: singleKey(key, ["docs"]) });
  const stopped = await listen(dispatch({ ...api, log: () => {} }), 0, { graceMs: 50 });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "content-length": "100" };
  const request = httpRequest(`${stopped.url}/v2/agent/docs/job`, { method: "POST", headers });
  const failed = once(request, "error");
  request.write('{"prompt":');
  await once(stopped.server, "request");
  await stopped[Symbol.asyncDispose]();
  expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
});

test("listens only on loopback, and not on a port that is in use", async () => {
  expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const port = Number(new URL(service.url).port);
  await expect(listen(() => {}, port)).rejects.toThrow("EADDRINUSE");
});

test("answers 500 to an unexpected error, and logs it with its stack", async () => {
  const failing: ApiOptions["engine"] = {
    create: async () => {
      throw new Error("the disk is full");
    },
    message: async () => undefined,
    get: async () => undefined,
  };
  await using broken = await serve(failing);
  const response = await call("docs/job", { method: "POST", body: '{"prompt":"x"}' }, broken);
  expect(response).toMatchObject({ status: 500, body: { error: "Internal error: see the log of the service" } });
  expect(log).toEqual([
    expect.stringMatching(/^error: POST \/v2\/agent\/docs\/job: Error: the disk is full\n +at .*create/),
  ]);
});

const fail = async (): Promise<never> => {
  throw new StoreUnavailable("disk full");
};

test("answers 503 while nothing can be stored, which the engine logs", async () => {
  const { body } = await post("docs/job", "Do it");
  await using broken = await serve({ create: fail, message: fail, get: async () => body as JobRecord });
  for (const path of ["docs/job", "docs/job/x/message"]) {
    const response = await call(path, { method: "POST", body: '{"prompt":"x"}' }, broken);
    expect(response).toMatchObject({ status: 503, body: { error: "The service cannot use its store now" } });
    expect(response.headers.get("retry-after")).toBe("30");
  }
  expect(log).toEqual([]);
});

test.each([
  [false, 503, "GitHub answered 502 to GET /pulls", "10"],
  [true, 424, "GitHub answered 502 to GET /pulls. Nothing was started", null],
])("names what keeps a job from being read (lasting: %s)", async (isLasting, status, error, retryAfter) => {
  const unread = async (): Promise<never> => {
    throw new SourceUnavailable("GitHub answered 502 to GET /pulls", isLasting);
  };
  await using broken = await serve({ create: unread, message: unread, get: unread });
  const response = await call("docs/job", { method: "POST", body: '{"prompt":"x"}' }, broken);
  expect(response).toMatchObject({ status, body: { error } });
  expect(response.headers.get("retry-after")).toBe(retryAfter);
});

test("answers 500 if it is unknown whether a request was accepted, so that clients do not repeat it", async () => {
  const fail = async (): Promise<never> => {
    throw new OutcomeUnknown("the connection was lost while a change was stored");
  };
  const { body } = await post("docs/job", "Do it");
  await using broken = await serve({ create: fail, message: fail, get: async () => body as JobRecord });
  for (const path of ["docs/job", "docs/job/x/message"]) {
    const response = await call(path, { method: "POST", body: '{"prompt":"x"}' }, broken);
    expect(response).toMatchObject({ status: 500, body: { error: "It is unknown whether the request was accepted" } });
    expect(response.headers.get("retry-after")).toBeNull();
  }
  expect(log).toEqual([
    expect.stringMatching(/^error: POST \/v2\/agent\/docs\/job: .*the connection was lost/s),
    expect.stringMatching(/^error: POST \/v2\/agent\/docs\/job\/x\/message: .*the connection was lost/s),
  ]);
});

test("answers HEAD like GET, without the body", async () => {
  const { body } = await post("docs/job", "Do it");
  for (const [path, status] of [[idOf(body), 200] as const, ["x", 404] as const]) {
    const url = `${service.url}/v2/agent/docs/job/${path}`;
    const headers = { authorization: `Bearer ${key}` };
    const head = await fetch(url, { method: "HEAD", headers });
    const get = await fetch(url, { headers });
    expect([head.status, get.status]).toEqual([status, status]);
    expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
    expect(await head.text()).toBe("");
  }
  const head = await fetch(`${service.url}/v2/agent/docs/job`, {
    method: "HEAD",
    headers: { authorization: `Bearer ${key}` },
  });
  expect(head.status).toBe(405);
});

test.each([
  ["nothing", "ci", {}, "ci"],
  ["whose repository it is", "repo acme/docs", {}, "acme/docs"],
  ["where", "ci", { in: "https://github.com/acme/docs/issues/20" }, "ci"],
  ["a login", "ci", { by: "ada" }, "ada"],
])("is asked by whom the request names, or else by its key or repository: %s", async (_, name, asked, asker) => {
  const askers: unknown[] = [];
  const engine = new ScriptedEngine();
  const api = createApi({
    engine: {
      create: (project, prompt, _key, options) => {
        askers.push(options?.context?.asker);
        return engine.create(project, prompt);
      },
      message: (project, job, prompt, _key, context) => {
        askers.push(context?.asker);
        return engine.message(project, job, prompt);
      },
      get: (project, job) => engine.get(project, job),
    },
    authenticator: {
      authenticate: async () => ({ name, projects: ["docs"] }),
      accessOf: async () => undefined,
    },
  });
  await using server = await listen(dispatch({ ...api, log: () => {} }), 0);
  const body = JSON.stringify({ prompt: "Do it", asked });
  const created = await call("docs/job", { method: "POST", body }, server);
  await call(`docs/job/${(created.body as { id: string }).id}/message`, { method: "POST", body }, server);
  expect(askers).toEqual([asker, asker]);
});

test("creates no job from a body that does not arrive completely", async () => {
  const prompts: string[] = [];
  const engine = new ScriptedEngine();
  const create: ApiOptions["engine"]["create"] = (projectId, prompt) => {
    prompts.push(prompt);
    return engine.create(projectId, prompt);
  };
  await using counting = await serve({ create, message: fail, get: fail });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "content-length": "100" };
  const request = httpRequest(`${counting.url}/v2/agent/docs/job`, { method: "POST", headers });
  request.on("error", () => {}).write('{"prompt":"cut"}');
  const [incoming] = (await once(counting.server, "request")) as [IncomingMessage];
  request.destroy();
  await once(incoming.socket, "close");
  expect((await call("docs/job", { method: "POST", body: '{"prompt":"whole"}' }, counting)).status).toBe(201);
  expect(prompts).toEqual(["whole"]);
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
