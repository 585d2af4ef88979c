import { describe, expect, test, vi } from "vitest";
import type { ThreadEvent } from "../../../../src/action/comments/event.ts";
import { Thread } from "../../../../src/action/comments/thread.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { bot, FakeGitHub } from "../../../support/fake-github.ts";
import { earlierReply, markerLine, otherUser, ownStep } from "../../../support/thread.ts";

const timeoutMs = 60_000;

const event: ThreadEvent = {
  action: "created",
  triggerKind: "comment",
  request: "comment=77",
  owner: "acme",
  repo: "docs",
  isPublic: false,
  hiddenCount: 0,
  text: "/agent fix it",
  commentId: 77,
  author: { login: "writer", isBot: false },
  subject: { kind: "issue", number: 12, title: "T", body: "", url: "https://github.com/acme/docs/issues/12" },
};

/** Creates the thread of an issue, whose requests have to be over a minute after the start of the clock. */
function createThread(position?: ThreadEvent["position"]) {
  const github = new FakeGitHub();
  const clock = new FakeClock();
  const cancellation = new AbortController();
  const failures: string[] = [];
  const onFailure = (action: string, error: unknown) => failures.push(`${action}: ${(error as Error).message}`);
  const thread = new Thread({ ...event, ...(position && { position }) }, clock.now() + timeoutMs, {
    github,
    clock,
    signal: cancellation.signal,
    onFailure,
  });
  const calls = () => github.calls.map(({ route, parameters }) => [route, parameters]);
  return { thread, github, clock, cancellation, failures, calls };
}

const place = { owner: "acme", repo: "docs" };

/** As it is posted, so that a copy of it can be told from what another step writes. */
const first: unknown = expect.stringMatching(/^<!-- [0-9a-f-]{36} -->\nfirst$/);

describe("requests to GitHub", () => {
  test("name the issue and the comment", async () => {
    const { thread, calls } = createThread();
    await thread.react("eyes");
    await thread.post("first");
    await thread.edit("second");
    await thread.listReplies("docs");
    expect(calls()).toEqual([
      [
        "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
        { ...place, comment_id: 77, content: "eyes" },
      ],
      ["POST /repos/{owner}/{repo}/issues/{issue_number}/comments", { ...place, issue_number: 12, body: first }],
      ["PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", { ...place, comment_id: 1000, body: "second" }],
      ["GET /repos/{owner}/{repo}/issues/{number}/comments", { ...place, number: 12, page: 1, per_page: 100 }],
    ]);
  });

  test("name the first comment of a review's thread", async () => {
    const { thread, calls } = createThread({ rootId: 55, path: "a.md", line: 3 });
    await thread.react("eyes");
    await thread.post("first");
    await thread.edit("second");
    await thread.listReplies("docs");
    expect(calls()).toEqual([
      [
        "POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions",
        { ...place, comment_id: 77, content: "eyes" },
      ],
      [
        "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies",
        { ...place, pull_number: 12, comment_id: 55, body: first },
      ],
      ["PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id}", { ...place, comment_id: 1000, body: "second" }],
      ["GET /repos/{owner}/{repo}/pulls/{number}/comments", { ...place, number: 12, page: 1, per_page: 100 }],
    ]);
  });

  test("end after 10 s, and shortly after a signal if what they write is still needed", async () => {
    const { thread, github, cancellation } = createThread();
    const { signal } = cancellation;
    await thread.react("eyes");
    await thread.post("first");
    await thread.edit("second");
    await thread.edit("third", { isUrgent: true });
    await thread.edit("last", { isLast: true });
    await thread.react("hooray", { isLast: true });
    const usual = { timeoutMs: 10_000, signal, graceMs: 0, isUrgent: false };
    expect(
      github.calls.map(({ limits: { timeoutMs, signal, graceMs, isUrgent = false } }) => ({
        timeoutMs,
        signal,
        graceMs,
        isUrgent,
      })),
    ).toEqual([
      usual,
      { ...usual, graceMs: 200 },
      usual,
      { ...usual, isUrgent: true },
      { ...usual, graceMs: 1000 },
      { ...usual, graceMs: 1000 },
    ]);
  });

  test("have only the time that is left, except the last ones", async () => {
    const { thread, github, clock } = createThread();
    await thread.post("first");
    clock.advance(timeoutMs - 3000);
    await thread.listReplies("docs");
    await thread.edit("second");
    await thread.edit("last", { isLast: true });
    expect(github.calls.map(({ limits }) => limits)).toMatchObject([
      { timeoutMs: 10_000 },
      { timeoutMs: 3000, totalTimeoutMs: 3000 },
      { timeoutMs: 3000 },
      { timeoutMs: 10_000 },
    ]);
  });

  test("to read a long thread have all the time that is left", async () => {
    const { thread, github, clock } = createThread();
    clock.advance(10_000);
    await thread.listReplies("docs");
    expect(github.calls[0]?.limits).toMatchObject({ timeoutMs: 10_000, totalTimeoutMs: 50_000 });
  });

  test("are not sent when no time is left, which is reported once", async () => {
    const { thread, calls, clock, failures } = createThread();
    clock.advance(timeoutMs);
    expect(await thread.react("eyes")).toMatchObject({ kind: "lost" });
    expect(await thread.post("first")).toMatchObject({ kind: "lost" });
    expect(await thread.listReplies("docs")).toBeUndefined();
    expect(calls()).toEqual([]);
    expect(failures).toEqual(["add a reaction: timeout-minutes has passed"]);
  });
});

