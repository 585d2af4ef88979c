import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { parseEvent } from "../../../../src/action/comments/parse-event.ts";
import { GitHubError } from "../../../../src/action/runner/github-error.ts";
import { bot, FakeGitHub, type FakeReview } from "../../../support/fake-github.ts";
import { FakeRepository } from "../../../support/fake-repository.ts";
import { type MainRun, respondWith } from "../../../support/run-main.ts";
import {
  completes,
  createRequest,
  earlierReply,
  markerLine,
  messageTo,
  otherUser,
  ownStep,
  pollOf,
  routesOf,
  sentOf,
  staysActive,
} from "../../../support/thread.ts";
import { promptsOf, requestsOf, runThreadEvent, type ThreadEventOptions } from "../../../support/thread-event-run.ts";

const reviewId = 555;
const reviewUrl = "https://github.com/acme/docs/pull/12#pullrequestreview-555";

/** Returns the hidden last line of a reply to the review. */
const reviewMarker = (job: string) =>
  `<!-- agent-job-action project=docs attempt=1 ${job} review=${reviewId} ${ownStep} -->`;

const permissionRoute = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
const reviewRoute = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}";

/** Creates a GitHub with the review. */
function reviewed(body: FakeReview["body"], ...comments: (string | FakeReview["comments"][number])[]): FakeGitHub {
  const github = new FakeGitHub();
  const all = comments.map((comment) => (typeof comment === "string" ? { body: comment } : comment));
  github.reviews.set(reviewId, { body, comments: all });
  return github;
}

/** Runs the step on the review's own event. */
function submit(github: FakeGitHub, options: ThreadEventOptions = {}, action = "submitted"): Promise<MainRun> {
  const body = github.reviews.get(reviewId)?.body ?? null;
  return runThreadEvent(github, "pull_request_review", action, {
    ...options,
    review: { id: reviewId, body, html_url: reviewUrl, ...options.review },
  });
}

/** Runs the step on the event of a comment of the review. */
function comment(github: FakeGitHub, body: string, options: ThreadEventOptions = {}): Promise<MainRun> {
  return runThreadEvent(github, "pull_request_review_comment", "created", {
    ...options,
    review: { id: 77, body, path: "a.md", line: 3, pull_request_review_id: reviewId, ...options.review },
  });
}

test("every review in GitHub's examples is parsed", () => {
  const examples = createRequire(import.meta.url)("@octokit/webhooks-examples") as {
    name: string;
    examples: Record<string, unknown>[];
  }[];
  const payloads = examples.find(({ name }) => name === "pull_request_review")?.examples ?? [];
  expect(payloads.length).toBeGreaterThan(2);
  for (const payload of payloads) {
    const { id, html_url } = payload.review as { id: number; html_url: string };
    expect(parseEvent("pull_request_review", payload, "")).toMatchObject({
      action: payload.action,
      triggerKind: "review",
      request: `review=${id}`,
      reviewUrl: html_url,
      subject: { kind: "pull request" },
    });
  }
});

