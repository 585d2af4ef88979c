import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { createApi } from "../../../src/api/jobs-endpoints.ts";
import { singleKey } from "../../../src/http/authentication.ts";
import { dispatch } from "../../../src/http/dispatch.ts";
import { type ListenOptions, listen } from "../../../src/http/listen.ts";
import { ScriptedEngine } from "../../support/scripted-engine.ts";

const api = createApi({ engine: new ScriptedEngine(), authenticator: singleKey(serviceKey, ["docs"]) });
const serve = dispatch({ ...api, log: console.error });

/** Starts a server with limits. `open` opens a connection that is closed when the test ends. */
async function start(options: ListenOptions = {}, listener: RequestListener = serve) {
  const log: string[] = [];
  const { url, server, ...disposable } = await listen(listener, 0, { log: (line) => void log.push(line), ...options });
  onTestFinished(() => disposable[Symbol.asyncDispose]());
  const port = Number(new URL(url).port);
  const count = () => new Promise<number>((resolve) => server.getConnections((_error, open) => resolve(open)));
  const open = async (allowHalfOpen = false): Promise<Socket> => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen }).on("error", () => {});
    onTestFinished(() => void socket.destroy());
    const accepted = once(server, "connection");
    await Promise.all([once(socket, "connect"), accepted]);
    return socket;
  };
  return { open, count, log, server, port };
}

const request = (head: string, body = "") =>
  `${head}\r\nHost: localhost\r\nAuthorization: Bearer ${serviceKey}\r\n${body}`;
const poll = request("GET /v2/agent/docs/job/x HTTP/1.1", "\r\n");
const upload = request(
  "POST /v2/agent/docs/job HTTP/1.1",
  'Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{"prompt":',
);

/** Sends a request on a connection and returns the beginning of the response. */
async function answer(socket: Socket, data: string): Promise<string> {
  socket.write(data);
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString();
}

const isClosed = (socket: Socket) => (socket.closed ? Promise.resolve() : once(socket.resume(), "close"));

describe("with too many connections", () => {
  test("closes the one that has been idle longest, for a new one", async () => {
    const { open, log } = await start({ maxConnections: 3 });
    const [a, b, c] = [await open(), await open(), await open()];
    // Now `a` is the one that was used last.
    expect(await answer(a, poll)).toContain("404 Not Found");
    const d = await open();
    await isClosed(b);
    for (const socket of [a, c, d]) expect(await answer(socket, poll)).toContain("404 Not Found");
    expect(log).toEqual([expect.stringContaining("Clients have more than 3 connections open.")]);
  });

  test("answers a new request, however many idle ones are opened before it", async () => {
    const { open, log } = await start({ maxConnections: 10 });
    for (let connection = 0; connection < 200; connection++) await open();
    expect(await answer(await open(), poll)).toContain("404 Not Found");
    expect(log).toHaveLength(1);
  });

  test("closes as many as are opened at the same time", async () => {
    const { port, count } = await start({ maxConnections: 10 });
    let closed = 0;
    for (let connection = 0; connection < 50; connection++) {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      onTestFinished(() => void socket.destroy());
      socket.resume().once("close", () => closed++);
    }
    await waitUntil(() => closed >= 40);
    expect(await count()).toBe(10);
    expect(closed).toBe(40);
  });

  test("closes those without the key before one that sends a request with it", async () => {
    const { open, server } = await start({ maxConnections: 3 });
    const uploading = await open();
    uploading.write(upload);
    await once(server, "request");
    const slow = await open();
    slow.write("POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
    for (let connection = 0; connection < 10; connection++) await open();
    await isClosed(slow);
    expect(await answer(uploading, '"x"}')).toContain("201 Created");
    // Now it is idle.
    for (let connection = 0; connection < 3; connection++) await open();
    await isClosed(uploading);
  });

  test("closes the new one if all others have a request with the key", async () => {
    const { open, server } = await start({ maxConnections: 2 });
    const uploads = [await open(), await open()];
    for (const socket of uploads) {
      socket.write(upload);
      await once(server, "request");
    }
    await isClosed(await open());
    for (const socket of uploads) expect(await answer(socket, '"x"}')).toContain("201 Created");
  });

  test("counts on no connection that has closed already", async () => {
    const { open, count } = await start({ maxConnections: 2 });
    const [closed, idle] = [await open(), await open()];
    closed.destroy();
    await waitUntil(async () => (await count()) <= 1);
    await open();
    expect(await count()).toBe(2);
    await open();
    await isClosed(idle);
    expect(await count()).toBe(2);
  });

  test("logs that once per outage", async () => {
    const { open, log, count } = await start({ maxConnections: 2 });
    const sockets = [await open(), await open(), await open(), await open()];
    expect(log).toHaveLength(1);
    sockets.at(-1)?.destroy();
    // Half of the maximum.
    await waitUntil(async () => (await count()) <= 1);
    for (let connection = 0; connection < 2; connection++) await open();
    expect(log).toHaveLength(2);
  });
});

describe("answers with JSON and closes the connection", () => {
  async function send(data: string, options: ListenOptions = {}): Promise<{ status: string; body: unknown }> {
    const { open, count } = await start(options);
    // The client never closes its side.
    const socket = await open(true);
    socket.write(data);
    const response = await text(socket);
    await waitUntil(async () => (await count()) === 0);
    const [head = "", body = ""] = response.split("\r\n\r\n");
    expect(head).toContain("\r\nContent-Type: application/json\r\n");
    expect(head).toContain(`\r\nContent-Length: ${body.length}\r\n`);
    return { status: head.split("\r\n")[0] ?? "", body: JSON.parse(body) };
  }

  test("malformed HTTP", async () => {
    expect(await send("this is not HTTP\r\n\r\n")).toEqual({
      status: "HTTP/1.1 400 Bad Request",
      body: { error: "Malformed request" },
    });
  });

  test("malformed HTTP after an answered request", async () => {
    const { open } = await start();
    const socket = await open();
    expect(await answer(socket, poll)).toContain("404 Not Found");
    socket.write("this is not HTTP\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });

  test("nothing in the middle of another response", async () => {
    const { open } = await start({}, (_request, response) => void response.write("begin"));
    const socket = await open();
    expect(await answer(socket, poll)).toContain("200 OK");
    socket.write("this is not HTTP\r\n\r\n");
    expect(await text(socket)).not.toContain("HTTP/1.1");
  });

  test("headers that are too large", async () => {
    expect(await send(`GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`)).toEqual({
      status: "HTTP/1.1 431 Request Header Fields Too Large",
      body: { error: "Request header fields too large" },
    });
  });

  const tooSlow = { status: "HTTP/1.1 408 Request Timeout", body: { error: "The request took too long to arrive" } };

  test("a connection on which nothing arrives, and slow headers", async () => {
    for (const data of ["", "GET / HTTP/1.1\r\nX: "])
      expect(await send(data, { headersTimeoutMs: 20 })).toEqual(tooSlow);
  });

  test("a slow body", async () => {
    expect(await send(upload, { headersTimeoutMs: 20, requestTimeoutMs: 20 })).toEqual(tooSlow);
  });
});
