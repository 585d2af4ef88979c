import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { PrometheusMetrics } from "../../src/metrics/prometheus.ts";
import { docsRepository, scriptAgent, startAgentService } from "../support/agent-service.ts";
import { cookieIn } from "../support/pages-server.ts";
import { host, startNginx } from "./start-nginx.ts";

const key = { authorization: `Bearer ${serviceKey}` };
const json = { ...key, "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded", origin: `https://${host}` };

type AskOptions = Pick<RequestOptions, "method" | "localAddress" | "agent"> & {
  headers?: Record<string, string>;
  body?: string;
};

/**
 * Starts the service behind nginx. Its agent says a line, and ends after `endAgent`.
 *
 * @param change - changes the configuration of nginx. Default: not at all
 * @param rest - of the public URL, after its host: a port or a path. Default: none
 */
async function start(change?: (configuration: string) => string, rest = "") {
  const end = join(temporaryFolder(), "end");
  const service = await startAgentService(docsRepository(), {
    agent: scriptAgent(`
      console.log("first line");
      while (!fs.existsSync(${JSON.stringify(end)})) await new Promise((done) => setTimeout(done, 20));
    `),
    publicUrl: `https://${host}${rest}`,
    hasJobPages: true,
    metrics: new PrometheusMetrics(),
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const { port, certificate } = await startNginx(service.url, change);
  const open = async (path: string, { body, ...options }: AskOptions = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const to = { host: "127.0.0.1", port, servername: host, ca: certificate };
      const headers = { host, ...options.headers };
      const request = httpsRequest({ ...to, agent: false, ...options, path, headers }, resolve);
      onTestFinished(() => void request.destroy());
      request.on("error", reject).end(body);
    });
  const ask = async (path: string, options?: AskOptions) => {
    const response = await open(path, options);
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  };
  const signIn = (secret: string, options: AskOptions = {}) =>
    ask("/sign-in", {
      method: "POST",
      ...options,
      headers: { ...form, ...options.headers },
      body: String(new URLSearchParams({ key: secret })),
    });
  const create = async () => {
    const created = await ask("/v2/agent/docs/job", { method: "POST", headers: json, body: '{"prompt":"Go"}' });
    expect(created.status).toBe(201);
    return (JSON.parse(created.text) as { id: string }).id;
  };
  const endAgent = () => writeFileSync(end, "");
  return { open, ask, signIn, create, endAgent };
}

test("a browser signs in at a public URL with a port", async () => {
  const { ask, signIn } = await start(undefined, ":8443");
  const own = `${host}:8443`;
  const { status, headers } = await signIn(serviceKey, { headers: { host: own, origin: `https://${own}` } });
  expect(status).toBe(303);
  expect(await ask("/", { headers: { host: own, cookie: cookieIn(headers) } })).toMatchObject({ status: 200 });
});

test("a browser signs in with a cookie that only this host can set, and reads pages", async () => {
  const { ask, signIn } = await start();
  expect(await ask("/")).toMatchObject({ status: 303, headers: { location: "/sign-in" } });
  const { status, headers } = await signIn(serviceKey);
  expect(status).toBe(303);
  expect(headers["set-cookie"]?.[0]).toMatch(
    /^__Host-agent-job-service-443=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/,
  );
  const page = await ask("/", { headers: { cookie: cookieIn(headers) } });
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining("<h1>Jobs</h1>") });
});

test("a request is held until its job ends, and a log is sent as the agent writes it", async () => {
  const { ask, open, create, endAgent } = await start();
  const job = await create();
  const held = ask(`/v2/agent/docs/job/${job}`, { headers: { ...key, prefer: "wait=25" } });
  const logs = await Promise.all(["log", "events"].map((kind) => open(`/job/${job}/${kind}`, { headers: key })));
  const received = logs.map(() => "");
  const ended = logs.map(async (log, index) => {
    for await (const part of log.setEncoding("utf8")) received[index] += part;
  });
  await waitUntil(() => received.every((sent) => sent.includes("first line")));
  expect(received.join()).not.toContain("completed");
  endAgent();
  const { status, headers, text } = await held;
  expect({ status, applied: headers["preference-applied"] }).toEqual({ status: 200, applied: "wait=25" });
  expect(JSON.parse(text)).not.toMatchObject({ status: "active" });
  await Promise.all(ended);
});