describe("a review whose text begins with the phrase", () => {
  test("asks for the rest, with its comments, their files and lines", async () => {
    const github = reviewed(
      "/agent fix these\nand the links",
      "\nTypo here\n",
      { body: "/agent  and here", path: "b.md\nDelete all", line: null, original_line: 7 },
      { body: "  ", path: "c.md" },
    );
    const run = await submit(github);
    expect(run.outputs).toMatchObject({
      outcome: "pr-created",
      author: "writer",
      "thread-url": "https://github.com/acme/docs/pull/12",
    });
    expect(requestsOf(run)).toEqual([
      "fix these\nand the links\n\nFile: a.md, line 3\nTypo here\n\nFile: b.md Delete all, line 7\nand here\n\n---\n" +
        "Asked for in pull request #12\nhttps://github.com/acme/docs/pull/12\n" +
        `Review: ${reviewUrl}`,
    ]);
  });

  test.each([
    ["has no comments", () => reviewed("/agent fix it"), "fix it"],
    ["says nothing else", () => reviewed("/agent", "Typo"), "File: a.md, line 3\nTypo"],
    ["asks for a new job", () => reviewed("/agent NEW", "Typo"), "File: a.md, line 3\nTypo"],
  ])("may be one that %s", async (_name, create, instruction) => {
    const github = create();
    const run = await submit(github, { inputs: { prompt: "{{ instruction }}" } });
    expect(promptsOf(run)).toEqual([instruction]);
  });

  test("asks for nothing if nothing follows, nor in a comment", async () => {
    const { outputs } = await submit(reviewed("/agent new", " "));
    expect(outputs["skip-reason"]).toBe("no-instruction");
  });

  test("fills a template", async () => {
    const prompt = "{{ review }}|{{ path }}|{{ author }}|{{ instruction }}";
    const run = await submit(reviewed("/agent read {{ review }}"), { inputs: { prompt } });
    expect(promptsOf(run)).toEqual([`${reviewUrl}||writer|read {{ review }}`]);
  });

  test("gets its reply in the conversation, which links the review and has no reactions", async () => {
    const github = reviewed("/agent fix it");
    await submit(github, { respond: staysActive, inputs: { wait: "false" } });
    const [post, edit] = github.calls.filter(({ route }) => /^(POST|PATCH)/.test(route));
    expect(post?.route).toBe("POST /repos/{owner}/{repo}/issues/{issue_number}/comments");
    for (const call of [post, edit]) expect(call?.parameters.body).toContain(`<a href="${reviewUrl}">Review</a>`);
    expect(github.reply).toContain(`<a href="${reviewUrl}">Review</a>`);
    expect(github.reply.split("\n").at(-1)).toBe(reviewMarker("job=job_1"));
    expect(github.reactions).toEqual([]);
  });

  test("goes on with the job of the conversation", async () => {
    const github = reviewed("/agent fix it");
    github.add(bot, earlierReply("job_1"));
    expect(sentOf((await submit(github)).requests)[0]).toBe(messageTo("job_1"));
  });

  test("is sent with what the pull request changes", async () => {
    const repository = new FakeRepository();
    const base = { sha: repository.head() };
    repository.ref("topic");
    const head = { sha: repository.commit("topic", { message: "Topic", files: ["src/topic.ts"] }) };
    repository.pulls.set(12, { merged: false, merge_commit_sha: null, base, head, commits: [] });
    const github = reviewed("/agent fix it");
    github.repository = repository;
    expect(promptsOf(await submit(github, { inputs: { changes: "list" } }))[0]).toContain("modified src/topic.ts");
  });
});

