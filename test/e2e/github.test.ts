import { describe, expect, test } from "vitest";
import { bot, type FakeGitHub } from "../support/fake-github.ts";
import { type GitHubFault, startGitHub } from "../support/github-server.ts";
import { type Comment, commentEnvironment, commentInputs } from "../support/payload.ts";
import { inputsFor, startScriptedService } from "../support/scripted-service.ts";
import { hasSignals, type Step, step, temporaryFolder } from "../support/step.ts";

/** Runs a step for a comment, against the service and a GitHub server with this fault. */
async function runComment(
  options: {
    fault?: GitHubFault;
    event?: Partial<Comment>;
    inputs?: Record<string, string>;
    prepare?: (github: FakeGitHub) => void;
    attempt?: number;
  } = {},
): Promise<Step & { github: Awaited<ReturnType<typeof startGitHub>>; posts: string[] }> {
  await using service = await startScriptedService();
  await using github = await startGitHub(options.fault);
  options.prepare?.(github.github);
  const folder = temporaryFolder();
  const event = { id: 77, text: "/agent fix it", author: { login: "writer" }, ...options.event };
  const environment = {
    ...commentEnvironment(folder, github.url, event),
    ...(options.attempt && { GITHUB_RUN_ATTEMPT: String(options.attempt) }),
  };
  const result = await step(inputsFor(service, { ...commentInputs, ...options.inputs }), { folder, environment });
  return { ...result, github, posts: service.requests.filter((request) => request.startsWith("POST")) };
}

const json = { "content-type": "application/json" };

test("adds reactions, and edits one reply in place", async () => {
  const { exitCode, github, annotations, lines } = await runComment();
  expect(exitCode).toBe(0);
  expect(annotations).toEqual([]);
  expect(github.github.reactions).toEqual(["eyes", "hooray"]);
  expect(github.github.comments).toHaveLength(1);
  expect(github.github.reply).toContain("Pull request created");
  const debug = lines.flatMap((line) => (line.kind === "command" && line.name === "debug" ? [line.data] : []));
  for (const request of ["GET /repos/acme/docs/collaborators/writer/permission: 200", "POST /v2/agent/docs/job: 201"])
    expect(debug.filter((line) => line.startsWith(request))).toHaveLength(1);
}, 60_000);

test("replies to the root of a review thread", async () => {
  const { exitCode, github } = await runComment({ event: { review: { path: "a.md", line: 3, in_reply_to_id: 55 } } });
  expect(exitCode).toBe(0);
  expect(github.requests).toContain("POST /repos/acme/docs/pulls/1/comments/55/replies");
  expect(github.requests).toContain("POST /repos/acme/docs/pulls/comments/77/reactions");
  expect(github.github.comments).toMatchObject([{ in_reply_to_id: 55 }]);
}, 60_000);

test("reads all pages of a thread of 250 comments", async () => {
  const { github } = await runComment({
    prepare: (github) => {
      for (let count = 0; count < 250; count++) github.add({ id: 5, login: "writer" }, "hello");
    },
  });
  expect(github.requests.filter((request) => request.startsWith("GET") && request.includes("/comments?"))).toHaveLength(
    3,
  );
}, 60_000);

