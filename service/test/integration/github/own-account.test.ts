import { expect, onTestFinished, test } from "vitest";
import { change, startGitHubPullRequests } from "../../support/github-pull-requests.ts";
import type { ServedResponse } from "../../support/pull-request-server.ts";

const viewer: ServedResponse = { status: 200, body: { data: { viewer: { login: "docs-bot[bot]", databaseId: 7 } } } };
const denied: ServedResponse = { status: 403, body: { message: "Resource not accessible by integration" } };

/** Starts a GitHub that answers requests to some paths. */
async function setUp(answers: Record<string, ServedResponse>) {
  const github = await startGitHubPullRequests();
  github.server.answer = (request) => answers[request];
  return github;
}

test("is what GraphQL tells of the token, asked once", async () => {
  const { pulls, server } = await setUp({ "POST /graphql": viewer });
  for (const isWorkflowToken of [true, false])
    expect(await pulls.ownAccount(isWorkflowToken)).toEqual({ login: "docs-bot[bot]", id: 7 });
  expect(server.requests).toEqual(["POST /graphql"]);
});

test("of a workflow's token is the one of GitHub Actions if GraphQL cannot be used", async () => {
  const { pulls } = await setUp({ "POST /graphql": denied, "GET /user": denied });
  expect(await pulls.ownAccount(true)).toEqual({ login: "github-actions[bot]", id: undefined });
});

test("of a person's token is what REST tells if GraphQL cannot be used", async () => {
  const { pulls } = await setUp({
    "POST /graphql": { status: 200, body: { errors: [{ type: "FORBIDDEN" }] } },
    "GET /user": { status: 200, body: { login: "writer", id: 9 } },
  });
  expect(await pulls.ownAccount(false)).toEqual({ login: "writer", id: 9 });
});

test("is unknown if GitHub tells it nowhere", async () => {
  const { pulls } = await setUp({ "POST /graphql": denied, "GET /user": denied });
  expect(await pulls.ownAccount(false)).toBeUndefined();
});

test.each<[string, unknown, boolean]>([
  ["fails inside", { data: null, errors: [{ message: "Something went wrong while executing your query" }] }, true],
  ["answers nonsense", {}, true],
  ["denies it", { data: null, errors: [{ type: "FORBIDDEN" }] }, false],
])("is unknown for an App's token only if GraphQL denies it, not if it %s", async (_what, body, isUnclear) => {
  const { pulls } = await setUp({ "POST /graphql": { status: 200, body }, "GET /user": denied });
  const asked = pulls.ownAccount(false);
  await (isUnclear ? expect(asked).rejects.toThrow("which account") : expect(asked).resolves.toBeUndefined());
});

test.each<[string, ServedResponse]>([
  ["is down", { status: 502, body: "" }],
  [
    "has a rate limit",
    { status: 200, body: { errors: [{ type: "RATE_LIMITED" }] }, headers: { "x-ratelimit-reset": "4000000000" } },
  ],
])("is asked again if GitHub %s", async (_what, failure) => {
  const { pulls, server } = await setUp({ "POST /graphql": failure });
  await expect(pulls.ownAccount(true)).rejects.toThrow();
  server.answer = (request) => (request === "POST /graphql" ? viewer : undefined);
  expect(await pulls.ownAccount(true)).toMatchObject({ id: 7 });
});

