import { describe, expect, test } from "vitest";
import { commentId, runComment } from "../../../support/comment-run.ts";
import { bot, FakeGitHub, type GitHubCall } from "../../../support/fake-github.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { prLink, record, respondWith } from "../../../support/run-main.ts";

const completed = record({ status: "completed", prLink });
const stranger = { id: 666, login: "stranger" };

/** A service that takes everything and is done at the first poll. */
const respond = ({ method }: SeenRequest): Exchange =>
  method === "POST" ? respondWith(201, record()) : respondWith(200, completed);

const marker = (job: string, project = "docs", id = 1) =>
  `<!-- agent-job-action project=${project} job=${job} comment=${id} -->`;

const paths = (requests: SeenRequest[]) => requests.map(({ method, path }) => `${method} ${path}`);
const create = "POST /v2/agent/docs/job";
const message = (job: string) => `POST /v2/agent/docs/job/${job}/message`;

/** A GitHub in which requests to matching routes fail. */
function lacking(pattern: RegExp): FakeGitHub {
  const github = new FakeGitHub();
  github.fault = ({ route }: GitHubCall) => {
    if (pattern.test(route)) throw new Error("Resource not accessible by integration");
  };
  return github;
}

describe("acknowledge", () => {
  test("eyes on the comment and one reply, edited in place from working to the result", async () => {
    const github = new FakeGitHub();
    const bodies: string[] = [];
    github.fault = ({ parameters }) => {
      if (typeof parameters.body === "string") bodies.push(parameters.body);
    };
    await runComment(github, { respond });
    expect(github.reactions).toEqual(["eyes", "hooray"]);
    expect(github.comments).toHaveLength(1);
    expect(bodies[0]).toContain("The agent is working on it");
    expect(bodies[0]).toContain("https://github.com/acme/docs/actions/runs/99");
    expect(bodies[1]).toMatch(/working on it.*\n<!-- agent-job-action project=docs job=job_1 comment=77 -->$/s);
    expect(github.reply).toContain("Pull request created");
    expect(github.reply).toContain(`<a href="${prLink}">Pull request 7</a>`);
    expect(github.reply).toContain("<code>/agent …</code>");
    expect(github.reply.split("\n").at(-1)).toBe(marker("job_1", "docs", commentId));
  });

  test("in a review, the reply goes to the root of the comment's thread", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond, review: { path: "a.md", line: 3, in_reply_to_id: 55 } });
    const calls = github.calls.map(({ route, parameters }) => `${route} ${parameters.comment_id ?? ""}`.trim());
    expect(calls).toContain("POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies 55");
    expect(calls).toContain(`POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions ${commentId}`);
    expect(calls).toContain("PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id} 1000");
    expect(github.calls.filter(({ route }) => route.includes("/issues/"))).toEqual([]);
  });

  test("reply: false writes nothing to the thread", async () => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, { respond, inputs: { reply: "false" } });
    expect(outputs.outcome).toBe("pr-created");
    expect(github.calls.map(({ route }) => route)).toEqual([
      "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
    ]);
  });
});

