import { expect, test } from "vitest";
import { runCommentStep } from "../support/comment-step.ts";
import { bot } from "../support/fake-github.ts";

test("adds reactions, and edits one reply in place", async () => {
  const { exitCode, github, annotations, lines } = await runCommentStep();
  expect(exitCode).toBe(0);
  expect(annotations).toEqual([]);
  expect(github.github.reactions).toEqual(["eyes", "hooray"]);
  expect(github.github.comments).toHaveLength(1);
  expect(github.github.reply).toContain("Pull request created");
  const debug = lines.flatMap((line) => (line.kind === "command" && line.name === "debug" ? [line.data] : []));
  for (const request of ["GET /repos/acme/docs/collaborators/writer/permission: 200", "POST /v2/agent/docs/job: 201"])
    expect(debug.filter((line) => line.startsWith(request))).toHaveLength(1);
});

test("replies to the root of a review thread", async () => {
  const { exitCode, github } = await runCommentStep({
    event: { review: { path: "a.md", line: 3, in_reply_to_id: 55 } },
  });
  expect(exitCode).toBe(0);
  expect(github.requests).toContain("POST /repos/acme/docs/pulls/1/comments/55/replies");
  expect(github.requests).toContain("POST /repos/acme/docs/pulls/comments/77/reactions");
  expect(github.github.comments).toMatchObject([{ in_reply_to_id: 55 }]);
});

test("reads all pages of a thread of 250 comments", async () => {
  const { github } = await runCommentStep({
    prepare: (github) => {
      for (let count = 0; count < 250; count++) github.add({ id: 5, login: "writer" }, "hello");
    },
  });
  expect(github.requests.filter((request) => request.startsWith("GET") && request.includes("/comments?"))).toHaveLength(
    3,
  );
});

test("reads a thread to its end although its pages are shorter than asked for", async () => {
  const marker = "<!-- agent-job-action project=docs attempt=1 job=job_of_page_1 comment=5 -->";
  const { github, posts } = await runCommentStep({
    prepare: (github) => {
      github.maxPerPage = 30;
      for (let count = 0; count < 70; count++) github.add({ id: 5, login: "writer" }, "hello");
      github.add(bot, marker);
    },
  });
  expect(github.requests.filter((request) => request.startsWith("GET") && request.includes("/comments?"))).toHaveLength(
    3,
  );
  expect(posts[0]).toBe("POST /v2/agent/docs/job/job_of_page_1/message");
});
