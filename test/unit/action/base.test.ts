import { describe, expect, test } from "vitest";
import { type CommentOptions, runComment } from "../../support/comment-run.ts";
import { FakeGitHub } from "../../support/fake-github.ts";
import type { SeenRequest } from "../../support/fake-transport.ts";
import { KeyedService } from "../../support/keyed-service.ts";
import { type MainOptions, respondWith, runMain } from "../../support/run-main.ts";

const inputs = { "base-url": "https://agents.example.com" };

function service(features = ["base"]): KeyedService {
  const taking = new KeyedService();
  taking.features = features;
  return taking;
}

const run = (own: KeyedService, options: Partial<MainOptions> = {}) =>
  runMain({ respond: own.respond, ...options, inputs: { ...inputs, ...options.inputs } });

/** A GitHub with the pull request 12, whose branch is in a repository with this id; `null`: it was deleted. */
function pullRequest(repositoryId: number | null, ref = "feature/x", state = "open"): FakeGitHub {
  const github = new FakeGitHub();
  const request = github.request.bind(github);
  const head = { ref, repo: repositoryId === null ? null : { id: repositoryId } };
  github.request = async (route, parameters, limits) =>
    route === "GET /repos/{owner}/{repo}/pulls/{pull_number}" && parameters.pull_number === 12
      ? { number: 12, state, head, base: { ref: "v1", repo: { id: 1 } } }
      : request(route, parameters, limits);
  return github;
}

const issue = {
  number: 12,
  title: "Add X",
  body: "",
  html_url: "https://github.com/acme/docs/pull/12",
  pull_request: {},
};
const comment = (own: KeyedService, github: FakeGitHub, options: Partial<CommentOptions> = {}) =>
  runComment(github, {
    respond: own.respond,
    payload: { issue },
    ...options,
    inputs: { ...inputs, base: "pull-request", ...options.inputs },
  });

test("a branch is asked about first, and sent with the create", async () => {
  const own = service();
  const { requests, outputs, toolkit } = await run(own, { inputs: { base: "release/2" } });
  expect(requests[0]).toMatchObject({ method: "GET", query: expect.stringMatching(/^\?step=/) });
  expect(requests[1]?.body).toEqual({ prompt: "Update the quickstart", base: "release/2" });
  expect(outputs.outcome).toBe("pr-created");
  expect(toolkit.summary).toContain("<td><code>release/2</code></td>");
});

test("without the input, a create has no branch", async () => {
  const { requests } = await run(service());
  expect(requests[0]?.body).toEqual({ prompt: "Update the quickstart" });
});

test("a service that does not announce it gets nothing", async () => {
  const { requests, outputs, toolkit } = await run(service([]), { inputs: { base: "release/2" } });
  expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
  expect(outputs.outcome).toBe("error");
  expect(toolkit.annotations.at(-1)?.title).toBe("The service takes no base");
});

test.each([
  [401, "The service rejected the API key."],
  [503, "The service is unavailable."],
])("a service that cannot be asked (%i) gets nothing, and is not said to take none", async (status, why) => {
  const { requests, outputs, toolkit } = await runMain({
    respond: () => respondWith(status),
    inputs: { ...inputs, base: "release/2" },
    runAttempt: 2,
  });
  expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
  expect(outputs.outcome).toBe("error");
  expect(toolkit.annotations.at(-1)).toMatchObject({
    title: "Cannot ask the service for base",
    text: expect.stringMatching(`this run sent nothing, but an earlier attempt of it may have.*${why}`),
  });
});

test("the default service takes none", async () => {
  const { requests, toolkit } = await runMain({ inputs: { base: "main" }, respond: service().respond });
  expect(requests).toEqual([]);
  expect(toolkit.annotations[0]?.text).toContain("base needs a service of your own");
});

test.each(["../x", "a..b", "x y", "refs/heads/.lock"])("%j is no branch", async (base) => {
  const { outputs, requests } = await run(service(), { inputs: { base } });
  expect([outputs.outcome, requests]).toEqual(["error", []]);
});

