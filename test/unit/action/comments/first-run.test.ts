import { describe, expect, test } from "vitest";
import { GitHubError } from "../../../../src/action/runner/github-error.ts";
import { type CommentOptions, runComment } from "../../../support/comment-run.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import { bot, FakeGitHub } from "../../../support/fake-github.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { completes, createRequest, githubRejecting, ownStep, routesOf } from "../../../support/thread.ts";

/** GitHub gives runs of comments a cache that can only be read, and shows which steps ran in a public repository. */
const environment = {
  ACTIONS_CACHE_MODE: "read",
  ACTIONS_CACHE_URL: "http://127.0.0.1/",
  ACTIONS_RUNTIME_TOKEN: "t",
  RUNNER_NAME: "r",
};
const writes = /^(POST|PATCH) /;

/** Answers the question for GitHub's record: all attempts ran the step. */
function withRecord(github: FakeGitHub, own = 2): FakeGitHub {
  const request = github.request.bind(github);
  github.request = async (route, parameters, limits) => {
    if (!route.includes("/actions/runs/")) return request(route, parameters, limits);
    const isOwn = parameters.attempt_number === own;
    const status = isOwn ? "in_progress" : "completed";
    const steps = [{ number: 2, name: "s", status, conclusion: isOwn ? null : "success", started_at: "x" }];
    const conclusion = isOwn ? null : "success";
    return { total_count: 1, jobs: [{ name: "docs", status, conclusion, runner_name: "r", steps }] };
  };
  return github;
}

const attempt = (number: number, github: FakeGitHub, options: Partial<CommentOptions> = {}) =>
  runComment(github, { respond: completes, ...options, attempt: number, environment });

describe("a re-run is a first run, although GitHub says that the step ran, after an attempt", () => {
  test.each<[string, (github: FakeGitHub) => Partial<CommentOptions>]>([
    [
      "whose author was not permitted",
      (github) => {
        github.permission = { permission: "read", role_name: "read" };
        return {};
      },
    ],
    [
      "that could not read the permission",
      (github) => {
        github.permission = {};
        return {};
      },
    ],
    ["that was cancelled early", () => ({ cancelAt: 0 })],
    ["with invalid inputs", () => ({ inputs: { "api-key": "" } })],
    ["with a missing prompt-file", () => ({ inputs: { "prompt-file": "missing.md" } })],
  ])("%s", async (_name, prepare) => {
    const github = withRecord(new FakeGitHub());
    const options = prepare(github);
    const first = await attempt(1, github, options);
    expect(first.requests).toEqual([]);
    github.permission = { permission: "write", role_name: "write" };
    const { requests, outputs } = await attempt(2, github);
    expect(routesOf(requests)[0]).toBe(createRequest);
    expect(outputs.outcome).toBe("pr-created");
  });
});

test.each([
  ["reply leaves a doubt", false, 0],
  ["reply and reaction makes a re-run send again", true, 1],
])("whoever deletes the %s", async (_name, deletesReaction, sent) => {
  const github = withRecord(new FakeGitHub());
  await attempt(1, github);
  github.comments.length = 0;
  const next = deletesReaction ? withRecord(new FakeGitHub()) : github;
  const { requests } = await attempt(2, next);
  expect(requests.filter(({ method }) => method === "POST")).toHaveLength(sent);
});

describe("a reaction and a first reply", () => {
  /** Throws as long as a time has not passed. */
  function failingFor(ms: number, error: () => Error) {
    const github = new FakeGitHub();
    const onClock: CommentOptions["onClock"] = (clock) => {
      github.fault = ({ route }) => {
        if (writes.test(route) && clock.elapsedMs < ms) throw error();
      };
    };
    return { github, onClock };
  }
  const unavailable = (): Error => new GitHubError("Bad gateway", 502);

  test("that fail for a passing reason are repeated for 10 s", async () => {
    const { github, onClock } = failingFor(8000, unavailable);
    const { requests, outputs, toolkit } = await attempt(1, github, { onClock });
    expect(routesOf(requests)[0]).toBe(createRequest);
    expect(outputs.outcome).toBe("pr-created");
    expect(toolkit.annotations).toEqual([]);
  });

  test("of which GitHub answers neither leave nothing to go by, so that nothing is sent", async () => {
    const { github, onClock } = failingFor(60_000, unavailable);
    const { requests, outputs, toolkit } = await attempt(1, github, { onClock });
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations.at(-1)).toMatchObject({ title: "Cannot leave word of a request" });
    github.fault = () => {};
    expect(routesOf((await attempt(2, withRecord(github))).requests)[0]).toBe(createRequest);
  });

  test("that arrived, although GitHub did not answer, leave a doubt to a re-run, and a way out that is advised before", async () => {
    const github = new FakeGitHub();
    const request = github.request.bind(github);
    let isLate = true;
    github.request = async (route, parameters, limits) => {
      const answer = await request(route, parameters, limits);
      if (isLate && writes.test(route)) throw unavailable();
      return answer;
    };
    const { requests, toolkit } = await attempt(1, github);
    expect(requests).toEqual([]);
    expect(toolkit.annotations.at(-1)?.text).toContain("Then ask again in the thread.");
    isLate = false;
    expect((await attempt(2, github)).requests).toEqual([]);
    const comment = { id: 78, body: "/agent new fix it", user: { login: "writer", type: "User", id: 5 } };
    const asked = await attempt(1, github, { payload: { comment } });
    expect(routesOf(asked.requests)[0]).toBe(createRequest);
  });

  test("of which GitHub answers one are enough", async () => {
    const { github, onClock } = failingFor(10_000, unavailable);
    const { requests } = await attempt(1, github, { onClock });
    expect(routesOf(requests)[0]).toBe(createRequest);
  });

  test("are not needed if the service knows what it is sent", async () => {
    const { github, onClock } = failingFor(60_000, unavailable);
    const service = new KeyedService();
    const inputs = { "base-url": "https://agents.example.com" };
    await attempt(1, github, { onClock, respond: service.respond, inputs });
    expect(service.turns).toHaveLength(1);
  });

  test("that are both refused start nothing, so that a re-run that may write starts the only job", async () => {
    const github = githubRejecting(writes);
    const first = await attempt(1, github);
    expect(first.requests).toEqual([]);
    expect(first.toolkit.annotations.at(-1)).toMatchObject({ title: "Cannot leave word of a request" });
    expect(first.toolkit.annotations.at(-1)?.text).toContain(
      "If the token may not write to the thread (issues: write, pull-requests: write), change that.",
    );
    github.fault = () => {};
    expect(routesOf((await attempt(2, withRecord(github))).requests)[0]).toBe(createRequest);
  });

  test("of which the reaction was lost are made up for, so that a deleted reply leaves a doubt", async () => {
    const github = new FakeGitHub();
    let hasPosted = false;
    github.fault = (call) => {
      if (call.route.endsWith("/reactions") && !hasPosted) throw unavailable();
      hasPosted ||= call.route.startsWith("POST ") && !call.route.endsWith("/reactions");
    };
    await attempt(1, github);
    github.comments.length = 0;
    expect((await attempt(2, withRecord(github))).requests).toEqual([]);
  });
});

