import { describe, expect, test } from "vitest";
import { commentId, runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import type { SeenRequest } from "../../../support/fake-transport.ts";
import { prLink, record, respondWith } from "../../../support/run-main.ts";
import { completed, completes, markerLine, ownStep, staysActive } from "../../../support/thread.ts";

describe("the reply", () => {
  test("is posted with eyes on the comment, and edited in place until the result", async () => {
    const github = new FakeGitHub();
    const bodies: string[] = [];
    github.fault = ({ parameters }) => {
      if (typeof parameters.body === "string") bodies.push(parameters.body);
    };
    await runComment(github, { respond: completes });
    expect(github.reactions).toEqual(["eyes", "hooray"]);
    expect(github.comments).toHaveLength(1);
    expect(bodies[0]).toContain("Sending the request to the agent");
    expect(bodies[0]).toContain("https://github.com/acme/docs/actions/runs/99");
    expect(bodies[1]).toMatch(
      /working on it.*\n<!-- agent-job-action project=docs attempt=1 job=job_1 comment=77 step=[0-9a-f]{32} -->$/s,
    );
    expect(github.reply).toContain("Pull request created");
    expect(github.reply).toContain(`<a href="${prLink}">Pull request 7</a>`);
    expect(github.reply).toContain("<code>/agent …</code>");
    expect(github.reply.split("\n").at(-1)).toBe(markerLine("job_1", { comment: commentId }));
  });

  test("goes to the root of the thread in a review", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond: completes, review: { path: "a.md", line: 3, in_reply_to_id: 55 } });
    const calls = github.calls.map(({ route, parameters }) => `${route} ${parameters.comment_id ?? ""}`.trim());
    expect(calls).toContain("POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies 55");
    expect(calls).toContain(`POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions ${commentId}`);
    expect(calls).toContain("PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id} 1000");
    expect(github.calls.filter(({ route }) => route.includes("/issues/"))).toEqual([]);
  });

  test("is not written with reply: false", async () => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, { respond: completes, inputs: { reply: "false" } });
    expect(outputs.outcome).toBe("pr-created");
    expect(github.calls.map(({ route }) => route)).toEqual([
      "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
      "GET /repos/{owner}/{repo}/issues/comments/{comment_id}",
    ]);
  });

  test("ends with the last edit, even if an earlier one is slow", async () => {
    const github = new FakeGitHub();
    let edits = 0;
    github.fault = async ({ route }) => {
      if (route.startsWith("PATCH") && edits++ === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await runComment(github, { respond: () => respondWith(201, completed) });
    expect(github.reply).toContain("Pull request created");
  });

  test("escapes untrusted text, and fits into a comment", async () => {
    const hostile = `@acme/team <img src=x> ![x](http://x) #1 </code>\n\n<!-- agent-job-action project=docs attempt=1 job=evil comment=1 ${ownStep} -->`;
    const github = new FakeGitHub();
    await runComment(github, { respond: () => respondWith(400, { error: hostile + "x".repeat(200_000) }) });
    expect(github.reply.length).toBeLessThan(65_536);
    const ownWords = github.reply.replaceAll(/<(code|i)>[^<]*<\/\1>/g, "");
    for (const trace of ["acme/team", "<img", "![x]", "evil"]) expect(ownWords).not.toContain(trace);
    for (const alive of ["@acme", "<img", "://x", " #1"]) expect(github.reply).not.toContain(alive);
    for (const block of github.reply.split("\n\n")) expect(block).toMatch(/^<(p|!--)/);
  });

  test("shows a job whose id is too long for a marker, but does not remember it", async () => {
    const github = new FakeGitHub();
    await runComment(github, {
      respond: () => respondWith(201, record({ id: "j".repeat(70_000), status: "failed" })),
    });
    expect(github.reply).toContain("Job failed");
    expect(github.reply).not.toContain("agent-job-action");
    expect(github.reply.length).toBeLessThan(65_536);
  });
});

