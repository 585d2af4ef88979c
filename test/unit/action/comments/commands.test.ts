import { describe, expect, test } from "vitest";
import { type CommentOptions, runComment } from "../../../support/comment-run.ts";
import { bot, FakeGitHub } from "../../../support/fake-github.ts";
import { prLink, record, respondWith } from "../../../support/run-main.ts";
import {
  completed,
  completes,
  createRequest,
  earlierReply,
  githubRejecting,
  markerLine,
  otherUser,
  ownStep,
  pollOf,
  routesOf,
  sentOf,
  threadWith,
} from "../../../support/thread.ts";
import { promptsOf, runThreadEvent } from "../../../support/thread-event-run.ts";

const permissionRoute = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";

function command(github: FakeGitHub, text: string, options: CommentOptions = {}) {
  return runComment(github, { text, respond: completes, ...options });
}

const skipped = { outcome: "skipped", "skip-reason": "command", "job-id": "", status: "", "pr-link": "" };

describe("status", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["active", { prLink: null }, "<b>Job <code>job_1</code> is <code>active</code></b>"],
    ["completed", { prLink }, `is <code>completed</code></b> · <a href="${prLink}">Pull request 7</a>`],
    ["failed", { createdAt: "<b>" }, "is <code>failed</code></b> · created <code>&lt;b&gt;</code>"],
    ["odd@team", {}, "is <code>odd@team</code></b>"],
  ])("says that the thread's job is %s, after one poll", async (status, fields, text) => {
    const github = threadWith(earlierReply("job_0"), earlierReply("job_1"));
    const respond = () => respondWith(200, record({ status, ...fields }));
    const { outputs, requests, hasPassed } = await command(github, "/agent status", { respond });
    expect(hasPassed).toBe(true);
    expect(outputs).toMatchObject({ ...skipped, author: "writer" });
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(github.reply).toContain(text);
    expect(github.comments).toHaveLength(3);
    expect(github.reactions).toEqual(["eyes"]);
  });

  test("has no marker, so the thread's job and the requests of a re-run stay the same", async () => {
    const github = threadWith(earlierReply("job_1"));
    await command(github, "/agent status");
    await command(github, "/agent status", { attempt: 2 });
    expect(github.comments.filter(({ body }) => body.includes("<!--"))).toHaveLength(1);
    const { requests } = await command(github, "/agent go on");
    expect(sentOf(requests)[0]).toBe("POST /v2/agent/docs/job/job_1/message");
  });

  test("is about the last job, although a later reply has none", async () => {
    const github = threadWith(
      earlierReply("job_1"),
      `<!-- agent-job-action project=docs attempt=1 pending comment=2 ${ownStep} -->`,
    );
    expect(routesOf((await command(github, "/agent status")).requests)).toEqual([pollOf("job_1")]);
  });

  test("is about the job that the workflow names", async () => {
    const github = threadWith(earlierReply("job_1"));
    const respond = () => respondWith(200, record({ id: "job_7" }));
    const { requests } = await command(github, "/agent status", { respond, inputs: { "job-id": "job_7" } });
    expect(routesOf(requests)).toEqual([pollOf("job_7")]);
  });

  test("says that there may be one if a request was about to be sent", async () => {
    const github = threadWith(`<!-- agent-job-action project=docs attempt=1 pending comment=1 ${ownStep} -->`);
    expect((await command(github, "/agent status")).requests).toEqual([]);
    expect(github.reply).toContain("A job may have been started, which no reply names yet.");
  });

  test("is about the job of a reply to which somebody has added something", async () => {
    const github = threadWith(`${earlierReply("job_1")}\nThanks!`);
    expect(routesOf((await command(github, "/agent status")).requests)).toEqual([pollOf("job_1")]);
  });

  test.each<[string, () => FakeGitHub]>([
    ["is empty", () => new FakeGitHub()],
    [
      "has only a forged marker",
      () => {
        const github = new FakeGitHub();
        github.add(otherUser, earlierReply("job_forged"));
        return github;
      },
    ],
    ["sent nothing", () => threadWith(`<!-- agent-job-action project=docs attempt=1 unsent comment=1 ${ownStep} -->`)],
    ["has the job of another project", () => threadWith(markerLine("job_1", { projectId: "other" }))],
  ])("says that there is none if the thread %s", async (_name, thread) => {
    const github = thread();
    const { requests } = await command(github, "/agent status");
    expect(requests).toEqual([]);
    expect(github.reply).toBe("<p>This thread has no job. To start one, comment <code>/agent …</code>.</p>");
  });

  test.each<[number, string]>([
    [404, "Job <code>job_1</code> was not found."],
    [401, "The state of job <code>job_1</code> cannot be read: the service answered HTTP 401"],
    [503, "The state of job <code>job_1</code> cannot be read: the service answered HTTP 503"],
  ])("says why the state cannot be read (%i), within a minute, and passes", async (status, text) => {
    const github = threadWith(earlierReply("job_1"));
    const { outputs, hasPassed, clock } = await command(github, "/agent status", {
      respond: () => respondWith(status, status === 404 ? { error: "Job not found" } : ""),
    });
    expect(hasPassed).toBe(true);
    expect(outputs).toMatchObject(skipped);
    expect(github.reply).toContain(text);
    expect(clock.elapsedMs).toBeLessThanOrEqual(61_000);
  });

  test("says that the thread cannot be read", async () => {
    const github = githubRejecting(/^GET .*\/comments$/);
    const { outputs, requests } = await command(github, "/agent status");
    expect(outputs).toMatchObject(skipped);
    expect(requests).toEqual([]);
    expect(github.reply).toContain("cannot be read");
  });

  test("sends nothing if no reply can be made", async () => {
    const github = githubRejecting(/^POST /, earlierReply("job_1"));
    const { outputs, requests, toolkit } = await command(github, "/agent status");
    expect(outputs).toMatchObject(skipped);
    expect(requests).toEqual([]);
    expect(toolkit.annotations.map(({ title }) => title)).toEqual(["Cannot update the thread", "Skipped"]);
  });

  test.each([
    ["reads the thread", "{number}/comments", "cannot be read"],
    ["posts its reply", "{issue_number}/comments", "The run was cancelled"],
  ])("that is cancelled while it %s says so", async (_name, slow, answer) => {
    const github = threadWith(earlierReply("job_1"));
    const { outputs, requests } = await command(github, "/agent status", {
      cancelAt: 500,
      onClock: (clock) => {
        github.fault = ({ route }) => {
          if (route.endsWith(slow)) clock.advance(1000);
        };
      },
    });
    expect(github.reply).toContain(answer);
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
    expect(requests).toEqual([]);
  });

  test("answers in the thread of a review comment", async () => {
    const github = new FakeGitHub();
    github.add(bot, earlierReply("job_1"), 55);
    github.add(bot, earlierReply("job_2"));
    const review = { path: "a.md", line: 3, in_reply_to_id: 55 };
    const { requests } = await command(github, "/agent status", { review });
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(github.comments.at(-1)?.in_reply_to_id).toBe(55);
  });

  test("answers a review, which has no reactions", async () => {
    const github = threadWith(earlierReply("job_1"));
    github.reviews.set(5, { body: "/agent status", comments: [] });
    const review = { id: 5, body: "/agent status" };
    const { outputs, requests } = await runThreadEvent(github, "pull_request_review", "submitted", { review });
    expect(outputs).toMatchObject(skipped);
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(github.reactions).toEqual([]);
  });

  test("in the comments of a review is answered, and never sent", async () => {
    const review = { id: 5, body: null };
    const submit = async (...bodies: string[]) => {
      const github = new FakeGitHub();
      github.reviews.set(5, { body: null, comments: bodies.map((body) => ({ body })) });
      return runThreadEvent(github, "pull_request_review", "submitted", {
        review,
        inputs: { prompt: "{{ instruction }}" },
      });
    };
    expect((await submit("/agent status", "/agent help")).outputs).toMatchObject(skipped);
    expect(promptsOf(await submit("/agent status", "/agent fix it"))).toEqual(["File: a.md, line 3\nfix it"]);
  });
});

