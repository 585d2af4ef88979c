import { describe, expect, test } from "vitest";
import { type CommentOptions, runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import { FakeRepository } from "../../../support/fake-repository.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { prLink, record, respondWith } from "../../../support/run-main.ts";
import { completes, createRequest, messageTo, ownReply, pollOf, routesOf } from "../../../support/thread.ts";

/** A pull request, number 12, that changes `src/topic.ts`. */
function pullRequest(files: string[] = ["src/topic.ts"]) {
  const repository = new FakeRepository();
  const base = { sha: repository.head() };
  repository.ref("topic");
  const head = { sha: repository.commit("topic", { message: "Topic", files }) };
  repository.pulls.set(12, { merged: false, merge_commit_sha: null, base, head, commits: [] });
  const github = new FakeGitHub();
  github.repository = repository;
  return { repository, github };
}

async function ask(github: FakeGitHub, options: CommentOptions = {}) {
  const subject = { number: 12, title: "Links are broken", html_url: "https://github.com/acme/docs/pull/12" };
  const run = await runComment(github, {
    respond: completes,
    payload: { issue: { ...subject, body: null, pull_request: {} } },
    ...options,
    inputs: { changes: "list", ...options.inputs },
  });
  return { ...run, prompt: (run.requests[0]?.body as { prompt?: string } | undefined)?.prompt };
}

describe("a comment on a pull request", () => {
  test("is sent with what the pull request changes", async () => {
    const { github } = pullRequest();
    const { prompt, outputs } = await ask(github);
    expect(prompt).toMatch(/^fix it\n\n---\nAsked for in pull request #12/);
    expect(prompt).toMatch(/Files:\nmodified src\/topic.ts \+2 -1\n~~~\n/);
    expect(outputs).toMatchObject({ outcome: "pr-created", "changed-files": "1" });
  });

  test("has them where the template says so, but never where the comment does", async () => {
    const { github } = pullRequest();
    const inputs = { prompt: "{{ changes }}\n{{ instruction }}" };
    const { prompt } = await ask(github, { text: "/agent read {{ changes }}", inputs });
    expect(prompt).toMatch(/^The text between the two lines of tildes says what changed in acme\/docs/);
    expect(prompt).toMatch(/~~~\nread \{\{ changes \}\}$/);
  });

  test("in a review does, too", async () => {
    const { github } = pullRequest();
    const { prompt } = await ask(github, { payload: {}, review: { path: "a.md", line: 3 } });
    expect(prompt).toContain("modified src/topic.ts");
  });

  test.each([
    ["is sent to its job, whatever that changes", "/agent fix it", "pr-created"],
    ["is skipped if it asks for a new job", "/agent new fix it", "skipped"],
  ])("in the agent's own one %s", async (_, text, outcome) => {
    const { repository, github } = pullRequest(["docs/a.md"]);
    const job = "job_11111111-1111-4111-8111-111111111111";
    const { base, head, ...pull } = repository.pulls.get(12) ?? { base: {}, head: {} };
    const repo = { id: 1 };
    const shown = { number: 12, state: "open", base: { ...base, ref: "main", repo } };
    Object.assign(repository.pulls.get(12) ?? {}, pull, shown, { head: { ...head, ref: `agent/${job}`, repo } });
    const { requests, outputs } = await ask(github, {
      text,
      inputs: { paths: "src/**", "base-url": "http://127.0.0.1:20000" },
      respond: (request) =>
        request.query
          ? respondWith(200, { step: "?" })
          : respondWith(200, record({ id: job, ...(request.method === "GET" && { status: "completed", prLink }) })),
    });
    expect(routesOf(requests).includes(messageTo(job))).toBe(outcome === "pr-created");
    expect(outputs).toMatchObject({ outcome, "job-id": outcome === "pr-created" ? job : "" });
  });

  test("is skipped if nothing that counts has changed, and nothing is written to the thread", async () => {
    const { github } = pullRequest();
    const { outputs, requests } = await ask(github, { inputs: { paths: "docs/**" } });
    expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": "nothing-new", "changed-files": "0" });
    expect(requests).toEqual([]);
    expect(github.comments).toEqual([]);
    expect(github.reactions).toEqual([]);
  });

  test("fails if what changed cannot be read, and nothing is started", async () => {
    const { github, repository } = pullRequest();
    repository.pulls.clear();
    const { outputs, requests, toolkit } = await ask(github);
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
    expect(github.comments).toEqual([]);
    expect(toolkit.annotations[0]?.title).toBe("Cannot read what changed");
  });

  test("by someone without permission reads nothing", async () => {
    const { github, repository } = pullRequest();
    github.permission = { permission: "read", role_name: "read" };
    expect((await ask(github)).outputs["skip-reason"]).toBe("not-permitted");
    expect(repository.routes).toEqual([]);
  });

  test("whose re-run finds its job reads nothing either", async () => {
    const { github, repository } = pullRequest();
    github.add({ id: 41898282, login: "github-actions[bot]" }, ownReply("job_1"));
    const { requests } = await ask(github, { attempt: 2 });
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(repository.routes).toEqual([]);
  });

  test("whose re-run starts over is sent with changes, or skipped without writing to the thread", async () => {
    const first = pullRequest();
    const { prompt, requests } = await ask(first.github, { attempt: 2 });
    expect(routesOf(requests)[0]).toBe(createRequest);
    expect(prompt).toContain("modified src/topic.ts");
    const second = pullRequest([]);
    expect((await ask(second.github, { attempt: 2 })).outputs["skip-reason"]).toBe("nothing-new");
    expect(second.github.comments).toEqual([]);
  });
});

test("a comment on an issue is sent without changes", async () => {
  const { github, repository } = pullRequest();
  const { prompt, outputs } = await ask(github, { payload: {}, inputs: { prompt: "{{ instruction }}{{changes}}!" } });
  expect(prompt).toBe("fix it!");
  expect(outputs).toMatchObject({ outcome: "pr-created", "changed-files": "" });
  expect(repository.routes).toEqual([]);
});

test("{{ changes }} is a placeholder only with changes", async () => {
  const { github } = pullRequest();
  const inputs = { changes: "none", prompt: "{{ changes }} {{ instruction }}" };
  const { outputs, toolkit } = await ask(github, { inputs });
  expect(outputs.outcome).toBe("error");
  expect(toolkit.annotations[0]?.text).toContain(
    "prompt uses {{ changes }}, but the only placeholders are instruction,",
  );
  const other = await ask(pullRequest().github, { inputs: { prompt: "{{ other }}" } });
  expect(other.toolkit.annotations[0]?.text).toContain("path, line, label, review, thread, changes.");
});

test("a re-run asks for the same range as the first attempt, so that kept work answers it", async () => {
  const { repository, github } = pullRequest();
  repository.commit("main", { files: ["src/new.ts"] });
  const service = new KeyedService();
  service.features = ["sections", "session", "base"];
  const nothing = async () => {};
  const attempt = async (number: number) =>
    runComment(github, {
      attempt: number,
      respond: service.respond,
      agent: { connect: (transport) => transport, prepare: nothing, check: nothing, end: nothing },
      environment: { RUNNER_OS: "Linux", GITHUB_SHA: repository.head() },
      inputs: { agent: "editor", "project-id": "", "api-key": "", changes: "list", "changes-since": "24h" },
    });
  service.next = "failed";
  await attempt(1);
  service.next = "completed";
  expect((await attempt(2)).outputs).toMatchObject({ outcome: "pr-created" });
  expect(service.turns.map(({ covers }) => covers)).toEqual(Array(2).fill(`+${repository.head()}`));
});
