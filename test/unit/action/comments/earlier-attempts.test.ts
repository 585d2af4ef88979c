import { describe, expect, test } from "vitest";
import { type CommentOptions, runComment } from "../../../support/comment-run.ts";
import { bot, FakeGitHub } from "../../../support/fake-github.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { record, respondWith } from "../../../support/run-main.ts";
import { completes, githubRejecting } from "../../../support/thread.ts";

const own = { inputs: { "base-url": "https://agents.example.com" } };
/** GitHub gives runs of comments a cache that can only be read. */
const environment = { ACTIONS_CACHE_MODE: "read", ACTIONS_CACHE_URL: "http://127.0.0.1/", ACTIONS_RUNTIME_TOKEN: "t" };
const repliesOf = (github: FakeGitHub) => github.comments.filter(({ user }) => user.id === bot.id);
const lastLine = (body: string) => body.split("\n").at(-1);

/** Runs an attempt for the same comment with a service of one's own. */
const attempt = (number: number, github: FakeGitHub, service: KeyedService, options: Partial<CommentOptions> = {}) =>
  runComment(github, { respond: service.respond, ...own, ...options, attempt: number, environment });

describe("a re-run with a service that can be asked", () => {
  test.each<[string, () => FakeGitHub, Partial<CommentOptions>]>([
    ["with a reply", () => new FakeGitHub(), {}],
    ["without rights to write to the thread", () => githubRejecting(/^(POST|PATCH)/), {}],
    ["with a thread that cannot be read", () => githubRejecting(/^GET .*comments$/), {}],
    ["with reply: false", () => new FakeGitHub(), { inputs: { ...own.inputs, reply: "false" } }],
  ])("waits for the turn of the first attempt: %s", async (name, thread, options) => {
    const github = thread();
    const service = new KeyedService();
    service.next = "running";
    await attempt(1, github, service, { ...options, inputs: { ...own.inputs, ...options.inputs, wait: "false" } });
    for (const turn of service.turns) turn.status = "completed";
    const { outputs } = await attempt(2, github, service, options);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "job-origin": "resumed" });
    expect(service.turns).toHaveLength(1);
    // A reply that cannot be found cannot be edited.
    expect(repliesOf(github).length).toBeLessThanOrEqual(name.includes("cannot be read") ? 2 : 1);
  });

  test("waits for it although the author may no longer ask", async () => {
    const github = new FakeGitHub();
    const service = new KeyedService();
    await attempt(1, github, service);
    github.permission = { permission: "read", role_name: "read" };
    expect((await attempt(2, github, service)).outputs["job-origin"]).toBe("resumed");
    // What failed is sent again only for somebody who may ask.
    for (const turn of service.turns) turn.status = "failed";
    expect((await attempt(3, github, service)).outputs).toMatchObject({
      outcome: "skipped",
      "skip-reason": "not-permitted",
    });
    expect(service.turns).toHaveLength(1);
  });

  test("sends the request if the first attempt was lost before it arrived, and edits its reply", async () => {
    const github = new FakeGitHub();
    const service = new KeyedService();
    const lost = {
      respond: () => ({ failure: "no-response" as const }),
      inputs: { ...own.inputs, "timeout-minutes": "0.2" },
    };
    await attempt(1, github, service, lost);
    expect(lastLine(github.reply)).toContain("pending");
    const { outputs } = await attempt(2, github, service);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
    expect(repliesOf(github)).toHaveLength(1);
    expect(lastLine(github.reply)).toContain("job=job_1");
  });

  test.each<[string, KeyedService["next"], number, string]>([
    ["while its job runs", "running", 7000, "nothing is sent again, unless the job fails."],
    ["when its job has failed", "failed", 100, "To start over, re-run this workflow run."],
  ])(
    "sends the request again if its turn has failed, as an attempt says that is cancelled %s",
    async (_when, next, cancelAt, said) => {
      const github = new FakeGitHub();
      const service = new KeyedService();
      service.next = next;
      // Its agent may fail before the create is answered.
      const status = next === "failed" ? "failed" : "active";
      const respond = (request: SeenRequest): Exchange => {
        const exchange = service.respond(request);
        return request.method === "GET"
          ? exchange
          : { responseMs: 500, response: { status: 201, body: record({ status }) } };
      };
      const { outputs, toolkit } = await attempt(1, github, service, { respond, cancelAt });
      expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1" });
      expect(toolkit.annotations.at(-1)?.text).toContain(said);
      for (const turn of service.turns) turn.status = "failed";
      service.next = "completed";
      expect((await attempt(2, github, service)).outputs.outcome).toBe("pr-created");
      expect(service.turns).toHaveLength(2);
    },
  );

  test("of a second comment continues the job, and sends the message once", async () => {
    const github = new FakeGitHub();
    const service = new KeyedService();
    await attempt(1, github, service);
    const comment = { id: 78, body: "/agent and the index", user: { id: 5, login: "writer", type: "User" } };
    const second = { payload: { comment } };
    await attempt(1, github, service, second);
    const { outputs } = await attempt(2, github, service, second);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "job-origin": "resumed" });
    expect(service.turns.map(({ job }) => job)).toEqual(["job_1", "job_1"]);
  });

  test("sends a turn that failed again, as a message to the job of the thread", async () => {
    const github = new FakeGitHub();
    const service = new KeyedService();
    service.next = "failed";
    await attempt(1, github, service);
    service.next = "completed";
    expect((await attempt(2, github, service)).outputs).toMatchObject({ outcome: "pr-created" });
    expect((await attempt(3, github, service)).outputs).toMatchObject({ "job-origin": "resumed" });
    expect(service.turns).toHaveLength(2);
    expect(repliesOf(github)).toHaveLength(1);
  });

  test("asks nothing for an event that asks for nothing", async () => {
    const { requests } = await attempt(2, new FakeGitHub(), new KeyedService(), { text: "just talking" });
    expect(requests).toEqual([]);
  });
});

