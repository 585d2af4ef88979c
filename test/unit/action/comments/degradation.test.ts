import { describe, expect, test } from "vitest";
import { GitHubError } from "../../../../src/action/runner/github-error.ts";
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

test("a new job is started if the token may not read the thread, with a warning", async () => {
  const github = githubRejecting(/^GET .*\/comments$/, earlierReply("job_1"));
  const { requests, toolkit } = await runComment(github, { respond: completes });
  expect(routesOf(requests)[0]).toBe(createRequest);
  expect(toolkit.annotations).toMatchObject([
    { level: "warning", text: expect.stringContaining("Could not read the thread") },
  ]);
});

describe("nothing is sent if the thread, which may name a job, cannot be read", () => {
  test.each([
    ["now", (page: unknown) => page === 1],
    ["to its end", (page: unknown) => page === 2],
  ])("%s", async (_name, isFailing) => {
    const github = threadWith(earlierReply("job_1"));
    for (let count = 0; count < 150; count++) github.add(otherUser, "hello");
    github.fault = ({ route, parameters }) => {
      if (/^GET .*\/comments$/.test(route) && isFailing(parameters.page ?? 1))
        throw new GitHubError("Server Error", 502);
    };
    const { requests, toolkit, outputs } = await runComment(github, { respond: completes });
    expect(requests).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(toolkit.annotations.at(-1)).toMatchObject({
      title: "Cannot read the thread",
      text: expect.stringContaining("cannot be read (Server Error), so nothing was started"),
    });
    // A re-run, or the next comment, goes to the thread's job.
    github.fault = () => {};
    const again = await runComment(github, { respond: completes, attempt: 2 });
    expect(sentOf(again.requests)).toEqual([messageTo("job_1")]);
  });

  test("as a list", async () => {
    const github = threadWith(earlierReply("job_1"));
    const request = github.request.bind(github);
    github.request = async (route, ...rest) =>
      route.startsWith("GET") && route.endsWith("comments") ? "<html>" : request(route, ...rest);
    const { requests, outputs } = await runComment(github, { respond: completes });
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
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
