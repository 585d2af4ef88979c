import { describe, expect, test } from "vitest";
import { type CommentOptions, runComment } from "../../../support/comment-run.ts";
import { bot, FakeGitHub } from "../../../support/fake-github.ts";
import { record, respondWith } from "../../../support/run-main.ts";
import {
  completes,
  createRequest,
  earlierReply,
  losesJob,
  markerLine,
  messageTo,
  otherUser,
  pollOf,
  routesOf,
  sentOf,
  threadWith,
} from "../../../support/thread.ts";

/** Returns the first create or message. */
async function firstRequest(github: FakeGitHub, options: CommentOptions = {}): Promise<string | undefined> {
  return sentOf((await runComment(github, { respond: completes, ...options })).requests)[0];
}

describe("a follow-up comment", () => {
  test("goes to the job of the newest own reply", async () => {
    const github = threadWith(earlierReply("job_0"), earlierReply("job_1"), "no marker");
    github.add(otherUser, earlierReply("job_of_other_user"));
    const { requests, outputs } = await runComment(github, { respond: completes });
    expect(sentOf(requests)[0]).toBe(messageTo("job_1"));
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
  });

  test("finds the newest reply by its id, whatever the order of the list", async () => {
    const github = threadWith(earlierReply("job_0"), earlierReply("job_1"));
    github.comments.reverse();
    expect(await firstRequest(github)).toBe(messageTo("job_1"));
  });

  test("finds a reply on any page of the thread", async () => {
    const github = threadWith(earlierReply("job_1"));
    for (let count = 0; count < 250; count++) github.add(otherUser, "hello");
    expect(await firstRequest(github)).toBe(messageTo("job_1"));
    expect(github.calls.flatMap(({ parameters }) => parameters.page ?? [])).toEqual([1, 2, 3]);
  });

  test("finds only replies in its own thread of a review", async () => {
    const review = { path: "a.md", line: 3, in_reply_to_id: 55 };
    const elsewhere = new FakeGitHub();
    elsewhere.add(bot, earlierReply("job_1"), 44);
    expect(await firstRequest(elsewhere, { review })).toBe(createRequest);
    const here = new FakeGitHub();
    here.add(bot, earlierReply("job_1"), 55);
    expect(await firstRequest(here, { review })).toBe(messageTo("job_1"));
  });

  test("says that the thread's job is of another project, so that a new one is started", async () => {
    const title = "The thread's job is of another project";
    const titles = async (github: FakeGitHub, text = "/agent fix it") => {
      const { toolkit, requests } = await runComment(github, { respond: completes, text });
      return [sentOf(requests)[0], ...toolkit.annotations.map((one) => one.title)];
    };
    const other = markerLine("job_1", { projectId: "acme-docs-claude" });
    expect(await titles(threadWith(other))).toEqual([createRequest, title]);
    expect(await titles(threadWith(other), "/agent new fix it")).toEqual([createRequest]);
    expect(await titles(threadWith(other, earlierReply("job_2")))).not.toContain(title);
    const byOthers = new FakeGitHub();
    byOthers.add(otherUser, other);
    expect(await titles(byOthers)).toEqual([createRequest]);
  });

  test("says of a reply with text below its marker that it no longer names its job", async () => {
    const notices = async (github: FakeGitHub) => {
      const { toolkit, requests } = await runComment(github, { respond: completes });
      return [sentOf(requests)[0], ...toolkit.annotations.map(({ title, text }) => `${title}: ${text}`)];
    };
    const covered = `${earlierReply("job_2")}\nThanks!`;
    const notice = (end: string) =>
      `A reply no longer names its job: Somebody has added text below the hidden last line of a reply, which names job job_2, so that this request ${end}. Remove what is below that line to continue job job_2.`;
    expect(await notices(threadWith(covered))).toEqual([createRequest, notice("starts a new job")]);
    const both = threadWith(earlierReply("job_1"), covered);
    expect(await notices(both)).toEqual([messageTo("job_1"), notice("goes to job job_1")]);
    expect(await notices(threadWith(covered, earlierReply("job_1")))).toEqual([messageTo("job_1")]);
    const byOthers = new FakeGitHub();
    byOthers.add(otherUser, covered);
    expect(await notices(byOthers)).toEqual([createRequest]);
  });

  test("uses the prompt template", async () => {
    const { requests } = await runComment(threadWith(earlierReply("job_1")), {
      respond: completes,
      inputs: { prompt: "Docs: {{ instruction }}" },
    });
    expect(requests.find(({ method }) => method === "POST")).toMatchObject({
      path: "/v2/agent/docs/job/job_1/message",
      body: { prompt: "Docs: fix it" },
    });
  });

  test("starts another job with new", async () => {
    const { requests } = await runComment(threadWith(earlierReply("job_1")), {
      respond: completes,
      text: "/agent New fix it",
      inputs: { prompt: "{{ instruction }}" },
    });
    expect(requests[0]).toMatchObject({ path: "/v2/agent/docs/job", body: { prompt: "fix it" } });
  });

  test.each(["/agent say what is new", "/agent newer pages", "/agent renew the page"])(
    "continues with %s, because new is not its first word",
    async (text) => {
      const { requests } = await runComment(threadWith(earlierReply("job_1")), { respond: completes, text });
      expect(sentOf(requests)[0]).toBe(messageTo("job_1"));
    },
  );

  test.each(["/agent new\nfix it", "/agent\tNEW\tfix it", " /AGENT New fix it"])(
    "starts another job with %j",
    async (text) => {
      const { requests } = await runComment(threadWith(earlierReply("job_1")), {
        respond: completes,
        text,
        inputs: { prompt: "{{ instruction }}" },
      });
      expect(requests[0]).toMatchObject({ path: "/v2/agent/docs/job", body: { prompt: "fix it" } });
    },
  );

  test("starts another job with reply: false", async () => {
    expect(await firstRequest(threadWith(earlierReply("job_1")), { inputs: { reply: "false" } })).toBe(createRequest);
  });
});