describe("help", () => {
  test("lists what can be asked, and sends nothing", async () => {
    const github = new FakeGitHub();
    const { outputs, requests } = await command(github, "  /Agent\n HELP ", { inputs: { "trigger-phrase": "/agent" } });
    expect(outputs).toMatchObject(skipped);
    expect(requests).toEqual([]);
    expect(github.reply?.replace(/^<!-- \S+ -->\n/, "")).toBe(
      [
        "<p>Comments that ask the agent:</p>\n\n<ul>",
        "<li><code>/agent …</code> starts a job with this instruction, or sends it to the job of this thread.</li>",
        "<li><code>/agent new …</code> starts a new job.</li>",
        "<li><code>/agent status</code> shows the state of the job.</li>",
        "<li><code>/agent help</code> shows this list.</li></ul>",
      ].join(""),
    );
    expect(github.reactions).toEqual(["eyes"]);
  });

  test("names the label, and no new job if the workflow names one", async () => {
    const github = new FakeGitHub();
    await command(github, "/agent help", { inputs: { "job-id": "job_7", "trigger-label": "<docs>" } });
    expect(github.reply).toContain("The label <code>&lt;docs&gt;</code> asks for what");
    expect(github.reply).not.toContain("new …");
  });
});

describe("a command", () => {
  test.each([
    "status page is wrong",
    "help the reader",
    "status.",
    "statuses",
    "new status",
    "show status",
    "status\nhelp",
  ])("stands alone: %s is an instruction", async (instruction) => {
    const run = await command(new FakeGitHub(), `/agent ${instruction}`, { inputs: { prompt: "{{ instruction }}" } });
    expect(routesOf(run.requests)[0]).toBe(createRequest);
    expect(promptsOf(run)).toEqual([instruction.replace(/^new /, "")]);
  });

  test("needs only read, whatever the workflow requires", async () => {
    const github = new FakeGitHub();
    github.permission = { permission: "read", role_name: "read" };
    const inputs = { "required-permission": "admin" };
    expect((await command(github, "/agent help", { inputs })).outputs).toMatchObject(skipped);
    expect((await command(github, "/agent fix it", { inputs })).outputs["skip-reason"]).toBe("not-permitted");
  });

  test.each([
    ["someone without read", { login: "stranger" }, "not-permitted", [permissionRoute]],
    ["a bot", { login: "helper[bot]" }, "bot", []],
  ])("of %s is not answered", async (_name, author, reason, routes) => {
    const github = threadWith(earlierReply("job_1"));
    github.permission = { permission: "none" };
    const { outputs, requests } = await command(github, "/agent status", { author });
    expect(outputs["skip-reason"]).toBe(reason);
    expect(requests).toEqual([]);
    expect(github.calls.map(({ route }) => route)).toEqual(routes);
  });

  test.each(["edited", "deleted"])("that is %s is not answered", async (action) => {
    const github = new FakeGitHub();
    await command(github, "/agent help", { action });
    expect(github.calls).toEqual([]);
  });

  test("has no answer with reply: false", async () => {
    const github = threadWith(earlierReply("job_1"));
    const { outputs, requests } = await command(github, "/agent status", { inputs: { reply: "false" } });
    expect(outputs).toMatchObject(skipped);
    expect(requests).toEqual([]);
    expect(github.calls.map(({ route }) => route)).toEqual([permissionRoute]);
  });

  test("reads no changes, and warns of no public access", async () => {
    const { toolkit } = await command(new FakeGitHub(), "/agent help", {
      inputs: { changes: "list", "required-permission": "read" },
      payload: { repository: { name: "docs", owner: { login: "acme" }, private: false } },
      respond: () => respondWith(200, completed),
    });
    expect(toolkit.annotations).toMatchObject([
      { level: "notice", text: "The comment is a command, which is answered in a reply. Nothing was started." },
    ]);
  });
});