describe("a response that is not usable", () => {
  test("is reported once, has no data, and is not asked for again, because GitHub may have acted", async () => {
    const { thread, github, failures } = createThread();
    let requests = 0;
    github.request = async () => {
      requests++;
      return { message: "who are you?" };
    };
    expect(await thread.react("eyes")).toMatchObject({ kind: "lost" });
    expect(await thread.post("first")).toMatchObject({ kind: "lost" });
    expect(failures).toEqual(["add a reaction: GitHub's response is not usable"]);
    expect(requests).toBe(2);
  });

  test("may lack the author of the reply, which is edited nevertheless", async () => {
    const { thread, github, failures } = createThread();
    const bodies: unknown[] = [];
    github.request = async (_route, { body }) => {
      bodies.push(body);
      return { id: 1000, user: null };
    };
    expect(await thread.post("first")).toEqual({ kind: "kept", userId: undefined });
    await thread.edit("second");
    expect(bodies).toEqual([first, "second"]);
    expect(failures).toEqual([]);
  });
});

describe("the reply", () => {
  test("is reliable while its last edit succeeded", async () => {
    const { thread, github } = createThread();
    expect(thread.isReliable).toBe(false);
    await thread.post("first");
    expect(thread.isReliable).toBe(true);
    github.fault = () => {
      throw new Error("Bad gateway");
    };
    await thread.edit("second");
    expect(thread.isReliable).toBe(false);
    github.fault = () => {};
    await thread.edit("third");
    expect(thread.isReliable).toBe(true);
  });

  test("is not edited if it could not be posted", async () => {
    const { thread, github, calls } = createThread();
    github.fault = () => {
      throw new Error("Forbidden");
    };
    await thread.post("first");
    await thread.edit("second");
    await thread.edit("last", { isLast: true });
    expect(new Set(calls().map(([route]) => route)).size).toBe(1);
    expect(thread.isReliable).toBe(false);
  });

  test("gets its edits in order; after a signal only the last one, without waiting for others", async () => {
    const { thread, github, cancellation } = createThread();
    await thread.post("first");
    const { promise: hangs, resolve } = Promise.withResolvers<void>();
    github.fault = ({ parameters }) => (parameters.body === "second" ? hangs : undefined);
    const edits = [thread.edit("second"), thread.edit("third")];
    await vi.waitFor(() => expect(github.calls).toHaveLength(2));
    cancellation.abort();
    await thread.edit("too late");
    await thread.edit("last", { isLast: true });
    resolve();
    await Promise.all(edits);
    expect(github.calls.map(({ parameters }) => parameters.body)).toEqual([first, "second", "last"]);
  });
});

describe("after a signal", () => {
  test("a request that fails is not reported, because that says nothing about the thread", async () => {
    const { thread, github, cancellation, failures } = createThread();
    await thread.post("first");
    cancellation.abort();
    github.fault = () => {
      throw new Error("Forbidden");
    };
    await thread.react("eyes");
    expect(failures).toEqual([]);
    await thread.edit("last", { isLast: true });
    expect(failures).toEqual(["update the reply: Forbidden"]);
  });

  test("there is no time for the last reaction", async () => {
    const { thread, github, cancellation } = createThread();
    cancellation.abort();
    await thread.react("hooray", { isLast: true });
    expect(github.calls).toEqual([]);
  });
});

test("lists the other replies with a marker of the project, oldest first", async () => {
  const { thread, github } = createThread();
  github.add(otherUser, "hello");
  github.add(bot, earlierReply("job_1"));
  github.add(bot, markerLine("job_2", { projectId: "other" }));
  github.add(otherUser, earlierReply("job_3"));
  github.comments.reverse();
  await thread.post(markerLine("job_4"));
  expect(await thread.listReplies("docs")).toEqual([
    {
      replyId: 1001,
      authorId: bot.id,
      projectId: "docs",
      request: `comment=1 ${ownStep}`,
      attempt: 1,
      kind: "job",
      jobId: "job_1",
    },
    {
      replyId: 1003,
      authorId: otherUser.id,
      projectId: "docs",
      request: `comment=1 ${ownStep}`,
      attempt: 1,
      kind: "job",
      jobId: "job_3",
    },
  ]);
});
