import { expect, test } from "vitest";
import type { OwnAgent } from "../../../../src/action/own-agent.ts";
import { type CommentOptions, runComment } from "../../../support/comment-run.ts";
import type { FakeGitHub } from "../../../support/fake-github.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { githubRejecting, threadWith } from "../../../support/thread.ts";

/*
 * With an agent that runs with the step, its service knows the job of a thread by a session, which is asked for if no reply names the job.
 */

const agent: OwnAgent = {
  connect: (transport) => transport,
  prepare: async () => {},
  check: async () => {},
  end: async () => {},
};

/** Runs the step on comments, each in a workflow run of its own, and returns what became of the last one. */
async function comments(github: FakeGitHub, ...all: Partial<CommentOptions>[]) {
  const own = new KeyedService();
  own.features = ["base", "session", "sections", "stop"];
  let last: Awaited<ReturnType<typeof runComment>> | undefined;
  for (const [index, options] of all.entries())
    last = await runComment(github, {
      respond: own.respond,
      agent,
      environment: { RUNNER_OS: "Linux", GITHUB_RUN_ID: String(100 + index) },
      ...options,
      inputs: { agent: "editor", "project-id": "", "api-key": "", ...options.inputs },
      payload: {
        comment: {
          id: 500 + index,
          body: `/agent ${index}`,
          user: { id: 5, login: "writer", type: "User" },
          ...options.review,
        },
        ...options.payload,
      },
    });
  return { jobs: own.turns.map(({ job }) => job), last };
}

test("a comment goes to the job of its thread although no reply of it can be posted", async () => {
  const github = githubRejecting(/^POST .*\/issues\/\{issue_number\}\/comments$/);
  const { jobs, last } = await comments(github, {}, {});
  expect(jobs).toEqual(["job_1", "job_1"]);
  expect(last?.outputs).toMatchObject({ outcome: "pr-created", "job-origin": "continued" });
  expect(last?.toolkit.lines.join("\n")).toContain(
    "No reply names the job of this thread, which is job_1 and continues",
  );
  expect(last?.toolkit.annotations).toMatchObject([{ level: "warning", title: "Cannot update the thread" }]);
});

test("without a reply by design, each request starts a job", async () => {
  const options = { inputs: { reply: "false" } };
  expect((await comments(threadWith(), options, options)).jobs).toEqual(["job_1", "job_2"]);
});

test("each thread of review comments has a job of its own, as has the pull request", async () => {
  const pull = {
    number: 12,
    title: "Add X",
    body: "",
    html_url: "https://github.com/acme/docs/pull/12",
    state: "open",
  };
  const [head, base] = ["feature", "main"].map((ref) => ({ ref, repo: { id: 1 } }));
  const review = (root?: number) => ({
    review: { path: "a.md", line: 3, ...(root && { in_reply_to_id: root }) },
    payload: { pull_request: { ...pull, head, base } },
  });
  const github = githubRejecting(/^POST .*(comments|replies)$/);
  const { jobs } = await comments(github, review(), review(), {}, review(500), review(501));
  expect(jobs).toEqual(["job_1", "job_2", "job_3", "job_1", "job_2"]);
});