test.each<[string, unknown]>([
  [
    "lacks, or has a wrong type for: head.repo.id",
    { number: 12, state: "open", head: { ref: "x", repo: {} }, base: { ref: "v1", repo: { id: 1 } } },
  ],
  ["is not usable", "<html>"],
])("a pull request that %s starts nothing, and this is said", async (problem, answer) => {
  const own = service();
  const github = pullRequest(1);
  const request = github.request.bind(github);
  github.request = async (route, ...rest) => (route.endsWith("{pull_number}") ? answer : request(route, ...rest));
  const { requests, toolkit } = await comment(own, github);
  expect(requests).toEqual([]);
  expect(toolkit.annotations[0]?.text).toContain(`cannot be read (GitHub's response ${problem}), so nothing was`);
});

test("pull-request is the branch of the pull request that was commented on", async () => {
  const own = service();
  const { outputs } = await comment(own, pullRequest(1));
  expect(outputs.outcome).toBe("pr-created");
  expect(own.turns).toMatchObject([{ base: "feature/x" }]);
});

test.each([2, null])("but not one of a fork, or that was deleted (%j): nothing is started", async (id) => {
  const own = service();
  const { outputs, requests, toolkit } = await comment(own, pullRequest(id));
  expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": "fork" });
  expect(requests).toEqual([]);
  expect(toolkit.annotations.at(-1)?.text).toContain("from a fork, or its branch was deleted");
});

