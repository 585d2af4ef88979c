import { getEventListeners } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createTransport, type HttpRequest, type HttpResponse, NetworkError } from "../../src/runner-kit/transport.ts";
import { httpResponse, isCompleteRequest, tcpServer } from "../support/tcp-server.ts";

/** Any phase in which the service may have received the request. */
const afterConnect = expect.stringMatching(/^(sending|waiting|reading)$/);

function request(port: number, changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: "POST",
    url: new URL(`http://127.0.0.1:${port}/x`),
    headers: {},
    body: "{}",
    timeoutMs: 5000,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** Sends one request to a server that calls `respond` once the request is complete. */
async function exchange(
  respond: (socket: Socket) => void,
  changes: Partial<HttpRequest> = {},
): Promise<HttpResponse | NetworkError> {
  await using server = await tcpServer((socket, received) => {
    if (isCompleteRequest(received)) respond(socket);
  });
  return await settled(createTransport("http:", {})(request(server.port, changes)));
}

/** Returns the response or the `NetworkError`. Any other error is a bug in the transport. */
async function settled(response: Promise<HttpResponse>): Promise<HttpResponse | NetworkError> {
  return response.catch((error: unknown) => {
    if (error instanceof NetworkError) return error;
    throw error;
  });
}

describe("a response", () => {
  test("has a status, headers and a body", async () => {
    const response = await exchange((socket) => socket.end(httpResponse(201, "héllo", { "retry-after": 3 })));
    expect(response).toMatchObject({ status: 201, body: "héllo", headers: { "retry-after": "3" } });
  });

  test("may be chunked and arrive byte by byte", async () => {
    const text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    const response = await exchange((socket) => {
      for (const byte of text) socket.write(byte);
    });
    expect(response).toMatchObject({ status: 200, body: "abc" });
  });

  test("may end with the connection", async () => {
    expect(await exchange((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nabc"))).toMatchObject({ body: "abc" });
  });

  test("may be a redirect, which is not followed", async () => {
    await using server = await tcpServer((socket) => socket.end(httpResponse(307, "", { location: "/y" })));
    const response = await createTransport("http:", {})(request(server.port));
    expect(response).toMatchObject({ status: 307, headers: { location: "/y" } });
    expect(server.received).toHaveLength(1);
  });

  test("may follow informational responses, which are ignored", async () => {
    const response = await exchange((socket) =>
      socket.end(`HTTP/1.1 103 Early Hints\r\n\r\n${httpResponse(200, "ok")}`),
    );
    expect(response).toMatchObject({ status: 200, body: "ok" });
  });

  test.each<[string, string]>([
    ["cut off", "HTTP/1.1 429 Slow\r\ncontent-length: 100\r\nretry-after: 9\r\n\r\nab"],
    ["too large", httpResponse(429, "x".repeat(1_100_000), { "retry-after": 9 })],
  ])("is kept if it is not 2xx and its body is %s", async (_name, text) => {
    const response = await exchange((socket) => socket.end(text));
    expect(response).toMatchObject({ status: 429, headers: { "retry-after": "9" } });
  });

  test.each([200, 600_000])(
    "is kept if it is not 2xx and its body never ends, with a timeout of %i ms",
    async (timeoutMs) => {
      const response = await exchange((socket) => socket.write("HTTP/1.1 400 Bad\r\ncontent-length: 9\r\n\r\nab"), {
        timeoutMs,
      });
      expect(response).toMatchObject({ status: 400, body: "ab" });
    },
  );

  test("ignores data after the complete response", async () => {
    const response = await exchange((socket) => socket.end(`${httpResponse(201, "complete")}and more`));
    expect(response).toMatchObject({ status: 201, body: "complete" });
  });

  test("does not include a byte order mark", async () => {
    expect(await exchange((socket) => socket.end(httpResponse(201, "\ufeff{}")))).toMatchObject({ body: "{}" });
  });

  test("sends the given headers", async () => {
    await using server = await tcpServer((socket) => socket.end(httpResponse(200, "ok")));
    await createTransport("http:", {})(request(server.port, { headers: { "accept-encoding": "identity" } }));
    expect(server.received[0]).toMatch(/accept-encoding: identity/i);
  });
});

describe("a failure after the request was sent", () => {
  test.each<[string, (socket: Socket) => void]>([
    ["closed without a response", (socket) => socket.end()],
    ["reset without a response", (socket) => socket.resetAndDestroy()],
    ["closed in the status line", (socket) => socket.end("HTTP/1.1 20")],
    ["closed in the headers", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-le")],
    ["reset in the headers", (socket) => socket.write("HTTP/1.1 200 OK\r\n", () => socket.resetAndDestroy())],
    ["closed in the body", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")],
    [
      "reset in the body",
      (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", () => socket.resetAndDestroy()),
    ],
    ["closed in a chunk", (socket) => socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab")],
    ["garbage", (socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
    ["an invalid chunk", (socket) => socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n")],
    ["endless headers", (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`)],
    [
      "an unsolicited upgrade",
      (socket) => socket.end("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    ],
    ["a body over 1 MiB", (socket) => socket.write(httpResponse(200, "x".repeat(1_048_577)))],
  ])("%s", async (_name, respond) => {
    const error = await exchange(respond);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ phase: afterConnect, reason: "network" });
  });

  test.each<[string, (socket: Socket) => void]>([
    ["no response before the timeout", () => {}],
    ["no body before the timeout", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n")],
  ])("%s", async (_name, respond) => {
    expect(await exchange(respond, { timeoutMs: 300 })).toMatchObject({ phase: afterConnect, reason: "timeout" });
  });

  test("a reset while a large request body is being sent", async () => {
    await using server = await tcpServer((socket) => {
      socket.pause();
      setImmediate(() => socket.resetAndDestroy());
    });
    const error = await settled(createTransport("http:", {})(request(server.port, { body: "x".repeat(30_000_000) })));
    expect(error).toMatchObject({ phase: "sending", reason: "network" });
  });

  test("keeps the part of the response that arrived", async () => {
    const error = await exchange((socket) => socket.end('HTTP/1.1 201 OK\r\ncontent-length: 99\r\n\r\n{"id":"job_1"'));
    expect(error).toMatchObject({ phase: "reading", body: '{"id":"job_1"' });
  });

  test("does not occur for a body of exactly 1 MiB", async () => {
    const response = await exchange((socket) => socket.end(httpResponse(200, "x".repeat(1_048_576))));
    expect(response).toMatchObject({ status: 200 });
  });
});

describe("a failure before the request is sent", () => {
  test("connection refused", async () => {
    const { port } = await tcpServer(() => {}).then(async (server) => {
      await server[Symbol.asyncDispose]();
      return server;
    });
    const error = await settled(createTransport("http:", {})(request(port)));
    expect(error).toMatchObject({ phase: "connecting", reason: "network" });
  });

  test("a host name that does not exist", async () => {
    const url = new URL("http://name.invalid/");
    const error = await settled(createTransport("http:", {})(request(0, { url })));
    expect(error).toMatchObject({ phase: "connecting", reason: "network" });
  });

  test("a TLS handshake with a server that does not use TLS", async () => {
    await using server = await tcpServer((socket) => socket.end(httpResponse(200, "ok")));
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    const error = await settled(createTransport("https:", {})(request(0, { url })));
    expect(error).toMatchObject({ phase: "connecting", reason: "network" });
  });

  test("a TLS handshake that stalls", async () => {
    await using server = await tcpServer(() => {});
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    const error = await settled(createTransport("https:", {})(request(0, { url, timeoutMs: 200 })));
    expect(error).toMatchObject({ phase: "connecting", reason: "timeout" });
  });

  test("an abort before the request: no connection is opened", async () => {
    await using server = await tcpServer(() => {});
    const error = await settled(createTransport("http:", {})(request(server.port, { signal: AbortSignal.abort() })));
    expect(error).toMatchObject({ phase: "connecting", reason: "aborted" });
    expect(server.received).toEqual([]);
  });
});

describe("an abort", () => {
  test("while connecting ends the request immediately, whatever its grace period: it was not sent", async () => {
    const cancellation = new AbortController();
    await using server = await tcpServer(() => cancellation.abort());
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    const aborted = request(0, { url, signal: cancellation.signal, graceMs: 600_000, timeoutMs: 600_000 });
    expect(await settled(createTransport("https:", {})(aborted))).toMatchObject({
      phase: "connecting",
      reason: "aborted",
    });
  });

  test("of a request in flight ends it immediately: it may have arrived", async () => {
    const cancellation = new AbortController();
    const error = await exchange(() => cancellation.abort(), { signal: cancellation.signal });
    expect(error).toMatchObject({ phase: afterConnect, reason: "aborted" });
  });

  test("leaves a grace period for the response", async () => {
    const cancellation = new AbortController();
    const response = await exchange(
      (socket) => {
        cancellation.abort();
        setTimeout(() => socket.end(httpResponse(201, "late")), 50);
      },
      { signal: cancellation.signal, graceMs: 5000 },
    );
    expect(response).toMatchObject({ status: 201, body: "late" });
  });

  test("ends the request after the grace period", async () => {
    const cancellation = new AbortController();
    const error = await exchange(() => cancellation.abort(), { signal: cancellation.signal, graceMs: 50 });
    expect(error).toMatchObject({ phase: afterConnect, reason: "aborted" });
  });
});

describe("kept-alive connections", () => {
  const polled = (port: number) => request(port, { method: "GET" });

  function get(port: number): HttpRequest {
    const { body: _body, ...rest } = polled(port);
    return rest;
  }

  test("are shared by polls", async () => {
    await using server = await tcpServer((socket) => socket.write(httpResponse(200, "ok")));
    const transport = createTransport("http:", {});
    for (let poll = 0; poll < 3; poll++) await transport(get(server.port));
    expect(server.received).toHaveLength(1);
  });

  test("are never used for a POST", async () => {
    await using server = await tcpServer((socket, received) => {
      if (isCompleteRequest(received)) socket.write(httpResponse(200, "ok"));
    });
    const transport = createTransport("http:", {});
    await transport(request(server.port));
    await transport(get(server.port));
    await transport(request(server.port));
    expect(server.received).toHaveLength(2);
  });

  test("fail a poll if they are stale, and the next poll opens a new one", async () => {
    await using server = await tcpServer((socket, received, connection) => {
      if (connection === 0 && received.split("GET").length > 2) socket.resetAndDestroy();
      else socket.write(httpResponse(200, String(connection)));
    });
    const transport = createTransport("http:", {});
    expect(await transport(get(server.port))).toMatchObject({ body: "0" });
    expect(await settled(transport(get(server.port)))).toMatchObject({ phase: afterConnect, reason: "network" });
    expect(await transport(get(server.port))).toMatchObject({ body: "1" });
  });

  test("leave no listener on the signal", async () => {
    await using server = await tcpServer((socket) => socket.write(httpResponse(200, "ok")));
    const { signal } = new AbortController();
    await createTransport("http:", {})({ ...get(server.port), signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("proxies", () => {
  test("are never used for plain http, which is only for loopback hosts", async () => {
    await using server = await tcpServer((socket) => socket.end(httpResponse(200, "direct")));
    await using proxy = await tcpServer((socket) => socket.end(httpResponse(200, "proxied")));
    const environment = { http_proxy: `http://127.0.0.1:${proxy.port}` };
    expect(await createTransport("http:", environment)(request(server.port))).toMatchObject({ body: "direct" });
    expect(proxy.received).toEqual([]);
  });

  test("are used for https unless no_proxy names the host", async () => {
    const connects: string[] = [];
    const proxy = createServer((socket) =>
      socket
        .on("error", () => {})
        .once("data", (data) => {
          connects.push(data.toString().split("\r\n")[0] ?? "");
          socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
        }),
    );
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as { port: number };
    const url = new URL("https://service.invalid/");
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const error = await settled(createTransport("https:", environment)(request(0, { url })));
    expect(error).toMatchObject({ phase: "connecting", reason: "network" });
    expect(connects).toEqual(["CONNECT service.invalid:443 HTTP/1.1"]);
    for (const NO_PROXY of ["service.invalid", "a.example, invalid"])
      await settled(createTransport("https:", { ...environment, NO_PROXY })(request(0, { url })));
    expect(connects).toHaveLength(1);
    proxy.close();
  });

  test("with an invalid address are rejected without showing the address", () => {
    const environment = { https_proxy: "http://user:secret@host:99999" };
    expect(() => createTransport("https:", environment)).toThrow(NetworkError);
    expect(() => createTransport("https:", environment)).not.toThrow(/secret/);
  });
});
