import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inputsFor, serviceKey, startService } from "../support/scripted-service.ts";
import { step } from "../support/step.ts";
import { httpAnswer, isWhole, tcpServer } from "../support/tcp-server.ts";

const created = JSON.stringify({ id: "job_1", status: "active" });
const completed = JSON.stringify({ id: "job_1", status: "completed", prLink: "https://github.com/acme/docs/pull/7" });
const headersOnly = "HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n";

type Fault = (socket: Socket) => unknown;

describe("a create whose answer is lost is never sent again", () => {
  test.each<[string, Fault]>([
    ["closed without an answer", (socket) => socket.end()],
    ["reset", (socket) => socket.resetAndDestroy()],
    ["closed in mid-body", (socket) => socket.end(`${headersOnly}{"id":"job`)],
    ["reset in mid-body", (socket) => socket.write(headersOnly, () => socket.resetAndDestroy())],
    ["garbage", (socket) => socket.end("garbage\r\n\r\n")],
    ["a body over 1 MiB", (socket) => socket.end(httpAnswer(201, " ".repeat(1_048_577)))],
    ["an upgrade", (socket) => socket.end("HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n")],
    ["502", (socket) => socket.end(httpAnswer(502, "<html>Bad gateway</html>"))],
    ["408", (socket) => socket.end(httpAnswer(408, ""))],
    ["201 with HTML", (socket) => socket.end(httpAnswer(201, "<html>"))],
  ])("%s", async (_name, fault) => {
    await using server = await tcpServer((socket, received) => isWhole(received) && fault(socket));
    const { exitCode, outputs, annotations, log } = await step(inputsFor({ url: `http://127.0.0.1:${server.port}` }));
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(annotations).toEqual([expect.stringMatching(/^error Job may have been started: /)]);
    expect(server.received).toHaveLength(1);
    expect(log).not.toMatch(/^\s+at /m);
  });

  test("closed in mid-body, with the id there", async () => {
    await using server = await tcpServer(
      (socket, received) => isWhole(received) && socket.end(`${headersOnly}{"id":"job_1","sta`),
    );
    const { exitCode, outputs, annotations } = await step(inputsFor({ url: `http://127.0.0.1:${server.port}` }));
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(annotations).toEqual([expect.stringMatching(/^error Job may have been started: .*names job job_1/s)]);
    expect(server.received).toHaveLength(1);
  });

  test("stalled to the end of the time", async () => {
    await using server = await tcpServer((socket, received) => isWhole(received) && socket.write(headersOnly));
    const inputs = inputsFor({ url: `http://127.0.0.1:${server.port}` }, { "timeout-minutes": "0.01" });
    const { exitCode, outputs } = await step(inputs);
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(server.received).toHaveLength(1);
  });
});

describe("polls outlast trouble", () => {
  test.each<[string, Fault]>([
    ["closed without an answer", (socket) => socket.end()],
    ["reset", (socket) => socket.resetAndDestroy()],
    ["closed in mid-body", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")],
    ["garbage", (socket) => socket.end("garbage\r\n\r\n")],
    ["500", (socket) => socket.end(httpAnswer(500, ""))],
    ["the record of another job", (socket) => socket.end(httpAnswer(200, '{"id":"job_2","status":"completed"}'))],
    ["HTML", (socket) => socket.end(httpAnswer(200, "<html>Please sign in</html>"))],
  ])("%s, twice", async (_name, fault) => {
    let polls = 0;
    await using server = await tcpServer((socket, received) => {
      if (!isWhole(received)) return;
      if (received.startsWith("POST")) socket.end(httpAnswer(201, created, { connection: "close" }));
      else if (++polls <= 2) fault(socket);
      else socket.end(httpAnswer(200, completed));
    });
    const { exitCode, outputs, annotations } = await step(inputsFor({ url: `http://127.0.0.1:${server.port}` }));
    expect(exitCode).toBe(0);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "pr-number": "7" });
    expect(annotations).toEqual([expect.stringMatching(/^warning Polling is failing: /)]);
    expect(server.received.filter((request) => request.startsWith("POST"))).toHaveLength(1);
  });
});

