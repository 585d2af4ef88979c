import { createEmulator } from "emulate";
import { describe, expect, test } from "vitest";
import { GitHubPullRequests } from "../../src/service/pulls/github.ts";
import { type PullRequestServer, startPullRequestServer } from "../support/pull-request-server.ts";

const change = {
  jobId: "job_1",
  title: "T",
  prompt: "P",
  answer: null,
  branch: "agent/job_1",
  targetBranch: "main",
  base: "a",
  head: "b",
  existing: null,
};
const token = "token_0123456789";

interface Setup extends AsyncDisposable {
  server: PullRequestServer;
  pulls: GitHubPullRequests;
  log: string[];
  stop: AbortController;
  /** The clock of the rounds, in milliseconds. */
  clock: { now: number };
}

/** Starts a fake GitHub, and the service's pull requests on it. A second of waiting takes a millisecond. */
async function setUp(options: { secondMs?: number; configured?: string } = {}): Promise<Setup> {
  const { secondMs = 1, configured = "acme/docs" } = options;
  const server = await startPullRequestServer();
  const [owner = "", name = ""] = configured.split("/");
  const log: string[] = [];
  const stop = new AbortController();
  const clock = { now: 1_000_000 };
  const pulls = new GitHubPullRequests({
    repository: { apiUrl: server.url, owner, name, token },
    signal: stop.signal,
    log: (line) => void log.push(line),
    now: () => clock.now,
    secondMs,
  });
  return { server, pulls, log, stop, clock, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const posts = (server: PullRequestServer) => server.requests.filter((request) => request.startsWith("POST")).length;
const isPost = (request: string) => request.startsWith("POST");
const ref = (link: string) => ({ link, branch: "agent/x", head: "b" });

describe("opening a pull request", () => {
  test("creates it once, and finds it later", async () => {
    await using github = await setUp();
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(github.server.pulls.get(1)).toMatchObject({ head: "agent/job_1", title: "T" });
    expect(posts(github.server)).toBe(1);
  });

  test.each([
    ["javascript:", "javascript:alert(1)"],
    ["a link with credentials", "https://u:p@evil.example/pull/1"],
    ["a line break", "https://x/\n::set-output/pull/1"],
    ["a very long link", `https://x/${"y".repeat(3000)}/pull/1`],
  ])("rejects %s as its link", async (_name, html_url) => {
    await using github = await setUp();
    const body = { html_url, state: "open", merged_at: null };
    github.server.answer = (request) => (isPost(request) ? { status: 201, body } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow("not a pull request");
  });

  test.each([
    ["another repository", (link: string) => link.replace("acme/docs", "acme/other")],
    ["another host", (link: string) => link.replace(/^https?:..[^/]+/, "https://evil.example")],
  ])("rejects the link of %s, so that no job is completed with it", async (_name, forge) => {
    await using github = await setUp();
    await github.pulls.checkToken();
    const html_url = forge(github.server.link(1));
    const item = { html_url, state: "open", merged_at: null };
    github.server.answer = (request) => (isPost(request) ? { status: 201, body: item } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow(`${html_url}, which is not in this repository`);
    github.server.answer = (request) => (request.includes("/pulls?") ? { status: 200, body: [item] } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow("not in this repository");
  });

  test("does not take the pull request of another branch for its own if the query is ignored", async () => {
    await using github = await setUp();
    const item = { html_url: github.server.link(9), state: "open", merged_at: null, head: { ref: "someone" } };
    github.server.answer = (request) => (request.includes("/pulls?") ? { status: 200, body: [item] } : undefined);
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
  });

  test("truncates a prompt that is too long for GitHub", async () => {
    await using github = await setUp();
    let sent = "";
    github.server.answer = (_request, body) => {
      sent = body;
      return undefined;
    };
    await github.pulls.open({ ...change, prompt: "`x".repeat(200_000) });
    expect(JSON.parse(sent).body.length).toBeLessThan(65_536);
  });

  test("does not retry a permanent HTTP error, and reports the reason that GitHub gives", async () => {
    await using github = await setUp();
    github.server.answer = (request) =>
      isPost(request) ? { status: 422, body: { message: "No commits between main and agent" } } : undefined;
    await expect(github.pulls.open(change)).rejects.toThrow(
      "GitHub answered 422 to POST /repos/acme/docs/pulls: No commits between main and agent",
    );
    expect(posts(github.server)).toBe(1);
  });

  test("reports neither the token nor a line break that GitHub sends", async () => {
    await using github = await setUp();
    const message = `Denied for ${token}\n2026 forged line`;
    github.server.answer = (request) => (isPost(request) ? { status: 403, body: { message } } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow(/: Denied for \*\*\* 2026 forged line$/);
    expect(posts(github.server)).toBe(1);
  });

  test.each([1, 2, 3])("opens one only, although the response to create number %d is lost", async (lost) => {
    await using github = await setUp();
    github.server.answer = (request) => {
      if (!isPost(request)) return undefined;
      if (posts(github.server) === lost) github.server.add("agent/job_1");
      return { status: 502, body: "<html>" };
    };
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(posts(github.server)).toBe(lost);
  });

  test("finds it again if GitHub's list does not show it at once", async () => {
    await using github = await setUp();
    github.server.add("agent/job_1");
    github.server.answer = (request) =>
      request.includes("head=") && posts(github.server) === 0 ? { status: 200, body: [] } : undefined;
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(posts(github.server)).toBe(1);
  });

  test("fails after three tries if GitHub is down", async () => {
    await using github = await setUp();
    github.server.answer = () => ({ status: 503, body: "" });
    await expect(github.pulls.open(change)).rejects.toThrow("GitHub answered 503");
    expect(github.server.requests).toHaveLength(4);
    await github.server[Symbol.asyncDispose]();
    await expect(github.pulls.open(change)).rejects.toThrow(/GitHub did not respond .*ECONNREFUSED/);
  });
});

describe("GitHub's rate limit", () => {
  const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds);

  test.each([
    ["429 with Retry-After", 429, "Too many", { "retry-after": "3" }, "3"],
    ["403 with Retry-After", 403, "Slow down", { "retry-after": "120" }, "120"],
    ["a secondary limit without a time", 403, "You have exceeded a secondary rate limit", {}, "60"],
    ["429 without a time", 429, "", {}, "60"],
    ["429 with a time that is not a number", 429, "", { "retry-after": "soon" }, "60"],
    [
      "no requests left",
      403,
      "API rate limit exceeded",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inSeconds(100) },
      "\\d+",
    ],
    [
      "no requests left, by GitHub's clock",
      429,
      "",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000010", date: "Mon, 12 Jan 1970 13:46:40 GMT" },
      "11",
    ],
  ])("is waited for and logged: %s", async (_name, status, message, headers, seconds) => {
    await using github = await setUp();
    const link = github.server.link(github.server.add().number);
    github.server.answer = () =>
      github.server.requests.length === 1 ? { status, body: { message }, headers } : undefined;
    expect(await github.pulls.stateOf(ref(link))).toBe("open");
    expect(github.server.requests).toHaveLength(2);
    const line = `^Reading the state of ${link}: GitHub's rate limit is reached, waiting ${seconds} s\\.$`;
    expect(github.log).toEqual([expect.stringMatching(new RegExp(line))]);
  });

  test("is waited for before a pull request is created", async () => {
    await using github = await setUp();
    github.server.answer = (request) =>
      isPost(request) && posts(github.server) === 1 ? { status: 403, headers: { "retry-after": "120" } } : undefined;
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(posts(github.server)).toBe(2);
    expect(github.log).toEqual([
      "Opening the pull request of agent/job_1: GitHub's rate limit is reached, waiting 120 s.",
    ]);
  });

  test("is not what any other 403 means", async () => {
    await using github = await setUp();
    const headers = { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": inSeconds(100) };
    github.server.answer = (request) => (isPost(request) ? { status: 403, headers } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow("GitHub answered 403");
    expect(posts(github.server)).toBe(1);
  });

  test("is waited for an hour at most", async () => {
    await using github = await setUp();
    github.server.answer = () => {
      const isFirst = github.server.requests.length === 1;
      return { status: 429, headers: { "retry-after": isFirst ? "3600" : "100" } };
    };
    await expect(github.pulls.stateOf(ref(github.server.link(1)))).rejects.toThrow("GitHub answered 429");
    expect(github.server.requests).toHaveLength(2);
    expect(github.log).toHaveLength(1);
  });

  test("is waited for ten times at most", async () => {
    await using github = await setUp();
    github.server.answer = () => ({ status: 429, headers: { "retry-after": "0" } });
    await expect(github.pulls.stateOf(ref(github.server.link(1)))).rejects.toThrow("GitHub answered 429");
    expect(github.server.requests).toHaveLength(11);
  });

  test("is not waited for when the service stops", async () => {
    await using github = await setUp({ secondMs: 1000 });
    github.server.answer = (request) =>
      isPost(request) ? { status: 429, headers: { "retry-after": "3000" } } : undefined;
    const opened = github.pulls.open(change);
    const rejected = expect(opened).rejects.toThrow("aborted");
    while (github.log.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    github.stop.abort();
    await rejected;
    expect(posts(github.server)).toBe(1);
  });

  test("ends rounds for an hour at most", async () => {
    await using github = await setUp();
    const link = github.server.link(github.server.add().number);
    github.server.answer = () => ({ status: 403, headers: { "retry-after": "999999999" } });
    await expect(github.pulls.findClosed([ref(link)])).rejects.toThrow("GitHub answered 403");
    github.server.answer = () => undefined;
    github.clock.now += 3_600_000;
    await expect(github.pulls.findClosed([ref(link)])).rejects.toThrow("GitHub answered 403");
    github.clock.now += 60_000;
    expect(await github.pulls.findClosed([ref(link)])).toEqual(new Set());
  });

  test.each([
    ["403 with Retry-After", { status: 403, headers: { "retry-after": "600" } }, 600],
    ["429 with a time that is not a number", { status: 429, headers: { "retry-after": "soon" } }, 60],
    ["a secondary limit", { status: 403, body: { message: "You have exceeded a secondary rate limit" } }, 60],
  ])("ends a round, and no other one asks before its end: %s", async (_name, answer, seconds) => {
    await using github = await setUp();
    const link = github.server.link(github.server.add().number);
    github.server.answer = () => answer;
    for (let round = 0; round < 3; round++)
      await expect(github.pulls.findClosed([ref(link)])).rejects.toThrow(`GitHub answered ${answer.status}`);
    expect(github.server.requests).toHaveLength(1);
    expect(github.log).toEqual([]);
    github.server.answer = () => undefined;
    github.server.close(1);
    github.clock.now += seconds * 1000 - 1;
    await expect(github.pulls.findClosed([ref(link)])).rejects.toThrow(`GitHub answered ${answer.status}`);
    github.clock.now += 1;
    expect(await github.pulls.findClosed([ref(link)])).toEqual(new Set([link]));
  });
});

describe("a repository that was renamed or transferred", () => {
  test("works on, which is logged once with what to do", async () => {
    await using github = await setUp();
    const { server, pulls, log } = github;
    const before = await pulls.open(change);
    server.name = "beta/manual";
    const second = { ...change, jobId: "job_2", branch: "agent/job_2" };
    const after = await pulls.open(second);
    expect([before, after]).toEqual(["https://github.com/acme/docs/pull/1", "https://github.com/beta/manual/pull/2"]);
    expect(await pulls.open(second)).toBe(after);
    expect(posts(server)).toBe(3);
    expect(server.pulls.size).toBe(2);
    expect(await pulls.findClosed([ref(before), ref(after)])).toEqual(new Set());
    server.close(1);
    server.close(2, true);
    expect(await pulls.findClosed([ref(before), ref(after)])).toEqual(new Set([before, after]));
    expect([await pulls.stateOf(ref(before)), await pulls.stateOf(ref(after))]).toEqual(["closed", "merged"]);
    expect(log).toEqual([
      expect.stringMatching(
        /^acme\/docs has been renamed on GitHub: it is now beta\/manual\. .*--repository and --github\.$/,
      ),
    ]);
  });

  test("is noticed and logged once when the service starts, too", async () => {
    await using github = await setUp();
    github.server.name = "beta/manual";
    await github.pulls.checkToken();
    await github.pulls.open(change);
    expect(github.server.requests.filter((request) => request === "GET /repos/acme/docs")).toHaveLength(1);
    await github.pulls.checkToken();
    expect(github.log).toEqual([
      expect.stringMatching(/^acme\/docs has been renamed on GitHub: it is now beta\/manual\./),
    ]);
  });

  test("finds its pull request by the new owner, also in the first request after the transfer", async () => {
    await using github = await setUp();
    github.server.add("agent/job_1");
    github.server.name = "beta/manual";
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(posts(github.server)).toBe(0);
  });

  test("has pull requests with its old name in the link, also if the service is configured with the new one", async () => {
    await using github = await setUp({ configured: "beta/manual" });
    const { server, pulls, log } = github;
    server.name = "beta/manual";
    server.add();
    server.close(1);
    const old = "https://github.com/acme/docs/pull/1";
    const links = [old, "https://github.com/else/where/pull/1", "https://elsewhere.example/acme/docs/pull/1"];
    for (let round = 0; round < 2; round++) expect(await pulls.findClosed(links.map(ref))).toEqual(new Set([old]));
    expect(server.requests.filter((request) => request === "GET /repos/else/where")).toHaveLength(1);
    expect(server.requests.filter((request) => request === "GET /repos/acme/docs")).toHaveLength(1);
    // The redirect of another name does not mean that this one was renamed.
    expect(server.requests.filter((request) => request === "GET /repos/beta/manual")).toHaveLength(1);
    expect(log).toEqual([]);
  });

  test("has only the configured name if GitHub does not say who it is", async () => {
    await using github = await setUp();
    const link = github.server.link(github.server.add().number);
    const other = "https://github.com/else/where/pull/1";
    github.server.close(1);
    const down = { status: 500, body: "" };
    github.server.answer = (request) => (request === "GET /repos/acme/docs" ? down : undefined);
    await expect(github.pulls.findClosed([ref(link), ref(other)])).rejects.toThrow("GitHub answered 500");
    github.server.answer = (request) => (request === "GET /repos/acme/docs" ? { status: 404 } : undefined);
    expect(await github.pulls.findClosed([ref(link), ref(other)])).toEqual(new Set([link]));
  });

  test("works on if GitHub does not say its new name", async () => {
    await using github = await setUp();
    const isRead = (request: string) => request === "GET /repositories/7";
    github.server.name = "beta/manual";
    github.server.answer = (request) => (isRead(request) ? { status: 500, body: "" } : undefined);
    const link = await github.pulls.open(change);
    expect(link).toBe(github.server.link(1));
    expect(await github.pulls.stateOf(ref("https://github.com/acme/docs/pull/1"))).toBe("open");
    expect(github.server.requests.filter(isRead)).toHaveLength(1);
    expect(github.log).toEqual([expect.stringMatching(/^acme\/docs has been renamed on GitHub/)]);
  });

  test.each(["301", "302", "307", "308"])("gets the token to no other origin, with %s", async (status) => {
    await using github = await setUp();
    await using other = await startPullRequestServer();
    github.server.answer = (request) => {
      const location = other.url + (request.split(" ")[1] ?? "");
      return { status: Number(status), headers: { location } };
    };
    await expect(github.pulls.open(change)).rejects.toThrow(
      `the token is not sent to ${other.url}, where GitHub redirects`,
    );
    await expect(github.pulls.stateOf(ref(github.server.link(1)))).rejects.toThrow("the token is not sent");
    expect(other.requests).toEqual([]);
  });

  test("is not followed in a circle", async () => {
    await using github = await setUp();
    github.server.answer = (request) => ({ status: 302, headers: { location: request.split(" ")[1] ?? "" } });
    await expect(github.pulls.open(change)).rejects.toThrow("GitHub redirects in a circle");
    expect(github.server.requests).toHaveLength(4);
  });
});

describe("the token", () => {
  test("is accepted if it can push, and if GitHub does not say so", async () => {
    await using github = await setUp();
    await github.pulls.checkToken();
    for (const permissions of [undefined, null, {}]) {
      github.server.repository = { permissions };
      await github.pulls.checkToken();
    }
    expect(github.log).toEqual([]);
    expect(github.server.headers.every(({ authorization }) => authorization?.endsWith(token))).toBe(true);
  });

  test("is rejected if it cannot push, except for that of an app, which GitHub says of all of them", async () => {
    await using github = await setUp();
    github.server.repository = { permissions: { push: false } };
    await expect(github.pulls.checkToken()).rejects.toThrow(
      "GITHUB_TOKEN needs write access to contents and pull requests of acme/docs. It can only read it.",
    );
    github.server.answer = (request) =>
      request.includes("/installation/") ? { status: 200, body: { total_count: 1 } } : undefined;
    await github.pulls.checkToken();
  });

  test.each([
    [401, "Bad credentials"],
    [403, "Resource protected by organization SAML enforcement"],
    [404, "Not Found"],
  ])("is rejected with status %d", async (status, message) => {
    await using github = await setUp();
    github.server.answer = () => ({ status, body: { message } });
    await expect(github.pulls.checkToken()).rejects.toThrow(
      "GITHUB_TOKEN needs write access to contents and pull requests of acme/docs. " +
        `GitHub answered ${status} to GET /repos/acme/docs: ${message}`,
    );
  });

  test("is rejected if the address is not that of GitHub's API", async () => {
    await using github = await setUp();
    github.server.answer = () => ({ status: 200, body: "<html>", headers: { "content-type": "text/html" } });
    await expect(github.pulls.checkToken()).rejects.toThrow("check --github-api");
    github.server.answer = () => ({ status: 301, headers: { location: "https://github.example/api/v3" } });
    await expect(github.pulls.checkToken()).rejects.toThrow("https://github.example, where GitHub redirects");
  });

  test.each([
    ["is down", { status: 503, body: "" }],
    ["limits the rate", { status: 403, headers: { "retry-after": "60" } }],
  ])("is not checked while GitHub %s, which is logged", async (_name, answer) => {
    await using github = await setUp();
    github.server.answer = () => answer;
    await github.pulls.checkToken();
    github.server.repository = { permissions: { push: false } };
    github.server.answer = (request) => (request.includes("/installation/") ? answer : undefined);
    await github.pulls.checkToken();
    await github.server[Symbol.asyncDispose]();
    await github.pulls.checkToken();
    const line = /^Cannot check GITHUB_TOKEN, so jobs may fail when they push or open pull requests\. GitHub /;
    expect(github.log).toEqual([1, 2, 3].map(() => expect.stringMatching(line)));
  });
});

describe("a round", () => {
  /** Adds open pull requests, and returns them as the service knows them. */
  const addPulls = ({ server }: Setup, count: number) =>
    Array.from({ length: count }, () => ref(server.link(server.add().number)));
  /** Runs a round a minute after the last one. Returns what it found and its requests. */
  const round = async ({ server, pulls, clock }: Setup, refs: readonly ReturnType<typeof ref>[]) => {
    clock.now += 60_000;
    server.requests.length = 0;
    const closed = await pulls.findClosed(refs);
    return { closed: [...closed], requests: [...server.requests] };
  };
  const numbered = (requests: readonly string[]) => requests.filter((request) => /\/pulls\/\d+$/.test(request)).length;

  test("asks nothing if there is nothing to ask for", async () => {
    await using github = await setUp();
    expect(await round(github, [])).toEqual({ closed: [], requests: [] });
    expect(await round(github, [ref("http://127.0.0.1:4100/pull/2")])).toEqual({ closed: [], requests: [] });
  });

  test("is one request if nothing was closed, however many are open, and GitHub need not count it", async () => {
    await using github = await setUp();
    const refs = addPulls(github, 250);
    github.server.close(250);
    expect(await round(github, refs)).toMatchObject({ closed: [github.server.link(250)], requests: { length: 4 } });
    const open = refs.slice(0, 249);
    for (let count = 0; count < 3; count++) {
      const { closed, requests } = await round(github, open);
      expect(closed).toEqual([]);
      expect(requests).toHaveLength(1);
      expect(github.server.headers.at(-1)?.["if-none-match"]).toBeDefined();
    }
  });

  test("finds what was merged or closed since the last one", async () => {
    await using github = await setUp();
    const refs = addPulls(github, 5);
    await round(github, refs);
    github.server.close(2, true);
    github.server.close(4);
    const { closed, requests } = await round(github, refs);
    expect(closed).toEqual([github.server.link(2), github.server.link(4)]);
    expect(requests).toHaveLength(1);
  });

  test("finds more than a page of them, and compares all if there are too many pages", async () => {
    await using github = await setUp();
    let asked = addPulls(github, 900).slice(0, 800);
    const next = async () => {
      const result = await round(github, asked);
      asked = asked.filter(({ link }) => !result.closed.includes(link));
      return { closed: result.closed.length, requests: result.requests.length };
    };
    for (let number = 801; number < 900; number++) github.server.close(number);
    github.server.now += 3_600_000;
    github.server.close(900);
    await next();
    for (let number = 1; number <= 150; number++) github.server.close(number);
    expect(await next()).toEqual({ closed: 150, requests: 2 });
    github.server.now += 3_600_000;
    for (let number = 151; number <= 750; number++) github.server.close(number);
    expect(await next()).toEqual({ closed: 500, requests: 5 });
    expect((await next()).closed).toBe(100);
    expect(await next()).toEqual({ closed: 0, requests: 1 });
  });

  test("reads one by one what is asked for the first time, or again after a while", async () => {
    await using github = await setUp();
    const [one, two] = addPulls(github, 2);
    if (!one || !two) throw new Error("no pull requests");
    await round(github, [one]);
    expect(numbered((await round(github, [one, two])).requests)).toBe(1);
    expect(numbered((await round(github, [one, two])).requests)).toBe(0);
    // The job of the first runs while its pull request is closed.
    await round(github, [two]);
    github.server.close(1);
    await round(github, [two]);
    const { closed, requests } = await round(github, [one, two]);
    expect(closed).toEqual([one.link]);
    expect(numbered(requests)).toBe(1);
  });

  test("finds again what it found before, as long as it is asked", async () => {
    await using github = await setUp();
    const refs = addPulls(github, 2);
    await round(github, refs);
    github.server.close(1);
    for (let count = 0; count < 3; count++) expect((await round(github, refs)).closed).toEqual([github.server.link(1)]);
  });

  test("loses no closing if it fails", async () => {
    await using github = await setUp();
    const refs = addPulls(github, 3);
    await round(github, refs.slice(0, 2));
    github.server.close(1);
    let isDown = true;
    github.server.answer = (request) => (isDown && /\/pulls\/3$/.test(request) ? { status: 429 } : undefined);
    // What was found is returned, and here the caller does not get to use it.
    expect((await round(github, refs)).closed).toEqual([github.server.link(1)]);
    github.server.answer = () => (isDown ? { status: 500 } : undefined);
    await expect(round(github, refs)).rejects.toThrow("GitHub answered 500");
    isDown = false;
    expect((await round(github, refs)).closed).toEqual([github.server.link(1)]);
  });

  test("compares with all open ones every few hours, for what GitHub's list of closed ones did not show", async () => {
    await using github = await setUp();
    const refs = addPulls(github, 2);
    await round(github, refs);
    const hidden = github.server.pulls.get(1);
    if (hidden) hidden.state = "closed";
    github.server.answer = (request) => (request.includes("state=closed") ? { status: 200, body: [] } : undefined);
    github.clock.now += 238 * 60_000;
    expect((await round(github, refs)).closed).toEqual([]);
    expect((await round(github, refs)).closed).toEqual([github.server.link(1)]);
  });

  test("asks ever less often for those that GitHub does not know, and logs each once", async () => {
    await using github = await setUp();
    const refs = Array.from({ length: 120 }, (_, index) => ref(github.server.link(1000 + index)));
    const next = async (minutes: number) => {
      github.clock.now += (minutes - 1) * 60_000;
      const { closed, requests } = await round(github, refs);
      expect(closed).toEqual([]);
      expect(requests.length - numbered(requests)).toBeLessThanOrEqual(2);
      return numbered(requests);
    };
    expect([await next(1), await next(1), await next(1)]).toEqual([100, 20, 0]);
    // The first pause is an hour, the next ones are four times as long, and at most a day.
    for (const hours of [1, 4, 16, 24, 24]) {
      expect(await next(hours * 60 - 3)).toBe(0);
      expect([await next(3), await next(1), await next(1)]).toEqual([100, 20, 0]);
    }
    expect(github.log).toHaveLength(120);
    expect(github.log[0]).toMatch(
      /^Cannot read the state of \S+\/pull\/1000, treated as open: GitHub answered 404 to GET \/repos\/acme\/docs\/pulls\/1000: Not Found$/,
    );
  });

  test("does not believe a list that says open for closed ones, or closed for open ones", async () => {
    await using github = await setUp();
    const refs = addPulls(github, 2);
    github.server.close(2);
    const item = (number: number, state: string) => ({ html_url: github.server.link(number), state, merged_at: null });
    github.server.answer = (request) => {
      if (request.includes("state=closed")) return { status: 200, body: [item(1, "open")] };
      return request.includes("state=open") ? { status: 200, body: [item(1, "open"), item(2, "closed")] } : undefined;
    };
    expect((await round(github, refs)).closed).toEqual([github.server.link(2)]);
  });

  test("finds the closed ones even if the state of another cannot be read", async () => {
    await using github = await setUp();
    const refs = addPulls(github, 3);
    github.server.close(2);
    github.server.answer = (request) => {
      if (request.includes("state=")) return { status: 200, body: [] };
      return request.endsWith("/pulls/1") ? { status: 500, body: { message: "Oops" } } : undefined;
    };
    const { closed, requests } = await round(github, refs);
    expect(closed).toEqual([github.server.link(2)]);
    expect(numbered(requests)).toBe(3);
    expect(github.log).toEqual([expect.stringMatching(/pull\/1, treated as open: GitHub answered 500 .*Oops/)]);
    // Again after a minute.
    expect(numbered((await round(github, refs)).requests)).toBe(2);
  });

  test.each([
    ["not a list", {}],
    ["not a list of pull requests", [{ html_url: "x" }]],
  ])("fails if GitHub's response is %s", async (_name, body) => {
    await using github = await setUp();
    github.server.answer = () => ({ status: 200, body });
    await expect(github.pulls.findClosed([ref(github.server.link(1))])).rejects.toThrow("not a list of pull requests");
  });
});

test("finds a merged and a closed pull request on an emulated GitHub", async () => {
  const github = await createEmulator({
    service: "github",
    port: 0,
    seed: {
      tokens: { [token]: { login: "acme", scopes: ["repo"] } },
      github: { users: [{ login: "acme" }], repos: [{ owner: "acme", name: "docs", auto_init: true }] },
    },
  });
  try {
    const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const response = await fetch(`${github.url}/repos/acme/docs${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return response.json();
    };
    const { object } = (await call("GET", "/git/ref/heads/main")) as { object: { sha: string } };
    const log: string[] = [];
    const repository = { apiUrl: github.url, owner: "acme", name: "docs", token };
    const { signal } = new AbortController();
    const pulls = new GitHubPullRequests({ repository, signal, log: (line) => void log.push(line), secondMs: 1 });
    await pulls.checkToken();
    const refs: ReturnType<typeof ref>[] = [];
    for (const job of ["one", "two", "three"]) {
      const branch = `agent/${job}`;
      await call("POST", "/git/refs", { ref: `refs/heads/${branch}`, sha: object.sha });
      await call("PUT", `/contents/${job}.md`, { message: job, content: "eA==", branch });
      refs.push({ link: await pulls.open({ ...change, branch }), branch, head: "b" });
    }
    expect(await pulls.findClosed(refs)).toEqual(new Set());
    const numbers = refs.map(({ link }) => link.split("/").at(-1));
    await call("PUT", `/pulls/${numbers[0]}/merge`, {});
    await call("PATCH", `/pulls/${numbers[1]}`, { state: "closed" });
    const states = await Promise.all(refs.map((one) => pulls.stateOf(one)));
    expect(states).toEqual(["merged", "closed", "open"]);
    expect(await pulls.findClosed(refs)).toEqual(new Set(refs.slice(0, 2).map(({ link }) => link)));
    expect(log).toEqual([]);
  } finally {
    await github.close();
  }
});
