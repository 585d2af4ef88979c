import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { startPages } from "../../support/pages-server.ts";

const publicUrl = "https://agents.example.com:8443";

describe("answers requests to", () => {
  test.each(["127.0.0.1:4100", "127.0.0.1", "127.255.30.4:80", "localhost", "LocalHost:1", "[::1]", "[::1]:4100"])(
    "%s",
    async (host) => {
      const { ask } = await startPages();
      expect((await ask("/v2/x", { headers: { host } })).text).toBe("next");
    },
  );

  test.each(["agents.example.com", "Agents.Example.Com:8443"])("%s, as the public URL", async (host) => {
    const { ask } = await startPages({ publicUrl });
    expect((await ask("/v2/x", { headers: { host } })).text).toBe("next");
    expect((await ask("/v2/x", { headers: { host: "localhost" } })).text).toBe("next");
  });
});

describe("rejects requests to other names, which may be those of a website, also of who is signed in", () => {
  test.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil-localhost",
    "agents.example.com.evil.example",
    "[::2]",
    "10.127.0.0.1",
    "127.0.0.1@evil.example",
  ])("%s", async (host) => {
    const { ask, cookie } = await startPages({ publicUrl });
    for (const path of ["/pull/1", "/v2/agent/docs/job/x", "/sign-in"]) {
      const { status, headers, text } = await ask(path, { headers: { host, cookie } });
      expect(status).toBe(421);
      expect(headers["content-type"]).toBe("application/json");
      expect(JSON.parse(text)).toEqual({ error: expect.stringContaining("start it with --public-url") });
    }
  });

  test.each([":80", "a:b:c", "::1"])("a malformed one: %j", async (host) => {
    const { ask } = await startPages();
    const { status, text } = await ask("/pull/1", { headers: { host } });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({ error: "The Host header is missing or malformed" });
  });

  test("none", async () => {
    const { url } = await startPages();
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.end("GET /pull/1 HTTP/1.1\r\nConnection: close\r\n\r\n");
    const response = await text(socket);
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toMatch(/\r\n\r\n\{"error":"The Host header is missing or malformed"\}$/);
  });
});
