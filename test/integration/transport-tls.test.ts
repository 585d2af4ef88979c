import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import type { NetworkError } from "../../src/runner-kit/transport.ts";
import { createTransport, type HttpRequest, type HttpResponse } from "../../src/runner-kit/transport.ts";

const folder = join(import.meta.dirname, "../support/certificates");
const certificate = readFileSync(join(folder, "certificate.pem"), "utf8");
const options = { key: readFileSync(join(folder, "key.pem")), cert: certificate };

/** Listens until the test is over, and returns the port. */
async function listen(server: Server | ReturnType<typeof createTcpServer>, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function trustCertificate(): void {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, certificate]);
  onTestFinished(() => setDefaultCACertificates(before));
}

/** Sends a POST and returns the response or the error. */
async function post(
  host: string,
  port: number,
  changes: Partial<HttpRequest> = {},
  environment: Record<string, string> = {},
): Promise<HttpResponse | NetworkError> {
  const request: HttpRequest = {
    method: "POST",
    url: new URL(`https://${host}:${port}/`),
    headers: {},
    body: "{}",
    timeoutMs: 5000,
    signal: new AbortController().signal,
    ...changes,
  };
  return createTransport("https:", environment)(request).catch((error: NetworkError) => error);
}

test("a trusted certificate: the request is sent", async () => {
  trustCertificate();
  const port = await listen(createServer(options, (_request, response) => response.writeHead(201).end("ok")));
  expect(await post("localhost", port)).toMatchObject({ status: 201, body: "ok" });
});

test("a connection that is lost after the handshake: the request may have arrived", async () => {
  trustCertificate();
  const port = await listen(createServer(options, (request) => request.socket.destroy()));
  expect(await post("localhost", port)).toMatchObject({ phase: "waiting", reason: "network" });
});

test("an untrusted certificate: nothing is sent, and the message is the reason", async () => {
  let requests = 0;
  const port = await listen(createServer(options, () => requests++));
  expect(await post("localhost", port)).toMatchObject({
    phase: "connecting",
    reason: "certificate",
    message: expect.stringMatching(/self-signed certificate/),
  });
  expect(requests).toBe(0);
});

// Only Linux and Windows have more than one loopback address.
test.skipIf(process.platform === "darwin")("a trusted certificate of another host: nothing is sent", async () => {
  trustCertificate();
  const port = await listen(createServer(options), "127.0.0.2");
  expect(await post("127.0.0.2", port)).toMatchObject({
    phase: "connecting",
    reason: "certificate",
    message: expect.stringMatching(/127\.0\.0\.2 is not in the cert's list/),
  });
});

test("a server without TLS: the message is short, without OpenSSL's stack trace", async () => {
  const port = await listen(createTcpServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 No\r\n\r\n")));
  const error = await post("localhost", port);
  expect(error).toMatchObject({
    phase: "connecting",
    reason: "network",
    message: "TLS failed: wrong version number",
  });
});

test("a server that asks for a certificate: the request may have arrived, and the message is short", async () => {
  trustCertificate();
  const server = createServer({ ...options, requestCert: true, rejectUnauthorized: true });
  const port = await listen(server.on("tlsClientError", () => {}));
  expect(await post("localhost", port)).toMatchObject({
    phase: expect.stringMatching(/^(sending|waiting)$/),
    reason: "network",
    message: "TLS failed: tlsv13 alert certificate required",
  });
});

test("a tunnel through a proxy: the request counts as sent once the tunnel is encrypted", async () => {
  trustCertificate();
  const port = await listen(createServer(options, (request) => request.socket.destroy()));
  const proxy = createTcpServer((client) => {
    client.on("error", () => {});
    client.once("data", async () => {
      const { connect } = await import("node:net");
      const server = connect(port, "127.0.0.1", () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
      server.on("error", () => {});
      client.pipe(server).pipe(client);
    });
  });
  const environment = { https_proxy: `http://127.0.0.1:${await listen(proxy)}` };
  expect(await post("localhost", port, {}, environment)).toMatchObject({ phase: "waiting", reason: "network" });
});

test("polls share a connection", async () => {
  trustCertificate();
  const server = createServer(options, (_request, response) => response.end("ok"));
  let connections = 0;
  server.on("secureConnection", () => connections++);
  const url = new URL(`https://localhost:${await listen(server)}/`);
  const transport = createTransport("https:", {});
  for (let poll = 0; poll < 3; poll++) {
    const { signal } = new AbortController();
    await transport({ method: "GET", url, headers: { accept: "text/plain" }, timeoutMs: 5000, signal });
  }
  expect(connections).toBe(1);
});
