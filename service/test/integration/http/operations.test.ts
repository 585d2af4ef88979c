import { rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { builtInEditor } from "../../../src/agents/agent.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { Problems } from "../../../src/api/problems.ts";
import { listen } from "../../../src/http/listen.ts";
import { observeRequests } from "../../../src/http/observe-requests.ts";
import { logContext } from "../../../src/log/log-context.ts";
import { type AnsweredRequest, noMetrics } from "../../../src/metrics/metrics.ts";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";
import { PerProject } from "../../../src/per-project.ts";
import { startWorker } from "../../../src/start/service.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { docsRepository, runJob, send, startAgentService } from "../../support/agent-service.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

interface Answer {
  status: number | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** Sends a request with any headers, also with a `Host`. */
function ask(url: string, options: { method?: string; headers?: Record<string, string> } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, options, async (response) => {
      resolve({ status: response.statusCode, headers: response.headers, text: await text(response) });
    });
    request.on("error", reject).end();
  });
}

const key = { authorization: `Bearer ${serviceKey}` };
const healthy = { status: "ok", checks: { store: "ok", disk: "ok", worker: "ok" } };

test("/healthz says to anyone whether the service works, and is not cached on the way", async () => {
  await using service = await startAgentService(docsRepository());
  const url = `${service.url}/healthz`;
  const { status, headers, text } = await ask(url);
  expect({ status, body: JSON.parse(text) }).toEqual({ status: 200, body: healthy });
  expect(headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
  expect(await ask(url, { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  expect(await ask(url, { method: "POST" })).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  // As the probe of an orchestrator asks.
  for (const path of ["", "/live"])
    expect((await ask(url + path, { headers: { host: "agent-jobs-api-7d9f-x2x:4100" } })).status).toBe(200);
  expect((await ask(`${url}/x`)).status).toBe(401);
  const live = await ask(`${url}/live`);
  expect({ status: live.status, body: JSON.parse(live.text) }).toEqual({
    status: 200,
    body: { status: "ok", checks: { worker: "ok" } },
  });
});

test("/healthz says 503 while the store cannot be written, and the process is still alive", async () => {
  const store = openSqliteStore(":memory:");
  store.probe = async () => {
    throw new Error("connect ECONNREFUSED db.internal");
  };
  await using service = await startAgentService(docsRepository(), { openStore: async () => store });
  const { status, text } = await ask(`${service.url}/healthz`);
  expect(status).toBe(503);
  expect(JSON.parse(text)).toEqual({
    status: "failing",
    checks: { store: "cannot be written", disk: "ok", worker: "ok" },
  });
  expect((await ask(`${service.url}/healthz/live`)).status).toBe(200);
});

test("/healthz names what is not this process's problem, and says 200", async () => {
  const problems = new Problems(() => {});
  problems.gitHubAnswered(undefined, "docs");
  await using service = await startAgentService(docsRepository(), { problems });
  const { status, text } = await ask(`${service.url}/healthz`);
  const github = { problem: expect.stringContaining("GitHub"), since: expect.stringMatching(/^\d{4}-.*Z$/) };
  expect({ status, body: JSON.parse(text) }).toEqual({ status: 200, body: { ...healthy, problems: { github } } });
});

test("a worker alone answers where metrics are, and knows nothing else", async () => {
  const lines: string[] = [];
  await using worker = await startWorker({
    openStore: async () => openSqliteStore(":memory:"),
    settings: PerProject.same({
      repository: docsRepository().path,
      agent: builtInEditor,
      sandbox: unconfined,
      timeLimitMs: 600_000,
      largestChangeBytes: 1_000_000,
    }),
    apiKey: serviceKey,
    projects: ["docs"],
    folder: temporaryFolder(),
    agents: 1,
    metricsListen: { address: "127.0.0.1", port: 0 },
    metrics: new PrometheusMetrics(),
    log: (line) => void lines.push(line),
  });
  const url = worker.metricsUrl ?? "";
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(JSON.parse((await ask(`${url}/healthz`)).text)).toEqual(healthy);
  expect((await ask(`${url}/metrics`)).text).toContain("\nagent_service_store_up 1\n");
  expect((await ask(`${url}/`)).status).toBe(404);
  expect((await ask(`${url}/healthz/live`, { headers: { host: "10.1.2.3:4100" } })).status).toBe(200);
});

test("/metrics has what happened, for those who have the key and for this machine alone", async () => {
  await using service = await startAgentService(docsRepository(), {
    metrics: new PrometheusMetrics(),
  });
  await runJob(service, 'Add a page "X"');
  const url = `${service.url}/metrics`;
  const own = await ask(url);
  expect(own.status).toBe(200);
  expect(own.headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
  for (const sample of [
    'agent_service_jobs{state="completed"} 1',
    'agent_service_turns{state="running"} 0',
    "agent_service_takeable_turns 0",
    "agent_service_wanted_places 0",
    "agent_service_worker_places 2",
    "agent_service_oldest_waiting_turn_age_seconds 0",
    'agent_service_turn_duration_seconds_count{result="completed"} 1',
    'agent_service_agent_exits_total{result="completed"} 1',
    'agent_service_prompts_total{kind="create",result="accepted"} 1',
    'agent_service_http_requests_total{method="POST",route="/v2/agent/{project}/job",status="201"} 1',
  ])
    expect(own.text).toContain(`\n${sample}\n`);
  // Only costs name a project, which the operator pays for.
  const others = own.text.split("\n").filter((line) => !/^agent_service_agent_(?:cost|unknown_costs)/.test(line));
  expect(others.join("\n")).not.toMatch(/job_|docs/);

  const host = "agents.example.com";
  expect((await ask(url, { headers: { ...key, host, "x-forwarded-for": "192.0.2.1" } })).status).toBe(200);
  expect((await ask(url, { headers: { ...key, host: "api-1:4100" } })).status).toBe(200);
  expect((await ask(`${service.url}/`, { headers: { ...key, host: "api-1:4100" } })).status).toBe(421);
  for (const headers of [
    { host },
    { host: "api-1:4100" },
    { "x-forwarded-for": "192.0.2.1" },
    { forwarded: "for=192.0.2.1" },
    { via: "1.1 proxy" },
    { "x-real-ip": "192.0.2.1" },
    { "x-forwarded-host": "agents.example.com" },
    { "x-forwarded-proto": "https" },
    { authorization: "Bearer wrong" },
  ])
    expect(await ask(url, { headers }), JSON.stringify(headers)).toMatchObject({
      status: 401,
      headers: { "www-authenticate": "Bearer" },
    });
  expect((await ask(url, { method: "POST" })).status).toBe(405);
});

test("/metrics behind a public URL needs a key even from this machine, except on a port of its own", async () => {
  await using service = await startAgentService(docsRepository(), {
    metrics: new PrometheusMetrics(),
    publicUrl: "https://agents.example.com",
    metricsListen: { address: "127.0.0.1", port: 0 },
  });
  // As from nginx with its defaults, which passes on neither the host nor the address.
  expect((await ask(`${service.url}/metrics`)).status).toBe(401);
  expect((await ask(`${service.url}/metrics`, { headers: key })).status).toBe(200);
  const own = await ask(`${service.metricsUrl}/metrics`, { headers: { host: "10.0.0.5:9100", via: "1.1 proxy" } });
  expect(own.text).toContain("\nagent_service_store_up 1\n");
  expect((await ask(`${service.metricsUrl}/healthz`)).status).toBe(200);
  expect((await ask(`${service.metricsUrl}/`)).status).toBe(404);
});

test("a store that goes out of order while the service runs shows in its health and its metrics", async () => {
  await using service = await startAgentService(docsRepository(), { metrics: new PrometheusMetrics() });
  rmSync(join(service.folder, "jobs.sqlite"));
  for (let request = 0; request < 2; request++) expect((await send(service, "docs/job", "One")).status).toBe(503);
  const health = await ask(`${service.url}/healthz`);
  expect(health.status).toBe(503);
  expect(JSON.parse(health.text)).toMatchObject({ checks: { store: "cannot be written", worker: "ok" } });
  const { text } = await ask(`${service.url}/metrics`);
  expect(text).toContain("\nagent_service_store_outages_total 1\n");
  expect(text).toContain('\nagent_service_prompts_total{kind="create",result="store-unavailable"} 2\n');
});

test("a service without metrics has no such page", async () => {
  await using service = await startAgentService(docsRepository());
  expect((await ask(`${service.url}/metrics`, { headers: key })).status).toBe(404);
});

test("metrics that cannot be put together are answered with 500, and the service goes on", async () => {
  const metrics = new PrometheusMetrics();
  metrics.render = async () => {
    throw new Error("no numbers");
  };
  await using service = await startAgentService(docsRepository(), { metrics });
  expect(await ask(`${service.url}/metrics`)).toMatchObject({
    status: 500,
    text: '{"error":"Internal error: see the log of the service"}',
  });
  expect(service.lines).toContainEqual(expect.stringMatching(/^GET \/metrics: Error: no numbers\n/));
});

test("metrics say that the store cannot be read, and have the rest", async () => {
  const store = openSqliteStore(":memory:");
  store.counts.census = async () => {
    throw new Error("out of order");
  };
  const options = { openStore: async () => store, metrics: new PrometheusMetrics() };
  await using service = await startAgentService(docsRepository(), options);
  const { status, text } = await ask(`${service.url}/metrics`);
  expect(status).toBe(200);
  expect(text).toContain("\nagent_service_store_up 0\n");
  expect(text).not.toContain("agent_service_jobs{");
});

test("however often metrics are read, jobs are counted once in a while", async () => {
  const store = openSqliteStore(":memory:");
  let counted = 0;
  const census = store.counts.census.bind(store.counts);
  store.counts.census = () => {
    counted++;
    return census();
  };
  const options = { openStore: async () => store, metrics: new PrometheusMetrics() };
  await using service = await startAgentService(docsRepository(), options);
  await Promise.all(Array.from({ length: 20 }, () => ask(`${service.url}/metrics`)));
  expect(counted).toBe(1);
});

test("a create is logged with the id of its request, its job and its turn", async () => {
  const events: { message: string; fields: object; context: object }[] = [];
  await using service = await startAgentService(docsRepository(), {
    logEvent: (message, fields) => void events.push({ message, fields, context: logContext() }),
  });
  const { job, headers } = await send(service, "docs/job", 'Add a page "X"');
  const request = headers.get("x-request-id");
  expect(request).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
  await waitUntil(() => events.length >= 2);
  const route = "/v2/agent/{project}/job";
  expect(events.slice(0, 2)).toEqual([
    { message: "create accepted", fields: { job: job.id, turn: 1 }, context: { request } },
    {
      message: "request answered",
      fields: { method: "POST", route, status: 201, ms: expect.any(Number) },
      context: { request },
    },
  ]);
});

/** Starts a server whose requests are observed, by a clock that each request advances. */
async function startObserved() {
  const answered: AnsweredRequest[] = [];
  const events: { fields: object; context: object }[] = [];
  const contexts: object[] = [];
  const machine = new FakeMachine();
  const metrics = { ...noMetrics, requestAnswered: (request: AnsweredRequest) => void answered.push(request) };
  const logEvent = (_message: string, fields: object) => void events.push({ fields, context: logContext() });
  const server = await listen(
    observeRequests({ metrics, logEvent, machine }, async (request, response) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      contexts.push(logContext());
      machine.pass(250);
      if (request.url === "/gone") return;
      response.writeHead(202).end("{}");
    }),
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { url: server.url, answered, events, contexts };
}

test("each request has an id, in its answer and its lines: that of the client, if that can be logged", async () => {
  const { url, events, contexts } = await startObserved();
  const given = await ask(`${url}/sign-in/secret-link?x=1`, { headers: { "x-request-id": "Trace_1.a-b" } });
  expect(given.headers["x-request-id"]).toBe("Trace_1.a-b");
  expect(contexts).toEqual([{ request: "Trace_1.a-b" }]);
  expect(events).toEqual([
    {
      fields: { method: "GET", route: "/sign-in/{link}", status: 202, ms: 250 },
      context: { request: "Trace_1.a-b" },
    },
  ]);
  for (const id of ["", "a b", 'a"b', "x".repeat(65), "é"]) {
    const { headers } = await ask(`${url}/`, { headers: { "x-request-id": id } });
    expect(headers["x-request-id"]).toMatch(/^[\da-f-]{36}$/);
  }
  expect((await ask(`${url}/`, { headers: { "x-request-id": "x".repeat(64) } })).headers["x-request-id"]).toHaveLength(
    64,
  );
});

test("requests are counted when they are answered, or when their client has gone", async () => {
  const { url, answered, events, contexts } = await startObserved();
  await ask(`${url}/pull/7`);
  const leaving = httpRequest(`${url}/gone`, { headers: { "x-request-id": "leaving" } });
  leaving.on("error", () => {}).end();
  await waitUntil(() => contexts.length >= 2);
  leaving.destroy();
  await waitUntil(() => answered.length >= 2);
  expect(answered).toEqual([
    { method: "GET", route: "/pull/{number}", status: 202, seconds: 0.25 },
    { method: "GET", route: "other", status: 499, seconds: 0.25 },
  ]);
  expect(events[1]?.context).toEqual({ request: "leaving" });
});
