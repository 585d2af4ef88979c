import { expect, test } from "vitest";
import { createTransport, NetworkError } from "../../src/runner-kit/transport.ts";
import { tcpServer } from "../support/tcp-server.ts";

/** Sends a request through a proxy that rejects it, and returns what the proxy received. */
async function connectThrough(address: (port: number) => string, name = "https_proxy"): Promise<string> {
  await using proxy = await tcpServer((socket) => socket.end("HTTP/1.1 503 No\r\n\r\n"));
  const transport = createTransport("https:", { [name]: address(proxy.port) });
  const request = {
    method: "GET" as const,
    url: new URL("https://service.example/"),
    headers: {},
    timeoutMs: 5000,
    signal: new AbortController().signal,
  };
  await expect(transport(request)).rejects.toMatchObject({ phase: "connecting" });
  return proxy.received.join("");
}

test.each([
  ["a full address", (port: number) => `http://127.0.0.1:${port}`],
  ["no scheme", (port: number) => `127.0.0.1:${port}`],
  ["an upper-case scheme", (port: number) => `HTTP://127.0.0.1:${port}`],
  ["a leading space", (port: number) => ` http://127.0.0.1:${port}`],
  ["a path that looks like a scheme", (port: number) => `127.0.0.1:${port}/socks5://`],
  ["a final slash", (port: number) => `http://127.0.0.1:${port}/`],
])("uses a proxy whose address has %s", async (_name, address) => {
  expect(await connectThrough(address)).toMatch(/^CONNECT service\.example:443 HTTP\/1\.1\r\n/);
});

test("reads HTTPS_PROXY too, and prefers https_proxy", async () => {
  expect(await connectThrough((port) => `127.0.0.1:${port}`, "HTTPS_PROXY")).toContain("CONNECT");
  const both = { https_proxy: "127.0.0.1:1", HTTPS_PROXY: "socks5://127.0.0.1:2" };
  expect(() => createTransport("https:", both)).not.toThrow();
});

test.each([
  ["socks5://127.0.0.1:1080", "a socks5 proxy, but only http and https proxies are supported"],
  ["SOCKS5H://127.0.0.1:1080", "a socks5h proxy"],
  ["xhttp://127.0.0.1:1080", "a xhttp proxy"],
  ["httpx://127.0.0.1:1080", "a httpx proxy"],
  ["http://[", "is not a valid URL"],
])("rejects %s by name, before anything is sent", (address, message) => {
  const create = () => createTransport("https:", { https_proxy: address });
  expect(create).toThrow(NetworkError);
  expect(create).toThrow(message);
  expect(create).toThrow(expect.objectContaining({ phase: "connecting", reason: "network" }));
});

test("never repeats the address, which may contain a password", () => {
  for (const address of ["socks5://user:secret@127.0.0.1:1", "http://user:secret@["]) {
    expect(() => createTransport("https:", { https_proxy: address })).toThrow(/^(?!.*secret)/);
  }
});

test.each(["", "  "])("uses no proxy for %j", (address) => {
  expect(() => createTransport("https:", { https_proxy: address })).not.toThrow();
});
