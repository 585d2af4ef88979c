import { expect, test } from "vitest";
import { runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { idToken } from "../../../support/id-token.ts";
import { record, respondWith } from "../../../support/run-main.ts";
import { completes } from "../../../support/thread.ts";
import { runThreadEvent } from "../../../support/thread-event-run.ts";

const token = idToken();
const environment = {
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://tokens.example/idtoken",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "runner-request-token-0123456789",
};
const inputs = { "api-key": "", auth: "github-oidc", "base-url": "https://agents.example" };
const withTokens =
  (respond: (request: SeenRequest) => Exchange) =>
  (request: SeenRequest): Exchange =>
    request.path === "/idtoken" ? respondWith(200, { value: token }) : respond(request);

test("a comment starts a job with a token of the workflow run", async () => {
  const github = new FakeGitHub();
  const { outputs, requests } = await runComment(github, { inputs, environment, respond: withTokens(completes) });
  expect(outputs.outcome).toBe("pr-created");
  expect(requests.map(({ path }) => path).filter((path) => path === "/idtoken")).toHaveLength(1);
  const jobRequests = requests.filter(({ path }) => path !== "/idtoken");
  expect(jobRequests.length).toBeGreaterThan(1);
  for (const { headers } of jobRequests) expect(headers.authorization).toBe(`Bearer ${token}`);
});

test("a reply never shows a token that the service echoes", async () => {
  const github = new FakeGitHub();
  const respond = () => respondWith(201, record({ status: "failed", model: token, source: { ref: `at ${token}` } }));
  await runComment(github, { inputs, environment, respond: withTokens(respond) });
  expect(github.comments.at(-1)?.body).toContain("Job failed");
  expect(JSON.stringify(github.comments)).not.toContain(token);
});

test("no token is requested for someone who may not start a job", async () => {
  const github = new FakeGitHub();
  github.permission = { permission: "read", role_name: "read" };
  const { outputs, requests } = await runComment(github, { inputs, environment, respond: withTokens(completes) });
  expect(outputs["skip-reason"]).toBe("not-permitted");
  expect(requests).toEqual([]);
});

test("a pull request from a fork, for which GitHub issues no token, is skipped", async () => {
  const github = new FakeGitHub();
  const fork = { head: { sha: "a", repo: { id: 2, full_name: "stranger/docs" } }, base: { sha: "b", repo: { id: 1 } } };
  const { outputs, hasPassed } = await runThreadEvent(github, "pull_request", "opened", {
    inputs,
    subject: { ...fork, body: "/agent fix it" },
  });
  expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": "fork" });
  expect(hasPassed).toBe(true);
});