test("reads a thread to its end although its pages are shorter than asked for", async () => {
  const marker = "<!-- agent-job-action project=docs job=job_of_page_1 comment=5 -->";
  const { github, posts } = await runComment({
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
}, 60_000);

describe("the permission check", () => {
  test("is retried after a 5xx", async () => {
    const fault: GitHubFault = (route, n, response) =>
      route.endsWith("/permission") && n === 1 && Boolean(response.writeHead(502, json).end("{}"));
    const { exitCode, outputs } = await runComment({ fault });
    expect([exitCode, outputs.outcome]).toEqual([0, "pr-created"]);
  }, 60_000);

  test.each([500, 403, 404])(
    "fails the step on a permanent %i, and starts and writes nothing",
    async (status) => {
      const fault: GitHubFault = (route, _n, response) =>
        route.endsWith("/permission") && Boolean(response.writeHead(status, json).end('{"message":"Not now"}'));
      const { exitCode, outputs, annotations, posts, github } = await runComment({ fault });
      expect([exitCode, outputs.outcome, outputs["job-id"]]).toEqual([1, "error", ""]);
      expect(annotations).toEqual([
        expect.stringMatching(/^error Nothing was started: The permission .* cannot be read/),
      ]);
      expect(posts).toEqual([]);
      expect(github.requests.every((request) => request.includes("/permission"))).toBe(true);
    },
    60_000,
  );
});

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
    const { exitCode, github, annotations } = await runComment({ fault });
    expect(exitCode).toBe(0);
    expect(annotations).toEqual([]);
    expect(github.github.reply).toContain("Pull request created");
  }, 60_000);

  test("does not wait for a rate limit longer than the timeout of a request", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      route.endsWith("/permission") &&
      Boolean(response.writeHead(429, { ...json, "retry-after": "3600", "x-ratelimit-remaining": "0" }).end("{}"));
    const { outputs, github } = await runComment({ fault });
    expect(outputs.outcome).toBe("error");
    expect(github.requests).toHaveLength(1);
  });

  test("does not retry in a hot loop if the rate limit has already been reset", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      route.endsWith("/permission") &&
      Boolean(response.writeHead(403, { ...json, "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" }).end("{}"));
    const { outputs, github } = await runComment({ fault });
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
    const { log, summary, lines } = await runComment({ fault });
    const commands = lines.flatMap((line) => (line.kind === "command" ? [line.data] : []));
    expect(commands.filter((data) => data.includes("boom"))).toEqual([]);
    expect(log.replace("::add-mask::bot_token_0123456789", "") + summary).not.toContain("bot_token_0123456789");
  });

  test("accepts a timeout that is not a whole number of seconds", async () => {
    const { outputs, annotations, github } = await runComment({ inputs: { "timeout-minutes": "0.15" } });
    expect(outputs.outcome).toBe("pr-created");
    expect(annotations).toEqual([]);
    expect(github.github.comments).toHaveLength(1);
  });

  test("warns once if the token cannot write, and the job keeps running", async () => {
    const fault: GitHubFault = (route, _n, response) =>
      !route.endsWith("/permission") &&
      Boolean(response.writeHead(403, json).end('{"message":"Resource not accessible by integration"}'));
    const { exitCode, outputs, annotations, github, posts } = await runComment({ fault });
    expect([exitCode, outputs.outcome]).toEqual([0, "pr-created"]);
    expect(annotations).toEqual([
      expect.stringMatching(/^warning Cannot update the thread: .*Resource not accessible by integration/s),
    ]);
    expect(posts).toEqual(["POST /v2/agent/docs/job"]);
    expect(github.github.comments).toEqual([]);
  }, 60_000);

  test("gives up a request to GitHub after ten seconds, and the job keeps running", async () => {
    const fault: GitHubFault = (route) => route.includes("/reactions");
    const { exitCode, outputs, annotations } = await runComment({ fault });
    expect([exitCode, outputs.outcome]).toEqual([0, "pr-created"]);
    expect(annotations).toHaveLength(1);
  }, 60_000);
});

test.runIf(hasSignals)(
  "a cancellation right after the create leaves the job's marker in the reply, for a re-run to find",
  async () => {
    let kill = (): void => {};
    await using service = await startScriptedService({
      script: () => ({ durationMs: 60_000 }),
      fault: (n) => {
        if (n === 1) setTimeout(() => kill(), 30);
        return false;
      },
    });
    await using github = await startGitHub();
    const folder = temporaryFolder();
    const event = { id: 77, text: "/agent fix it", author: { login: "writer" } };
    const { outputs } = await step(inputsFor(service, commentInputs), {
      folder,
      environment: commentEnvironment(folder, github.url, event),
      onStart: (child) => {
        kill = () => child.kill("SIGINT");
      },
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(github.github.reply).toContain("Cancelled");
    expect(github.github.reply.split("\n").at(-1)).toBe(
      `<!-- agent-job-action project=docs job=${outputs["job-id"]} comment=77 -->`,
    );
  },
  60_000,
);

test("a re-run waits for the job in its own reply", async () => {
  await using service = await startScriptedService();
  await using github = await startGitHub();
  const run = async (attempt: string) => {
    const folder = temporaryFolder();
    const environment = commentEnvironment(folder, github.url, {
      id: 77,
      text: "/agent fix it",
      author: { login: "writer" },
    });
    return step(inputsFor(service, commentInputs), {
      folder,
      environment: { ...environment, GITHUB_RUN_ATTEMPT: attempt },
    });
  };
  const first = await run("1");
  const second = await run("2");
  expect(second.outputs).toMatchObject({ outcome: "pr-created", "job-id": first.outputs["job-id"] });
  expect(service.requests.filter((request) => request.startsWith("POST"))).toEqual(["POST /v2/agent/docs/job"]);
  expect(github.github.comments.filter(({ user }) => user.id === bot.id)).toHaveLength(1);
}, 60_000);
