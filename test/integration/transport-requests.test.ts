import dns from "node:dns";
import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTransport, type HttpRequest, type HttpResponse, NetworkError } from "../../src/runner-kit/transport.ts";
import { httpResponse, isCompleteRequest, tcpServer } from "../support/tcp-server.ts";

/** Sends a POST to a server that calls `respond` once it is complete; returns what came of it and what was sent. */
async function exchange(
  respond: (socket: Socket) => void,
  changes: Partial<HttpRequest> = {},
): Promise<{ result: HttpResponse | NetworkError; sent: string }> {
  await using server = await tcpServer((socket, received) => {
    if (isCompleteRequest(received)) respond(socket);
  });
  const request: HttpRequest = {
    method: "POST",
    url: new URL(`http://127.0.0.1:${server.port}/path?query`),
    headers: {},
    body: "{}",
    timeoutMs: 5000,
    signal: new AbortController().signal,
    ...changes,
  };
  const result = await createTransport(
    "http:",
    {},
  )(request).catch((error: unknown) => {
    if (error instanceof NetworkError) return error;
    throw error;
  });
  return { result, sent: server.received.join("") };
}

/** From now on timers do not fire, and `vi.getTimerCount()` tells how many were not cleared. */
function countTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

const endings: [string, (socket: Socket) => void][] = [
  ["a response", (socket) => socket.end(httpResponse(200, "ok"))],
  ["an HTTP error", (socket) => socket.end(httpResponse(500, "no"))],
  ["a connection that is closed", (socket) => socket.end()],
  ["a response that is cut off", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")],
];

test.each(endings)("leaves no timer and no listener after %s", async (_name, respond) => {
  const { signal } = new AbortController();
  countTimers();
  await exchange(respond, { timeoutMs: 600_000, signal });
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("leaves no timer after a response in the grace period", async () => {
  const cancellation = new AbortController();
  countTimers();
  await exchange(
    (socket) => {
      cancellation.abort();
      setImmediate(() => socket.end(httpResponse(201, "late")));
    },
    { signal: cancellation.signal, timeoutMs: 600_000, graceMs: 600_000 },
  );
  expect(vi.getTimerCount()).toBe(0);
});

test("waits for the body of a 2xx longer than for that of an HTTP error", async () => {
  const realSetTimeout = setTimeout;
  countTimers();
  const { result } = await exchange(
    (socket) => {
      socket.write("HTTP/1.1 201 Created\r\ncontent-length: 14\r\n\r\n");
      // Real time for the head to arrive.
      realSetTimeout(() => {
        vi.advanceTimersByTime(60_000);
        realSetTimeout(() => socket.end('{"id":"job_1"}'), 50);
      }, 50);
    },
    { timeoutMs: 600_000 },
  );
  expect(result).toMatchObject({ status: 201, body: '{"id":"job_1"}' });
});

test("sends the path with its query, and the body with its length in bytes", async () => {
  const { sent } = await exchange((socket) => socket.end(httpResponse(200, "ok")), {
    body: '"é"',
    headers: { x: "y" },
  });
  expect(sent).toMatch(/^POST \/path\?query HTTP\/1\.1\r\n/);
  expect(sent).toMatch(/^x: y\r$/m);
  expect(sent).toMatch(/^content-length: 4\r$/m);
});

test("joins the values of a header that is sent twice", async () => {
  const { result } = await exchange((socket) =>
    socket.end("HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nset-cookie: b=2\r\ncontent-length: 0\r\n\r\n"),
  );
  expect(result).toMatchObject({ headers: { "set-cookie": "a=1, b=2", "content-length": "0" } });
});

test.each<[string, Partial<HttpRequest>, (socket: Socket) => void, Partial<NetworkError>]>([
  ["a timeout", { timeoutMs: 501 }, () => {}, { message: "no complete response within 1 s", phase: "waiting" }],
  [
    "a response that is too large",
    {},
    (socket) => socket.end(httpResponse(200, "x".repeat(1_048_577))),
    { message: "the response is larger than 1 MiB", phase: "reading" },
  ],
  ["a connection that is closed", {}, (socket) => socket.end(), { message: "socket hang up", phase: "waiting" }],
  [
    "an upgrade",
    {},
    (socket) => socket.end("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    { message: "the connection was closed before a complete response arrived", phase: "waiting" },
  ],
])("says what happened to the request: %s", async (_name, changes, respond, error) => {
  const { result } = await exchange(respond, changes);
  expect(result).toBeInstanceOf(NetworkError);
  expect(result).toMatchObject(error);
});

test("names each address of a host that refuses the connection", async () => {
  const { result } = await exchange(() => {}, { url: new URL("http://localhost:1/") });
  expect(result).toHaveProperty(
    "message",
    expect.stringMatching(/^connect ECONNREFUSED \S+:1(; connect ECONNREFUSED \S+:1)*$/),
  );
});

test("keeps at most what fits of a response that is too large", async () => {
  const { result } = await exchange((socket) => socket.end(httpResponse(200, `{"id":"job_1"${" ".repeat(2_000_000)}`)));
  expect(result).toHaveProperty("body", expect.stringMatching(/^\{"id":"job_1" +$/));
  expect((result as NetworkError).body.length).toBeLessThanOrEqual(1_048_576);
});

test("ends the connection of a request that it gives up, so that the server notices", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  await using server = await tcpServer((socket) => void socket.on("close", resolve).write("HTTP/1.1 200 OK\r\n"));
  const { signal } = new AbortController();
  const url = new URL(`http://127.0.0.1:${server.port}/`);
  const sent = createTransport("http:", {})({ method: "GET", url, headers: { x: "y" }, timeoutMs: 500, signal });
  await expect(sent).rejects.toMatchObject({ reason: "timeout", phase: "waiting" });
  // The server is still there: only the transport can have closed it.
  await closed;
  expect(server.received.join("")).toMatch(/^x: y\r$/m);
});

test("keeps the part of a response that arrived in the grace period", async () => {
  const cancellation = new AbortController();
  const { result } = await exchange(
    (socket) => {
      cancellation.abort();
      socket.write('HTTP/1.1 201 Created\r\ncontent-length: 99\r\n\r\n{"id":"job_1"');
    },
    { signal: cancellation.signal, graceMs: 100 },
  );
  expect(result).toMatchObject({ phase: "reading", reason: "aborted", body: '{"id":"job_1"' });
});

test("returns a response that is complete before the request is", async () => {
  await using server = await tcpServer((socket) => {
    socket.pause();
    socket.write(httpResponse(413, "too large"));
  });
  const response = await createTransport(
    "http:",
    {},
  )({
    method: "POST",
    url: new URL(`http://127.0.0.1:${server.port}/`),
    headers: {},
    body: "x".repeat(30_000_000),
    timeoutMs: 600_000,
    signal: new AbortController().signal,
  });
  expect(response).toMatchObject({ status: 413, body: "too large" });
});

test("says that the response was being read, also if it began before the request was complete", async () => {
  const error = Promise.withResolvers<unknown>();
  const size = 30_000_000;
  await using server = await tcpServer((socket, received) => {
    if (received.length < 100_000) socket.write("HTTP/1.1 201 Created\r\ncontent-length: 99\r\n\r\n");
    if (received.length > size) socket.end();
  });
  const { signal } = new AbortController();
  const url = new URL(`http://127.0.0.1:${server.port}/`);
  createTransport(
    "http:",
    {},
  )({ method: "POST", url, headers: {}, body: "x".repeat(size), timeoutMs: 60_000, signal }).catch(error.resolve);
  expect(await error.promise).toMatchObject({ phase: "reading", reason: "network" });
});

test("keeps all chunks that arrived together with something invalid", async () => {
  const { result } = await exchange((socket) =>
    socket.end('HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\n8\r\n:"job_1"\r\nzz\r\n'),
  );
  expect(result).toMatchObject({ phase: "reading", reason: "network", body: '{"id":"job_1"' });
});

test("says that a response was cut off", async () => {
  const { result } = await exchange((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"));
  expect(result).toHaveProperty("message", "the connection was closed before a complete response arrived");
});

test("names every address of a host that has several", async () => {
  const addresses = [
    { address: "127.0.0.1", family: 4 },
    { address: "127.0.0.2", family: 4 },
  ];
  vi.spyOn(dns, "lookup").mockImplementation(((_host: string, _options: object, done: (...all: unknown[]) => void) =>
    process.nextTick(done, null, addresses)) as never);
  onTestFinished(() => void vi.restoreAllMocks());
  const { result } = await exchange(() => {}, { url: new URL("http://several.invalid:1/") });
  expect(result).toMatchObject({
    phase: "connecting",
    message: "connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.2:1",
    cause: { errors: [{ code: "ECONNREFUSED" }, { code: "ECONNREFUSED" }] },
  });
});