describe("a review whose comments begin with the phrase", () => {
  test("is one request, with only these comments", async () => {
    const github = reviewed(null, "/agent fix this", "Nice!", { body: "/agent and this", path: "b.md", line: 9 });
    const run = await submit(github, { inputs: { prompt: "{{ instruction }}" } });
    expect(requestsOf(run)).toEqual(["File: a.md, line 3\nfix this\n\nFile: b.md, line 9\nand this"]);
    expect(promptsOf(run)[0]).toContain("\n\nThe same review:\n> File: a.md, line 3\n> Nice!\n~~~");
    expect(run.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  test("may have another text", async () => {
    const run = await submit(reviewed("Looks good.", "/agent fix this"), { inputs: { prompt: "{{ instruction }}" } });
    expect(promptsOf(run)).toEqual(["File: a.md, line 3\nfix this"]);
  });

  test("starts a new job if one of them says so", async () => {
    const github = reviewed("", "/agent fix this", "/agent new and this");
    github.add(bot, earlierReply("job_1"));
    expect(routesOf((await submit(github)).requests)[0]).toBe(createRequest);
  });

  test("asks for nothing if nothing follows the phrase", async () => {
    const { outputs } = await submit(reviewed("", "/agent", "/agent new"));
    expect(outputs["skip-reason"]).toBe("no-instruction");
  });
});

describe("GitHub fires an event for a review and for each of its comments, and", () => {
  test.each<[string, () => FakeGitHub, "review" | "comment"]>([
    ["a single comment is the comment's", () => reviewed(null, "/agent fix it"), "comment"],
    [
      "a single comment of a review with white space is the comment's",
      () => reviewed(" \n", "/agent fix it"),
      "comment",
    ],
    ["a single comment of a review with a text is the review's", () => reviewed("Nice.", "/agent fix it"), "review"],
    ["several comments are the review's", () => reviewed(null, "/agent fix it", "Nice."), "review"],
    ["several requests are the review's", () => reviewed(null, "/agent fix it", "/agent and this"), "review"],
    ["a text that asks is the review's", () => reviewed("/agent fix it", "/agent and this"), "review"],
  ])("%s, so that exactly one starts a job", async (_name, create, owner) => {
    const github = create();
    const body = github.reviews.get(reviewId)?.comments[0]?.body ?? "";
    const runs = { review: await submit(github), comment: await comment(github, body) };
    const other = owner === "review" ? "comment" : "review";
    expect(runs[owner].outputs.outcome).toBe("pr-created");
    expect(runs[other].outputs).toMatchObject({ outcome: "skipped", "skip-reason": "no-trigger" });
    expect(runs[other].requests).toEqual([]);
    expect(runs[other].toolkit.annotations).toMatchObject([
      {
        level: "notice",
        text: expect.stringContaining(
          owner === "review"
            ? "the event pull_request_review handles as one request. Nothing was started."
            : "which the event pull_request_review_comment handles. Nothing was started.",
        ),
      },
    ]);
    expect(github.comments).toHaveLength(1);
  });

  test("a comment that is skipped is written nothing to", async () => {
    const github = reviewed("Nice.", "/agent fix it");
    await comment(github, "/agent fix it");
    expect(github.calls.map(({ route }) => route)).toEqual([permissionRoute, reviewRoute]);
  });

  test.each([
    ["the review", reviewRoute],
    ["its comments", `${reviewRoute}/comments`],
  ])("a comment starts nothing if %s cannot be read, and the step says so", async (_name, failing) => {
    const github = reviewed(null, "/agent fix it");
    github.fault = ({ route }) => {
      if (route === failing) throw new Error("Server Error");
    };
    const { outputs, requests, toolkit, hasPassed } = await comment(github, "/agent fix it");
    expect([hasPassed, outputs.outcome]).toEqual([false, "error"]);
    expect(requests).toEqual([]);
    expect([github.comments, github.reactions]).toEqual([[], []]);
    expect(toolkit.annotations).toMatchObject([
      {
        title: "Cannot read the review",
        text: expect.stringContaining("cannot be read (Server Error), so nothing was"),
      },
    ]);
  });

  test.each([null, [], {}, [{ path: 3 }]])("a review starts nothing if its comments are %j", async (response) => {
    const github = reviewed("/agent fix it");
    github.paginate = async () => response as unknown[];
    const { outputs, requests } = await submit(github);
    // No comments are no problem.
    expect(outputs.outcome).toBe(Array.isArray(response) && response.length === 0 ? "pr-created" : "error");
    if (outputs.outcome === "error") expect(requests).toEqual([]);
  });

  test("the review is read within timeout-minutes, as everything is", async () => {
    const github = reviewed(null, "/agent fix it");
    await comment(github, "/agent fix it", {
      inputs: { "timeout-minutes": "0.2" },
      onClock: (clock) => {
        github.fault = ({ route }) => {
          if (route === permissionRoute) clock.advance(5000);
        };
      },
    });
    const read = github.calls.filter(({ route }) => route.startsWith(reviewRoute));
    expect(read.map(({ limits }) => limits.timeoutMs)).toEqual([7000, 7000]);
  });

  test("a comment that belongs to no review needs none", async () => {
    const github = new FakeGitHub();
    const run = await comment(github, "/agent fix it", { review: { pull_request_review_id: null } });
    expect(run.outputs.outcome).toBe("pr-created");
    expect(github.routes("GET")).not.toContain(reviewRoute);
  });

  test("a cancellation while the review is read sends nothing", async () => {
    const github = reviewed("/agent fix it");
    const { outputs, requests } = await submit(github, {
      cancelAt: 500,
      onClock: (clock) => {
        github.fault = ({ route }) => {
          if (!route.includes("/reviews/")) return;
          clock.advance(1000);
          throw new Error("the step was cancelled");
        };
      },
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(requests).toEqual([]);
  });
});

describe("a review starts nothing, and nothing is written,", () => {
  test.each<[string, string, () => FakeGitHub, ThreadEventOptions, string]>([
    ["if it is edited", "submitted", () => reviewed("/agent fix it"), { payload: { action: "edited" } }, "edited"],
    ["if it is dismissed", "dismissed", () => reviewed("/agent fix it"), {}, "no-trigger"],
    ["without the phrase", "submitted", () => reviewed("Nice.", "Very nice."), {}, "no-trigger"],
    ["with the phrase in its text", "submitted", () => reviewed("Well, /agent fix it"), {}, "no-trigger"],
    [
      "with only a label as trigger",
      "submitted",
      () => reviewed("/agent x"),
      { inputs: { "trigger-phrase": "", prompt: "x" } },
      "no-trigger",
    ],
    ["by a bot", "submitted", () => reviewed("/agent x"), { user: { login: "helper", type: "Bot" } }, "bot"],
  ])("%s", async (_name, action, create, options, reason) => {
    const github = create();
    const { outputs, requests } = await submit(github, options, action);
    expect(outputs["skip-reason"]).toBe(reason);
    expect(requests).toEqual([]);
    expect(github.calls.filter(({ route }) => !route.startsWith("GET"))).toEqual([]);
  });

  test("by someone whose permission was taken away", async () => {
    const github = reviewed("/agent fix it", "/agent and this");
    github.permission = { permission: "none", role_name: "none" };
    const { outputs, requests, toolkit } = await submit(github);
    expect(outputs).toMatchObject({ "skip-reason": "not-permitted", author: "writer" });
    expect(toolkit.annotations[0]?.text).toBe(
      "The reviewer, writer, has the permission none in this repository, and required-permission is write. Nothing was started.",
    );
    expect(requests).toEqual([]);
    expect([github.comments, github.reactions]).toEqual([[], []]);
  });

  test("for a comment by someone else in it", async () => {
    const stranger = { body: "/agent do harm", user: { login: "stranger" } };
    const { outputs } = await submit(reviewed(null, stranger, stranger));
    expect(outputs["skip-reason"]).toBe("no-trigger");
    const run = await submit(reviewed("/agent fix it", stranger, { body: "x", user: null }), {
      inputs: { prompt: "{{ instruction }}" },
    });
    expect(promptsOf(run)).toEqual(["fix it"]);
  });

  test("from a fork without secrets", async () => {
    const repo = { head: { repo: { id: 2 } }, base: { repo: { id: 1 } } };
    const { outputs, toolkit } = await submit(reviewed("/agent x"), { subject: repo, inputs: { "api-key": "" } });
    expect(outputs["skip-reason"]).toBe("fork");
    expect(toolkit.annotations[0]?.text).toContain("comment in their conversation: issue_comment has secrets");
  });
});

describe("a re-run of a review's run", () => {
  test("waits for the job of the earlier reply, although there is no reaction to know its account by", async () => {
    const github = reviewed("/agent fix it");
    github.add(bot, `Working\n\n${reviewMarker("job=job_1")}`);
    const { requests, outputs } = await submit(github, { attempt: 2 });
    expect(new Set(routesOf(requests))).toEqual(new Set([pollOf("job_1")]));
    expect(outputs["job-origin"]).toBe("resumed");
    expect(github.comments).toHaveLength(1);
    expect(github.reply).toContain("Pull request created");
  });

  const listing = /^GET .*issues\/\{number\}\/comments$/;

  test.each<[string, (github: FakeGitHub) => ThreadEventOptions]>([
    [
      "could not read the thread",
      (github) => {
        github.fault = ({ route }) => {
          if (listing.test(route)) throw new GitHubError("Bad gateway", 502);
        };
        return {};
      },
    ],
    [
      "was cancelled while it read the thread",
      (github) => ({
        cancelAt: 500,
        onClock: (clock) => {
          github.fault = ({ route }) => {
            if (!listing.test(route)) return;
            clock.advance(1000);
            throw new Error("the step was cancelled");
          };
        },
      }),
    ],
    [
      "was lost before it knew the state of the job",
      (github) => {
        github.fault = ({ route }) => {
          if (/^(PATCH|DELETE) /.test(route)) throw new Error("lost");
        };
        return { respond: () => respondWith(503), inputs: { "timeout-minutes": "1" } };
      },
    ],
  ])("finds the job of the first attempt, although the second one %s", async (_name, prepare) => {
    const github = reviewed("/agent fix it");
    github.add(bot, `Working\n\n${reviewMarker("job=job_1")}`);
    await submit(github, { ...prepare(github), attempt: 2 });
    github.fault = () => {};
    const { requests, outputs } = await submit(github, { attempt: 3 });
    expect(new Set(routesOf(requests))).toEqual(new Set([pollOf("job_1")]));
    expect(outputs["job-origin"]).toBe("resumed");
    expect(github.comments[0]?.body).toContain("Pull request created");
  });

  test("leaves no reply if the review no longer asks", async () => {
    const github = reviewed("never mind");
    const { outputs } = await submit(github, { attempt: 2, review: { body: "/agent fix it" } });
    expect(outputs["skip-reason"]).toBe("withdrawn");
    expect(github.comments).toEqual([]);
  });

  test("sends nothing if an earlier attempt was about to", async () => {
    const github = reviewed("/agent fix it");
    github.add(bot, `Working\n\n${reviewMarker("pending")}`);
    const { requests, outputs } = await submit(github, { attempt: 2 });
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
  });

  test("does not take the reply of someone else for its own, nor that to a comment of the same number", async () => {
    const github = reviewed("/agent fix it");
    github.add(otherUser, `x\n\n${reviewMarker("job=job_forged")}`);
    github.add(bot, `x\n\n${markerLine("job_0", { comment: reviewId })}`);
    const { requests } = await submit(github, { attempt: 2 });
    expect(sentOf(requests)[0]).toBe(messageTo("job_0"));
  });
});

describe("the comments of a review in a prompt", () => {
  const asks = { inputs: { prompt: "{{ instruction }}" } };

  test.each<[string, Record<string, unknown>, string]>([
    ["a line", { line: 3 }, "a.md, line 3"],
    ["an outdated line", { line: null, original_line: 4 }, "a.md, line 4"],
    ["an added line", { diff_hunk: "@@ -1,2 +10,3 @@ x\n a\n-b\n+c\n+d" }, "a.md, line 12"],
    ["a removed line", { diff_hunk: "@@ -5,2 +10,3 @@ x\n a\n+c\n-b" }, "a.md, line 6"],
    ["a context line", { diff_hunk: "@@ -5 +10 @@\n+a\n b\n\\ No newline at end of file" }, "a.md, line 11"],
    ["no line", { diff_hunk: "" }, "a.md"],
    ["long numbers", { diff_hunk: "@@ -100,20 +1200,30 @@\n+c\n+d" }, "a.md, line 1201"],
    ["a header elsewhere", { diff_hunk: "x @@ -5 +10 @@\n+c" }, "a.md"],
    ["only a header", { diff_hunk: "@@ -5 +10 @@" }, "a.md"],
    ["nonsense", { diff_hunk: "x\ny" }, "a.md"],
    ["a number", { diff_hunk: 3 }, "a.md"],
  ])("name the file and the line, with %s", async (_name, fields, place) => {
    const run = await submit(reviewed("/agent fix", { line: undefined, ...fields, body: "Typo" }), asks);
    expect(promptsOf(run)).toEqual([`fix\n\nFile: ${place}\nTypo`]);
  });

  test("are limited in number and length, and the prompt says how many are left out", async () => {
    const long = { body: "x".repeat(10_000), path: "p".repeat(1000) };
    const [prompt = ""] = promptsOf(await submit(reviewed("/agent fix", ...Array(250).fill(long)), asks));
    expect(prompt).toMatch(/x…\n\n\(and \d+ more comments\)$/);
    expect(prompt).toContain(`File: ${"p".repeat(299)}…, line 3\n${"x".repeat(3999)}…\n`);
    expect(prompt.length).toBeLessThan(61_000);
    const [other = ""] = promptsOf(await submit(reviewed("/agent fix", ...Array(250).fill("Typo")), asks));
    expect(other.match(/^File: /gm)).toHaveLength(50);
    expect(other).toMatch(/Typo\n\n\(and 200 more comments\)$/);
  });

  test("are found on any page", async () => {
    const comments = [...Array(150).fill("Nice."), "/agent fix it"];
    expect(requestsOf(await submit(reviewed(null, ...comments), asks))).toEqual(["File: a.md, line 3\nfix it"]);
  });
});

test("a review that is answered once more is another request", async () => {
  const github = reviewed("/agent fix it");
  await submit(github);
  const { requests } = await submit(github, { respond: completes });
  expect(sentOf(requests)[0]).toBe(messageTo("job_1"));
});