describe("remember", () => {
  test("the newest reply by the same author decides: the instruction goes to its job", async () => {
    const github = new FakeGitHub();
    github.add(bot, `old\n\n${marker("job_0")}`);
    github.add(bot, `new\n\n${marker("job_1")}`);
    github.add(bot, "no marker");
    github.add(stranger, `mine\n\n${marker("job_of_stranger")}`);
    const { requests, outputs } = await runComment(github, { respond });
    expect(paths(requests)[0]).toBe(message("job_1"));
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
  });

  test("all pages are read", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    for (let count = 0; count < 250; count++) github.add(stranger, "hello");
    const { requests } = await runComment(github, { respond });
    expect(paths(requests)[0]).toBe(message("job_1"));
    expect(github.calls.flatMap(({ parameters }) => parameters.page ?? [])).toEqual([1, 2, 3]);
  });

  test.each([
    ["of another project", marker("job_1", "other")],
    ["in mid-line", `> ${marker("job_1")}`],
    ["not in the last line", `${marker("job_1")}\nmore`],
    ["with a line behind it", `${marker("job_1")}\n`],
    ["with white space before it", ` ${marker("job_1")}`],
  ])("a marker %s is none", async (_name, body) => {
    const github = new FakeGitHub();
    github.add(bot, body);
    expect(paths((await runComment(github, { respond })).requests)[0]).toBe(create);
  });

  test("in a review, a reply in another thread is none", async () => {
    const review = { path: "a.md", line: 3, in_reply_to_id: 55 };
    const elsewhere = new FakeGitHub();
    elsewhere.add(bot, marker("job_1"), 44);
    expect(paths((await runComment(elsewhere, { respond, review })).requests)[0]).toBe(create);
    const here = new FakeGitHub();
    here.add(bot, marker("job_1"), 55);
    expect(paths((await runComment(here, { respond, review })).requests)[0]).toBe(message("job_1"));
  });

  test("new starts another job whatever the thread holds", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    const { requests } = await runComment(github, {
      respond,
      text: "/agent New fix it",
      inputs: { prompt: "{{ instruction }}" },
    });
    expect(requests[0]).toMatchObject({ path: "/v2/agent/docs/job", body: { prompt: "fix it" } });
  });

  test("job-id wins over the thread and over new", async () => {
    for (const text of ["/agent fix it", "/agent new fix it"]) {
      const github = new FakeGitHub();
      github.add(bot, marker("job_1"));
      const { requests } = await runComment(github, {
        text,
        inputs: { "job-id": "job_7" },
        respond: () => respondWith(200, record({ id: "job_7", status: "failed" })),
      });
      expect(paths(requests)[0]).toBe(message("job_7"));
    }
  });

  test("a job-id that the service does not know fails the step", async () => {
    const { requests, outputs } = await runComment(new FakeGitHub(), {
      inputs: { "job-id": "job_7" },
      respond: () => respondWith(404),
    });
    expect(paths(requests)).toEqual([message("job_7")]);
    expect(outputs.outcome).toBe("error");
  });

  test("a remembered job that the service does not know: a new one is started, and the reply says so", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_gone"));
    const { requests, outputs } = await runComment(github, {
      respond: (request) => (request.path.includes("job_gone") ? respondWith(404) : respond(request)),
    });
    expect(paths(requests).slice(0, 2)).toEqual([message("job_gone"), create]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(github.reply).toContain("The job of this thread was not found, so a new one was started.");
  });

  test("the newest is told by its id, whatever the order of the list", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_0"));
    github.add(bot, marker("job_1"));
    github.comments.reverse();
    expect(paths((await runComment(github, { respond })).requests)[0]).toBe(message("job_1"));
  });

  test("an id with characters of all kinds comes back as it was", async () => {
    const id = "a b/ü-->%2F";
    const github = new FakeGitHub();
    const done = () => respondWith(200, record({ id, status: "failed" }));
    await runComment(github, { respond: done });
    expect(github.reply.split("\n").at(-1)).toMatch(
      /^<!-- agent-job-action project=docs job=a%20b%2F%C3%BC--%3E%252F comment=77 -->$/,
    );
    const { requests } = await runComment(github, { respond: done });
    expect(paths(requests)[0]).toBe(message(encodeURIComponent(id)));
  });

  test.each([".", ".."])("a marker whose job is %s is none", async (id) => {
    const github = new FakeGitHub();
    github.add(bot, marker(id));
    expect(paths((await runComment(github, { respond })).requests)[0]).toBe(create);
  });

  test("a thread of which a page cannot be read is not read at all", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    for (let count = 0; count < 150; count++) github.add(stranger, "hello");
    github.fault = ({ parameters }) => {
      if (parameters.page === 2) throw new Error("Server Error");
    };
    const { requests, toolkit } = await runComment(github, { respond });
    expect(paths(requests)[0]).toBe(create);
    expect(toolkit.annotations).toHaveLength(1);
  });

  test("an answer that is no list counts as one that cannot be read, with its warning", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    const request = github.request.bind(github);
    github.request = async (route, ...rest) =>
      route.startsWith("GET") && route.endsWith("comments") ? "<html>" : request(route, ...rest);
    const { requests, toolkit } = await runComment(github, { respond });
    expect(paths(requests)[0]).toBe(create);
    expect(toolkit.annotations).toMatchObject([{ level: "warning" }]);
  });

  test.each([401, 403, 410, 429])("a remembered job answered with %i is not forgotten: no new one", async (status) => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    const { requests } = await runComment(github, {
      respond: () => respondWith(status, "", { "retry-after": "99999" }),
    });
    expect(paths(requests)).toEqual([message("job_1")]);
  });

  test("the id of a forgotten job is not given out as that of a new one that is refused", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_gone"));
    const { outputs, toolkit } = await runComment(github, {
      respond: ({ path }) => (path.includes("job_gone") ? respondWith(404) : respondWith(401)),
    });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(toolkit.lines.join("\n")).toContain("The job of this thread was not found, so a new one was started.");
  });

  test("the template counts for follow-ups too", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    const { requests } = await runComment(github, { respond, inputs: { prompt: "Docs: {{ instruction }}" } });
    expect(requests[0]).toMatchObject({ path: "/v2/agent/docs/job/job_1/message", body: { prompt: "Docs: fix it" } });
  });

  test("a message in doubt starts no new job", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    const { requests, outputs } = await runComment(github, { respond: () => respondWith(502) });
    expect(paths(requests)).toEqual([message("job_1")]);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
  });

  test("a job lost after the message was taken starts no new one", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    const { requests } = await runComment(github, {
      respond: ({ method }) => (method === "POST" ? respondWith(200, record()) : respondWith(404)),
    });
    expect(paths(requests).filter((path) => path.startsWith("POST"))).toEqual([message("job_1")]);
  });

  test("with reply: false nothing is remembered", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    expect(paths((await runComment(github, { respond, inputs: { reply: "false" } })).requests)[0]).toBe(create);
  });

  test("where no reply could be made, nothing is remembered", async () => {
    const github = lacking(/^POST .*\/issues\/\{issue_number\}\/comments$/);
    github.add(bot, marker("job_1"));
    expect(paths((await runComment(github, { respond })).requests)[0]).toBe(create);
  });

  test("where the thread cannot be listed, a new job starts with a warning", async () => {
    const github = lacking(/^GET .*\/comments$/);
    github.add(bot, marker("job_1"));
    const { requests, toolkit } = await runComment(github, { respond });
    expect(paths(requests)[0]).toBe(create);
    expect(toolkit.annotations).toMatchObject([
      { level: "warning", text: expect.stringContaining("Could not read the thread") },
    ]);
  });
});

