import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { conform } from "../../tools/conform/conform.ts";
import { parseOptions } from "../../tools/conform/options.ts";
import { type ScriptedService, serviceKey, startScriptedService } from "../support/scripted-service.ts";

interface Findings {
  failures: string[];
  output: string;
}

/** Checks a service, with waits short enough for a test. */
async function check(
  url: string,
  { startsJob = true, key = serviceKey, turnLimitMs = 20_000 } = {},
): Promise<Findings> {
  const lines: string[] = [];
  const baseUrl = new URL(url);
  const prompts = { prompt: 'Add a page "A" that says "B."', message: 'Add a page "C" that says "D."' };
  const options = { baseUrl, project: "docs", key, startsJob, ...prompts, turnLimitMs, pollMs: 20, settleMs: 0 };
  const failures = await conform(options, (line) => lines.push(line));
  return { failures, output: lines.join("\n") };
}

async function scripted(): Promise<ScriptedService> {
  const service = await startScriptedService();
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

test("a service with only the endpoints of the specification passes, with one job and one message", async () => {
  const service = await scripted();
  const { failures, output } = await check(service.url);
  expect(failures).toEqual([]);
  expect(service.engine.prompts).toEqual(['Add a page "A" that says "B."', 'Add a page "C" that says "D."']);
  expect(output).toContain("This creates 1 job and sends it 1 message.");
  expect(output).toContain(
    "not checked  The same create with the same key is answered with the same job: not offered.",
  );
});

test("without --start-job, it only reads", async () => {
  const service = await scripted();
  const { failures, output } = await check(service.url, { startsJob: false });
  expect(failures).toEqual([]);
  expect(service.requests.length).toBeGreaterThan(2);
  expect(service.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
  expect(output).toMatch(/^not checked {2}\d+ requirements \(most need --start-job\)\.$/m);
});

test("with a key that the service does not take, or without a service, it sends nothing that could start a job", async () => {
  const service = await scripted();
  const { failures, output } = await check(service.url, { key: "mint_another_key_0123456789" });
  expect(failures).toEqual(["unknown-job"]);
  expect(output).toContain("The service does not take the key in AGENT_API_KEY");
  expect(service.requests).toHaveLength(1);
  await service[Symbol.asyncDispose]();
  expect((await check(service.url)).failures).toEqual(["unknown-job"]);
});

type Alter = (
  answer: { status: number; body: Record<string, unknown> },
  request: { route: string; key: boolean },
) => void;

/** Starts a service that answers as the scripted one does, altered. */
async function altered(alter: Alter): Promise<{ url: string; service: ScriptedService }> {
  const service = await scripted();
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const headers = { ...(request.headers as Record<string, string>) };
    const hasKey = headers.authorization === `Bearer ${serviceKey}`;
    const body = Buffer.concat(chunks).toString();
    const passed = { method: request.method ?? "", headers, ...(body !== "" && { body }) };
    const real = await fetch(service.url + request.url, passed);
    const answer = { status: real.status, body: (await real.json()) as Record<string, unknown> };
    const route = `${request.method} ${request.url?.replace(/job_[\w-]+/, "ID")} ${body}`;
    alter(answer, { route, key: hasKey });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
  };
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, service };
}

const faults: [name: string, failed: string[], alter: Alter][] = [
  [
    "answers reads without a key",
    ["read-without-key", "read-with-wrong-key"],
    (answer, { route, key }) => {
      if (route.startsWith("GET") && !key) answer.status = 200;
    },
  ],
  [
    "answers 200 for an unknown job",
    ["unknown-job"],
    (answer, { route, key }) => {
      if (/^GET .*no-such-job/.test(route) && key) answer.status = 200;
    },
  ],
  [
    "has another status",
    ["create-record", "read-record", "message-record"],
    ({ body }) => {
      if (body.status !== undefined) body.status = "done";
    },
  ],
  [
    "names a pull request of an active job",
    ["create-record"],
    ({ body }, { route }) => {
      if (/^POST .*job \{"prompt":"A/.test(route) && body.id !== undefined) body.status = "active";
    },
  ],
  [
    "answers a create without a job",
    ["create-record"],
    (answer, { route }) => {
      if (/^POST .*job \{"prompt":"A/.test(route) && answer.status === 201) answer.body = { ok: true };
    },
  ],
  [
    "answers a message with another job",
    ["message-accepted"],
    ({ body }, { route }) => {
      if (/message \{"prompt":"A/.test(route) && body.id !== undefined) body.id = "job_other";
    },
  ],
];

test.each(faults)("a service that %s fails", async (_name, failed, alter) => {
  const { url, service } = await altered(alter);
  const { failures, output } = await check(url);
  expect(failures).toEqual(failed);
  expect(output).toContain("Seen: ");
  expect(service.engine.prompts.length).toBeLessThanOrEqual(2);
});

test("after a request that must be rejected was accepted, no more creates and messages are sent", async () => {
  const { url, service } = await altered((answer, { route }) => {
    if (/^POST .*\{\}$/.test(route)) Object.assign(answer, { status: 201, body: { id: "job_1", status: "active" } });
  });
  const { failures, output } = await check(url);
  expect(failures).toEqual(["create-without-prompt"]);
  expect(output).toMatch(/not checked {2}A create is answered with 2xx.*: the service may have accepted a request/);
  expect(service.engine.prompts).toEqual([]);
});

test("a job that does not end fails, and is sent no message", async () => {
  const { url, service } = await altered(({ body }) => {
    if (body.id !== undefined) Object.assign(body, { status: "active", prLink: null });
  });
  const { failures, output } = await check(url, { turnLimitMs: 50 });
  expect(failures).toEqual(["job-ends"]);
  expect(output).toContain("the job may still be running");
  expect(service.engine.prompts).toHaveLength(1);
});

test("options that could send the key elsewhere or start nothing sensible are rejected", () => {
  const parse = (...args: string[]) => parseOptions(args, { AGENT_API_KEY: serviceKey });
  expect(parse("--base-url", "https://a.example", "--project", "docs")).toMatchObject({ startsJob: false });
  expect(parse("--base-url", "http://a.example", "--project", "docs")).toHaveProperty("error");
  expect(parse("--base-url", "https://a.example")).toHaveProperty("error");
  expect(parseOptions(["--base-url", "https://a.example", "--project", "docs"], {})).toHaveProperty("error");
});