describe("a marker", () => {
  test.each([
    ["of another project", markerLine("job_1", { projectId: "other" })],
    ["within a line", `> ${markerLine("job_1")}`],
    ["above the last line", `${markerLine("job_1")}\nmore`],
    ["followed by a line end", `${markerLine("job_1")}\n`],
    ["after white space", ` ${markerLine("job_1")}`],
    ["with the job id .", markerLine(".")],
    ["with the job id ..", markerLine("..")],
    ["with a control character in the job id", markerLine("job_1%0A")],
    ["with an encoding that is invalid", markerLine("job_%E0")],
  ])("%s is ignored", async (_name, body) => {
    expect(await firstRequest(threadWith(body))).toBe(createRequest);
  });

  test("keeps special characters of the job id", async () => {
    const id = "a b/ü-->%2F";
    const github = new FakeGitHub();
    const respond = () => respondWith(200, record({ id, status: "failed" }));
    await runComment(github, { respond });
    expect(github.reply.split("\n").at(-1)).toMatch(
      /^<!-- agent-job-action project=docs attempt=1 job=a%20b%2F%C3%BC--%3E%252F comment=77 step=[0-9a-f]{32} -->$/,
    );
    expect(await firstRequest(github, { respond })).toBe(messageTo(encodeURIComponent(id)));
  });
});

describe("job-id", () => {
  test("takes precedence over the thread and over new", async () => {
    for (const text of ["/agent fix it", "/agent new fix it"]) {
      const request = await firstRequest(threadWith(earlierReply("job_1")), {
        text,
        inputs: { "job-id": "job_7" },
        respond: () => respondWith(200, record({ id: "job_7", status: "failed" })),
      });
      expect(request).toBe(messageTo("job_7"));
    }
  });

  test("fails the step if that job is not found", async () => {
    const { requests, outputs } = await runComment(new FakeGitHub(), {
      inputs: { "job-id": "job_7" },
      respond: () => respondWith(404),
    });
    expect(sentOf(requests)).toEqual([messageTo("job_7")]);
    expect(outputs.outcome).toBe("error");
  });
});

describe("a remembered job", () => {
  test("is replaced if it is not found, and the reply says so", async () => {
    const github = threadWith(earlierReply("job_gone"));
    const { requests, outputs } = await runComment(github, { respond: losesJob });
    expect(routesOf(requests).slice(1, 4)).toEqual([messageTo("job_gone"), pollOf("job_gone"), createRequest]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(github.reply).toContain(
      "The job that this thread remembers was not found, so this request is for a new one.",
    );
  });

  test("is not published as the job id if its replacement is rejected", async () => {
    const { outputs, toolkit } = await runComment(threadWith(earlierReply("job_gone")), {
      respond: ({ path }) => respondWith(path.includes("job_gone") ? 404 : 401, { error: "No" }),
    });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(toolkit.lines).toContain(
      "The job that this thread remembers was not found, so this request is for a new one.",
    );
  });

  test.each([401, 403, 410, 429])("is not replaced after a %i", async (status) => {
    const { requests } = await runComment(threadWith(earlierReply("job_1")), {
      respond: () => respondWith(status, "", { "retry-after": "99999" }),
    });
    expect(sentOf(requests)).toEqual([messageTo("job_1")]);
  });

  test("is not replaced if the message may have been accepted", async () => {
    const { requests, outputs } = await runComment(threadWith(earlierReply("job_1")), {
      respond: () => respondWith(502),
    });
    expect(sentOf(requests)).toEqual([messageTo("job_1")]);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
  });

  test("is not replaced if it is not found after the message was accepted", async () => {
    const { requests } = await runComment(threadWith(earlierReply("job_1")), {
      respond: ({ method }) => (method === "POST" ? respondWith(200, record()) : respondWith(404)),
    });
    expect(sentOf(requests)).toEqual([messageTo("job_1")]);
  });
});
