import { describe, expect, test } from "vitest";
import { runCommentStep } from "../support/comment-step.ts";
import { bot } from "../support/fake-github.ts";
import type { GitHubFault } from "../support/github-server.ts";
import { stepHere } from "../support/step-here.ts";
import { rows } from "../support/thorough.ts";

const run = (options: Parameters<typeof runCommentStep>[1] = {}) => runCommentStep(stepHere, options);
/** Waits for rate limits, and between writes. */
const patient = (options: Parameters<typeof run>[0]) =>
  runCommentStep((inputs, others) => stepHere(inputs, { ...others, isPatient: true }), options);

const json = { "content-type": "application/json" };

describe("rate limits, errors and timeouts of GitHub", () => {
  test("retries after a secondary rate limit", async () => {
    const fault: GitHubFault = (route, n, response) =>
      /POST .*\/issues\/1\/comments$/.test(route) &&
      n === 1 &&
      Boolean(
        response
          .writeHead(403, { ...json, "retry-after": "1" })
          .end('{"message":"You have exceeded a secondary rate limit"}'),
      );
    const { exitCode, github, annotations } = await patient({ fault });
    expect(exitCode).toBe(0);
    expect(annotations).toEqual([]);
    expect(github.github.reply).toContain("Pull request created");
  });

  test("does not wait for a rate limit longer than the timeout of a request", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      route.endsWith("/permission") &&
      Boolean(response.writeHead(429, { ...json, "retry-after": "3600", "x-ratelimit-remaining": "0" }).end("{}"));
    const { outputs, github } = await patient({ fault });
    expect(outputs.outcome).toBe("error");
    expect(github.requests).toHaveLength(1);
  });

  test("does not retry in a hot loop if the rate limit has already been reset", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      route.endsWith("/permission") &&
      Boolean(response.writeHead(403, { ...json, "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" }).end("{}"));
    const { outputs, github } = await patient({ fault });
    expect(outputs.outcome).toBe("error");
    expect(github.requests.length).toBeLessThan(10);
  });

  test("accepts a timeout that is not a whole number of seconds", async () => {
    const { outputs, annotations, github } = await run({ inputs: { "timeout-minutes": "0.15" } });
    expect(outputs.outcome).toBe("pr-created");
    expect(annotations).toEqual([]);
    expect(github.github.comments).toHaveLength(1);
  });

  test("warns once if the token can only react, and the job keeps running", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      !/\/(permission|reactions)$/.test(route) &&
      Boolean(response.writeHead(403, json).end('{"message":"Resource not accessible by integration"}'));
    const { exitCode, outputs, annotations, github, posts } = await run({ fault });
    expect([exitCode, outputs.outcome]).toEqual([0, "pr-created"]);
    expect(annotations).toEqual([
      expect.stringMatching(/^warning Cannot update the thread: .*Resource not accessible by integration/s),
    ]);
    expect(posts).toEqual(["POST /v2/agent/docs/job"]);
    expect(github.github.comments).toEqual([]);
  });

  test("gives up a request to GitHub after ten seconds, and the job keeps running", async () => {
    const fault: GitHubFault = (route, n) => route.includes("/reactions") && n === 1;
    const { exitCode, outputs, annotations } = await run({ fault });
    expect([exitCode, outputs.outcome]).toEqual([0, "pr-created"]);
    expect(annotations).toHaveLength(1);
  });
});

test("replies to the root of a review thread", async () => {
  const { exitCode, github } = await run({
    event: { review: { path: "a.md", line: 3, in_reply_to_id: 55 } },
  });
  expect(exitCode).toBe(0);
  expect(github.requests).toContain("POST /repos/acme/docs/pulls/1/comments/55/replies");
  expect(github.requests).toContain("POST /repos/acme/docs/pulls/comments/77/reactions");
  expect(github.github.comments).toMatchObject([{ in_reply_to_id: 55 }]);
});

test("reads all pages of a thread of 250 comments", async () => {
  const { github } = await run({
    prepare: (github) => {
      for (let count = 0; count < 250; count++) github.add({ id: 5, login: "writer" }, "hello");
    },
  });
  expect(github.requests.filter((request) => request.startsWith("GET") && request.includes("/comments?"))).toHaveLength(
    3,
  );
});

test("reads a thread to its end although its pages are shorter than asked for", async () => {
  const marker =
    "<!-- agent-job-action project=docs attempt=1 job=job_of_page_1 comment=5 step=0123456789abcdef0123456789abcdef -->";
  const { github, posts } = await run({
    prepare: (github) => {
      github.maxPerPage = 30;
      for (let count = 0; count < 70; count++) github.add({ id: 5, login: "writer" }, "hello");
      github.add(bot, marker);
    },
  });
  expect(github.requests.filter((request) => request.startsWith("GET") && request.includes("/comments?"))).toHaveLength(
    3,
  );
  expect(posts[0]).toBe("POST /v2/agent/docs/job/job_of_page_1/message");
});

describe("the permission check", () => {
  test.each(rows([403, 404, 500], 1))(
    "fails the step on a permanent %i, and starts and writes nothing",
    async (status) => {
      const fault: GitHubFault = (route, _n, response) =>
        route.endsWith("/permission") && Boolean(response.writeHead(status, json).end('{"message":"Not now"}'));
      const { exitCode, outputs, annotations, posts, github } = await run({ fault });
      expect([exitCode, outputs.outcome, outputs["job-id"]]).toEqual([1, "error", ""]);
      expect(annotations).toEqual([
        expect.stringMatching(/^error Cannot check the permission: The permission .* cannot be read/),
      ]);
      expect(posts).toEqual([]);
      expect(github.requests.every((request) => request.includes("/permission"))).toBe(true);
    },
  );
});
