import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../../src/http/listen.ts";
import { type BoundedFetchOptions, createBoundedFetch } from "../../../src/pulls/github/bounded-fetch.ts";

/** Starts a server, and a `fetch` for it. */
async function setUp(listener: Parameters<typeof listen>[0], options: Partial<BoundedFetchOptions> = {}) {
  const server = await listen(listener);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const redirects: string[][] = [];
  const onRedirect = (from: string, to: string) => void redirects.push([from, to]);
  const fetch = createBoundedFetch({ apiUrl: `${server.url}/api/v3`, onRedirect, ...options });
  return { fetch, redirects, url: server.url };
}

test("ends a response that is too large, also without its length", async () => {
  const { fetch, url } = await setUp(
    (_request, response) => {
      const send = (): void => {
        while (!response.destroyed && response.write("x".repeat(1000)));
        if (!response.destroyed) response.once("drain", send);
      };
      send();
    },
    { maxBodyBytes: 100_000 },
  );
  await expect(fetch(url)).rejects.toThrow("the response has more than 0.1 MB");
});

test("returns a response of the maximum size", async () => {
  const { fetch, url } = await setUp((_request, response) => response.end("x".repeat(1000)), { maxBodyBytes: 1000 });
  expect(await (await fetch(url)).text()).toHaveLength(1000);
});

test.each(["headers", "body"])("ends a response whose %s does not come", async (part) => {
  const { fetch, url } = await setUp(
    (_request, response) => {
      if (part === "body") response.write("x");
    },
    { timeoutMs: 200 },
  );
  const message = "no complete response within 0.2 s";
  await expect(fetch(url)).rejects.toMatchObject({ message, cause: expect.any(Error) });
});

test("ends when it is aborted", async () => {
  const { fetch, url } = await setUp(() => {});
  await expect(fetch(url, { signal: AbortSignal.abort(new Error("stopped")) })).rejects.toThrow("stopped");
});

test("repeats a redirected request with its method, headers and body", async () => {
  const received: string[] = [];
  const { fetch, url, redirects } = await setUp(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    received.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
    if (request.url === "/old") response.writeHead(301, { location: "/new?x=1" }).end("moved");
    else response.writeHead(201, { etag: "e" }).end("{}");
  });
  const response = await fetch(`${url}/old`, { method: "POST", body: "b", headers: { authorization: "a" } });
  expect([response.status, response.headers.get("etag"), await response.text()]).toEqual([201, "e", "{}"]);
  expect(received).toEqual(["POST /old a b", "POST /new?x=1 a b"]);
  expect(redirects).toEqual([["/old", "/new"]]);
});

test.each([
  ["another origin", "http://127.0.0.1:9/x", "the token is not sent to http://127.0.0.1:9"],
  ["another scheme", "javascript:alert(1)", "the token is not sent to null"],
  ["no valid URL", "http://", "the token is not sent to an invalid URL"],
])("does not follow a redirect to %s", async (_name, location, message) => {
  const { fetch, url, redirects } = await setUp((_request, response) => response.writeHead(302, { location }).end());
  await expect(fetch(url)).rejects.toThrow(message);
  expect(redirects).toEqual([]);
});

test.each([204, 304, 300])("returns status %d as it is", async (status) => {
  const { fetch, url } = await setUp((_request, response) => response.writeHead(status, { location: "/x" }).end());
  expect((await fetch(url)).status).toBe(status);
});