describe("a re-run", () => {
  test("waits for the job of its own reply, edits that, and sends nothing again", async () => {
    const github = new FakeGitHub();
    github.add(bot, `first attempt\n\n${marker("job_1", "docs", commentId)}`);
    github.add(bot, `another comment's\n\n${marker("job_2", "docs", 5)}`);
    const { requests, outputs } = await runComment(github, { respond, attempt: 2 });
    expect(paths(requests)).toEqual(["GET /v2/agent/docs/job/job_1"]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(github.comments).toHaveLength(2);
    expect(github.comments[0]?.body).toContain("Pull request created");
  });

  test("does so for new and with job-id, too", async () => {
    for (const options of [{ text: "/agent new fix it" }, { inputs: { "job-id": "job_7" } }]) {
      const github = new FakeGitHub();
      github.add(bot, marker("job_1", "docs", commentId));
      expect(paths((await runComment(github, { respond, attempt: 2, ...options })).requests)).toEqual([
        "GET /v2/agent/docs/job/job_1",
      ]);
    }
  });

  test("does not take a stranger's marker for its own", async () => {
    const github = new FakeGitHub();
    github.add(stranger, marker("job_of_stranger", "docs", commentId));
    expect(paths((await runComment(github, { respond, attempt: 2 })).requests)[0]).toBe(create);
  });

  test.each([
    ["there is none", undefined],
    ["it has no marker", "working"],
  ])("goes on as a first run where %s", async (_name, body) => {
    const github = new FakeGitHub();
    if (body) github.add(bot, body);
    const { requests } = await runComment(github, { respond, attempt: 2 });
    expect(paths(requests)[0]).toBe(create);
    expect(github.reply).toContain("Pull request created");
  });

  test("goes on as a first run where its job is gone", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_gone", "docs", commentId));
    const { requests, outputs } = await runComment(github, {
      attempt: 2,
      respond: (request) => (request.path.includes("job_gone") ? respondWith(404) : respond(request)),
    });
    expect(paths(requests).filter((path) => path.startsWith("POST"))).toEqual([message("job_gone"), create]);
    expect(outputs["job-id"]).toBe("job_1");
  });

  test.each([401, 503])("that cannot read the job (%i) still leaves it remembered for the next", async (status) => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1", "docs", commentId));
    await runComment(github, { respond: () => respondWith(status), attempt: 2, inputs: { "timeout-minutes": "0.5" } });
    expect(github.reply.split("\n").at(-1)).toBe(marker("job_1", "docs", commentId));
    const { requests } = await runComment(github, { respond, attempt: 3 });
    expect(paths(requests)).toEqual(["GET /v2/agent/docs/job/job_1"]);
  });

  test("after a message in doubt waits, and does not send it again", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    await runComment(github, { respond: () => respondWith(502) });
    const { requests } = await runComment(github, { respond, attempt: 2 });
    expect(paths(requests)).toEqual(["GET /v2/agent/docs/job/job_1"]);
  });

  test("after a message that was refused sends it", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1"));
    await runComment(github, { respond: () => respondWith(401) });
    const { requests } = await runComment(github, { respond, attempt: 2 });
    expect(paths(requests)[0]).toBe(message("job_1"));
  });

  test("that may read the thread alone sends nothing where the first run has left a reply", async () => {
    const github = lacking(/^(POST|PATCH) /);
    github.add(bot, marker("job_1", "docs", commentId));
    const { requests, outputs } = await runComment(github, { respond, attempt: 2 });
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
    const bare = lacking(/^(POST|PATCH) /);
    expect(paths((await runComment(bare, { respond, attempt: 2 })).requests)[0]).toBe(create);
  });

  test("takes the newest of its own replies", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_0", "docs", commentId));
    github.add(bot, marker("job_1", "docs", commentId));
    expect(paths((await runComment(github, { respond, attempt: 3 })).requests)).toEqual([
      "GET /v2/agent/docs/job/job_1",
    ]);
  });

  test("that cannot read the thread sends nothing: a job may be running", async () => {
    const github = lacking(/^GET .*\/comments$/);
    github.add(bot, marker("job_1", "docs", commentId));
    const { requests, outputs, toolkit } = await runComment(github, { respond, attempt: 2 });
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations.at(-1)?.text).toContain("This run sent nothing; a job may be running.");
  });

  test("knows its own replies by the one it has just made, where GitHub has no reactions", async () => {
    const github = lacking(/reactions$/);
    github.add(bot, marker("job_1", "docs", commentId));
    expect(paths((await runComment(github, { respond, attempt: 2 })).requests)).toEqual([
      "GET /v2/agent/docs/job/job_1",
    ]);
  });

  test("after a create whose answer was cut off waits for the job that it named", async () => {
    const github = new FakeGitHub();
    const first = await runComment(github, { respond: () => respondWith(201, '{"status":"active","id":"job_1","mo') });
    expect(first.outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    const { requests } = await runComment(github, { respond, attempt: 2 });
    expect(paths(requests)).toEqual(["GET /v2/agent/docs/job/job_1"]);
  });

  test("a first run is none, whatever replies there are", async () => {
    const github = new FakeGitHub();
    github.add(bot, marker("job_1", "docs", commentId));
    expect(paths((await runComment(github, { respond, attempt: 1 })).requests)[0]).toBe(message("job_1"));
  });
});

