import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEmulator, type Emulator } from "emulate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGitHub } from "../support/github-server.ts";
import { inputsFor, type ScriptedService, startScriptedService } from "../support/scripted-service.ts";
import { temporaryFolder } from "../support/step.ts";
import { stepHere } from "../support/step-here.ts";
import { type ThreadEventOptions, threadPayload } from "../support/thread-event-run.ts";

const inputs = {
  "trigger-phrase": "/agent",
  "trigger-label": "docs please",
  "github-token": "bot_token_0123456789",
  prompt: "",
};

/** Runs the step that GitHub would start for an event. */
function run(
  service: ScriptedService,
  apiUrl: string,
  name: string,
  action: string,
  options: ThreadEventOptions = {},
): ReturnType<typeof stepHere> {
  const folder = temporaryFolder();
  const file = join(folder, "event.json");
  writeFileSync(file, JSON.stringify(threadPayload(name, action, options)));
  return stepHere(inputsFor(service, { ...inputs, ...options.inputs }), {
    folder,
    environment: {
      GITHUB_EVENT_NAME: name,
      GITHUB_EVENT_PATH: file,
      GITHUB_API_URL: apiUrl,
      GITHUB_SERVER_URL: "https://github.example",
      GITHUB_REPOSITORY: "acme/docs",
      GITHUB_RUN_ID: "99",
      GITHUB_RUN_ATTEMPT: "1",
      ...options.environment,
    },
  });
}

const postsOf = (service: ScriptedService) => service.requests.filter((request) => request.startsWith("POST"));

