import { describe, expect, test } from "vitest";
import { type CommentOptions, commentId, runComment } from "../../../support/comment-run.ts";
import { bot, FakeGitHub } from "../../../support/fake-github.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { prLink, record, respondWith } from "../../../support/run-main.ts";
import { ownStep } from "../../../support/thread.ts";

const respond = ({ method }: SeenRequest): Exchange =>
  method === "POST" ? respondWith(201, record()) : respondWith(200, record({ status: "completed", prLink }));

const pending = (id = commentId) => `<!-- agent-job-action project=docs attempt=1 pending comment=${id} ${ownStep} -->`;
const remembered = (job: string, id = commentId) =>
  `<!-- agent-job-action project=docs attempt=1 job=${job} comment=${id} ${ownStep} -->`;
const lastLine = (body: string) => body.split("\n").at(-1);
const posts = (requests: SeenRequest[]) => requests.filter(({ method }) => method === "POST").map(({ path }) => path);

describe("before a create is sent", () => {
  test("the reply says that one is about to be sent, and right after it names the job", async () => {
    const github = new FakeGitHub();
    const events: string[] = [];
    github.fault = ({ route, parameters, limits }) => {
      if (typeof parameters.body !== "string") return;
      events.push(`${route.split(" ")[0]} ${lastLine(parameters.body)}${limits.isUrgent ? " at once" : ""}`);
    };
    await runComment(github, {
      respond: (request) => {
        events.push(request.method === "POST" ? "create" : "poll");
        return respond(request);
      },
    });
    expect(events).toEqual([
      `POST ${pending()}`,
      "create",
      `PATCH ${remembered("job_1")} at once`,
      "poll",
      `PATCH ${remembered("job_1")}`,
    ]);
  });
});

describe("a re-run that only finds that a request was about to be sent", () => {
  test("sends nothing, fails, and says how to start a job on purpose", async () => {
    const github = new FakeGitHub();
    github.add(bot, `working\n\n${pending()}`);
    const { requests, outputs, toolkit, hasPassed } = await runComment(github, { respond, attempt: 2 });
    expect(requests).toEqual([]);
    expect(hasPassed).toBe(false);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(toolkit.annotations).toMatchObject([{ level: "error", title: "Job may have been started" }]);
    expect(toolkit.annotations[0]?.text).toMatch(
      /a job may have been started.*This run sent nothing.*To start another job, comment \/agent new …/s,
    );
    expect(github.comments).toHaveLength(1);
    expect(lastLine(github.reply)).toBe(pending());
    expect(github.reply).not.toContain("To continue with this job");
  });

  test("sends nothing either if GitHub has no reactions", async () => {
    const github = new FakeGitHub();
    github.fault = ({ route }) => {
      if (route.endsWith("/reactions")) throw new Error("Not Found");
    };
    github.add(bot, `working\n\n${pending()}`);
    const { requests, outputs } = await runComment(github, { respond, attempt: 2 });
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
    expect(lastLine(github.reply)).toBe(pending());
  });

  test("offers no other job if the workflow names the job", async () => {
    const github = new FakeGitHub();
    github.add(bot, `working\n\n${pending()}`);
    const { toolkit } = await runComment(github, { respond, attempt: 2, inputs: { "job-id": "job_7" } });
    expect(toolkit.annotations[0]?.text).toContain("To send another message, comment /agent ….");
    expect(toolkit.annotations[0]?.text).not.toContain("new");
  });

  test("stays that way on the next re-run", async () => {
    const github = new FakeGitHub();
    github.add(bot, `working\n\n${pending()}`);
    await runComment(github, { respond, attempt: 2 });
    expect((await runComment(github, { respond, attempt: 3 })).requests).toEqual([]);
  });
});

test("a new comment starts a job although an earlier one is pending, and continues the last known job", async () => {
  const github = new FakeGitHub();
  github.add(bot, `working\n\n${pending(5)}`);
  expect(posts((await runComment(github, { respond })).requests)).toEqual(["/v2/agent/docs/job"]);
  const other = new FakeGitHub();
  other.add(bot, `done\n\n${remembered("job_1", 4)}`);
  other.add(bot, `working\n\n${pending(5)}`);
  expect(posts((await runComment(other, { respond })).requests)).toEqual(["/v2/agent/docs/job/job_1/message"]);
});

test("a reply with a stranger's pending marker does not stop a re-run", async () => {
  const github = new FakeGitHub();
  github.add({ id: 666, login: "stranger" }, pending());
  const { requests } = await runComment(github, { respond, attempt: 2 });
  expect(posts(requests)).toEqual(["/v2/agent/docs/job"]);
});