describe("finish", () => {
  test.each([
    ["pr-created", completed, ["eyes", "hooray"]],
    ["no-changes", record({ status: "completed" }), ["eyes"]],
    ["failed", record({ status: "failed" }), ["eyes", "confused"]],
    ["archived", record({ status: "archived" }), ["eyes"]],
    ["timed-out", record(), ["eyes", "confused"]],
  ])("%s", async (outcome, last, reactions) => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, {
      inputs: { "timeout-minutes": "1" },
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : respondWith(200, last)),
    });
    expect(outputs.outcome).toBe(outcome);
    expect(github.reactions).toEqual(reactions);
    expect(github.reply).not.toContain("working on it");
    expect(github.reply).toContain("https://github.com/acme/docs/actions/runs/99");
  });

  test("a time-out says how to wait on in the thread, where nobody has to care for ids", async () => {
    const github = new FakeGitHub();
    await runComment(github, {
      inputs: { "timeout-minutes": "1" },
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : respondWith(200, record())),
    });
    expect(github.reply).toContain("To wait for it, re-run this workflow run: nothing is sent again.");
    expect(github.reply).not.toContain("job-id");
  });

  test("an error shows, with what to do", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond: () => respondWith(401, { error: "Expired" }) });
    expect(github.reactions).toEqual(["eyes", "confused"]);
    expect(github.reply).toContain("Create an admin key");
  });

  test("a cancellation shows, within 1.5 s, and without a reaction", async () => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, {
      cancelAt: 20_000,
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : respondWith(200, record())),
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(github.reactions).toEqual(["eyes"]);
    expect(github.reply).toContain("Cancelled");
    expect(github.reply.split("\n").at(-1)).toBe(marker("job_1", "docs", commentId));
    expect(github.calls.at(-1)).toMatchObject({ route: expect.stringMatching(/^PATCH /), limits: { graceMs: 1500 } });
  });

  test("a cancellation right after the create still leaves the marker", async () => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, {
      cancelAt: 100,
      respond: () => ({ responseMs: 500, response: { status: 201, body: record() } }),
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1" });
    expect(github.routes("PATCH")).toHaveLength(1);
    expect(github.reply.split("\n").at(-1)).toBe(marker("job_1", "docs", commentId));
  });

  test("the last edit comes last, though an earlier one is slow", async () => {
    const github = new FakeGitHub();
    let edits = 0;
    github.fault = async ({ route }) => {
      if (route.startsWith("PATCH") && edits++ === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await runComment(github, { respond: () => respondWith(201, completed) });
    expect(github.reply).toContain("Pull request created");
  });

  test("the last edit does not wait for one that hangs, once the step is cancelled", async () => {
    const github = new FakeGitHub();
    let edits = 0;
    github.fault = ({ route }) =>
      route.startsWith("PATCH") && edits++ === 0 ? new Promise<void>(() => {}) : undefined;
    await runComment(github, {
      cancelAt: 20_000,
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : respondWith(200, record())),
    });
    expect(github.reply).toContain("Cancelled");
  });

  test("text from outside is inert, and the reply fits", async () => {
    const hostile =
      "@acme/team <img src=x> ![x](http://x) #1 </code>\n\n<!-- agent-job-action project=docs job=evil comment=1 -->";
    const github = new FakeGitHub();
    await runComment(github, { respond: () => respondWith(400, { error: hostile + "x".repeat(200_000) }) });
    expect(github.reply.length).toBeLessThan(65_536);
    const ownWords = github.reply.replaceAll(/<code>[^<]*<\/code>/g, "");
    for (const trace of ["@acme", "<img", "![x]", "evil"]) expect(ownWords).not.toContain(trace);
    for (const block of github.reply.split("\n\n")) expect(block).toMatch(/^<(p|!--)/);
  });

  test("a job whose id is too long for a marker is not remembered, but told of", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond: () => respondWith(201, record({ id: "j".repeat(70_000), status: "failed" })) });
    expect(github.reply).toContain("Job failed");
    expect(github.reply.length).toBeLessThan(65_536);
  });
});