test("is asked for beside the REST API of an Enterprise Server", async () => {
  const { listen } = await import("../../../src/http/listen.ts");
  const { GitHubPullRequests } = await import("../../../src/pulls/github.ts");
  const requests: string[] = [];
  const server = await listen((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(viewer.body));
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const repository = { apiUrl: `${server.url}/api/v3`, owner: "acme", name: "docs", token: "token_0123456789" };
  const pulls = new GitHubPullRequests({ repository, signal: new AbortController().signal, log: () => {} });
  await pulls.ownAccount(true);
  expect(requests).toEqual(["POST /api/graphql"]);
});

test("has created a branch if GitHub's list of activities says so", async () => {
  const actor = { login: "docs-bot[bot]", id: 7 };
  const created = { ref: "refs/heads/agent/job_1", activity_type: "branch_creation", actor };
  const asked = (body: unknown, status = 200) => ({
    "GET /repos/acme/docs/activity?ref=refs%2Fheads%2Fagent%2Fjob_1&activity_type=branch_creation&per_page=100": {
      status,
      body,
    },
  });
  const hasCreated = async (answers: Record<string, ServedResponse>) =>
    (await setUp(answers)).pulls.hasCreated("agent/job_1", { login: "docs-bot[bot]", id: 7 });
  expect(await hasCreated(asked([created]))).toBe(true);
  expect(await hasCreated(asked([{ ...created, actor: { login: "writer", id: 9 } }]))).toBe(false);
  expect(await hasCreated(asked([{ ...created, ref: "refs/heads/agent/job_12" }]))).toBe(false);
  expect(await hasCreated(asked([{ ...created, activity_type: "push" }]))).toBe(false);
  expect(await hasCreated(asked([{ ...created, actor: null }]))).toBe(false);
  expect(await hasCreated(asked({ message: "Not Found" }, 404))).toBe(false);
  await expect(hasCreated(asked("", 500))).rejects.toThrow();
});

test("has only created a branch if GitHub lists nothing else of it, and no pull request", async () => {
  const actor = { login: "docs-bot[bot]", id: 7 };
  const [ref, after, timestamp] = ["refs/heads/agent/job_1", "a".repeat(40), "2026-01-01T00:00:00Z"];
  const created = { ref, activity_type: "branch_creation", actor, after, timestamp };
  const createdAt = async (list: unknown, pulls: unknown = []) => {
    const { pulls: own } = await setUp({
      "GET /repos/acme/docs/activity?ref=refs%2Fheads%2Fagent%2Fjob_1&per_page=100": { status: 200, body: list },
      "GET /repos/acme/docs/pulls?state=all&head=acme%3Aagent%2Fjob_1": { status: 200, body: pulls },
    });
    return own.onlyCreatedAt("agent/job_1", after, actor);
  };
  expect(await createdAt([created])).toBe(Date.parse(timestamp));
  expect(await createdAt([{ ...created, activity_type: "push" }, created])).toBeUndefined();
  expect(await createdAt([{ ...created, after: "b".repeat(40) }])).toBeUndefined();
  expect(await createdAt([{ ...created, actor: null }])).toBeUndefined();
  expect(await createdAt([{ ...created, timestamp: undefined }])).toBeUndefined();
  const pull = { html_url: "https://github.com/acme/docs/pull/1", state: "closed", merged_at: null };
  expect(await createdAt([created], [pull])).toBeUndefined();
});

test("finds its pull request by the branch", async () => {
  const { pulls, server } = await setUp({});
  const link = await pulls.open(change);
  const [pull] = server.pulls.values();
  const served = {
    html_url: link,
    state: "open",
    merged_at: null,
    created_at: "2026-01-01T00:00:00Z",
    user: { login: "docs-bot[bot]", id: 7 },
    head: { ref: change.branch, sha: "a".repeat(40), repo: { id: 7 } },
    base: { ref: "main", repo: { id: 7 } },
  };
  server.answer = (request) => (request.includes("state=all") ? { status: 200, body: [served] } : undefined);
  const account = { login: "docs-bot[bot]", id: 7 };
  expect(await pulls.findOwn(change.branch, account, "main")).toMatchObject({ link, state: pull?.state });
  expect(server.requests.at(-1)).toBe("GET /repos/acme/docs/pulls?state=all&head=acme%3Aagent%2Fjob_1&per_page=100");
  server.answer = () => ({ status: 200, body: [{ ...served, html_url: "https://example.com/acme/docs/pull/1" }] });
  await pulls.read({ link, branch: change.branch, head: "b" }).catch(() => {});
  await expect(pulls.findOwn(change.branch, { ...account, id: 8 }, "trunk")).resolves.toBeUndefined();
});