describe("with a stateful GitHub made elsewhere", () => {
  let github: Emulator;

  beforeAll(async () => {
    const people = ["acme", "docs-bot", "writer"];
    github = await createEmulator({
      service: "github",
      port: 0,
      seed: {
        tokens: Object.fromEntries([
          ...people.map((login) => [login, { login, scopes: ["repo"] }]),
          ["bot_token_0123456789", { login: "docs-bot", scopes: ["repo"] }],
        ]),
        github: {
          users: people.map((login) => ({ login })),
          repos: [{ owner: "acme", name: "docs", auto_init: true }],
        },
      },
    });
    await call("PUT", "/collaborators/docs-bot", { permission: "push" });
    await call("PUT", "/collaborators/writer", { permission: "push" });
    await call("POST", "/labels", { name: "Docs Please", color: "ededed" });
  });

  afterAll(() => github.close());

  async function call(method: string, path: string, body?: unknown, as = "acme"): Promise<unknown> {
    const response = await fetch(`${github.url}/repos/acme/docs${path}`, {
      method,
      headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.status === 204 ? undefined : response.json();
  }

  async function newIssue(text: string): Promise<number> {
    const issue = { title: "Links are broken", body: text, labels: ["Docs Please"] };
    return ((await call("POST", "/issues", issue)) as { number: number }).number;
  }

  async function stateOf(number: number): Promise<{ labels: string[]; replies: string[] }> {
    const issue = (await call("GET", `/issues/${number}`)) as { labels: { name: string }[] };
    const comments = (await call("GET", `/issues/${number}/comments`)) as { body: string }[];
    return { labels: issue.labels.map(({ name }) => name), replies: comments.map(({ body }) => body) };
  }

  test("a review with comments is one request, and its reply is in the conversation", async () => {
    await using service = await startScriptedService();
    const { sha } = (await call("GET", "/commits/main")) as { sha: string };
    await call("POST", "/git/refs", { ref: "refs/heads/topic", sha });
    const pull = { title: "Topic", head: "topic", base: "main" };
    const { number } = (await call("POST", "/pulls", pull, "writer")) as { number: number };
    const comments = [1, 2].map((position) => ({ path: "README.md", position, body: `/agent fix ${position}` }));
    const posted = { event: "COMMENT", body: "Thanks!", comments };
    const review = (await call("POST", `/pulls/${number}/reviews`, posted, "writer")) as { id: number; body: string };
    const { outputs } = await run(service, github.url, "pull_request_review", "submitted", {
      subject: { number },
      review: { id: review.id, body: review.body, html_url: `${github.url}/review` },
    });
    expect(outputs.outcome).toBe("pr-created");
    expect(service.engine.prompts[0]).toMatch(/^File: README\.md\nfix 1\n\nFile: README\.md\nfix 2\n\n---/);
    const [first] = (await call("GET", `/pulls/${number}/comments`)) as { id: number; body: string }[];
    const other = await run(service, github.url, "pull_request_review_comment", "created", {
      subject: { number },
      review: { id: first?.id, body: first?.body, pull_request_review_id: review.id },
    });
    expect(other.outputs["skip-reason"]).toBe("no-trigger");
    const replies = (await call("GET", `/issues/${number}/comments`)) as { body: string }[];
    expect(replies.map(({ body }) => body)).toEqual([
      expect.stringMatching(new RegExp(`Review</a>.* review=${review.id} step=[0-9a-f]{32} -->$`, "s")),
    ]);
  });

  test("a new issue with the phrase starts a job, and a label continues it, replies and is removed", async () => {
    await using service = await startScriptedService({ script: () => ({ durationMs: 100 }) });
    const body = "Hello\n/agent fix the quickstart";
    const number = await newIssue(body);
    const subject = { number, body, html_url: `${github.url}/acme/docs/issues/${number}` };
    const first = await run(service, github.url, "issues", "opened", { subject });
    expect((await stateOf(number)).labels).toEqual(["Docs Please"]);
    const second = await run(service, github.url, "issues", "labeled", {
      label: "Docs Please",
      subject,
      environment: { GITHUB_RUN_ID: "100" },
    });
    const { "job-id": job } = first.outputs;
    expect(second.outputs).toMatchObject({
      outcome: "pr-created",
      "job-id": job,
      author: "writer",
      "thread-url": subject.html_url,
    });
    expect(postsOf(service)).toEqual(["POST /v2/agent/docs/job", `POST /v2/agent/docs/job/${job}/message`]);
    expect(service.engine.prompts).toEqual([
      expect.stringMatching(/^fix the quickstart\n\n---\nAsked for in issue/),
      expect.stringMatching(/^Links are broken\n\nHello\n/),
    ]);
    expect(await stateOf(number)).toEqual({
      labels: [],
      replies: [
        expect.stringMatching(/Pull request created.*job=\S+ run=99 step=[0-9a-f]{32} -->$/s),
        expect.stringMatching(/Pull request .*job=\S+ ended run=100 step=[0-9a-f]{32} -->$/s),
      ],
    });
  });
});

describe("with a GitHub that has every route", () => {
  test("a label on a pull request from a fork starts a job, with the label's name encoded, and a re-run waits for it", async () => {
    await using service = await startScriptedService();
    await using github = await startGitHub();
    const label = "docs: 100 %/please";
    github.github.labels = [label];
    const options = { label, inputs: { "trigger-label": label } };
    const { outputs, annotations } = await run(service, github.url, "pull_request_target", "labeled", options);
    expect(outputs).toMatchObject({ outcome: "pr-created", author: "writer" });
    expect(annotations).toEqual([]);
    expect(github.github.reactions).toEqual(["eyes", "hooray"]);
    expect(github.github.labels).toEqual([]);
    expect(github.requests).toContain("POST /repos/acme/docs/issues/12/reactions");
    expect(github.requests).toContain("DELETE /repos/acme/docs/issues/12/labels/docs%3A%20100%20%25%2Fplease");
    const rerun = await run(service, github.url, "pull_request_target", "labeled", {
      ...options,
      environment: { GITHUB_RUN_ATTEMPT: "2" },
    });
    expect(rerun.outputs).toMatchObject({
      outcome: "pr-created",
      "job-id": outputs["job-id"],
      "job-origin": "resumed",
    });
    expect(rerun.annotations).toEqual([]);
    expect(postsOf(service)).toEqual(["POST /v2/agent/docs/job"]);
    expect(github.github.comments).toHaveLength(1);
  });

  test("a review with comments on 101 lines is one request", async () => {
    await using service = await startScriptedService();
    await using github = await startGitHub();
    const comments = Array.from({ length: 101 }, (_, index) => ({ body: `/agent fix ${index}`, line: index + 1 }));
    github.github.reviews.set(5, { body: null, comments });
    const html_url = "https://github.example/acme/docs/pull/12#pullrequestreview-5";
    const review = { id: 5, body: null, html_url };
    const { outputs, annotations } = await run(service, github.url, "pull_request_review", "submitted", { review });
    expect(annotations).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "pr-created", author: "writer" });
    expect(postsOf(service)).toEqual(["POST /v2/agent/docs/job"]);
    expect(service.engine.prompts[0]).toMatch(/^File: a\.md, line 1\nfix 0\n.*\(and 51 more comments\)/s);
    expect(github.github.comments).toHaveLength(1);
    expect(github.github.reply).toContain(`<a href="${html_url}">Review</a>`);
  });

  test("the reply and the job summary link the job's page, and a command shows the job's state and starts nothing", async () => {
    await using service = await startScriptedService({
      fault: (_n, response) => {
        response.setHeader("link", ['</x>; rel="self"', '</jobs/1>; rel="alternate"; type="text/html"']);
        return false;
      },
    });
    await using github = await startGitHub();
    const subject = { body: "/agent fix it" };
    const { outputs, log, summary } = await run(service, github.url, "issues", "opened", { subject });
    const link = `<a href="${service.url}/jobs/1">Job page</a>`;
    expect(log).toContain(`Job page: ${service.url}/jobs/1`);
    expect(summary).toContain(link);
    expect(github.github.reply).toContain(link);

    const review = { id: 7, body: "/agent status" };
    const status = await run(service, github.url, "issue_comment", "created", { review });
    expect(status.outputs).toMatchObject({ outcome: "skipped", "skip-reason": "command", "job-id": "" });
    expect(github.github.reply).toContain(`Job <code>${outputs["job-id"]}</code> is <code>completed</code>`);
    expect(postsOf(service)).toEqual(["POST /v2/agent/docs/job"]);
  });

  test("a pull request from a fork without secrets is skipped", async () => {
    await using service = await startScriptedService();
    await using github = await startGitHub();
    const { exitCode, outputs, annotations } = await run(service, github.url, "pull_request", "labeled", {
      label: "docs please",
      subject: { head: { repo: { id: 1 } }, base: { repo: { id: 2 } } },
      inputs: { "api-key": "" },
    });
    expect([exitCode, outputs.outcome, outputs["skip-reason"]]).toEqual([0, "skipped", "fork"]);
    expect(annotations).toEqual([expect.stringMatching(/^notice Skipped: .*pull_request_target/s)]);
    expect([github.requests, service.requests]).toEqual([[], []]);
  });
});
