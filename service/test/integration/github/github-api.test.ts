import { getEventListeners } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import type { GitHubResponseNumbers } from "../../../src/metrics/metrics.ts";
import { GitHubApi } from "../../../src/pulls/github/github-api.ts";
import { RateLimitError } from "../../../src/pulls/github/github-error.ts";
import { type ServedResponse, startPullRequestServer } from "../../support/pull-request-server.ts";

const list = "GET /repos/{owner}/{repo}/pulls";
const once = { what: "Reading", maxWaitMs: 0, isRetried: false };

/** Starts a fake GitHub until the end of the test, and a client. */
async function setUp(token = "token_0123456789") {
  const server = await startPullRequestServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const stop = new AbortController();
  const repository = { apiUrl: server.url, owner: "acme", name: "docs", token };
  const answers: GitHubResponseNumbers[] = [];
  const metrics = { gitHubAnswered: (answer: GitHubResponseNumbers) => void answers.push(answer) };
  const api = new GitHubApi({ repository, signal: stop.signal, log: () => {}, metrics, secondMs: 1 });
  /** Returns the error of a request that is answered so. */
  const errorOf = (answer: ServedResponse): Promise<Error> => {
    server.answer = () => answer;
    return api.request(list, {}, once).then(
      () => new Error("no error"),
      (error: Error) => error,
    );
  };
  return { server, stop, api, answers, errorOf };
}

test("counts each request, also retries and those without a response, with what is left of the rate limit", async () => {
  const { server, api, answers } = await setUp();
  const headers = { "x-ratelimit-remaining": "4998", "x-ratelimit-reset": "1800000000" };
  server.answer = () => (server.requests.length === 1 ? { status: 502 } : { status: 200, headers });
  await api.request(list, {}, { what: "Reading" });
  expect(answers.splice(0)).toEqual([
    { status: 502, remaining: undefined, resetAt: undefined },
    { status: 200, remaining: 4998, resetAt: 1_800_000_000 },
  ]);
  server.answer = () => ({ status: 200, headers: { "x-ratelimit-remaining": "many" } });
  await api.request(list, {}, once);
  expect(answers.splice(0)).toEqual([{ status: 200, remaining: undefined, resetAt: undefined }]);
  await server[Symbol.asyncDispose]();
  await expect(api.request(list, {}, once)).rejects.toThrow("GitHub did not respond");
  expect(answers).toEqual([{ status: undefined, remaining: undefined, resetAt: undefined }]);
});

test("sends text as Unicode, whatever an agent has said", async () => {
  const { server, api } = await setUp();
  let sent = "";
  server.answer = (_route, body) => {
    sent = body;
    return { status: 201 };
  };
  await api.request("POST /repos/{owner}/{repo}/pulls", { title: "Fix \ud83d it", body: "\udc00" }, once);
  expect(JSON.parse(sent)).toEqual({ title: "Fix \ufffd it", body: "\ufffd" });
});

test("counts no request that the end of the service aborts", async () => {
  const { server, api, stop, answers } = await setUp();
  server.answer = () => {
    stop.abort();
    return { status: 200 };
  };
  await expect(api.request(list, {}, once)).rejects.toThrow("aborted");
  await server[Symbol.asyncDispose]();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(answers).toEqual([]);
});

test.each([
  ["/repositories/12/pulls?state=open", "/repositories/12"],
  ["/api/v3/repos/beta/manual/pulls", "/repos/beta/manual"],
  ["/elsewhere", "/elsewhere"],
])("tells where GitHub redirected the requests of the repository: %s", async (location, redirect) => {
  const { server, api } = await setUp();
  await api.request(list, {}, once);
  expect(api.redirect).toBeUndefined();
  server.answer = () => (server.requests.length === 2 ? { status: 301, headers: { location } } : { status: 200 });
  await api.request(list, {}, once);
  expect(api.redirect).toBe(redirect);
});

test("asks only for what is newer than a response that it has", async () => {
  const { server, api } = await setUp();
  const { data, etag } = await api.request(list, {}, once);
  expect(data).toEqual([]);
  expect(await api.request(list, {}, { ...once, etag })).toEqual({ data: undefined, etag });
  expect(server.headers.map((headers) => headers["if-none-match"])).toEqual([undefined, etag]);
});

test("ends with the reason of its signal, and leaves nothing behind", async () => {
  const { server, api, stop } = await setUp();
  await api.request(list, {}, once);
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  const reason = new Error("the service stops");
  server.answer = () => {
    stop.abort(reason);
    return { status: 500 };
  };
  for (let request = 0; request < 2; request++) await expect(api.request(list, {}, once)).rejects.toBe(reason);
  expect(server.requests).toHaveLength(2);
});

test("shortens what GitHub says, to one line", async () => {
  const { errorOf } = await setUp();
  const { message } = await errorOf({ status: 404, body: { message: `one\r\n\u202e \ttwo ${"x".repeat(2000)}` } });
  expect(message).toMatch(/^GitHub answered 404 to GET \/repos\/acme\/docs\/pulls: one two x+$/);
  expect(message.length).toBeLessThan(1100);
});

test("removes the token from what GitHub says, unless it is so short that it could be a word", async () => {
  const long = await setUp("8_digits");
  expect((await long.errorOf({ status: 404, body: { message: "no 8_digits" } })).message).toContain(": no ***");
  const short = await setUp("GitHub.");
  expect((await short.errorOf({ status: 404, body: { message: "no GitHub." } })).message).toContain(": no GitHub.");
});

test.each([
  ["slow down", "slow down (handled as a secondary rate limit)"],
  ["a secondary rate limit", "a secondary rate limit"],
])("says that it takes any rate limit for a secondary one: %s", async (text, message) => {
  const { errorOf } = await setUp();
  const error = await errorOf({ status: 429, body: { message: text }, headers: { "retry-after": "5" } });
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ waitMs: 5000, isPermanent: false, isTransient: false });
  expect(error.message).toMatch(
    new RegExp(`: ${message.replace(/[()]/g, "\\$&")} \\(rate limit until \\d\\d:\\d\\d UTC\\)$`),
  );
});

test("prints nothing that GitHub says about itself", async () => {
  const { server, api } = await setUp();
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const headers = { deprecation: "true", sunset: "2027", link: '<https://evil.example>; rel="deprecation"' };
  server.answer = () => ({ status: 200, body: [], headers });
  expect((await api.request(list, {}, once)).data).toEqual([]);
  expect(warn).not.toHaveBeenCalled();
});
