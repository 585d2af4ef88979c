import { describe, expect, test } from "vitest";
import { type CommentOptions, commentId, runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import type { SeenRequest } from "../../../support/fake-transport.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { record, respondWith } from "../../../support/run-main.ts";
import {
  completed,
  completes,
  createRequest,
  earlierReply,
  githubRejecting,
  losesJob,
  markerLine,
  messageTo,
  otherUser,
  ownReply,
  pollOf,
  routesOf,
  sentOf,
  staysActive,
  threadWith,
} from "../../../support/thread.ts";

/** The fields of the payload that make it another comment. */
const nextComment = {
  comment: { id: commentId + 1, body: "/agent again", user: { login: "writer", type: "User", id: 5 } },
};

/** Re-runs the workflow run, and returns the requests to the service. */
async function rerun(github: FakeGitHub, options: CommentOptions = {}): Promise<string[]> {
  return routesOf((await runComment(github, { respond: completes, attempt: 2, ...options })).requests);
}

/** The same, but what it sends. */
async function sendsAgain(github: FakeGitHub, options: CommentOptions = {}): Promise<string[]> {
  return sentOf((await runComment(github, { respond: completes, attempt: 2, ...options })).requests);
}

describe("a re-run", () => {
  test("waits for the job in its own reply, edits that reply and sends nothing again", async () => {
    const github = threadWith(ownReply("job_1"), earlierReply("job_2"));
    const { requests, outputs } = await runComment(github, { respond: completes, attempt: 2 });
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(github.comments).toHaveLength(2);
    expect(github.comments[0]?.body).toContain("Pull request created");
  });

  test("waits even with new and with job-id", async () => {
    for (const options of [{ text: "/agent new fix it" }, { inputs: { "job-id": "job_7" } }]) {
      expect(new Set(await rerun(threadWith(ownReply("job_1")), options))).toEqual(new Set([pollOf("job_1")]));
    }
  });

  test("uses the newest of its own replies", async () => {
    expect(await rerun(threadWith(ownReply("job_0"), ownReply("job_1")), { attempt: 3 })).toEqual([pollOf("job_1")]);
  });

  test.each([
    ["who may no longer ask", { permission: "read" }, "This run sent nothing, but an earlier attempt of it may have"],
    ["whose permission cannot be read", {}, "so this run sent nothing, but an earlier attempt of it may have"],
  ])("of somebody %s does not say that nothing was started", async (_name, permission, text) => {
    const github = threadWith(ownReply("job_1"));
    github.permission = permission;
    const { requests, toolkit } = await runComment(github, { respond: completes, attempt: 2 });
    expect(requests).toEqual([]);
    expect(toolkit.annotations.at(-1)?.text).toContain(text);
  });

  test("does not offer to continue its job if a later reply names another one", async () => {
    const github = threadWith(ownReply("job_1"), earlierReply("job_2"));
    await rerun(github);
    expect(github.comments[0]?.body).toContain("Pull request created");
    expect(github.comments[0]?.body).not.toContain("To continue with this job");
    const alone = threadWith(earlierReply("job_2"), ownReply("job_1"));
    await rerun(alone);
    expect(alone.reply).toContain("To continue with this job");
  });

  test("ignores a marker by another account", async () => {
    const github = new FakeGitHub();
    github.add(otherUser, ownReply("job_of_other_user"));
    expect((await rerun(github))[0]).toBe(createRequest);
  });

  test("recognizes its own replies by the one it posts if reactions fail", async () => {
    expect(await rerun(githubRejecting(/reactions$/, ownReply("job_1")))).toEqual([pollOf("job_1")]);
  });

  test.each([
    ["there is no own reply", []],
    ["its own reply has no marker", ["working"]],
  ])("starts a job if %s", async (_name, replies) => {
    const github = threadWith(...replies);
    expect((await rerun(github))[0]).toBe(createRequest);
    expect(github.reply).toContain("Pull request created");
  });

  test("starts a job if the one in its own reply is not found", async () => {
    const { requests, outputs } = await runComment(threadWith(ownReply("job_gone")), {
      attempt: 2,
      respond: losesJob,
    });
    expect(routesOf(requests).filter((route) => route.startsWith("POST"))).toEqual([createRequest]);
    expect(outputs["job-id"]).toBe("job_1");
  });

  test.each([401, 503])("keeps the job in its reply if the job cannot be read (%i)", async (status) => {
    const github = threadWith(ownReply("job_1"));
    await rerun(github, { respond: () => respondWith(status), inputs: { "timeout-minutes": "0.5" } });
    expect(github.reply.split("\n").at(-1)).toBe(markerLine("job_1", { comment: commentId, attempt: 2 }));
    expect(await rerun(github, { attempt: 3 })).toEqual([pollOf("job_1")]);
  });

  test("keeps the job of its reply if it sends nothing", async () => {
    const github = new FakeGitHub();
    const service = new KeyedService();
    const say = (text: string, id: number, options: CommentOptions = {}) =>
      runComment(github, {
        text,
        payload: { comment: { id, body: text, user: { login: "writer", type: "User" } } },
        respond: service.respond,
        ...options,
        inputs: { "base-url": "https://agents.acme.example" },
      });
    await say("/agent write it", 77);
    service.next = "failed";
    await say("/agent new write another", 78);
    const respond = (request: SeenRequest) => (request.method === "POST" ? respondWith(401) : service.respond(request));
    await say("/agent new write another", 78, { respond, attempt: 2 });
    await say("/agent go on", 79);
    expect(service.turns.map(({ job }) => job)).toEqual(["job_1", "job_2", "job_2"]);
  });

  test.each<[string, CommentOptions]>([
    ["may have been accepted", { respond: () => respondWith(502) }],
    [
      "was cancelled in flight",
      {
        cancelAt: 100,
        respond: (request) => (request.method === "POST" ? { responseMs: 20_000 } : completes(request)),
      },
    ],
  ])("neither sends a message again that %s, nor takes the job's state for its result", async (_name, options) => {
    const github = threadWith(earlierReply("job_1"));
    await runComment(github, options);
    const { requests, outputs, toolkit } = await runComment(github, { respond: completes, attempt: 2 });
    expect(requests).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "error", "pr-link": "" });
    expect(toolkit.annotations[0]?.title).toBe("Job may have been started");
    // The thread still remembers the job of the request before.
    const next = await runComment(github, { text: "/agent again", payload: nextComment, respond: completes });
    expect(sentOf(next.requests)).toEqual([messageTo("job_1")]);
  });

  test("sends a message that was cancelled before it was sent", async () => {
    const github = threadWith(earlierReply("job_1"));
    const first = await runComment(github, {
      cancelAt: 100,
      respond: (request) => (request.method === "POST" ? { connectMs: 20_000 } : completes(request)),
    });
    expect(first.outputs.outcome).toBe("cancelled");
    expect((await sendsAgain(github))[0]).toBe(messageTo("job_1"));
  });

  test("is cancelled like any other run, and keeps the job", async () => {
    const github = threadWith(ownReply("job_1"));
    const { outputs } = await runComment(github, {
      attempt: 2,
      cancelAt: 20_000,
      respond: () => respondWith(200, record()),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1" });
    expect(github.reply.split("\n").at(-1)).toBe(markerLine("job_1", { comment: commentId, attempt: 2 }));
  });

  test.each([
    ["", threadWith],
    [" if reactions fail", (...replies: string[]) => githubRejecting(/reactions$/, ...replies)],
  ])("does not take the state from before a message for its result%s", async (_, thread) => {
    const github = thread(earlierReply("job_1"));
    await runComment(github, {
      cancelAt: 100,
      respond: ({ method }) => respondWith(method === "POST" ? 201 : 500, record()),
    });
    const old = record({ status: "completed", prLink: "https://github.com/acme/docs/pull/1" });
    const { outputs, clock } = await runComment(github, {
      attempt: 2,
      respond: ({ at }) => respondWith(200, at < 10_000 ? old : record({ status: at < 30_000 ? "active" : "failed" })),
    });
    expect(outputs).toMatchObject({ outcome: "failed", "pr-link": "" });
    expect(clock.elapsedMs).toBeGreaterThanOrEqual(30_000);
  });

  test.each([
    ["/agent new fix it", githubRejecting(/pulls\/\{pull_number\}$/, ownReply("job_1")), "pr-created", ""],
    [
      "/agent fix it",
      threadWith(earlierReply("job_1"), ownReply("job_1")),
      "started",
      "Job job_1 is completed, which ",
    ],
  ])("reads once what became of %s with wait: false", async (text, github, outcome, told) => {
    const run = await runComment(github, {
      text,
      attempt: 2,
      subject: { pull_request: {} },
      inputs: { wait: "false", "base-url": "https://agents.example.com" },
      respond: ({ path }) => respondWith(path.includes("key=") ? 404 : 200, completed),
    });
    expect(run.outputs).toMatchObject({ outcome, status: "completed" });
    const log = run.toolkit.lines.join("\n");
    expect(log).toContain(told);
    expect(log).not.toContain("still running");
  });

  test("has the result of a message that was seen at work with wait: false", async () => {
    const github = threadWith(earlierReply("job_1"));
    const inputs = { wait: "false" };
    await runComment(github, { inputs, respond: () => respondWith(200, record()) });
    const { requests, outputs } = await runComment(github, { inputs, respond: completes, attempt: 2 });
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
    expect(github.reply).toContain("Pull request updated");
  });

  test("sends a message that was rejected", async () => {
    const github = threadWith(earlierReply("job_1"));
    await runComment(github, { respond: () => respondWith(401) });
    expect((await sendsAgain(github))[0]).toBe(messageTo("job_1"));
  });

  test("waits for the job that an incomplete response to the create named", async () => {
    const github = new FakeGitHub();
    const first = await runComment(github, { respond: () => respondWith(201, '{"status":"active","id":"job_1","mo') });
    expect(first.outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(await rerun(github)).toEqual([pollOf("job_1")]);
  });

  test("of a second call does not take the first call's result for that of its own message", async () => {
    const github = new FakeGitHub();
    const calls = ["Write {{ instruction }}", "Check {{ instruction }}"].map((prompt) => ({ prompt }));
    await runComment(github, { respond: completes, inputs: { ...calls[0] } });
    // The job shows how it ended before the message.
    const respond = () => respondWith(200, completed);
    const first = await runComment(github, { respond, inputs: { ...calls[1], wait: "false" } });
    expect(sentOf(first.requests)).toEqual([messageTo("job_1")]);
    const { requests, outputs } = await runComment(github, { respond, inputs: { ...calls[1] }, attempt: 2 });
    expect(sentOf(requests)).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "error", "job-origin": "resumed" });
  });

  test("sends nothing if the template is another one, and names the job", async () => {
    const github = new FakeGitHub();
    const first = { inputs: { prompt: "Old {{ instruction }}", "timeout-minutes": "1" } };
    await runComment(github, { respond: staysActive, ...first });
    const again = { inputs: { prompt: "New {{ instruction }}" }, attempt: 2 };
    const { requests, toolkit } = await runComment(github, { respond: completes, ...again });
    expect(requests).toEqual([]);
    expect(toolkit.annotations.at(-1)).toMatchObject({
      title: "Earlier attempt had another prompt",
      text: expect.stringContaining("job_1"),
    });
  });

  test("sends nothing if the job is not found that only an incomplete response has named", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond: () => respondWith(200, '{"id":"req-8c1f","error":"upst') });
    for (const attempt of [2, 3]) {
      const respond = () => respondWith(404, { error: "Job not found" });
      const { requests, outputs } = await runComment(github, { respond, attempt });
      expect(new Set(routesOf(requests))).toEqual(new Set([pollOf("req-8c1f")]));
      expect(outputs.outcome).toBe("error");
    }
  });

  test("sends nothing if it can only read the thread and the first run left a reply", async () => {
    const { requests, outputs } = await runComment(githubRejecting(/^(POST|PATCH) /, ownReply("job_1")), {
      respond: completes,
      attempt: 2,
    });
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
    expect(await rerun(githubRejecting(/^(POST|PATCH) /))).toEqual([]);
  });

  test("sends nothing if it cannot read the thread, because a job may be running", async () => {
    const { requests, outputs, toolkit } = await runComment(githubRejecting(/^GET .*\/comments$/, ownReply("job_1")), {
      respond: completes,
      attempt: 2,
    });
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations.at(-1)?.text).toContain("This run sent nothing; a job may be running.");
  });
});

test("a first run does not wait for the job of a reply to the same comment", async () => {
  expect((await sendsAgain(threadWith(ownReply("job_1")), { attempt: 1 }))[0]).toBe(messageTo("job_1"));
});
