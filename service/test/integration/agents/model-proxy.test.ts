import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { ModelEndpoint } from "../../../src/agents/agent.ts";
import { anthropicApi, geminiApi, type ModelApi, openAiApi } from "../../../src/agents/model-api.ts";
import { type ModelProxyOptions, startModelProxy } from "../../../src/agents/network/model-proxy.ts";
import { defaultMaxProxyConnections } from "../../../src/agents/network/proxy-connections.ts";
import { anyModelApi } from "../../support/model-api.ts";

const key = "key_of_the_model";
const certificates = join(import.meta.dirname, "../../../../test/support/certificates");
const certificate = readFileSync(join(certificates, "certificate.pem"), "utf8");
const privateKey = readFileSync(join(certificates, "key.pem"));

async function listen<T extends Server>(server: T): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a model, and a proxy to it. Default: it answers with what it received. */
async function start(listener?: RequestListener, options: Partial<ModelProxyOptions> = {}, path = "/v1/") {
  const received: IncomingMessage[] = [];
  const server = createServer((incoming, response) => {
    received.push(incoming);
    if (listener) listener(incoming, response);
    else incoming.pipe(response);
  });
  const port = await listen(server);
  const log: string[] = [];
  const proxy = await startModelProxy({
    model: modelAt(`http://127.0.0.1:${port}${path}`),
    hosts: [],
    log: (line) => void log.push(line),
    ...options,
  });
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return { proxy, server, port, received, log };
}

/** A model at an address, whose key is in a header. */
function modelAt(url: string, header = "Model-Key", api: ModelApi = anyModelApi): ModelProxyOptions["model"] {
  const endpoint: ModelEndpoint = {
    url,
    baseUrlVariable: "MODEL_URL",
    keyVariable: "MODEL_KEY",
    api,
    header: (value) => [header, value],
  };
  return { endpoint, secret: () => key };
}