test.each([1, 2, null])("of one that has ended it is the branch that it was for (from %j)", async (id) => {
  const own = service();
  const github = pullRequest(id, "feature/x", "closed");
  const { outputs, toolkit } = await comment(own, github);
  expect(outputs.outcome).toBe("pr-created");
  expect(own.turns).toMatchObject([{ base: "v1" }]);
  for (const told of [github.reply, toolkit.lines.join("\n")])
    expect(told).toMatch(/Pull request #12 is merged or closed.*v1/);
});

test("on an issue, and on other events, it is the project's own", async () => {
  const own = service([]);
  await comment(own, new FakeGitHub(), { payload: {} });
  await run(own, { inputs: { base: "pull-request" }, environment: { GITHUB_EVENT_NAME: "schedule" } });
  expect(own.turns).toMatchObject([{ base: undefined }, { base: undefined }]);
});

test("a pull request that cannot be read starts nothing", async () => {
  const own = service();
  const { outputs, requests } = await comment(own, new FakeGitHub());
  expect([outputs.outcome, requests]).toEqual(["error", []]);
});

test("a thread's job is continued if it started from the same branch, and not otherwise", async () => {
  const own = service();
  const github = pullRequest(1);
  await comment(own, github);
  const next = (id: number) => ({
    comment: { id, body: "/agent more", user: { id: 5, login: "writer", type: "User" } },
    issue,
  });
  await comment(own, github, { payload: next(78), environment: { GITHUB_RUN_ID: "100" } });
  expect(own.turns.map(({ job }) => job)).toEqual(["job_1", "job_1"]);
  const renamed = pullRequest(1, "feature/y");
  renamed.comments.push(...github.comments);
  await comment(own, renamed, { payload: next(79), environment: { GITHUB_RUN_ID: "101" } });
  expect(own.turns.at(-1)).toMatchObject({ job: "job_2", base: "feature/y" });
});

describe.each([
  [
    "that is restarted",
    503,
    /^For 3 min, the state of job .*, the last of the thread, could not be read: .*HTTP 503\. This run sent nothing\./,
  ],
  ["that cannot ask GitHub", 424, /started nothing/],
  ["that refuses the key", 403, /started nothing/],
])("by a service %s", (_name, status, said) => {
  /** Runs the action on a comment while no record can be read. */
  const askUnread = async (own: KeyedService, github: FakeGitHub, options: Partial<CommentOptions>) => {
    const sent = own.turns.length;
    const isRecord = ({ method, path }: SeenRequest): boolean => method === "GET" && /\/job\/job_/.test(path);
    const respond = (request: SeenRequest) => (isRecord(request) ? respondWith(status) : own.respond(request));
    const { outputs, toolkit } = await comment(own, github, { ...options, respond });
    expect([outputs.outcome, own.turns.length]).toEqual(["error", sent]);
    expect(toolkit.annotations.at(-1)?.text).toMatch(said);
  };

  test("a thread's job is not taken for one of another branch: nothing is started", async () => {
    const own = service();
    const github = pullRequest(1);
    await comment(own, github);
    await askUnread(own, github, {
      payload: { comment: { id: 78, body: "/agent more", user: { id: 5, login: "writer", type: "User" } }, issue },
      environment: { GITHUB_RUN_ID: "100" },
    });
  });

  test("a job is not taken for none in its own pull request", async () => {
    const own = service();
    const job = "job_00000000-0000-4000-8000-000000000001";
    own.turns.push({ turn: "turn_0", job, prompt: "x", step: "s", request: "r", status: "completed" });
    await askUnread(own, pullRequest(1, `docs/agent-${job}`), { inputs: { base: "" } });
  });
});

describe("in a job's own pull request", () => {
  const known = "job_00000000-0000-4000-8000-000000000001";
  const branch = `agent/${known}`;

  /** Runs the action on a comment, for a service that has the job. */
  async function ask(github: FakeGitHub, options: Partial<CommentOptions> = {}, own = service()) {
    if (own.turns.length === 0)
      own.turns.push({ turn: "turn_0", job: known, prompt: "x", step: "s", request: "r", status: "completed" });
    const done = await comment(own, github, { ...options, inputs: { base: "", ...options.inputs } });
    return { ...done, jobs: own.turns.slice(1).map(({ job }) => job) };
  }

  test.each<[name: string, options: Partial<CommentOptions>]>([
    ["a comment", {}],
    ["one without a reply", { inputs: { reply: "false" } }],
    [
      "one on a line",
      {
        review: { path: "a.md", line: 3 },
        payload: {
          pull_request: {
            ...issue,
            state: "open",
            head: { ref: branch, repo: { id: 1 } },
            base: { ref: "main", repo: { id: 1 } },
          },
        },
      },
    ],
  ])("%s goes to that job", async (_name, options) => {
    const { outputs, jobs } = await ask(pullRequest(1, branch), options);
    expect(outputs).toMatchObject({ "job-id": known, "job-origin": "continued" });
    expect(jobs).toEqual([known]);
  });

  test.each<[name: string, github: FakeGitHub, options: Partial<CommentOptions>]>([
    ["that asks for a new job", pullRequest(1, branch), { text: "/agent new Mention X" }],
    ["of a workflow with a base", pullRequest(1, branch), { inputs: { base: "main" } }],
    ["whose branch is a fork's", pullRequest(2, branch), {}],
    ["of another branch", pullRequest(1, `${branch}-2`), {}],
    ["of a copy of its branch", pullRequest(1, `backup/${known}`), {}],
    ["of a job that is gone", pullRequest(1, `agent/${known.replace(/1$/, "2")}`), {}],
  ])("but not %s", async (_name, github, options) => {
    expect((await ask(github, options)).jobs).toEqual(["job_2"]);
  });

  test("a branch can begin otherwise if it is the one that the job's record names", async () => {
    const own = service();
    own.fields = { source: { repository: "https://github.com/acme/docs", ref: `docs/agent-${known}` } };
    expect((await ask(pullRequest(1, `docs/agent-${known}`), {}, own)).jobs).toEqual([known]);
  });

  test("a re-run waits for the message", async () => {
    const own = service();
    const github = pullRequest(1, branch);
    await ask(github, {}, own);
    const { outputs, jobs } = await ask(github, { attempt: 2 }, own);
    expect(outputs).toMatchObject({ "job-id": known, "job-origin": "resumed" });
    expect(jobs).toEqual([known]);
  });

  test("status describes that job", async () => {
    const github = pullRequest(1, branch);
    const { jobs } = await ask(github, { text: "/agent status" });
    expect(github.reply).toContain(`Job <code>${known}</code> is <code>completed</code>`);
    expect(jobs).toEqual([]);
  });

  test("nothing is started if it cannot be read", async () => {
    const { outputs, jobs } = await ask(new FakeGitHub());
    expect([outputs.outcome, jobs]).toEqual(["error", []]);
  });
});
