import { getEventListeners } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { NetworkError } from "../../src/client/errors.ts";
import { createTransport, type HttpRequest, type HttpResponse } from "../../src/client/transport.ts";
import { httpAnswer, isWhole, tcpServer } from "../support/tcp-server.ts";

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

/** What becomes of one request to a server that answers a whole request as `answer` does. */
async function exchange(
  answer: (socket: Socket) => void,
  changes: Partial<HttpRequest> = {},
): Promise<HttpResponse | NetworkError> {
  await using server = await tcpServer((socket, received) => {
    if (isWhole(received)) answer(socket);
  });
  return await outcome(createTransport("http:", {})(request(server.port, changes)));
}

/** An exchange never fails with anything but its own error. */
async function outcome(exchange: Promise<HttpResponse>): Promise<HttpResponse | NetworkError> {
  return exchange.catch((error: unknown) => {
    if (error instanceof NetworkError) return error;
    throw error;
  });
}

describe("an answer", () => {
  test("status, headers and body", async () => {
    const answer = await exchange((socket) => socket.end(httpAnswer(201, "héllo", { "retry-after": 3 })));
    expect(answer).toMatchObject({ status: 201, body: "héllo", headers: { "retry-after": "3" } });
  });

  test("chunked, and byte by byte", async () => {
    const text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    const answer = await exchange((socket) => {
      for (const byte of text) socket.write(byte);
    });
    expect(answer).toMatchObject({ status: 200, body: "abc" });
  });

  test("to the end of the connection", async () => {
    expect(await exchange((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nabc"))).toMatchObject({ body: "abc" });
  });

  test("a redirect is an answer, and not followed", async () => {
    await using server = await tcpServer((socket) => socket.end(httpAnswer(307, "", { location: "/y" })));
    const answer = await createTransport("http:", {})(request(server.port));
    expect(answer).toMatchObject({ status: 307, headers: { location: "/y" } });
    expect(server.received).toHaveLength(1);
  });

  test("informational answers before it are passed over", async () => {
    const answer = await exchange((socket) => socket.end(`HTTP/1.1 103 Early Hints\r\n\r\n${httpAnswer(200, "ok")}`));
    expect(answer).toMatchObject({ status: 200, body: "ok" });
  });

  test.each<[string, string]>([
    ["cut off", "HTTP/1.1 429 Slow\r\ncontent-length: 100\r\nretry-after: 9\r\n\r\nab"],
    ["too large", httpAnswer(429, "x".repeat(1_100_000), { "retry-after": 9 })],
  ])("a refusal stands though its body is %s", async (_name, text) => {
    const answer = await exchange((socket) => socket.end(text));
    expect(answer).toMatchObject({ status: 429, headers: { "retry-after": "9" } });
  });

  test.each([200, 600_000])("a refusal stands though its body never ends, with %i ms to wait", async (timeoutMs) => {
    const answer = await exchange((socket) => socket.write("HTTP/1.1 400 Bad\r\ncontent-length: 9\r\n\r\nab"), {
      timeoutMs,
    });
    expect(answer).toMatchObject({ status: 400, body: "ab" });
  });

  test("what comes after a whole answer does not touch it", async () => {
    const answer = await exchange((socket) => socket.end(`${httpAnswer(201, "whole")}and more`));
    expect(answer).toMatchObject({ status: 201, body: "whole" });
  });

  test("a byte order mark is no part of it", async () => {
    expect(await exchange((socket) => socket.end(httpAnswer(201, "\ufeff{}")))).toMatchObject({ body: "{}" });
  });

  test("the encoding asked for is none", async () => {
    await using server = await tcpServer((socket) => socket.end(httpAnswer(200, "ok")));
    await createTransport("http:", {})(request(server.port, { headers: { "accept-encoding": "identity" } }));
    expect(server.received[0]).toMatch(/accept-encoding: identity/i);
  });
});

describe("a request that was sent may have arrived", () => {
  test.each<[string, (socket: Socket) => void]>([
    ["closed without an answer", (socket) => socket.end()],
    ["reset without an answer", (socket) => socket.resetAndDestroy()],
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
    ["garbage for a chunk", (socket) => socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n")],
    ["headers without end", (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`)],
    [
      "an upgrade nobody asked for",
      (socket) => socket.end("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    ],
    ["a body over 1 MiB", (socket) => socket.write(httpAnswer(200, "x".repeat(1_048_577)))],
  ])("%s", async (_name, answer) => {
    const error = await exchange(answer);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ phase: afterConnect, reason: "network" });
  });

  test.each<[string, (socket: Socket) => void]>([
    ["no answer in time", () => {}],
    ["headers, but no body in time", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n")],
  ])("%s", async (_name, answer) => {
    expect(await exchange(answer, { timeoutMs: 300 })).toMatchObject({ phase: afterConnect, reason: "timeout" });
  });

  test("reset while a large body is on its way", async () => {
    await using server = await tcpServer((socket) => {
      socket.pause();
      setImmediate(() => socket.resetAndDestroy());
    });
    const error = await outcome(createTransport("http:", {})(request(server.port, { body: "x".repeat(30_000_000) })));
    expect(error).toMatchObject({ phase: "sending", reason: "network" });
  });

  test("what came of the answer is kept", async () => {
    const error = await exchange((socket) => socket.end('HTTP/1.1 201 OK\r\ncontent-length: 99\r\n\r\n{"id":"job_1"'));
    expect(error).toMatchObject({ phase: "reading", body: '{"id":"job_1"' });
  });

  test("a body of exactly 1 MiB is none of these", async () => {
    const answer = await exchange((socket) => socket.end(httpAnswer(200, "x".repeat(1_048_576))));
    expect(answer).toMatchObject({ status: 200 });
  });
});

describe("a request that was not sent", () => {
  test("nobody listens", async () => {
    const { port } = await tcpServer(() => {}).then(async (server) => {
      await server[Symbol.asyncDispose]();
      return server;
    });
    const error = await outcome(createTransport("http:", {})(request(port)));
    expect(error).toMatchObject({ phase: "connecting", reason: "network" });
  });

  test("a name that does not exist", async () => {
    const url = new URL("http://name.invalid/");
    const error = await outcome(createTransport("http:", {})(request(0, { url })));
    expect(error).toMatchObject({ phase: "connecting", reason: "network" });
  });

  test("TLS to a server that speaks none", async () => {
    await using server = await tcpServer((socket) => socket.end(httpAnswer(200, "ok")));
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    const error = await outcome(createTransport("https:", {})(request(0, { url })));
    expect(error).toMatchObject({ phase: "connecting", reason: "network" });
  });

  test("a TLS handshake that stalls", async () => {
    await using server = await tcpServer(() => {});
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    const error = await outcome(createTransport("https:", {})(request(0, { url, timeoutMs: 200 })));
    expect(error).toMatchObject({ phase: "connecting", reason: "timeout" });
  });

  test("aborted before it began: no connection is made", async () => {
    await using server = await tcpServer(() => {});
    const error = await outcome(createTransport("http:", {})(request(server.port, { signal: AbortSignal.abort() })));
    expect(error).toMatchObject({ phase: "connecting", reason: "aborted" });
    expect(server.received).toEqual([]);
  });
});

describe("an abort", () => {
  test("while connecting ends it at once, whatever grace it has: it was not sent", async () => {
    const cancellation = new AbortController();
    await using server = await tcpServer(() => cancellation.abort());
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    const aborted = request(0, { url, signal: cancellation.signal, graceMs: 600_000, timeoutMs: 600_000 });
    expect(await outcome(createTransport("https:", {})(aborted))).toMatchObject({
      phase: "connecting",
      reason: "aborted",
    });
  });

  test("of a request on its way ends it at once, and it may have arrived", async () => {
    const cancellation = new AbortController();
    const error = await exchange(() => cancellation.abort(), { signal: cancellation.signal });
    expect(error).toMatchObject({ phase: afterConnect, reason: "aborted" });
  });

  test("leaves time for the answer where that is asked for", async () => {
    const cancellation = new AbortController();
    const answer = await exchange(
      (socket) => {
        cancellation.abort();
        setTimeout(() => socket.end(httpAnswer(201, "late")), 50);
      },
      { signal: cancellation.signal, graceMs: 5000 },
    );
    expect(answer).toMatchObject({ status: 201, body: "late" });
  });

  test("and no more than that", async () => {
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

  test("polls share one", async () => {
    await using server = await tcpServer((socket) => socket.write(httpAnswer(200, "ok")));
    const transport = createTransport("http:", {});
    for (let poll = 0; poll < 3; poll++) await transport(get(server.port));
    expect(server.received).toHaveLength(1);
  });

  test("a POST never travels on one", async () => {
    await using server = await tcpServer((socket, received) => {
      if (isWhole(received)) socket.write(httpAnswer(200, "ok"));
    });
    const transport = createTransport("http:", {});
    await transport(request(server.port));
    await transport(get(server.port));
    await transport(request(server.port));
    expect(server.received).toHaveLength(2);
  });

  test("a poll on one that has gone stale fails like any other, and the next goes on a new one", async () => {
    await using server = await tcpServer((socket, received, connection) => {
      if (connection === 0 && received.split("GET").length > 2) socket.resetAndDestroy();
      else socket.write(httpAnswer(200, String(connection)));
    });
    const transport = createTransport("http:", {});
    expect(await transport(get(server.port))).toMatchObject({ body: "0" });
    expect(await outcome(transport(get(server.port)))).toMatchObject({ phase: afterConnect, reason: "network" });
    expect(await transport(get(server.port))).toMatchObject({ body: "1" });
  });

  test("nothing is left behind on the signal", async () => {
    await using server = await tcpServer((socket) => socket.write(httpAnswer(200, "ok")));
    const { signal } = new AbortController();
    await createTransport("http:", {})({ ...get(server.port), signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("proxies", () => {
  test("plain http, which is for this machine alone, never goes through one", async () => {
    await using server = await tcpServer((socket) => socket.end(httpAnswer(200, "direct")));
    await using proxy = await tcpServer((socket) => socket.end(httpAnswer(200, "proxied")));
    const environment = { http_proxy: `http://127.0.0.1:${proxy.port}` };
    expect(await createTransport("http:", environment)(request(server.port))).toMatchObject({ body: "direct" });
    expect(proxy.received).toEqual([]);
  });

  test("https goes through one, but where no_proxy names the host", async () => {
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
    const error = await outcome(createTransport("https:", environment)(request(0, { url })));
    expect(error).toMatchObject({ phase: "connecting", reason: "network" });
    expect(connects).toEqual(["CONNECT service.invalid:443 HTTP/1.1"]);
    await outcome(createTransport("https:", { ...environment, NO_PROXY: "service.invalid" })(request(0, { url })));
    expect(connects).toHaveLength(1);
    proxy.close();
  });

  test("an address that is none is refused without showing it", () => {
    const environment = { https_proxy: "http://user:secret@host:99999" };
    expect(() => createTransport("https:", environment)).toThrow(NetworkError);
    expect(() => createTransport("https:", environment)).not.toThrow(/secret/);
  });
});