/** Sends a request to a proxy. */
async function send(socketPath: string, path: string, headers = {}, method = "POST", body = "") {
  const sent = request({ socketPath, path, method, headers });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  // What is answered early is not read to its end.
  sent.on("error", () => {});
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** Opens a tunnel. Returns its connection and what the proxy answered. */
async function openTunnel(socketPath: string, target: string, first = ""): Promise<{ client: Socket; answer: string }> {
  const client = connect(socketPath);
  onTestFinished(() => void client.destroy());
  client.on("error", () => {});
  client.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n${first}`);
  const [data] = await once(client, "data");
  return { client, answer: String(data) };
}

describe("a request to the model", () => {
  test("keeps its method, body and headers, except those that could carry a key", async () => {
    const { proxy, received } = await start((_incoming, response) => {
      response.writeHead(429, { "retry-after": "7", "keep-alive": "timeout=9", "x-request": "1" }).end("slow down");
    });
    const headers = { "model-key": "dummy", "anthropic-version": "1", "accept-encoding": "gzip", te: "trailers" };
    const { status, body, headers: answered } = await send(proxy.socket, "/v1/messages", headers, "PUT", "{}");
    expect([status, body]).toEqual([429, "slow down"]);
    expect(answered).toMatchObject({ "retry-after": "7", "x-request": "1" });
    expect(answered["keep-alive"]).not.toBe("timeout=9");
    expect(received[0]?.method).toBe("PUT");
    expect(received[0]?.headers).toMatchObject({ "model-key": key, "anthropic-version": "1" });
    expect(received[0]?.headers).not.toHaveProperty("te");
    expect(received[0]?.rawHeaders).not.toContain("dummy");
    expect(received[0]?.rawHeaders.filter((name) => name.toLowerCase() === "model-key")).toEqual(["model-key"]);
  });

  test.each(["authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "proxy-authorization"])(
    "does not pass on %s, in which an agent could send a key of its own",
    async (name) => {
      const { proxy, received } = await start();
      expect(await send(proxy.socket, "/v1", { [name]: "own" })).toMatchObject({ status: 200 });
      expect(received[0]?.headers).not.toHaveProperty(name);
      expect(received[0]?.rawHeaders).not.toContain("own");
    },
  );

  test("is allowed only below the endpoint's folder, such as that of a project", async () => {
    const { port } = await start();
    const model = modelAt(`http://127.0.0.1:${port}/v1`, "Model-Key", openAiApi);
    if (model === undefined) throw new Error("no model");
    const within = { ...model, endpoint: { ...model.endpoint, folder: "/projects/own" } };
    const { proxy } = await start(undefined, { model: within });
    const statusOf = async (path: string) => (await send(proxy.socket, path, {}, "POST", "{}")).status;
    expect(await statusOf("/v1/projects/own/responses")).toBe(200);
    for (const path of ["/v1/projects/other/responses", "/v1/responses", "/v1/projects/own/../other/responses"])
      expect(await statusOf(path)).toBe(403);
  });

  test("has a signature of its body, and the headers of a gateway, also if the provider may run tools", async () => {
    const { port, received } = await start();
    const model = modelAt(`http://127.0.0.1:${port}/`);
    if (model === undefined) throw new Error("no model");
    const sign: ModelEndpoint["sign"] = async ({ method, url, body }, secret) => ({
      "Model-Signature": [method, url.pathname, body, secret("MODEL_SECRET")].join(" "),
    });
    const endpoint = { ...model.endpoint, sign, headers: { Tenant: "docs" } };
    const options = { model: { endpoint, secret: (name: string) => `value of ${name}` }, allowsServerTools: true };
    const { proxy } = await start(undefined, options);
    const own = { "model-signature": "own", tenant: "other" };
    expect((await send(proxy.socket, "/a", own, "POST", '{"a": 1}')).body).toBe('{"a": 1}');
    const { "model-signature": signature, tenant, ...others } = received[0]?.headers ?? {};
    expect([signature, tenant]).toEqual(['POST /a {"a": 1} value of MODEL_SECRET', "docs"]);
    expect(others).not.toHaveProperty("model-key");
  });

  test("has the key as it is then", async () => {
    const { proxy, server, port, received } = await start();
    await proxy[Symbol.asyncDispose]();
    const model = modelAt(`http://127.0.0.1:${port}/v1/`);
    if (model === undefined) throw new Error("no model");
    const keys = ["first", "second"];
    await using own = await startModelProxy({
      model: { ...model, secret: () => keys.shift() ?? "" },
      hosts: [],
      log: () => {},
    });
    for (const _ of [1, 2]) await send(own.socket, "/v1");
    expect(received.map(({ headers }) => headers["model-key"])).toEqual(["first", "second"]);
    server.closeAllConnections();
  });

  test("is not passed on as a TRACE, whose answer shows the key", async () => {
    const { proxy, received } = await start();
    expect((await send(proxy.socket, "/v1", {}, "TRACE")).status).toBe(403);
    expect(received).toEqual([]);
  });

  test("for a WebSocket is rejected", async () => {
    const { proxy, received } = await start();
    const headers = { connection: "upgrade", upgrade: "websocket" };
    expect(await send(proxy.socket, "/v1", headers, "GET")).toMatchObject({
      status: 426,
      body: "This proxy opens no WebSockets.\n",
    });
    expect(received).toEqual([]);
  });

  test("passes bodies in both directions", async () => {
    const { proxy } = await start();
    const body = JSON.stringify({ text: "x".repeat(300_000) });
    expect(await send(proxy.socket, "/v1", {}, "POST", body)).toMatchObject({ status: 200, body });
  });

  test("may have large headers", async () => {
    const { proxy, server } = await start(undefined, {}, "");
    expect((await send(proxy.socket, "/any", { "x-large": "x".repeat(10_000) })).status).toBe(200);
    // The proxy accepts it; the server in this test, like most, does not.
    server.once("clientError", (_error, socket) => socket.end("HTTP/1.1 431 From the model\r\n\r\n"));
    const sent = request({ socketPath: proxy.socket, path: "/any", headers: { "x-large": "x".repeat(40_000) } }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(431);
    await once(response, "close");
    expect(server.listenerCount("clientError")).toBe(0);
  });

  test("may be answered with large headers", async () => {
    const { proxy } = await start((_incoming, response) =>
      response.writeHead(200, { "x-large": "x".repeat(40_000) }).end(),
    );
    const sent = request({ socketPath: proxy.socket, path: "/v1", maxHeaderSize: 100_000 }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    expect(response.headers["x-large"]).toHaveLength(40_000);
  });

  test("is sent with TLS if its address says so, all on one connection, which closes with the proxy", async () => {
    const before = getCACertificates("default");
    setDefaultCACertificates([...before, certificate]);
    onTestFinished(() => setDefaultCACertificates(before));
    const sockets = new Set<Socket>();
    const server = createHttpsServer({ key: privateKey, cert: certificate }, ({ socket, headers }, response) => {
      sockets.add(socket);
      response.end(headers["model-key"]);
    });
    const { proxy } = await start(undefined, { model: modelAt(`https://localhost:${await listen(server)}`) });
    for (let request = 0; request < 2; request++)
      expect(await send(proxy.socket, "/messages")).toMatchObject({ status: 200, body: key });
    expect(sockets.size).toBe(1);
    const closed = Promise.all([...sockets].map((socket) => once(socket, "close")));
    await proxy[Symbol.asyncDispose]();
    await expect(closed).resolves.toBeDefined();
  });

  test("its answers are told to who looks for problems", async () => {
    const statuses: number[] = [];
    const onAnswer = (status: number) => void statuses.push(status);
    const { proxy } = await start((_request, response) => response.writeHead(401).end(), { onAnswer });
    expect(await send(proxy.socket, "/v1/messages")).toMatchObject({ status: 401 });
    // Answered by the proxy itself.
    expect(await send(proxy.socket, "/other")).toMatchObject({ status: 403 });
    expect(statuses).toEqual([401]);
  });

  test("is sent through the proxy of the service's environment, which does not see the key", async () => {
    const received: string[] = [];
    const server = createTcpServer((socket) => {
      socket
        .on("error", () => {})
        .once("data", (data) => {
          received.push(String(data));
          socket.end("HTTP/1.1 503 No\r\n\r\n");
        });
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { proxy } = await start(undefined, { model: modelAt("https://model.invalid") });
    expect(await send(proxy.socket, "/messages")).toMatchObject({
      status: 502,
      body: expect.stringMatching(/^The model cannot be reached: \S/),
    });
    expect(received).toEqual([expect.stringMatching(/^CONNECT model\.invalid:443 HTTP\/1\.1\r\n/)]);
    expect(received[0]).not.toContain(key);
  });

  test("ends with an answer that becomes malformed, and the service goes on", async () => {
    const server = createTcpServer((socket) => {
      socket
        .on("error", () => {})
        .once("data", () => {
          socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n");
          socket.write("this is no chunk\r\n");
        });
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => void failures.push(error);
    process.on("uncaughtExceptionMonitor", onFailure);
    onTestFinished(() => void process.off("uncaughtExceptionMonitor", onFailure));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { proxy } = await start(undefined, { model: modelAt(url) });
    await expect(send(proxy.socket, "/messages")).rejects.toThrow("aborted");
    expect(failures).toEqual([]);
  });

  test("is rejected with the reason", async () => {
    const { proxy, received } = await start();
    const rejected = await send(proxy.socket, "/v2");
    expect(rejected).toMatchObject({ status: 403, body: "This is not a request for the model.\n" });
    expect(rejected.headers["content-type"]).toBe("text/plain");
    expect(await send(proxy.socket, "http://127.0.0.1/v1")).toMatchObject({
      status: 403,
      body: "This proxy opens tunnels.\n",
    });
    expect(await send(proxy.socket, "/v1/%00:\\..")).toBeDefined();
    expect(received.filter(({ url }) => !url?.startsWith("/v1"))).toEqual([]);
  });

  test.each(["/v1beta/models", "/v1x", "/V1/models", "/", "/v1/../v1beta"])("is rejected at %s", async (path) => {
    const { proxy, received } = await start();
    expect((await send(proxy.socket, path)).status).toBe(403);
    expect(received).toEqual([]);
  });

  test("that is no URL, or leads to another host, is rejected", async () => {
    const { proxy, received } = await start(undefined, {}, "");
    expect((await send(proxy.socket, "//other.example/v1")).status).toBeLessThan(500);
    const { proxy: withoutPort } = await start(undefined, {
      model: modelAt("http://models.invalid:80/", "bad header"),
    });
    // The header cannot be sent, so that the request fails before it is.
    expect(await send(withoutPort.socket, "/v1")).toMatchObject({ status: 400, body: "The request is invalid.\n" });
    expect(received.length).toBeLessThanOrEqual(1);
  });

  test("is rejected if there is no model", async () => {
    const { proxy } = await start(undefined, { model: undefined });
    expect(await send(proxy.socket, "/v1")).toMatchObject({ status: 403, body: "This proxy opens tunnels.\n" });
  });

  test("ends with the agent's connection", async () => {
    const { proxy, server } = await start((_incoming, response) => void response.write("begin"));
    const sent = request({ socketPath: proxy.socket, path: "/v1", method: "POST" }).end();
    sent.on("error", () => {});
    const [incoming] = (await once(server, "request")) as [IncomingMessage];
    await once(sent, "response");
    const closed = once(incoming.socket, "close");
    sent.destroy();
    await expect(closed).resolves.toBeDefined();
  });

  test("ends with the agent's connection, also before the model has answered", async () => {
    const { proxy, server } = await start(() => {});
    const sent = request({ socketPath: proxy.socket, path: "/v1", method: "POST" }).end('{"all":"of it"}');
    sent.on("error", () => {});
    const [incoming] = (await once(server, "request")) as [IncomingMessage];
    await text(incoming);
    const closed = once(incoming.socket, "close");
    sent.destroy();
    await expect(closed).resolves.toBeDefined();
  });

  test("waits its turn if a run may have only a few open, however many it sends", async () => {
    const held: ServerResponse[] = [];
    const { port } = await start((_incoming, response) => void held.push(response));
    const model = modelAt(`http://127.0.0.1:${port}/v1/`);
    if (model === undefined) throw new Error("no model");
    const limited = { ...model, endpoint: { ...model.endpoint, maxOpenRequests: 2 } };
    const { proxy } = await start(undefined, { model: limited });
    const [run, other] = [await proxy.open(), await proxy.open()];
    const open = [send(run.socket, "/v1"), send(run.socket, "/v1")];
    await waitUntil(() => held.length === 2);
    const refused = await send(run.socket, "/v1");
    expect(refused).toMatchObject({ status: 429, body: "Too many requests to the model are open.\n" });
    expect(run.use).toEqual({ open: 2, lastAt: expect.any(Number) });
    open.push(send(other.socket, "/v1"));
    await waitUntil(() => held.length === 3);
    for (const response of held) response.end();
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200]);
    const next = send(run.socket, "/v1");
    await waitUntil(() => held.length === 4);
    held[3]?.end();
    expect(await next).toMatchObject({ status: 200 });
  });

  test("ends with the model's connection", async () => {
    const { proxy } = await start((incoming, response) => {
      response.write("begin");
      setTimeout(() => incoming.socket.destroy(), 10);
    });
    await expect(send(proxy.socket, "/v1")).rejects.toThrow("aborted");
  });
});

describe("a request to the API of a provider", () => {
  const startAt = async (api: ModelApi, options: Partial<ModelProxyOptions> = {}) => {
    const { proxy, received, port } = await start(undefined, options);
    const model = modelAt(`http://127.0.0.1:${port}/`, "Model-Key", api);
    const own = await startModelProxy({ model, hosts: [], log: () => {}, ...options });
    onTestFinished(() => own[Symbol.asyncDispose]());
    await proxy[Symbol.asyncDispose]();
    return { socket: own.socket, received };
  };

  test.each<[ModelApi, string, string]>([
    [anthropicApi, "GET", "/v1/files"],
    [anthropicApi, "POST", "/v1/files"],
    [anthropicApi, "POST", "/v1/messages/batches"],
    [anthropicApi, "DELETE", "/v1/messages"],
    [openAiApi, "POST", "/v1/files"],
    [openAiApi, "GET", "/v1/responses/resp_1"],
    [openAiApi, "POST", "/v1/containers"],
    [geminiApi, "POST", "/upload/v1beta/files"],
    [geminiApi, "POST", "/v1beta/cachedContents"],
    [geminiApi, "POST", "/v1beta/models/x/operations/y:generateContent"],
  ])("%j is rejected with %s %s, with which an agent could leave something there", async (api, method, path) => {
    const { socket, received } = await startAt(api);
    expect((await send(socket, path, {}, method)).status).toBe(403);
    expect(received).toEqual([]);
  });

  test("loses credentials in its query, and keeps the rest", async () => {
    const { socket, received } = await startAt(geminiApi);
    const query = "alt=sse&key=own&access_token=own&api-key=own&authtoken=own&x-goog-api-key=own&pageToken=p";
    expect((await send(socket, `/v1beta/models/m:generateContent?${query}`)).status).toBe(200);
    expect(received[0]?.url).toBe("/v1beta/models/m:generateContent?alt=sse&pageToken=p");
  });

  test("with a tool of the provider is rejected, unless that is allowed", async () => {
    const body = JSON.stringify({ tools: [{ type: "web_search_20250305", name: "web_search" }] });
    const { socket, received } = await startAt(anthropicApi);
    const rejected = await send(socket, "/v1/messages", {}, "POST", body);
    expect(rejected).toMatchObject({ status: 403, body: expect.stringContaining("the tool web_search_20250305") });
    expect(received).toEqual([]);
    const { socket: open } = await startAt(anthropicApi, { allowsServerTools: true });
    expect(await send(open, "/v1/messages", {}, "POST", body)).toMatchObject({ status: 200, body });
    expect((await send(open, "/v1/files", {}, "POST", body)).status).toBe(403);
  });

  test("is sent as it was understood, so that no second key hides another meaning", async () => {
    const { socket } = await startAt(anthropicApi);
    const body = '{"tools":[{"type":"web_search_1"}],"model":"m\\u00e9\\ud83d","tools":[]}';
    expect(await send(socket, "/v1/messages", { "content-length": String(body.length) }, "POST", body)).toMatchObject({
      status: 200,
      body: '{"tools":[],"model":"mé\\ud83d"}',
    });
  });

  test.each([
    ["no JSON", "x", {}, 400],
    ["no object", "[]", {}, 400],
    ["compressed", "{}", { "content-encoding": "gzip" }, 415],
    ["too large", `"${"x".repeat(33 * 1024 * 1024)}"`, {}, 413],
  ])("that is %s is rejected", async (_name, body, headers, status) => {
    const { socket, received } = await startAt(anthropicApi);
    expect((await send(socket, "/v1/messages", headers, "POST", body)).status).toBe(status);
    expect(received).toEqual([]);
  });
});

describe("a tunnel", () => {
  test("passes bytes in both directions, also those sent with the request", async () => {
    const echo = await startTcpEcho();
    const { proxy } = await start(undefined, { hosts: [`LOCALHOST:${echo.port}`] });
    const { client, answer } = await openTunnel(proxy.socket, `localhost:${echo.port}`, "one");
    let all = answer;
    client.on("data", (data) => {
      all += data;
    });
    const until = async (end: string) => {
      await waitUntil(() => all.endsWith(end));
    };
    await until("ONE");
    expect(all).toBe("HTTP/1.1 200 Connection Established\r\n\r\nONE");
    client.write("two");
    await until("TWO");
    const closed = once(echo.sockets[0] as Socket, "close");
    client.destroy();
    await expect(closed).resolves.toBeDefined();
  });

  test("closes with the proxy, which also removes its socket", async () => {
    const echo = await startTcpEcho();
    const { proxy } = await start(undefined, { hosts: [`localhost:${echo.port}`] });
    const { client } = await openTunnel(proxy.socket, `localhost:${echo.port}`);
    const idle = connect(proxy.socket);
    await once(idle, "connect");
    const closed = Promise.all([once(client, "close"), once(idle, "close")]);
    await proxy[Symbol.asyncDispose]();
    await expect(closed).resolves.toBeDefined();
    expect(existsSync(proxy.socket)).toBe(false);
  });

  test("needs a permitted host, whose port is 443 unless it is given", async () => {
    const { proxy, log } = await start(undefined, { hosts: ["a.example", "b.example:8443", "c:one"] });
    for (const target of ["a.example:8443", "b.example:443", "x.a.example:443", "a.example:443:1", "c:one"])
      expect((await openTunnel(proxy.socket, target)).answer).toBe("HTTP/1.1 403 Forbidden\r\n\r\n");
    expect(log).toEqual([
      "An agent was denied a connection to a.example:8443.",
      "An agent was denied a connection to b.example:443.",
      "An agent was denied a connection to x.a.example:443.",
    ]);
  });

  test("to a host that cannot be reached is answered with 502", async () => {
    const server = createTcpServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { proxy } = await start(undefined, { hosts: [`127.0.0.1:${port}`] });
    expect((await openTunnel(proxy.socket, `127.0.0.1:${port}`)).answer).toBe("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });

  test("that is denied is logged, up to 20 names", async () => {
    const { proxy, log } = await start();
    for (let index = 0; index < 22; index++) await openTunnel(proxy.socket, `${index}.example:443`);
    expect(log).toHaveLength(20);
    expect(log.at(-1)).toBe("An agent was denied a connection to 19.example:443.");
  });

  test("whose client is reset does not end the service", async () => {
    const echo = await startTcpEcho();
    const { proxy } = await start(undefined, { hosts: [`localhost:${echo.port}`] });
    const { client } = await openTunnel(proxy.socket, `localhost:${echo.port}`);
    client.write("x");
    client.destroy();
    const { answer } = await openTunnel(proxy.socket, `localhost:${echo.port}`);
    expect(answer).toContain("200");
  });
});

/** Starts a server that answers with what it gets, in upper case. */
async function startTcpEcho(): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {}).on("data", (data) => socket.write(String(data).toUpperCase()));
  }).listen(0, "localhost");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

describe("the connections of agents", () => {
  /** Opens connections that send nothing. Returns how many the proxy leaves open. */
  async function openMany(socketPath: string, count: number): Promise<() => number> {
    const clients = Array.from({ length: count }, () =>
      connect(socketPath)
        .on("error", () => {})
        .resume(),
    );
    onTestFinished(() => clients.forEach((client) => void client.destroy()));
    await Promise.all(clients.map((client) => once(client, "connect")));
    return () => clients.filter((client) => !client.readableEnded && !client.destroyed).length;
  }

  test("are limited, and those without a request make room for one", async () => {
    const { proxy, log } = await start(undefined, { maxConnections: 8 });
    const open = await openMany(proxy.socket, 50);
    await waitUntil(() => open() <= 8);
    expect((await send(proxy.socket, "/v1/messages")).status).toBe(200);
    expect(log).toEqual([expect.stringContaining("more than 8 connections")]);
  });

  test("with a request are not closed for others, which are closed themselves", async () => {
    const { proxy, received } = await start(() => {}, { maxConnections: 2 });
    const busy = [0, 1].map(() => request({ socketPath: proxy.socket, path: "/v1", method: "POST" }));
    onTestFinished(() => busy.forEach((one) => void one.on("error", () => {}).destroy()));
    for (const one of busy) one.end();
    await waitUntil(() => received.length === 2);
    await expect(send(proxy.socket, "/v1")).rejects.toThrow();
    expect(busy.every(({ destroyed }) => !destroyed)).toBe(true);
  });

  test("end if they send no request, or nothing happens on them", async () => {
    // On a busy machine, a request takes a while to arrive.
    const times = { headersMs: 300, requestMs: 300, idleMs: 900 };
    const echo = await startTcpEcho();
    const { proxy } = await start(() => {}, { times, hosts: [`localhost:${echo.port}`] });
    const open = await openMany(proxy.socket, 3);
    const { client } = await openTunnel(proxy.socket, `localhost:${echo.port}`);
    const waiting = send(proxy.socket, "/v1");
    await expect(waiting).rejects.toThrow("socket hang up");
    if (!client.closed) await once(client, "close");
    await waitUntil(() => open() === 0);
  });

  test("of all proxies leave three quarters of the descriptors for others", () => {
    expect(defaultMaxProxyConnections(1, 1024)).toBe(128);
    expect(defaultMaxProxyConnections(4, 1024)).toBe(32);
    expect(defaultMaxProxyConnections(1, Infinity)).toBe(256);
    expect(defaultMaxProxyConnections(0, Infinity)).toBe(256);
    expect(defaultMaxProxyConnections(1000, 1024)).toBe(4);
  });
});
