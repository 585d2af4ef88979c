import { getEventListeners } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../service/src/http/listen.ts";
import { connectGitHub, type GitHub, type RequestLimits } from "../../src/action/runner/github.ts";

const token = "ghs_token_0123456789";
const json = { "content-type": "application/json" };

/** Disposing of it closes the server. */
interface Connection extends AsyncDisposable {
  github: GitHub;
  /** Every request, as `GET /repos/…`. */
  requests: string[];
  traces: string[];
}

/** Connects to a GitHub server that answers the n-th request, counted from 1, like this. */
async function connect(answer: (n: number, response: ServerResponse, url: URL) => void): Promise<Connection> {
  const requests: string[] = [];
  const server = await listen((request, response) => {
    request.resume();
    requests.push(`${request.method} ${request.url}`);
    answer(requests.length, response, new URL(request.url ?? "", server.url));
  });
  const traces: string[] = [];
  const github = connectGitHub(token, server.url, (line) => traces.push(line));
  return { github, requests, traces, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function respond(response: ServerResponse, status: number, body: unknown = {}, headers = {}): void {
  response.writeHead(status, { ...json, ...headers }).end(JSON.stringify(body));
}

const limits = (changes: Partial<RequestLimits> = {}): RequestLimits => ({
  timeoutMs: 20_000,
  signal: new AbortController().signal,
  ...changes,
});

/** Most tests avoid the pauses, which all clients in a process share. */
const isUrgent = true;

const route = "GET /repos/{owner}/{repo}";
const parameters = { owner: "acme", repo: "docs" };

// Concurrent, because most of its time is a wait.
describe.concurrent("a request", () => {
  test("returns the data of the response, and is traced", async () => {
    await using connection = await connect((_n, response) =>
      respond(response, 200, { id: 7 }, { "x-github-request-id": "AB:12" }),
    );
    const { github, requests, traces } = connection;
    const startedAt = performance.now();
    expect(await github.request(route, parameters, limits())).toEqual({ id: 7 });
    const elapsedMs = performance.now() - startedAt;
    expect(requests).toEqual(["GET /repos/acme/docs"]);
    expect(traces).toEqual([expect.stringMatching(/^GET \/repos\/acme\/docs: 200, request AB:12 \(\d+ ms\)$/)]);
    expect(Number(/(\d+) ms/.exec(traces[0] ?? "")?.[1])).toBeLessThanOrEqual(Math.ceil(elapsedMs));
  });

  test("is not repeated after a 5xx if GitHub may have done it, and should only once", async () => {
    await using connection = await connect((_n, response) => respond(response, 502));
    const once = limits({ isUrgent, isOnce: true });
    await expect(connection.github.request("POST /repos/{owner}/{repo}", parameters, once)).rejects.toThrow();
    expect(connection.requests).toHaveLength(1);
  });

  test.each([200, 201])("tells that the response has the status %i", async (status) => {
    await using connection = await connect((_n, response) => respond(response, status, { id: 7 }));
    const seen: number[] = [];
    await connection.github.request(route, parameters, limits({ onStatus: (one) => seen.push(one) }));
    expect(seen).toEqual([status]);
  });

  test.each([
    ["a rate limit is not taken for a refusal", { "x-ratelimit-remaining": "0" }, 429],
    ["a refusal is one", {}, 403],
  ])("with 403: %s", async (_name, headers, status) => {
    await using connection = await connect((_n, response) => respond(response, 403, { message: "no" }, headers));
    await expect(connection.github.request(route, parameters, limits({ isUrgent }))).rejects.toMatchObject({ status });
  });

  test("sends the token and the rest of the parameters", async () => {
    let authorization = "";
    let body = "";
    await using server = await listen(async (request, response) => {
      authorization = request.headers.authorization ?? "";
      for await (const chunk of request) body += chunk;
      respond(response, 201);
    });
    const github = connectGitHub(token, server.url, () => {});
    await github.request("POST /repos/{owner}/{repo}/issues", { ...parameters, title: "T" }, limits());
    expect(authorization).toBe(`token ${token}`);
    expect(JSON.parse(body)).toEqual({ title: "T" });
  });

  test("is retried after 401 while the token is new, and no more once it has worked", async () => {
    await using connection = await connect((n, response) =>
      respond(response, n === 2 ? 200 : 401, n === 2 ? { n } : { message: "Bad credentials" }),
    );
    const { github, requests } = connection;
    expect(await github.request(route, parameters, limits({ isUrgent }))).toEqual({ n: 2 });
    // The client for urgent requests has its own memory.
    await expect(github.request(route, parameters, limits({ isUrgent }))).rejects.toMatchObject({ status: 401 });
    expect(requests).toHaveLength(3);
  });

  test.each([400, 403, 404, 410, 422, 429, 451])("is not retried after %i, also without pauses", async (status) => {
    for (const isUrgent of [false, true]) {
      await using connection = await connect((_n, response) => respond(response, status, { message: "No" }));
      const { github, requests, traces } = connection;
      await expect(github.request(route, parameters, limits({ isUrgent }))).rejects.toThrow(/^No( |$)/);
      expect(requests).toHaveLength(1);
      expect(traces).toEqual([expect.stringMatching(new RegExp(`^GET /repos/acme/docs: ${status} \\(`))]);
    }
  });

  test.each([500, 502])("is retried after %i, also without pauses, and each try is traced", async (status) => {
    for (const isUrgent of [false, true]) {
      await using connection = await connect((n, response) => respond(response, n === 1 ? status : 200, { n }));
      const { github, traces } = connection;
      expect(await github.request(route, parameters, limits({ isUrgent }))).toEqual({ n: 2 });
      expect(traces.map((line) => /: (\d+)/.exec(line)?.[1])).toEqual([String(status), "200"]);
    }
  });

  test("fails with the last error if the time is up while it is retried", async () => {
    await using connection = await connect((_n, response) => respond(response, 502, { message: "Bad gateway" }));
    const { github } = connection;
    await expect(github.request(route, parameters, limits({ timeoutMs: 2500, isUrgent }))).rejects.toThrow(
      /^Bad gateway.*, until the timeout$/,
    );
  });

  test("is traced with the reason if there is no response", async () => {
    await using connection = await connect((_n, response) => response.destroy());
    const { github, traces } = connection;
    await expect(github.request(route, parameters, limits({ timeoutMs: 2500, isUrgent }))).rejects.toThrow(
      /, until the timeout$/,
    );
    expect(traces[0]).toMatch(/^GET \S+: (?!\d).+ \(\d+ ms\)$/);
  });

  test("never shows the token that GitHub echoes", async () => {
    await using connection = await connect((_n, response) =>
      respond(response, 404, { message: `No ${token}` }, { "x-github-request-id": token }),
    );
    const { github, traces } = connection;
    await expect(github.request(route, parameters, limits({ isUrgent }))).rejects.toThrow(/^No \*\*\*/);
    expect(traces.join()).not.toContain(token);
  });
});

describe.concurrent("a rate limit", () => {
  const limited = (response: ServerResponse, headers: Record<string, string>): void =>
    respond(response, 403, { message: "You have exceeded a secondary rate limit" }, headers);

  test("is waited for", async () => {
    await using connection = await connect((n, response) =>
      n === 1 ? limited(response, { "retry-after": "1" }) : respond(response, 200, { n }),
    );
    const { github, requests } = connection;
    expect(await github.request(route, parameters, limits())).toEqual({ n: 2 });
    expect(requests).toHaveLength(2);
  });

  test("is waited for three times", async () => {
    await using connection = await connect((_n, response) => limited(response, { "retry-after": "1" }));
    const { github, requests } = connection;
    await expect(github.request(route, parameters, limits())).rejects.toThrow(/secondary rate limit(?!.*timeout)/);
    expect(requests).toHaveLength(4);
  }, 30_000);

  test.each([
    ["10", true],
    ["11", false],
    ["0", false],
  ])("is waited for up to ten seconds: %s s, %s", async (seconds, isWaitedFor) => {
    await using connection = await connect((_n, response) => limited(response, { "retry-after": seconds }));
    const { github, requests } = connection;
    const result = github.request(route, parameters, limits({ timeoutMs: 2500 }));
    await expect(result).rejects.toThrow(isWaitedFor ? /, until the timeout$/ : /rate limit(?!.*timeout)/);
    expect(requests).toHaveLength(1);
  });

  test("of all requests is not waited for if it is over by GitHub's clock", async () => {
    await using connection = await connect((_n, response) =>
      respond(response, 403, { message: "Rate limit" }, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" }),
    );
    const { github, requests } = connection;
    await expect(github.request(route, parameters, limits())).rejects.toThrow(/^Rate limit/);
    expect(requests).toHaveLength(1);
  });

  test("of all requests is waited for", async () => {
    await using connection = await connect((n, response) => {
      if (n > 1) return respond(response, 200, { n });
      const reset = String(Math.ceil(Date.now() / 1000) + 1);
      respond(response, 403, { message: "Rate limit" }, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset });
    });
    const { github, requests } = connection;
    expect(await github.request(route, parameters, limits())).toEqual({ n: 2 });
    expect(requests).toHaveLength(2);
  });
});

describe("writes", () => {
  const write = "POST /repos/{owner}/{repo}/issues/1/comments";
  /** Shorter than the pause between two comments, which is three seconds. */
  const soon = { timeoutMs: 2500 };
  const server = () => connect((_n, response) => respond(response, 201));

  test("have a pause between them, as GitHub asks for", async () => {
    await using connection = await server();
    const { github, requests } = connection;
    await github.request(write, parameters, limits());
    await expect(github.request(write, parameters, limits({ timeoutMs: 700 }))).rejects.toThrow(
      "GitHub did not respond in time",
    );
    expect(requests).toHaveLength(1);
  });

  test("that are urgent have none", async () => {
    await using connection = await server();
    const { github, requests } = connection;
    await github.request(write, parameters, limits());
    await github.request(write, parameters, limits({ ...soon, isUrgent: true }));
    await github.request(write, parameters, limits({ ...soon, isUrgent: true }));
    expect(requests).toHaveLength(3);
  });

  test("after a signal have none, within their grace period", async () => {
    await using connection = await server();
    const { github, requests } = connection;
    await github.request(write, parameters, limits());
    const signal = AbortSignal.abort();
    await github.request(write, parameters, limits({ signal, graceMs: 2500 }));
    await expect(github.request(write, parameters, limits({ signal, graceMs: 0 }))).rejects.toThrow();
    expect(requests.length).toBeLessThanOrEqual(3);
  });
});

describe.concurrent("a request that GitHub does not answer", () => {
  const silent = () => connect(() => {});

  test("ends at its timeout", async () => {
    await using connection = await silent();
    const { github } = connection;
    await expect(github.request(route, parameters, limits({ timeoutMs: 200, isUrgent }))).rejects.toThrow(
      "GitHub did not respond in time",
    );
  });

  test("ends immediately on a signal", async () => {
    const cancellation = new AbortController();
    await using connection = await connect(() => cancellation.abort());
    const { github } = connection;
    const { signal } = cancellation;
    await expect(github.request(route, parameters, limits({ timeoutMs: 600_000, signal, isUrgent }))).rejects.toThrow(
      "the step was cancelled",
    );
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("may be answered within the grace period after a signal", async () => {
    const cancellation = new AbortController();
    await using connection = await connect((_n, response) => {
      cancellation.abort();
      setTimeout(() => respond(response, 200, { id: 7 }), 50);
    });
    const { github } = connection;
    const { signal } = cancellation;
    expect(await github.request(route, parameters, limits({ signal, graceMs: 10_000, isUrgent }))).toEqual({ id: 7 });
  });

  test("leaves no listener on the signal", async () => {
    await using connection = await connect((_n, response) => respond(response, 200));
    const { github } = connection;
    const { signal } = new AbortController();
    await github.request(route, parameters, limits({ signal, isUrgent }));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe.concurrent("a list", () => {
  const list = "GET /repos/{owner}/{repo}/issues/1/comments";

  /** Answers with a page, and names the next one if there is one. */
  function page(response: ServerResponse, url: URL, count: number): void {
    const number = Number(url.searchParams.get("page") ?? 1);
    const next = new URL(url);
    next.searchParams.set("page", String(number + 1));
    respond(response, 200, [number], number < count ? { link: `<${next.href}>; rel="next"` } : {});
  }

  test("has the items of all pages", async () => {
    await using connection = await connect((_n, response, url) => page(response, url, 3));
    const { github, requests } = connection;
    expect(await github.paginate(list, parameters, { ...limits(), totalTimeoutMs: 20_000 })).toEqual([1, 2, 3]);
    expect(requests).toEqual([
      "GET /repos/acme/docs/issues/1/comments?per_page=100",
      "GET /repos/acme/docs/issues/1/comments?per_page=100&page=2",
      "GET /repos/acme/docs/issues/1/comments?per_page=100&page=3",
    ]);
  });

  test("fails if a response is not a list, or a page fails", async () => {
    await using object = await connect((_n, response) => respond(response, 200, { message: "hello" }));
    const all = { ...limits(), totalTimeoutMs: 20_000 };
    await expect(object.github.paginate(list, parameters, all)).rejects.toThrow("GitHub's response is not a list");
    await using failing = await connect((n, response, url) =>
      n === 2 ? respond(response, 404, { message: "Not Found" }) : page(response, url, 3),
    );
    await expect(failing.github.paginate(list, parameters, all)).rejects.toThrow(/^Not Found/);
  });

  test("gives each page the whole timeout", async () => {
    await using connection = await connect((_n, response, url) => void setTimeout(() => page(response, url, 5), 700));
    const { github } = connection;
    const result = github.paginate(list, parameters, { ...limits({ timeoutMs: 3000 }), totalTimeoutMs: 20_000 });
    expect(await result).toEqual([1, 2, 3, 4, 5]);
  });

  test.each([
    ["the first page", 1],
    ["a later page", 2],
  ])("fails if GitHub does not answer for %s in time", async (_name, silentFrom) => {
    await using connection = await connect((n, response, url) => n < silentFrom && page(response, url, 3));
    const { github } = connection;
    const result = github.paginate(list, parameters, { ...limits({ timeoutMs: 500 }), totalTimeoutMs: 600_000 });
    await expect(result).rejects.toThrow("GitHub did not respond in time");
  });

  test("fails if all pages together take too long", async () => {
    await using connection = await connect((_n, response, url) => void setTimeout(() => page(response, url, 100), 200));
    const { github } = connection;
    const result = github.paginate(list, parameters, { ...limits(), totalTimeoutMs: 900 });
    await expect(result).rejects.toThrow("GitHub did not respond in time");
  });
});

test("prints nothing, whatever headers GitHub sends", async () => {
  const printed = ["debug", "info", "warn", "error", "log"] as const;
  const spies = printed.map((name) => vi.spyOn(console, name).mockImplementation(() => {}));
  onTestFinished(() => void vi.restoreAllMocks());
  const headers = { deprecation: "true", sunset: "##[error]boom", link: '<x>; rel="deprecation"' };
  await using connection = await connect((n, response) => respond(response, n === 1 ? 502 : 200, {}, headers));
  const { github } = connection;
  await github.request(route, parameters, limits());
  for (const spy of spies) expect(spy).not.toHaveBeenCalled();
});