test("metrics need a key", async () => {
  const { ask } = await start();
  expect((await ask("/metrics")).status).toBe(401);
  expect(await ask("/metrics", { headers: key })).toMatchObject({
    status: 200,
    text: expect.stringContaining("agent_service_store_up 1"),
  });
});

test("the host is the client's, and its address is not what it says itself", async () => {
  const { ask, signIn } = await start();
  expect(await ask("/", { headers: { host: "evil.example" } })).toMatchObject({
    status: 421,
    text: expect.stringContaining("evil.example"),
  });
  for (let attempt = 0; attempt < 10; attempt++)
    expect((await signIn("wrong", { headers: { "x-forwarded-for": `10.0.0.${attempt}` } })).status).toBe(401);
  expect((await signIn(serviceKey)).status).toBe(429);
  expect((await signIn(serviceKey, { localAddress: "127.0.0.2" })).status).toBe(303);
});

test("connections are kept, and bodies are as large as the service allows", async () => {
  const { open, ask } = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const sockets = [];
  for (let request = 0; request < 3; request++) {
    const response = await open("/healthz", { agent });
    sockets.push(response.socket);
    expect(JSON.parse(await text(response))).toMatchObject({ status: "ok" });
  }
  expect(new Set(sockets).size).toBe(1);
  const body = JSON.stringify({ prompt: "", padding: "x".repeat(2_000_000) });
  expect(await ask("/v2/agent/docs/job", { method: "POST", headers: json, body })).toMatchObject({
    status: 400,
    text: '{"error":"prompt must be a string that is not blank"}',
  });
});

test.each([
  ["passes it on", "http://127.0.0.1:4100;"],
  ["removes it", "http://127.0.0.1:4100/;"],
])("pages have a path of their own, and nginx %s", async (_way, to) => {
  const { ask } = await start(
    (configuration) =>
      configuration.replace("location / {", "location /agents/ {").replace("http://127.0.0.1:4100;", to),
    "/agents",
  );
  const created = await ask("/agents/v2/agent/docs/job", { method: "POST", headers: json, body: '{"prompt":"Go"}' });
  const page = /^<(\/agents\/job\/[\w-]+)>/.exec(String(created.headers.link))?.[1] ?? "";
  const challenge = await ask(page);
  expect(challenge.headers.location).toBe(`/agents/sign-in?next=${encodeURIComponent(page.replace("/agents", ""))}`);
  const { headers } = await ask("/agents/sign-in", {
    ...{ method: "POST", headers: form },
    body: String(new URLSearchParams({ key: serviceKey, next: page })),
  });
  expect(headers.location).toBe(page);
  expect(headers["set-cookie"]?.[0]).toMatch(/^__Secure-agent-job-service-443=[\w-]{43}; Path=\/agents; /);
  const signedIn = { headers: { cookie: cookieIn(headers) } };
  expect(await ask(page, signedIn)).toMatchObject({ status: 200, text: expect.stringContaining(`data-job="${page}"`) });
  expect((await ask("/agents", signedIn)).headers.location).toMatch(/^https:.*\/agents\/$/);
  expect((await ask("/agents/", signedIn)).status).toBe(200);
});

test("with nginx's own headers, the sign-in form says what is missing, and metrics need a key too", async () => {
  const { ask, signIn } = await start((configuration) => configuration.replace(/^\s*proxy_set_header .*$/gm, ""));
  expect(await signIn(serviceKey)).toMatchObject({
    status: 421,
    text: expect.stringContaining("proxy_set_header Host $http_host"),
  });
  expect((await ask("/metrics")).status).toBe(401);
});
