import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { expect, test } from "vitest";
import { createTransport, type HttpRequest, type Transport } from "../../src/runner-kit/transport.ts";

interface Service extends AsyncDisposable {
  url: URL;
  transport: Transport;
  /** What arrived, each with the number of its connection. */
  requests: string[];
  connections: Socket[];
  post: (changes?: Partial<HttpRequest>) => Promise<unknown>;
}

/** Starts a service that answers with `201`, and a transport to it. */
async function start(
  prepare: (server: Server) => void = () => {},
  create: (listener: (request: IncomingMessage, response: ServerResponse) => void) => Server = createServer,
): Promise<Service> {
  const requests: string[] = [];
  const connections: Socket[] = [];
  const server = create((request, response) => {
    requests.push(`${request.method} ${request.url} ${connections.indexOf(request.socket)}`);
    request.resume().on("end", () => response.writeHead(201).end("{}"));
  });
  const isTls = "setSecureContext" in server;
  server.on(isTls ? "secureConnection" : "connection", (socket) => connections.push(socket));
  prepare(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(`http${isTls ? "s" : ""}://localhost:${(server.address() as AddressInfo).port}/base`);
  const transport = createTransport(url.protocol, {});
  const signal = new AbortController().signal;
  return {
    url,
    transport,
    requests,
    connections,
    post: (changes) =>
      transport({ method: "POST", url, headers: { "x-key": "1" }, body: "{}", timeoutMs: 5000, signal, ...changes }),
    [Symbol.asyncDispose]: async () => {
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Opens a connection and waits until the service has it. */
async function open({ transport, url, connections }: Service): Promise<void> {
  const before = connections.length;
  transport.open?.(url);
  while (connections.length === before) await setTimeout(5);
}

const created = { status: 201, body: "{}" };

test.concurrent("the next POST uses the connection, with its own path and headers, and later requests do, too", async () => {
  await using service = await start();
  await open(service);
  expect(await service.post({ url: new URL("/job?a=b", service.url) })).toMatchObject(created);
  await service.post({ method: "GET" });
  expect(service.requests).toEqual(["POST /job?a=b 0", "GET /base 0"]);
  await service.post();
  expect(service.requests.at(-1)).toBe("POST /base 1");
});

test.concurrent("a POST that does not wait for the connection uses it all the same", async () => {
  await using service = await start();
  service.transport.open?.(service.url);
  service.transport.open?.(service.url);
  expect(await service.post()).toMatchObject(created);
  expect(service.connections).toHaveLength(1);
});

test.concurrent("one that a service closes when it is idle for 1 s is replaced before the request is written", async () => {
  await using service = await start((server) => server.setTimeout(1000));
  await open(service);
  await setTimeout(1200);
  expect(await service.post()).toMatchObject(created);
  expect(service.requests).toEqual(["POST /base 1"]);
});

test.concurrent("one that is idle for 2 s is replaced before the request is written", async () => {
  await using service = await start();
  await open(service);
  await setTimeout(2100);
  expect(await service.post()).toMatchObject(created);
  expect(service.requests).toEqual(["POST /base 1"]);
});

test.concurrent.each<[string, (socket: Socket) => unknown]>([
  ["closed", (socket) => socket.end()],
  ["reset", (socket) => socket.resetAndDestroy()],
  ["closed with an answer to nothing", (socket) => socket.end("HTTP/1.1 408 Request Timeout\r\n\r\n")],
  ["given an answer to nothing", (socket) => socket.write("HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n[]")],
])("one that was %s is replaced, also if the process was busy since then", async (_name, end) => {
  await using service = await start();
  await open(service);
  const [socket] = service.connections;
  if (socket) end(socket);
  // What the server has sent is in the kernel, but this process has not read it.
  await new Promise(process.nextTick);
  const until = performance.now() + 50;
  while (performance.now() < until);
  expect(await service.post()).toMatchObject(created);
  expect(service.requests).toEqual(["POST /base 1"]);
});

test.concurrent("one to another origin is not used", async () => {
  await using service = await start();
  await using other = await start();
  service.transport.open?.(other.url);
  expect(await service.post()).toMatchObject(created);
  expect(other.requests).toEqual([]);
});

test.concurrent("one that was used before is not taken for it", async () => {
  await using service = await start();
  await service.post({ method: "GET" });
  await open(service);
  await service.post();
  expect(service.requests).toEqual(["GET /base 0", "POST /base 1"]);
});

test.concurrent("one that fails leaves the error to the request", async () => {
  const service = await start();
  await service[Symbol.asyncDispose]();
  service.transport.open?.(service.url);
  await setTimeout(50);
  await expect(service.post()).rejects.toMatchObject({ phase: "connecting", reason: "network" });
  const controller = new AbortController();
  controller.abort();
  service.transport.open?.(service.url);
  await expect(service.post({ signal: controller.signal })).rejects.toMatchObject({ reason: "aborted" });
});

test("with TLS, also through a proxy, it is ready for the request", async () => {
  const folder = join(import.meta.dirname, "../support/certificates");
  const [key, cert] = ["key.pem", "certificate.pem"].map((name) => readFileSync(join(folder, name), "utf8"));
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, cert ?? ""]);
  try {
    await using service = await start(undefined, (listener) => createTlsServer({ key, cert }, listener) as Server);
    await open(service);
    expect(await service.post()).toMatchObject(created);
    expect(service.requests).toEqual(["POST /base 0"]);

    await using proxy = await start((server) => {
      server.on("connect", (request, socket: Socket) => {
        const there = connect(Number(request.url?.split(":")[1]), "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 OK\r\n\r\n");
          there.pipe(socket).pipe(there);
        });
        for (const end of [there, socket]) end.on("error", () => {});
      });
    });
    const transport = createTransport("https:", { https_proxy: proxy.url.host });
    await open({ ...service, transport });
    const signal = new AbortController().signal;
    expect(await transport({ method: "POST", url: service.url, headers: {}, timeoutMs: 5000, signal })).toMatchObject(
      created,
    );
    expect(service.requests.at(-1)).toBe("POST /base 1");
    expect(proxy.connections).toHaveLength(1);
  } finally {
    setDefaultCACertificates(before);
  }
});
