import { describe, expect, test } from "vitest";
import { formatMarker, parseMarker } from "../../../../src/action/comments/marker.ts";
import { commentId, runComment } from "../../../support/comment-run.ts";
import { bot, FakeGitHub } from "../../../support/fake-github.ts";
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

const wasReplaced = /this thread remembers was not found/;

describe("a re-run that finds its job in its own reply", () => {
  test.each<[string, () => FakeGitHub, Record<string, string>]>([
    ["the only reply", () => threadWith(ownReply("job_1")), {}],
    ["an earlier reply names another job", () => threadWith(earlierReply("job_0"), ownReply("job_1")), {}],
    ["two replies to its comment name the job", () => threadWith(ownReply("job_1"), ownReply("job_1")), {}],
  ])("reads its state once, because a create has no earlier one: %s", async (_name, thread, inputs) => {
    const { requests, outputs, clock } = await runComment(thread(), { attempt: 2, respond: completes, inputs });
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
    expect(clock.elapsedMs).toBe(0);
  });

  test.each<[string, () => FakeGitHub, Record<string, string>]>([
    ["an earlier reply names it too", () => threadWith(earlierReply("job_1"), ownReply("job_1")), {}],
    ["the workflow names it", () => threadWith(ownReply("job_1")), { "job-id": "job_1" }],
  ])("waits 15 s, because the state may be from before a message: %s", async (_name, thread, inputs) => {
    const { requests, clock } = await runComment(thread(), { attempt: 2, respond: completes, inputs });
    expect(requests[0]?.at).toBe(0);
    expect(new Set(routesOf(requests))).toEqual(new Set([pollOf("job_1")]));
    expect(clock.elapsedMs).toBeGreaterThanOrEqual(15_000);
  });

  test("does not take its create for a message because of another account's reply", async () => {
    const github = new FakeGitHub();
    github.add(otherUser, earlierReply("job_1"));
    github.add(bot, ownReply("job_1"));
    const { requests, outputs } = await runComment(github, { attempt: 2, respond: completes });
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(outputs.outcome).toBe("pr-created");
  });

  test("does not take the result of a later request for its own", async () => {
    const later = `Working\n\n${markerLine("job_1", { comment: commentId + 1 })}`;
    const answered = threadWith(ownReply("job_1"), later);
    const before = answered.comments.map(({ body }) => body);
    const { requests, outputs, toolkit } = await runComment(answered, { attempt: 2, respond: completes });
    expect(requests).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "error", "pr-link": "", "job-id": "job_1" });
    // Its own result stays there.
    expect(answered.comments.map(({ body }) => body)).toEqual(before);
    expect(toolkit.annotations.at(-1)?.title).toBe("A later run has continued the job");
    const github = threadWith(ownReply("job_1"), later.replace("job_1", "job_2"));
    github.add(otherUser, later);
    expect(routesOf((await runComment(github, { attempt: 2, respond: completes })).requests)).toEqual([
      pollOf("job_1"),
    ]);
  });

  test("does not say that the job was replaced", async () => {
    const github = threadWith(ownReply("job_1"));
    const { toolkit } = await runComment(github, { attempt: 2, respond: completes });
    expect(github.reply).not.toMatch(wasReplaced);
    expect(toolkit.lines.join("\n")).not.toMatch(wasReplaced);
  });

  test("looks twice for a job that is not found", async () => {
    const { requests } = await runComment(threadWith(ownReply("job_gone")), { attempt: 2, respond: losesJob });
    expect(routesOf(requests)).toEqual([pollOf("job_gone"), pollOf("job_gone"), createRequest, pollOf("job_1")]);
  });
});

describe("a reply", () => {
  test.each<[string, () => FakeGitHub, string]>([
    ["a first job", () => new FakeGitHub(), createRequest],
    ["a message", () => threadWith(earlierReply("job_1")), messageTo("job_1")],
  ])("to %s does not say that a job was replaced", async (_name, thread, request) => {
    const github = thread();
    const { toolkit, requests } = await runComment(github, { respond: completes });
    expect(sentOf(requests)[0]).toBe(request);
    expect(github.reply).not.toMatch(wasReplaced);
    expect(toolkit.lines.join("\n")).not.toMatch(wasReplaced);
  });

  test("to a message that is sent in place of a wait does not say that a job was replaced", async () => {
    // Without reactions, a re-run finds its own reply only once it has posted another one.
    const github = githubRejecting(/\/reactions$/, ownReply("job_gone"), earlierReply("job_1"));
    const { toolkit, requests } = await runComment(github, { attempt: 2, respond: losesJob });
    expect(routesOf(requests).slice(0, 4)).toEqual([
      pollOf("job_gone"),
      pollOf("job_gone"),
      pollOf("job_1"),
      messageTo("job_1"),
    ]);
    expect(toolkit.lines.join("\n")).not.toMatch(wasReplaced);
  });
});