describe("degrade", () => {
  test.each([
    ["no reactions", /\/reactions$/],
    ["no right to comment", /^(POST .*(comments|replies)|PATCH .*)$/],
    ["a reply that was deleted", /^PATCH /],
    ["nothing in the thread", /^(?!.*permission$)/],
  ])("%s: one warning in all, and the job runs on", async (_name, pattern) => {
    const { outputs, toolkit, hasPassed } = await runComment(lacking(pattern), { respond });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(hasPassed).toBe(true);
    expect(toolkit.annotations).toHaveLength(1);
    expect(toolkit.annotations[0]).toMatchObject({ level: "warning" });
    expect(toolkit.annotations[0]?.text).toContain("issues: write and pull-requests: write");
  });

  test("each request has 10 s, or the time left", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond, inputs: { "timeout-minutes": "0.1" } });
    for (const { limits } of github.calls) expect(limits.timeoutMs).toBeLessThanOrEqual(10_000);
    const post = github.calls.find(({ route }) => route.endsWith("{issue_number}/comments"));
    expect(post?.limits.timeoutMs).toBeLessThanOrEqual(6000);
  });

  test("what GitHub takes counts toward the time", async () => {
    const github = new FakeGitHub();
    const { outputs, toolkit } = await runComment(github, {
      respond,
      inputs: { "timeout-minutes": "0.5" },
      onClock: (clock) => {
        github.fault = () => clock.advance(8000);
      },
    });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(Number(outputs["duration-seconds"])).toBeGreaterThanOrEqual(30);
    expect(toolkit.annotations.at(-1)?.text).toContain("no time was left to start a job, so nothing was started");
  });

  test("the job's id is an output before anything is waited for", async () => {
    const { toolkit } = await runComment(new FakeGitHub(), { respond });
    const id = toolkit.events.indexOf("output job-id=job_1");
    expect(id).toBeGreaterThan(0);
    expect(id).toBeLessThan(toolkit.events.findIndex((event) => event.startsWith("group ")));
  });

  test("the token is masked before anything is printed", async () => {
    const { toolkit } = await runComment(new FakeGitHub(), { respond });
    expect(toolkit.masks).toContain("ghs_token_0123456789");
    expect(toolkit.events.slice(0, 2)).toEqual(["mask", "mask"]);
  });
});
