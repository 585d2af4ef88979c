import { describe, expect, test } from "vitest";
import { runCommentStep } from "../support/comment-step.ts";
import type { GitHubFault } from "../support/github-server.ts";

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
    const { exitCode, github, annotations } = await runCommentStep({ fault });
    expect(exitCode).toBe(0);
    expect(annotations).toEqual([]);
    expect(github.github.reply).toContain("Pull request created");
  });

  test("does not wait for a rate limit longer than the timeout of a request", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      route.endsWith("/permission") &&
      Boolean(response.writeHead(429, { ...json, "retry-after": "3600", "x-ratelimit-remaining": "0" }).end("{}"));
    const { outputs, github } = await runCommentStep({ fault });
    expect(outputs.outcome).toBe("error");
    expect(github.requests).toHaveLength(1);
  });

  test("does not retry in a hot loop if the rate limit has already been reset", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      route.endsWith("/permission") &&
      Boolean(response.writeHead(403, { ...json, "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" }).end("{}"));
    const { outputs, github } = await runCommentStep({ fault });
    expect(outputs.outcome).toBe("error");
    expect(github.requests.length).toBeLessThan(10);
  });

  test("redacts a token that GitHub echoes, and ignores commands in its headers", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      route.endsWith("/permission") &&
      Boolean(
        response
          .writeHead(403, { ...json, deprecation: "true", sunset: "##[error]boom", link: '<x>; rel="deprecation"' })
          .end('{"message":"no bot_token_0123456789 here"}'),
      );
    const { log, summary, lines } = await runCommentStep({ fault });
    const commands = lines.flatMap((line) => (line.kind === "command" ? [line.data] : []));
    expect(commands.filter((data) => data.includes("boom"))).toEqual([]);
    expect(log.replace("::add-mask::bot_token_0123456789", "") + summary).not.toContain("bot_token_0123456789");
  });

  test("accepts a timeout that is not a whole number of seconds", async () => {
    const { outputs, annotations, github } = await runCommentStep({ inputs: { "timeout-minutes": "0.15" } });
    expect(outputs.outcome).toBe("pr-created");
    expect(annotations).toEqual([]);
    expect(github.github.comments).toHaveLength(1);
  });

  test("warns once if the token cannot write, and the job keeps running", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      !route.endsWith("/permission") &&
      Boolean(response.writeHead(403, json).end('{"message":"Resource not accessible by integration"}'));
    const { exitCode, outputs, annotations, github, posts } = await runCommentStep({ fault });
    expect([exitCode, outputs.outcome]).toEqual([0, "pr-created"]);
    expect(annotations).toEqual([
      expect.stringMatching(/^warning Cannot update the thread: .*Resource not accessible by integration/s),
    ]);
    expect(posts).toEqual(["POST /v2/agent/docs/job"]);
    expect(github.github.comments).toEqual([]);
  });

  test("gives up a request to GitHub after ten seconds, and the job keeps running", async () => {
    const fault: GitHubFault = (route) => route.includes("/reactions");
    const { exitCode, outputs, annotations } = await runCommentStep({ fault });
    expect([exitCode, outputs.outcome]).toEqual([0, "pr-created"]);
    expect(annotations).toHaveLength(1);
  });
});
