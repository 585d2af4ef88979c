import { describe, expect, test } from "vitest";
import { listen } from "../../src/service/http/listen.ts";
import { GitHubPullRequests } from "../../src/service/pulls/github.ts";

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

/** Starts a fake GitHub. `answer` returns the response to a request such as `GET /pulls`. */
async function startGitHub(answer: (request: string, body: string) => { status?: number; body: unknown }) {
  const server = await listen(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const route = `${request.method} ${(request.url ?? "").replace("/repos/acme/docs", "").split("?")[0]}`;
    const { status = 200, body: data } = answer(route, body);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof data === "string" ? data : JSON.stringify(data));
  });
  const repository = { apiUrl: server.url, owner: "acme", name: "docs", token: "t" };
  const log: string[] = [];
  const { signal } = new AbortController();
  const pulls = new GitHubPullRequests({ repository, signal, log: (line) => void log.push(line) });
  return { pulls, log, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const pull = (number: number, fields = {}) => ({
  html_url: `https://github.com/acme/docs/pull/${number}`,
  state: "open",
  merged_at: null,
  ...fields,
});
const link = (number: number) => ({ link: pull(number).html_url, branch: "agent/x", head: "b" });

test.each([
  ["javascript:", "javascript:alert(1)"],
  ["a link with credentials", "https://u:p@evil.example/pull/1"],
  ["a line break", "https://x/\n::set-output/pull/1"],
  ["a very long link", `https://x/${"y".repeat(3000)}/pull/1`],
])("rejects %s as the link of a pull request", async (_name, html_url) => {
  await using github = await startGitHub((request) => ({
    body: request.startsWith("GET") ? [] : pull(1, { html_url }),
  }));
  await expect(github.pulls.open(change)).rejects.toThrow("not a pull request");
});

test("does not retry a permanent HTTP error, and reports the reason that GitHub gives", async () => {
  let posts = 0;
  await using github = await startGitHub((request) => {
    if (request.startsWith("POST")) posts++;
    return request.startsWith("GET")
      ? { body: [] }
      : { status: 422, body: { message: "No commits between main and agent" } };
  });
  await expect(github.pulls.open(change)).rejects.toThrow(/422.*No commits between/);
  expect(posts).toBe(1);
});

test("retries a transient HTTP error, and finds the pull request if it was opened after all", async () => {
  let posts = 0;
  await using github = await startGitHub((request) => {
    if (request.startsWith("GET")) return { body: posts > 0 ? [pull(7)] : [] };
    posts++;
    return { status: 502, body: "<html>" };
  });
  expect(await github.pulls.open(change)).toBe(pull(7).html_url);
  expect(posts).toBe(1);
});

test("truncates a prompt that is too long for GitHub", async () => {
  let sent = "";
  await using github = await startGitHub((request, body) => {
    if (request.startsWith("GET")) return { body: [] };
    sent = body;
    return { status: 201, body: pull(1) };
  });
  await github.pulls.open({ ...change, prompt: "`x".repeat(200_000) });
  expect(JSON.parse(sent).body.length).toBeLessThan(65_536);
});

describe("findClosed", () => {
  const answer = (request: string) => {
    if (request === "GET /pulls") return { body: [pull(1)] };
    if (request === "GET /pulls/2") return { body: pull(2, { state: "closed", merged_at: "2026-01-01T00:00:00Z" }) };
    return { status: 404, body: { message: "Not Found" } };
  };

  test("returns the closed ones even if the state of another cannot be read", async () => {
    await using github = await startGitHub(answer);
    const elsewhere = { link: "http://127.0.0.1:4100/pull/2", branch: "agent/x", head: "b" };
    const pulls = [link(1), link(2), link(3), elsewhere];
    expect(await github.pulls.findClosed(pulls)).toEqual(new Set([pull(2).html_url]));
    expect(await github.pulls.stateOf(link(2))).toBe("merged");
  });

  test("logs a state that cannot be read once per pull request, with the reason", async () => {
    await using github = await startGitHub(answer);
    for (let round = 0; round < 3; round++) await github.pulls.findClosed([link(3), link(4)]);
    expect(github.log).toEqual(
      [3, 4].map((number) =>
        expect.stringMatching(
          new RegExp(`^Cannot read the state of \\S+/pull/${number}, treated as open: GitHub answered 404 .*Not Found`),
        ),
      ),
    );
  });
});
