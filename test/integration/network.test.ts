import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { inputsFor, serviceKey, startScriptedService } from "../support/scripted-service.ts";
import { stepHere } from "../support/step-here.ts";
import { httpResponse, isCompleteRequest, tcpServer } from "../support/tcp-server.ts";

const created = JSON.stringify({ id: "job_1", status: "active" });
const completed = JSON.stringify({ id: "job_1", status: "completed", prLink: "https://github.com/acme/docs/pull/7" });
const headersOnly = "HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n";

type Fault = (socket: Socket) => unknown;

/** After a doubt, the step asks what was sent under it, which this service does not know. */
const isQuestion = (received: string): boolean => /^GET \S+\/job\?step=/.test(received);
const answerNot = (socket: Socket): unknown => socket.end(httpResponse(404, "{}"));
const methodsOf = (received: readonly string[]) => received.map((request) => request.split(" ")[0]);

describe("a create that may have been accepted is not retried", () => {
  test.each<[string, Fault]>([
    ["closed without a response", (socket) => socket.end()],
    ["reset", (socket) => socket.resetAndDestroy()],
    ["closed within the body", (socket) => socket.end(`${headersOnly}{"id":"job`)],
    ["reset within the body", (socket) => socket.write(headersOnly, () => socket.resetAndDestroy())],
    ["garbage", (socket) => socket.end("garbage\r\n\r\n")],
    ["a body over 1 MiB", (socket) => socket.end(httpResponse(201, " ".repeat(1_048_577)))],
    ["an upgrade", (socket) => socket.end("HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n")],
    ["502", (socket) => socket.end(httpResponse(502, "<html>Bad gateway</html>"))],
    ["408", (socket) => socket.end(httpResponse(408, ""))],
    ["201 with HTML", (socket) => socket.end(httpResponse(201, "<html>"))],
  ])("%s", async (_name, fault) => {
    await using server = await tcpServer(
      (socket, received) => isCompleteRequest(received) && (isQuestion(received) ? answerNot(socket) : fault(socket)),
    );
    const { exitCode, outputs, annotations, log } = await stepHere(
      inputsFor({ url: `http://127.0.0.1:${server.port}` }),
    );
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(annotations).toEqual([expect.stringMatching(/^error Job may have been started: /)]);
    expect(methodsOf(server.received)).toEqual(["POST", "GET"]);
    expect(log).not.toMatch(/^\s+at /m);
  });

  test("stalled until the timeout", async () => {
    await using server = await tcpServer(
      (socket, received) => isCompleteRequest(received) && socket.write(headersOnly),
    );
    const inputs = inputsFor({ url: `http://127.0.0.1:${server.port}` }, { "timeout-minutes": "0.01" });
    const { exitCode, outputs } = await stepHere(inputs);
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(server.received).toHaveLength(1);
  });
});

describe("polls continue after transient failures", () => {
  test.each<[string, Fault]>([
    ["closed without a response", (socket) => socket.end()],
    ["reset", (socket) => socket.resetAndDestroy()],
    ["closed within the body", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")],
    ["garbage", (socket) => socket.end("garbage\r\n\r\n")],
    ["500", (socket) => socket.end(httpResponse(500, ""))],
    ["the record of another job", (socket) => socket.end(httpResponse(200, '{"id":"job_2","status":"completed"}'))],
    ["HTML", (socket) => socket.end(httpResponse(200, "<html>Please sign in</html>"))],
  ])("%s, twice", async (_name, fault) => {
    let polls = 0;
    await using server = await tcpServer((socket, received) => {
      if (!isCompleteRequest(received)) return;
      if (received.startsWith("POST")) socket.end(httpResponse(201, created, { connection: "close" }));
      else if (++polls <= 2) fault(socket);
      else socket.end(httpResponse(200, completed));
    });
    const { exitCode, outputs, annotations } = await stepHere(inputsFor({ url: `http://127.0.0.1:${server.port}` }));
    expect(exitCode).toBe(0);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "pr-number": "7" });
    expect(annotations).toEqual([expect.stringMatching(/^warning Polling is failing: /)]);
    expect(server.received.filter((request) => request.startsWith("POST"))).toHaveLength(1);
  });
});

test("retries a throttled create until it is accepted, and starts one job", async () => {
  await using service = await startScriptedService({
    fault: (n, response) =>
      n <= 2 && Boolean(response.writeHead(429, { "retry-after": "1" }).end('{"error":"Slow down"}')),
  });
  const { exitCode, annotations } = await stepHere(inputsFor(service));
  expect(exitCode).toBe(0);
  expect(service.engine.prompts).toHaveLength(1);
  expect(annotations).toEqual([expect.stringContaining("HTTP 429")]);
});

test("never shows a key that the service rejects and echoes", async () => {
  await using service = await startScriptedService({
    fault: (_n, response) =>
      Boolean(response.writeHead(401).end(JSON.stringify({ error: `Invalid key ${serviceKey}` }))),
  });
  const { outputs, annotations, log, summary } = await stepHere(inputsFor(service));
  expect(annotations).toEqual([expect.stringMatching(/rejected the API key.*Invalid key \*\*\*.*No job was started/s)]);
  const shown = log.replace(`::add-mask::${serviceKey}`, "") + summary + JSON.stringify(outputs);
  expect(shown).not.toContain(serviceKey);
});
