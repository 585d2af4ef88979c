import { expect, test } from "vitest";
import { listen } from "../../src/service/http/listen.ts";
import { GitHubPullRequests } from "../../src/service/pulls/github.ts";

const change = { jobId: "job_1", title: "T", prompt: "P", branch: "agent/job_1", target: "main", base: "a", head: "b" };

/** Pull requests of a GitHub that answers each request, as `GET /pulls`, with what `answer` says. */
async function github(answer: (request: string, body: string) => { status?: number; body: unknown }) {
  const server = await listen(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const route = `${request.method} ${(request.url ?? "").replace("/repos/acme/docs", "").split("?")[0]}`;
    const { status = 200, body: data } = answer(route, body);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof data === "string" ? data : JSON.stringify(data));
  });
  const repository = { apiUrl: server.url, owner: "acme", name: "docs", token: "t" };
  const pulls = new GitHubPullRequests(repository, new AbortController().signal);
  return { pulls, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const pull = (number: number, fields = {}) => ({
  html_url: `https://github.com/acme/docs/pull/${number}`,
  state: "open",
  merged_at: null,
  ...fields,
});
const link = (number: number) => ({ link: pull(number).html_url, branch: "agent/x", head: "b" });

test.each([
  "javascript:alert(1)",
  "https://u:p@evil.example/pull/1",
  "https://x/\n::set-output/pull/1",
  `https://x/${"y".repeat(3000)}/pull/1`,
])("an answer with %j in place of a link is none", async (html_url) => {
  await using fake = await github((request) => ({ body: request.startsWith("GET") ? [] : pull(1, { html_url }) }));
  await expect(fake.pulls.open({ ...change, continues: null })).rejects.toThrow("no pull request");
});

test("what GitHub says of a refusal is passed on, and one that is firm is not tried again", async () => {
  let posts = 0;
  await using fake = await github((request) => {
    if (request.startsWith("POST")) posts++;
    return request.startsWith("GET")
      ? { body: [] }
      : { status: 422, body: { message: "No commits between main and agent" } };
  });
  await expect(fake.pulls.open({ ...change, continues: null })).rejects.toThrow(/422.*No commits between/);
  expect(posts).toBe(1);
});

test("a GitHub that is down for a moment is asked again, and finds what it has made meanwhile", async () => {
  let posts = 0;
  await using fake = await github((request) => {
    if (request.startsWith("GET")) return { body: posts > 0 ? [pull(7)] : [] };
    posts++;
    return { status: 502, body: "<html>" };
  });
  expect(await fake.pulls.open({ ...change, continues: null })).toBe(pull(7).html_url);
  expect(posts).toBe(1);
});

test("a prompt that is too long for GitHub is cut", async () => {
  let sent = "";
  await using fake = await github((request, body) => {
    if (request.startsWith("GET")) return { body: [] };
    sent = body;
    return { status: 201, body: pull(1) };
  });
  await fake.pulls.open({ ...change, prompt: "`x".repeat(200_000), continues: null });
  expect(JSON.parse(sent).body.length).toBeLessThan(65_536);
});

test("those that are closed are found, though one of them cannot be asked for", async () => {
  await using fake = await github((request) => {
    if (request === "GET /pulls") return { body: [pull(1)] };
    if (request === "GET /pulls/2") return { body: pull(2, { state: "closed", merged_at: "2026-01-01T00:00:00Z" }) };
    return { status: 404, body: { message: "Not Found" } };
  });
  const elsewhere = { link: "http://127.0.0.1:4100/pull/2", branch: "agent/x", head: "b" };
  expect(await fake.pulls.done([link(1), link(2), link(3), elsewhere])).toEqual(new Set([pull(2).html_url]));
  expect(await fake.pulls.stateOf(link(2))).toBe("merged");
});