describe("another step that answers the same comment", () => {
  // What differs of the step whose reply is in the thread; the run itself if the comment was edited and asks again.
  const others: [string, Partial<CommentOptions>][] = [
    ["another leg of the matrix", { inputs: { "matrix-leg": '{"os":"linux"}' } }],
    ["another step of the job", { environment: { GITHUB_ACTION: "__run_2" } }],
    ["another job", { environment: { GITHUB_JOB: "other" } }],
    ["another call of a reusable workflow", { inputs: { prompt: "Check {{ instruction }}" } }],
    ["another run", { environment: { GITHUB_RUN_ID: "98" } }],
  ];

  test.each(others)("is not taken for an earlier attempt: %s", async (_name, other) => {
    const github = new FakeGitHub();
    await runComment(github, { respond, ...other });
    const { reply } = github;
    const { requests, outputs, toolkit } = await runComment(github, { respond, attempt: 2 });
    // The other one's reaction is no proof that this step has sent nothing.
    expect(requests).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(toolkit.annotations.at(-1)?.title).toMatch(/^Earlier attempt (may have started a job|had another prompt)$/);
    expect(github.comments.map(({ body }) => body)).toEqual([reply]);
  });

  test.each(others)(
    "has continued the job if a re-run of the first one finds a message to it: %s",
    async (_name, other) => {
      const github = new FakeGitHub();
      await runComment(github, { respond });
      expect(posts((await runComment(github, { respond, ...other })).requests)).toEqual([
        "/v2/agent/docs/job/job_1/message",
      ]);
      const { requests, toolkit } = await runComment(github, { respond, attempt: 2 });
      expect(posts(requests)).toEqual([]);
      expect(toolkit.annotations.at(-1)?.title).toBe("A later run has continued the job");
    },
  );
});

const unsent = pending().replace("pending", "unsent");

describe("after the request", () => {
  test.each([
    ["an unknown acceptance without an id", respondWith(502)],
    ["a response that is lost", { failure: "no-response" } as Exchange],
  ])("%s stays pending, and the advice is to start another job on purpose", async (_name, exchange) => {
    const github = new FakeGitHub();
    const { toolkit } = await runComment(github, { respond: () => exchange });
    expect(lastLine(github.reply)).toBe(pending());
    expect(github.reply).toContain("A re-run sends nothing. To start another job, comment <code>/agent new …</code>.");
    expect(toolkit.annotations.at(-1)?.text).toContain(
      "A re-run sends nothing. To start another job, comment /agent new ….",
    );
    expect((await runComment(github, { respond, attempt: 2 })).requests).toEqual([]);
  });

  test("a rejected create leaves a marker that says so, so that a re-run sends it", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond: () => respondWith(401) });
    expect(lastLine(github.reply)).toBe(unsent);
    const { requests } = await runComment(github, { respond, attempt: 2 });
    expect(posts(requests)).toEqual(["/v2/agent/docs/job"]);
    // The re-run edits the reply.
    expect(github.comments.filter(({ user }) => user?.id === bot.id)).toHaveLength(1);
  });

  test("a create that was cancelled before it was sent leaves a marker that says so", async () => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, {
      cancelAt: 500,
      respond: () => ({ connectMs: 1000, answer: { status: 201, body: record() } }),
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(lastLine(github.reply)).toBe(unsent);
  });

  test("too little time left leaves a marker that says so", async () => {
    const github = new FakeGitHub();
    const { requests } = await runComment(github, {
      respond,
      inputs: { "timeout-minutes": "0.5" },
      onClock: (clock) => {
        github.fault = ({ route }) => {
          if (!route.startsWith("PATCH")) clock.advance(8000);
        };
      },
    });
    expect(requests).toEqual([]);
    expect(github.reply).toContain("no time was left");
    expect(lastLine(github.reply)).toBe(unsent);
  });
});

test("anyone may start jobs: one warning on a public repository with required-permission: read", async () => {
  const warnings = async (isPrivate: boolean, permission: string) => {
    const github = new FakeGitHub();
    const repository = { name: "docs", owner: { login: "acme" }, private: isPrivate };
    const { toolkit } = await runComment(github, {
      respond,
      inputs: { "required-permission": permission },
      payload: { repository },
    });
    return toolkit.annotations.map(({ level, title }) => `${level} ${title}`);
  };
  expect(await warnings(false, "read")).toEqual(["warning Anyone can start jobs"]);
  expect(await warnings(true, "read")).toEqual([]);
  expect(await warnings(false, "triage")).toEqual([]);
});
