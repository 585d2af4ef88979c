import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../../src/http/listen.ts";
import { checkAccess } from "../../../step/setup/access.ts";
import { SetupError } from "../../../step/setup/setup-error.ts";

const token = "ghs_0123456789";

interface Answer {
  status: number;
  body?: string;
  /** How often it answers with 401 before, because the token is new. */
  unknown?: number;
}

/** Starts a GitHub that answers so to the requests of a push and of a pull request. */
async function startGitHub({ push = { status: 200 }, pull = { status: 422 } }: { push?: Answer; pull?: Answer }) {
  const requests: { route: string; headers: Record<string, unknown>; body: string }[] = [];
  const server = await listen(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    requests.push({ route: `${request.method} ${request.url}`, headers: request.headers, body });
    const answer = request.method === "GET" ? push : pull;
    const isUnknown =
      requests.filter(({ route }) => route.startsWith(`${request.method} `)).length <= (answer.unknown ?? 0);
    if (isUnknown) return void response.writeHead(401).end();
    response.writeHead(answer.status, { location: "/elsewhere" }).end(answer.body ?? "{}");
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const log: string[] = [];
  const github = { apiUrl: `${server.url}/api/v3`, owner: "acme", name: "docs", token };
  const access = { repository: `${server.url}/acme/docs.git`, github };
  return { access, requests, log, check: () => checkAccess(access, (line) => void log.push(line), 1) };
}

test("asks GitHub for the start of a push, and for a pull request that cannot be", async () => {
  const { requests, log, check } = await startGitHub({});
  await check();
  const [push, pull] = requests.sort((one, other) => one.route.localeCompare(other.route));
  expect(push).toMatchObject({
    route: "GET /acme/docs.git/info/refs?service=git-receive-pack",
    headers: { authorization: `Basic ${btoa(`x-access-token:${token}`)}` },
  });
  expect(pull).toMatchObject({
    route: "POST /api/v3/repos/acme/docs/pulls",
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "user-agent": "agent-job-service",
      "x-github-api-version": "2022-11-28",
    },
  });
  // Without a title.
  expect(Object.keys(JSON.parse(pull?.body ?? ""))).toEqual(["head", "base"]);
  expect(log).toEqual([]);
});

const setting = JSON.stringify({ message: "GitHub Actions is not permitted to create or approve pull requests." });

test.each<[string, Parameters<typeof startGitHub>[0], string, string]>([
  ["is not valid", { push: { status: 401 } }, "The token is not valid", "GitHub rejected `github-token` for acme/docs"],
  [
    "may not write",
    { push: { status: 403 } },
    "The token may not push",
    "cannot be pushed to acme/docs: `github-token` may not write to it. ",
  ],
  [
    "may not see the repository",
    { push: { status: 404 } },
    "The token may not push",
    "cannot be pushed to acme/docs: it does not exist, or `github-token` has no access to it. ",
  ],
  [
    "may not open pull requests",
    { pull: { status: 403 } },
    "The token may not open pull requests",
    "no pull request opened. For the workflow's own repository, give the job `permissions: pull-requests: write`",
  ],
  [
    "may not open pull requests because of a setting",
    { pull: { status: 403, body: setting } },
    "The token may not open pull requests",
    'no pull request opened. Turn on "Allow GitHub Actions to create and approve pull requests"',
  ],
])("says so if the token %s", async (_what, answers, title, text) => {
  const { check, log } = await startGitHub(answers);
  const error = await check().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SetupError);
  expect(error).toMatchObject({ title, message: expect.stringContaining(text) });
  expect((error as SetupError).message).toMatch(/Nothing was started\.$/);
  expect(log).toEqual([]);
});

test.each([
  ["This repository was archived so it is read-only.", "Unarchive the repository."],
  [
    "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.",
    "Authorize the token for single sign-on (SSO) in the organization.",
  ],
  [
    "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and 1.2.3.4 is not permitted to access this resource.",
    "Add this machine's address to the organization's IP allow list, or run on a machine that is on it.",
  ],
])("says in GitHub's own words what it refuses to any request, with what to do: %s", async (message, advice) => {
  const body = JSON.stringify({ message, documentation_url: "https://docs.github.com/rest" });
  for (const answers of [{ push: { status: 403, body: message } }, { pull: { status: 403, body } }]) {
    const { check } = await startGitHub(answers);
    await expect(check()).rejects.toMatchObject({
      title: "GitHub refuses the token",
      message: `GitHub says: ${message} ${advice} Nothing was started.`,
    });
  }
});

test("asks again while GitHub does not know a new token, at most three times", async () => {
  const known = await startGitHub({ push: { status: 200, unknown: 3 }, pull: { status: 422, unknown: 1 } });
  await known.check();
  expect(known.requests).toHaveLength(6);
  const unknown = await startGitHub({ push: { status: 200, unknown: 4 } });
  await expect(unknown.check()).rejects.toMatchObject({ title: "The token is not valid" });
});

test.each<[string, Parameters<typeof startGitHub>[0]]>([
  ["fails", { push: { status: 500 }, pull: { status: 500 } }],
  ["redirects", { push: { status: 302 }, pull: { status: 302 } }],
  ["has no pull requests", { pull: { status: 404 } }],
  ["limits the rate", { pull: { status: 403, body: "You have exceeded a secondary rate limit." } }],
  ["limits pushes", { push: { status: 403, body: "You have exceeded a secondary rate limit." } }],
])("finds nothing wrong if GitHub %s", async (_what, answers) => {
  const { check, requests } = await startGitHub(answers);
  await check();
  expect(requests).toHaveLength(2);
});

test("logs that GitHub cannot be reached, and finds nothing wrong", async () => {
  const { access } = await startGitHub({});
  const log: string[] = [];
  await checkAccess({ ...access, repository: "http://127.0.0.1:1/acme/docs.git" }, (line) => void log.push(line));
  expect(log).toEqual(["Cannot check the token: fetch failed"]);
});