describe("the thread is read", () => {
  const listings = (github: FakeGitHub) => github.routes("GET").filter((route) => route.endsWith("/comments")).length;

  test.each<[string, () => FakeGitHub, number, number]>([
    ["once on a first run", () => new FakeGitHub(), 1, 1],
    ["once on a first run that cannot post its reply", () => githubRejecting(/^POST .*\/issues\/\{/), 1, 1],
    ["once on a re-run that finds its own reply", () => threadWith(ownReply("job_1")), 2, 1],
    ["once on a re-run that finds none", () => new FakeGitHub(), 2, 1],
    ["once on a re-run that does not know its account, and sends nothing", () => githubRejecting(/\/reactions$/), 2, 1],
  ])("%s", async (name, thread, attempt, times) => {
    const github = thread();
    const { outputs } = await runComment(github, { attempt, respond: completes });
    expect(outputs.outcome).toBe(name.endsWith("sends nothing") ? "error" : "pr-created");
    expect(listings(github)).toBe(times);
  });

  test("never with reply: false", async () => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, { attempt: 2, respond: completes, inputs: { reply: "false" } });
    expect(outputs.outcome).toBe("pr-created");
    expect(listings(github)).toBe(0);
  });
});

test("a reply that someone forged does not stop a re-run that knows its account", async () => {
  const github = githubRejecting(/^POST .*\/issues\/\{/);
  github.add(otherUser, ownReply("job_forged"));
  const { requests } = await runComment(github, { attempt: 2, respond: completes });
  expect(routesOf(requests)[0]).toBe(createRequest);
});

test("a cancellation while a re-run reads the thread sends nothing", async () => {
  const github = threadWith(ownReply("job_1"));
  const { outputs, requests } = await runComment(github, {
    attempt: 2,
    respond: completes,
    cancelAt: 500,
    onClock: (clock) => {
      github.fault = ({ route }) => {
        if (!route.endsWith("{number}/comments")) return;
        clock.advance(1000);
        throw new Error("the step was cancelled");
      };
    },
  });
  expect(requests).toEqual([]);
  expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
});

test("no reaction follows the result if the step is cancelled in the meantime", async () => {
  const github = new FakeGitHub();
  await runComment(github, {
    respond: completes,
    cancelAt: 60_000,
    onClock: (clock) => {
      github.fault = ({ parameters }) => {
        if (String(parameters.body).includes("Pull request created")) clock.advance(120_000);
      };
    },
  });
  expect(github.reply).toContain("Pull request created");
  expect(github.reactions).toEqual(["eyes"]);
});

test.each([
  ["0.1", 6000],
  ["5", 10_000],
])("with timeout-minutes %s, the permission is read within %i ms", async (minutes, timeoutMs) => {
  const github = new FakeGitHub();
  await runComment(github, { respond: completes, inputs: { "timeout-minutes": minutes } });
  expect(github.calls[0]?.limits.timeoutMs).toBe(timeoutMs);
});

test.each([
  [5000, [createRequest]],
  [5001, []],
])("a create is sent with a second left, but not with less: after %i of 6000 ms", async (spentMs, sent) => {
  const github = new FakeGitHub();
  const { requests } = await runComment(github, {
    respond: () => respondWith(201, completed),
    inputs: { "timeout-minutes": "0.1" },
    onClock: (clock) => {
      github.fault = ({ route }) => {
        if (route.startsWith("POST") && !route.endsWith("reactions")) clock.advance(spentMs);
      };
    },
  });
  expect(routesOf(requests)).toEqual(sent);
});

test("a job-id in the workflow is not replaced if it is not found", async () => {
  const { toolkit, requests } = await runComment(new FakeGitHub(), {
    respond: losesJob,
    inputs: { "job-id": "job_gone" },
  });
  expect(sentOf(requests)).toEqual([messageTo("job_gone")]);
  expect(toolkit.annotations).toMatchObject([{ level: "error", title: "Message not accepted" }]);
});

test("a template that leaves an empty prompt starts nothing, and says so", async () => {
  const { toolkit, requests } = await runComment(new FakeGitHub(), {
    respond: completes,
    payload: {
      issue: { number: 12, title: "T", body: "", html_url: "https://github.com/acme/docs/issues/12" },
    },
    inputs: { prompt: "{{ body }}" },
  });
  expect(requests).toEqual([]);
  expect(toolkit.annotations).toMatchObject([
    {
      title: "Empty prompt",
      text: "The template produced an empty prompt, so nothing was started.\nUse {{ instruction }} in the template.",
    },
  ]);
});

test.each<[string, () => FakeGitHub, Record<string, unknown>]>([
  ["cannot be posted", () => githubRejecting(/^POST .*\/issues\/\{/), {}],
  ["has no room for the job's id", () => new FakeGitHub(), { id: "j".repeat(17_000) }],
])("a re-run sends nothing if the reply %s, so that the annotation names the job", async (_name, thread, fields) => {
  const github = thread();
  const { toolkit } = await runComment(github, {
    respond: () => respondWith(201, record(fields)),
    inputs: { "timeout-minutes": "1" },
  });
  expect(toolkit.annotations.at(-1)?.title).toBe("Timed out");
  expect(toolkit.annotations.at(-1)?.text).toMatch(
    /To wait for it, run the action with job-id (job_1|j+…?) and no prompt\./,
  );
  expect(toolkit.annotations.at(-1)?.text).not.toContain("re-run");
  const second = await runComment(github, { attempt: 2, respond: completes, environment: { RUNNER_NAME: "r" } });
  expect(second.requests).toEqual([]);
});

test("a comment on a file without a line is passed on without one", async () => {
  const promptOf = async (review: { path: string; line: number | null }, prompt = "") =>
    (await runComment(new FakeGitHub(), { respond: staysActive, review, inputs: { prompt, wait: "false" } }))
      .requests[0]?.body;
  const template = "{{ path }}:{{ line }} {{ instruction }}";
  expect(await promptOf({ path: "a.md", line: 3 }, template)).toEqual({ prompt: "a.md:3 fix it" });
  expect(await promptOf({ path: "a.md", line: null }, template)).toEqual({ prompt: "a.md: fix it" });
  expect(await promptOf({ path: "a.md", line: 3 })).toEqual({
    prompt: expect.stringMatching(
      /^fix it\n\n---\nAsked for in pull request #12\n.*\nFile: a\.md, line 3\n\nThe text /,
    ),
  });
  expect(await promptOf({ path: "a.md", line: null })).toEqual({ prompt: expect.stringMatching(/\nFile: a\.md\n/) });
});

describe("a marker", () => {
  const request = `comment=${commentId} step=${"0af5".repeat(8)}` as const;
  const marker = (jobId: string) => ({ projectId: "docs", jobId, request, attempt: 1, kind: "job" as const });
  const lengthOf = (jobId: string) => formatMarker(marker(jobId)).length;

  test("has at most 16,384 characters", () => {
    const longest = "j".repeat(16_384 - lengthOf("j") + 1);
    expect(lengthOf(longest)).toBe(16_384);
    expect(formatMarker(marker(`${longest}j`))).toBe("");
  });

  test.each(["", "hello", `${markerLine("job_1")} more`, `${markerLine("job_1")} -->`])("is not in %j", (body) => {
    expect(parseMarker(body)).toBeUndefined();
  });
});

test("replies by the step's own account are its own, whatever their order", async () => {
  const github = threadWith(earlierReply("job_1"));
  github.add({ ...bot, login: "renamed[bot]" }, earlierReply("job_2"));
  const { requests } = await runComment(github, { respond: completes });
  expect(sentOf(requests)[0]).toBe(messageTo("job_2"));
});

test("a re-run that is cancelled before it waits keeps the job in its reply", async () => {
  const github = threadWith(ownReply("job_1"));
  const { outputs, requests } = await runComment(github, {
    attempt: 2,
    respond: completes,
    cancelAt: 500,
    onClock: (clock) => {
      github.fault = ({ route }) => {
        if (route.endsWith("{number}/comments")) clock.advance(1000);
      };
    },
  });
  expect(requests).toEqual([]);
  expect(outputs.outcome).toBe("cancelled");
  expect(github.reply.split("\n").at(-1)).toBe(markerLine("job_1", { comment: commentId }));
});