describe("a re-run with the hosted service", () => {
  const silent = (runAttempt: number, github: FakeGitHub, options: Partial<CommentOptions> = {}) =>
    runComment(github, { respond: completes, ...options, attempt: runAttempt, environment });
  const posts = (requests: readonly SeenRequest[]) => requests.filter(({ method }) => method === "POST");

  test("sends nothing if the first attempt could not write to the thread, which warned of that", async () => {
    const github = githubRejecting(/^(POST|PATCH)/);
    const first = await silent(1, github);
    expect(first.toolkit.annotations[0]?.text).toContain("a re-run of this workflow run may not find the job");
    const second = await silent(2, github);
    expect(second.requests).toEqual([]);
    expect(second.outputs.outcome).toBe("error");
    expect(second.toolkit.annotations.at(-1)?.text).toContain("To start another job, comment /agent new …");
  });

  test("edits the reply that says that nothing was sent, and sends the request", async () => {
    const github = new FakeGitHub();
    await silent(1, github, { respond: () => respondWith(401) });
    expect(lastLine(github.reply)).toContain("unsent");
    expect(posts((await silent(2, github)).requests)).toHaveLength(1);
    expect(repliesOf(github)).toHaveLength(1);
  });

  test("cancelled before its create leaves one reply, which the next attempt edits", async () => {
    const github = new FakeGitHub();
    const cancelled = { cancelAt: 500, respond: () => ({ connectMs: 9000 }) };
    expect((await silent(1, github, cancelled)).outputs.outcome).toBe("cancelled");
    expect((await silent(2, github)).outputs.outcome).toBe("pr-created");
    expect(repliesOf(github)).toHaveLength(1);
  });

  test("finds a job with an id of 5,000 characters by its reply", async () => {
    const github = new FakeGitHub();
    const id = "j".repeat(5000);
    const respond = ({ method }: SeenRequest) =>
      respondWith(200, record({ id, ...(method === "GET" && { status: "completed" }) }));
    await silent(1, github, { respond });
    expect((await silent(2, github, { respond })).outputs).toMatchObject({ "job-id": id, "job-origin": "resumed" });
    expect(github.reply.length).toBeLessThan(65_536);
  });
});

test("a re-run has the result of a follow-up that an attempt, which timed out, saw at work", async () => {
  const github = new FakeGitHub();
  const options = { inputs: { "job-id": "job_1", "timeout-minutes": "1" }, environment };
  await runComment(github, { ...options, respond: () => respondWith(200, record()) });
  for (const attempt of [2, 3]) {
    const { outputs, requests } = await runComment(github, { ...options, respond: completes, attempt });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
    expect(requests.map(({ method }) => method)).toEqual(["GET"]);
  }
});

test("a re-run that sends nothing does not hide what an earlier attempt may have sent", async () => {
  const github = new FakeGitHub();
  const sent: number[] = [];
  const run = (number: number) =>
    runComment(github, {
      attempt: number,
      environment,
      respond: ({ method }: SeenRequest) => {
        if (method === "POST") sent.push(number);
        return respondWith(method === "POST" ? 201 : 200, record({ status: "completed" }));
      },
    });
  github.fault = ({ route }) => {
    if (/^(POST|PATCH) .*comments/.test(route) && !route.endsWith("reactions")) throw new Error("rejected");
  };
  await run(1);
  github.fault = () => {};
  expect((await run(2)).outputs.outcome).toBe("error");
  expect((await run(3)).outputs.outcome).toBe("error");
  expect(sent).toEqual([1]);
});
