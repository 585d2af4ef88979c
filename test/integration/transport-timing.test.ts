import { expect, test } from "vitest";
import { createTransport, NetworkError } from "../../src/runner-kit/transport.ts";
import { httpResponse, isCompleteRequest, tcpServer } from "../support/tcp-server.ts";

/** Stops the whole process for a while, as a paused container is stopped. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const request = (port: number, timeoutMs: number) => ({
  method: "POST" as const,
  url: new URL(`http://127.0.0.1:${port}/`),
  headers: {},
  body: "{}",
  timeoutMs,
  signal: new AbortController().signal,
});

test("a response that arrived while the process was paused is read, although its timeout has passed", async () => {
  await using server = await tcpServer((socket, received) => {
    if (!isCompleteRequest(received)) return;
    socket.write(httpResponse(201, '{"id":"job_1"}'));
    pause(400);
  });
  const response = await createTransport("http:", {})(request(server.port, 200));
  expect(response).toMatchObject({ status: 201, body: '{"id":"job_1"}' });
});

test("the body of a 201 may take longer than that of an error", async () => {
  await using server = await tcpServer((socket, received) => {
    if (!isCompleteRequest(received)) return;
    socket.write("HTTP/1.1 201 Created\r\ncontent-length: 14\r\n\r\n");
    setTimeout(() => socket.end('{"id":"job_1"}'), 2500);
  });
  const response = await createTransport("http:", {})(request(server.port, 10_000));
  expect(response).toMatchObject({ status: 201, body: '{"id":"job_1"}' });
});

test("the part of a response that arrived during a pause is kept", async () => {
  await using server = await tcpServer((socket, received) => {
    if (!isCompleteRequest(received)) return;
    socket.write('HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n{"id":"job_1",');
    pause(400);
  });
  const error = await createTransport("http:", {})(request(server.port, 200)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(NetworkError);
  expect(error).toMatchObject({ reason: "timeout", phase: "reading", body: '{"id":"job_1",' });
});

// The kernel rejects a TCP connection to a multicast address before anything is sent.
test.skipIf(process.platform === "win32")("a connect() that fails immediately was not sent", async () => {
  const { url, ...rest } = request(0, 5000);
  url.hostname = "224.0.0.1";
  url.port = "9";
  const error = await createTransport("http:", {})({ ...rest, url }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ phase: "connecting", reason: "network" });
});