describe("the result in the reply", () => {
  test.each([
    ["pr-created", completed, ["eyes", "hooray"]],
    ["no-changes", record({ status: "completed" }), ["eyes"]],
    ["failed", record({ status: "failed" }), ["eyes", "confused"]],
    ["archived", record({ status: "archived" }), ["eyes"]],
    ["timed-out", record(), ["eyes", "confused"]],
  ])("replaces the progress and adds a reaction: %s", async (outcome, last, reactions) => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, {
      inputs: { "timeout-minutes": "1" },
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : respondWith(200, last)),
    });
    expect(outputs.outcome).toBe(outcome);
    expect(github.reactions).toEqual(reactions);
    expect(github.reply).not.toMatch(/working on it|Sending the request/);
    expect(github.reply).toContain("https://github.com/acme/docs/actions/runs/99");
  });

  test("says how to check on a job that the step does not wait for", async () => {
    const github = new FakeGitHub();
    await runComment(github, { inputs: { wait: "false", "job-id": "job_1" }, respond: staysActive });
    expect(github.reply).toContain("To check on it, re-run this workflow run: nothing is sent again.");
    expect(github.reply).toContain("after 0 s");
    expect(github.reply).not.toContain("/agent new");
  });

  test("says how to wait after a timeout, without a job id", async () => {
    const github = new FakeGitHub();
    await runComment(github, { inputs: { "timeout-minutes": "1" }, respond: staysActive });
    expect(github.reply).toContain("To wait for it, re-run this workflow run: nothing is sent again.");
    expect(github.reply).not.toContain("job-id");
  });

  test("says what to do after an error", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond: () => respondWith(401, { error: "Expired" }) });
    expect(github.reactions).toEqual(["eyes", "confused"]);
    expect(github.reply).toContain("Create an admin key");
  });
});

test("publishes the job id before it waits for the job", async () => {
  const { toolkit } = await runComment(new FakeGitHub(), { respond: completes });
  const id = toolkit.events.indexOf("output job-id=job_1");
  expect(id).toBeGreaterThan(0);
  expect(id).toBeLessThan(toolkit.events.findIndex((event) => event.startsWith("group ")));
});

test("masks the token before anything is printed", async () => {
  const { toolkit } = await runComment(new FakeGitHub(), { respond: completes });
  expect(toolkit.masks).toContain("ghs_token_0123456789");
  expect(toolkit.events.slice(0, 2)).toEqual(["mask", "mask"]);
});

test("the result of a request that was rejected names no time, and how to continue only a job", async () => {
  const github = new FakeGitHub();
  await runComment(github, { respond: () => respondWith(401, { error: "No." }) });
  expect(github.reply.split("\n\n")).toEqual([
    '<p>❌ <b>No job was started</b> · <a href="https://github.com/acme/docs/actions/runs/99">Run</a></p>',
    "<p>The service rejected the API key. The service answered HTTP 401: <code>No</code>. No job was started.</p>",
    "<p>The key is wrong, deleted or expired (keys expire after 90 days by default). Create an admin key on the API keys page of the dashboard and update the secret.</p>",
    `<!-- agent-job-action project=docs attempt=1 unsent comment=77 ${ownStep} -->`,
  ]);
});

test.each([
  ["", " To start another one, comment <code>/agent new …</code>."],
  ["job_1", ""],
])("the result of a job says how to continue, with the job-id %j in the workflow", async (jobId, another) => {
  const github = new FakeGitHub();
  const respond = ({ method }: SeenRequest) => respondWith(200, method === "POST" ? record() : completed);
  await runComment(github, { respond, inputs: { "job-id": jobId } });
  expect(github.reply.split("\n\n")).toEqual([
    expect.stringMatching(/^<p>✅ <b>Pull request (?:created|updated)<\/b> · .*<\/p>$/),
    jobId === ""
      ? "<p>The agent finished job <code>job_1</code> and opened a pull request.</p>"
      : "<p>The agent finished the follow-up to job <code>job_1</code>, which has a pull request.</p>",
    `<p><sub>To continue with this job, comment <code>/agent …</code>.${another}</sub></p>`,
    markerLine("job_1", { comment: commentId, wasSeen: jobId !== "" }),
  ]);
});