describe("a reply that GitHub has posted without an answer", () => {
  /** Answers the first posts of a reply with an error, although they are done. */
  function losing(count: number, github = new FakeGitHub()): FakeGitHub {
    const request = github.request.bind(github);
    let posts = 0;
    github.request = async (route, parameters, limits) => {
      const answer = await request(route, parameters, limits);
      if (/^POST .*\/comments$/.test(route) && ++posts <= count) throw new GitHubError("Bad gateway", 502);
      return answer;
    };
    return github;
  }

  test.each([1, 30])("is the only one, and has the result, after %i lost answers", async (count) => {
    const github = losing(count);
    const { outputs } = await attempt(1, github);
    expect(outputs.outcome).toBe("pr-created");
    expect(github.comments).toHaveLength(1);
    expect(github.reply).toContain("Pull request created");
    expect((await attempt(2, github)).outputs["job-origin"]).toBe("resumed");
  });

  test("is no one else's, nor that of another step of the run", async () => {
    const stranger = { id: 666, login: "stranger" };
    const github = losing(1);
    const request = github.request.bind(github);
    github.request = async (route, parameters, limits) => {
      const body = String(parameters.body);
      if (/^POST .*\/comments$/.test(route)) github.add(stranger, body);
      if (/^POST .*\/comments$/.test(route)) github.add(bot, body.replace(/^<!-- \S+/, "<!-- other"));
      return request(route, parameters, limits);
    };
    await attempt(1, github);
    expect(github.comments.filter(({ user }) => user.id === stranger.id)).toHaveLength(2);
    expect(github.comments.filter(({ body }) => body.startsWith("<!-- other"))).toHaveLength(2);
    const helped = losing(2);
    await attempt(1, helped, { text: "/agent help" });
    expect(helped.comments).toHaveLength(1);
    const asked = losing(2);
    await attempt(1, asked, { text: "/agent status" });
    expect(asked.comments).toHaveLength(1);
    expect(asked.reply).toContain("This thread has no job");
  });
});

test("a re-run that sends says so in the reply before it sends", async () => {
  const github = new FakeGitHub();
  await attempt(1, github, { respond: () => ({ response: { status: 401 } }) });
  const markers: string[] = [];
  await attempt(2, github, {
    respond: (request) => {
      if (request.method === "POST") markers.push(github.reply.split("\n").at(-1) ?? "");
      return completes(request);
    },
  });
  expect(markers).toEqual([`<!-- agent-job-action project=docs attempt=2 pending comment=77 ${ownStep} -->`]);
});

test("an attempt that could not react, and refused, does not hide the doubt of the one before it", async () => {
  const github = new FakeGitHub();
  const cache = new FakeCache();
  const run = (number: number, respond: NonNullable<CommentOptions["respond"]>) =>
    runComment(github, { respond, cache, attempt: number });
  await run(1, () => ({ response: { status: 502 } }));
  github.fault = ({ route }) => {
    if (route.endsWith("/reactions")) throw new GitHubError("Bad gateway", 502);
  };
  expect((await run(2, completes)).requests).toEqual([]);
  github.fault = () => {};
  expect((await run(3, completes)).requests).toEqual([]);
});

test("a reaction that was refused before does not hide what the cache says was about to be sent", async () => {
  const github = new FakeGitHub();
  const cache = new FakeCache();
  const run = (number: number, respond: NonNullable<CommentOptions["respond"]>) =>
    runComment(github, { respond, cache, attempt: number });
  github.fault = ({ route }) => {
    if (route.startsWith("POST ")) throw new GitHubError("Resource not accessible by integration", 403);
  };
  await run(1, () => ({ response: { status: 502 } }));
  github.fault = () => {};
  const second = await run(2, completes);
  expect(second.requests).toEqual([]);
  expect(second.outputs.outcome).toBe("error");
});
