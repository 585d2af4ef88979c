import { describe, expect, test } from "vitest";
import { runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import {
  completes,
  createRequest,
  earlierReply,
  githubRejecting,
  messageTo,
  otherUser,
  routesOf,
  sentOf,
  threadWith,
} from "../../../support/thread.ts";

describe("the job runs with one warning if GitHub rejects", () => {
  test.each([
    ["reactions", /\/reactions$/],
    ["comments", /^(POST .*(comments|replies)|PATCH .*)$/],
    ["edits", /^PATCH /],
    ["everything except the permission check and the reply", /^(?!.*(permission|issue_number\}\/comments)$)/],
  ])("%s", async (_name, routes) => {
    const { outputs, toolkit, hasPassed } = await runComment(githubRejecting(routes), { respond: completes });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(hasPassed).toBe(true);
    expect(toolkit.annotations).toMatchObject([{ level: "warning", title: "Cannot update the thread" }]);
    expect(toolkit.annotations[0]?.text).toContain("issues: write and pull-requests: write");
  });
});

test("the thread's job continues although the reply cannot be posted, because the reaction tells the account", async () => {
  const github = githubRejecting(/^POST .*\/issues\/\{issue_number\}\/comments$/, earlierReply("job_1"));
  github.add(otherUser, earlierReply("job_forged"));
  expect(sentOf((await runComment(github, { respond: completes })).requests)).toEqual([messageTo("job_1")]);
});

describe("a new job is started", () => {
  test("if the thread cannot be read, with a warning", async () => {
    const github = githubRejecting(/^GET .*\/comments$/, earlierReply("job_1"));
    const { requests, toolkit } = await runComment(github, { respond: completes });
    expect(routesOf(requests)[0]).toBe(createRequest);
    expect(toolkit.annotations).toMatchObject([
      { level: "warning", text: expect.stringContaining("Could not read the thread") },
    ]);
  });

  test("if one page of the thread cannot be read, with a warning", async () => {
    const github = threadWith(earlierReply("job_1"));
    for (let count = 0; count < 150; count++) github.add(otherUser, "hello");
    github.fault = ({ parameters }) => {
      if (parameters.page === 2) throw new Error("Server Error");
    };
    const { requests, toolkit } = await runComment(github, { respond: completes });
    expect(routesOf(requests)[0]).toBe(createRequest);
    expect(toolkit.annotations).toMatchObject([
      { level: "warning", text: expect.stringContaining("Could not read the thread") },
    ]);
  });

  test("if the thread is not a list, with a warning", async () => {
    const github = threadWith(earlierReply("job_1"));
    const request = github.request.bind(github);
    github.request = async (route, ...rest) =>
      route.startsWith("GET") && route.endsWith("comments") ? "<html>" : request(route, ...rest);
    const { requests, toolkit } = await runComment(github, { respond: completes });
    expect(routesOf(requests)[0]).toBe(createRequest);
    expect(toolkit.annotations).toMatchObject([
      { level: "warning", text: expect.stringContaining("Could not read the thread") },
    ]);
  });
});

test("limits each request to GitHub to 10 s or the time left, whichever is less", async () => {
  const github = new FakeGitHub();
  await runComment(github, { respond: completes, inputs: { "timeout-minutes": "0.1" } });
  for (const { limits } of github.calls) expect(limits.timeoutMs).toBeLessThanOrEqual(10_000);
  const post = github.calls.find(({ route }) => route.endsWith("{issue_number}/comments"));
  expect(post?.limits.timeoutMs).toBeLessThanOrEqual(6000);
});

test("starts nothing if GitHub uses up the timeout", async () => {
  const github = new FakeGitHub();
  const { outputs, requests, toolkit } = await runComment(github, {
    respond: completes,
    inputs: { "timeout-minutes": "0.5" },
    onClock: (clock) => {
      github.fault = () => clock.advance(8000);
    },
  });
  expect(requests).toEqual([]);
  expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
  expect(Number(outputs["duration-seconds"])).toBeGreaterThanOrEqual(30);
  expect(toolkit.annotations.at(-1)?.text).toContain("no time was left to start a job, so nothing was started");
});