test("throttled, then taken: one job", async () => {
  await using service = await startService({
    fault: (n, response) =>
      n <= 2 && Boolean(response.writeHead(429, { "retry-after": "1" }).end('{"error":"Slow down"}')),
  });
  const { exitCode, annotations } = await step(inputsFor(service));
  expect(exitCode).toBe(0);
  expect(service.engine.prompts).toHaveLength(1);
  expect(annotations).toEqual([expect.stringContaining("HTTP 429")]);
});

test("a key that the service refuses, and echoes: it is shown nowhere", async () => {
  await using service = await startService({
    fault: (_n, response) =>
      Boolean(response.writeHead(401).end(JSON.stringify({ error: `Invalid key ${serviceKey}` }))),
  });
  const { outputs, annotations, log, summary } = await step(inputsFor(service));
  expect(annotations).toEqual([expect.stringMatching(/rejected the API key.*Invalid key \*\*\*.*No job was started/s)]);
  const shown = log.replace(`::add-mask::${serviceKey}`, "") + summary + JSON.stringify(outputs);
  expect(shown).not.toContain(serviceKey);
});

describe("certificates", () => {
  const folder = join(import.meta.dirname, "../support/certificates");
  const certificate = join(folder, "certificate.pem");

  async function tlsService() {
    const requests: string[] = [];
    const options = { key: readFileSync(join(folder, "key.pem")), cert: readFileSync(certificate) };
    const server = createServer(options, (request, response) => {
      requests.push(`${request.method}`);
      response.writeHead(200).end(completed);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      url: `https://localhost:${(server.address() as AddressInfo).port}`,
      requests,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        server.close();
      },
    };
  }

  test("one that is not trusted: nothing is sent, and the log says how to trust it", async () => {
    await using service = await tlsService();
    const { exitCode, outputs, annotations } = await step(inputsFor(service));
    expect(exitCode).toBe(1);
    expect(outputs.outcome).toBe("error");
    expect(annotations).toEqual([expect.stringMatching(/is not trusted.*No job was started.*NODE_EXTRA_CA_CERTS/s)]);
    expect(service.requests).toEqual([]);
  });

  test("one of a private authority that the step names is trusted", async () => {
    await using service = await tlsService();
    const { exitCode } = await step(inputsFor(service), { environment: { NODE_EXTRA_CA_CERTS: certificate } });
    expect(exitCode).toBe(0);
    expect(service.requests).toEqual(["POST"]);
  });

  test("checks that are turned off draw a warning", async () => {
    await using service = await tlsService();
    const { annotations } = await step(inputsFor(service), { environment: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } });
    expect(annotations).toEqual([expect.stringMatching(/^warning TLS certificates are not verified: /)]);
  });
});

test("text from the service is no command, no markup and no link", async () => {
  const hostile =
    "##[error]x\r::set-output name=outcome::pr-created\u0085::error::x <img src=x> @acme/team [x](http://x)";
  const hostileId = "::error::x ##[error]x <img src=x> @acme/team";
  const record = JSON.stringify({
    id: hostileId,
    status: "completed",
    model: hostile,
    source: { repository: hostile },
  });
  await using server = await tcpServer((socket, received) => isWhole(received) && socket.end(httpAnswer(201, record)));
  const { exitCode, outputs, lines, annotations, summary, log } = await step(
    inputsFor({ url: `http://127.0.0.1:${server.port}` }),
  );
  expect(exitCode).toBe(0);
  expect(outputs).toMatchObject({ "job-id": hostileId, outcome: "no-changes" });
  const commands = lines.flatMap((line) => (line.kind === "command" ? [line.name] : []));
  expect(commands).toEqual(["add-mask", "debug", "notice"]);
  expect(log).toContain("::stop-commands::");
  expect(annotations[0]).toMatch(/^notice No pull request: /);
  expect(summary).not.toContain("<img");
  expect(summary.replaceAll(/<code>.*?<\/code>/g, "")).not.toContain("@acme");
});
