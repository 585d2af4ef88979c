import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { GitHubResponseNumbers } from "../../../src/metrics/metrics.ts";
import { GitHubGates } from "../../../src/pulls/github/gate.ts";
import { GitHubApi } from "../../../src/pulls/github/github-api.ts";
import { RateLimitError } from "../../../src/pulls/github/github-error.ts";
import { FakeMachine } from "../../support/fake-machine.ts";
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
  const api = new GitHubApi({
    repository,
    signal: stop.signal,
    log: () => {},
    metrics,
    gates: new GitHubGates({ secondMs: 1 }),
  });
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

test("says that a rate limit is none of its outages, nor permanent, and until when it lasts", async () => {
  const { errorOf } = await setUp();
  const error = await errorOf({ status: 429, body: { message: "slow down" }, headers: { "retry-after": "5" } });
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ isPermanent: false, isTransient: false });
  expect(error.message).toMatch(/: slow down \(rate limit until \d\d:\d\d UTC\)$/);
});

describe("one gate for an API and a token", () => {
  const setUpTwo = async (token = "token_0123456789") => {
    const { server, stop } = await setUp();
    const machine = new FakeMachine();
    const gates = new GitHubGates({ machine });
    const apiOf = (name: string, own: string) =>
      new GitHubApi({
        repository: { apiUrl: server.url, owner: "acme", name, token: own },
        signal: stop.signal,
        log: () => {},
        gates,
      });
    return { server, machine, docs: apiOf("docs", "token_0123456789"), web: apiOf("web", token) };
  };
  const limited = { status: 429, headers: { "retry-after": "60" } };
  const noneLeft = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 60) };

  test("sends nothing for any repository while GitHub has said to wait", async () => {
    const { server, machine, docs, web } = await setUpTwo();
    server.answer = () => limited;
    await expect(docs.request(list, {}, once)).rejects.toThrow("GitHub answered 429");
    server.answer = () => ({ status: 200, body: [] });
    const error = await web.request(list, {}, once).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(String(error)).toMatch(
      /rate limit is reached for GET \/repos\/acme\/web\/pulls: .* was not sent \(rate limit until/,
    );
    expect(server.requests).toHaveLength(1);
    machine.pass(60_000);
    await web.request(list, {}, once);
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ["another token", "token_of_web_only", list, limited],
    ["the API with a limit of its own", undefined, "POST /graphql", { status: 403, headers: noneLeft }],
  ])("holds up no requests with %s", async (_what, token, route, answer) => {
    const { server, docs, web } = await setUpTwo(token);
    server.answer = () => answer;
    await expect(docs.request(list, {}, once)).rejects.toBeInstanceOf(RateLimitError);
    server.answer = () => ({ status: 200, body: {} });
    await web.request(route, {}, once);
    expect(server.requests).toHaveLength(2);
  });

  test("leaves a second between writes, whatever happens to the machine's clock", async () => {
    const { server, machine, docs, web } = await setUpTwo();
    server.answer = () => ({ status: 201 });
    const write = "POST /repos/{owner}/{repo}/pulls";
    await docs.request(write, {}, once);
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() - 3_600_000);
    onTestFinished(() => clock.mockRestore());
    const second = web.request(write, {}, once);
    await docs.request(list, {}, once);
    expect(server.requests).toHaveLength(2);
    machine.pass(1000);
    await second;
    expect(server.requests).toHaveLength(3);
  });
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
