import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseEvent } from "../../../../src/action/comments/parse-event.ts";
import { GitHubError } from "../../../../src/action/runner/github-error.ts";
import { runComment } from "../../../support/comment-run.ts";
import { bot, FakeGitHub } from "../../../support/fake-github.ts";
import { FakeRepository } from "../../../support/fake-repository.ts";
import { record, respondWith } from "../../../support/run-main.ts";
import {
  completes,
  createRequest,
  earlierReply,
  githubRejecting,
  losesJob,
  markerLine,
  messageTo,
  otherUser,
  ownStep,
  pollOf,
  routesOf,
  sentOf,
  threadWith,
} from "../../../support/thread.ts";
import {
  promptsOf,
  requestsOf,
  runId,
  runThreadEvent,
  type ThreadEventOptions,
  threadPayload,
} from "../../../support/thread-event-run.ts";

const label = "Docs please";
const pulls = ["pull_request", "pull_request_target"];
const events = ["issues", ...pulls];

const examples = createRequire(import.meta.url)("@octokit/webhooks-examples") as {
  name: string;
  examples: Record<string, unknown>[];
}[];

/** Returns the hidden last line of a reply to a request of this workflow run. */
const runMarker = (job: string) => `<!-- agent-job-action project=docs attempt=1 ${job} run=${runId} ${ownStep} -->`;

/** Creates a GitHub whose issue has the label. */
function labeled(...replies: string[]): FakeGitHub {
  const github = threadWith(...replies);
  github.labels = [label, "bug"];
  return github;
}

function setLabel(github: FakeGitHub, name: string, options: ThreadEventOptions = {}) {
  return runThreadEvent(github, name, "labeled", { label, ...options });
}

test.each(events)("every payload of %s in GitHub's examples is parsed", (name) => {
  const payloads = examples.find((one) => one.name === name.replace("_target", ""))?.examples ?? [];
  expect(payloads.length).toBeGreaterThan(10);
  for (const payload of payloads) {
    const event = parseEvent(name as "issues", payload, "1");
    expect(event.action).toBe(payload.action);
    expect(event.triggerKind === "label").toBe(payload.action === "labeled");
    expect(event.author.login).not.toBe("");
  }
});

test("any payload is either parsed or rejected with a message that names the event", () => {
  const part = fc.dictionary(fc.constantFrom("login", "user", "number", "title", "body", "html_url"), fc.jsonValue());
  const payloads = fc.dictionary(
    fc.constantFrom("action", "issue", "pull_request", "label", "sender", "repository"),
    fc.oneof(fc.jsonValue(), part, fc.constant("opened")),
  );
  fc.assert(
    fc.property(payloads, (payload) => {
      for (const name of ["issues", "pull_request"] as const) {
        try {
          expect(typeof parseEvent(name, payload, "1").author.login).toBe("string");
        } catch (error) {
          expect(String(error)).toContain(`the payload of ${name} lacks`);
        }
      }
    }),
  );
});

describe("the trigger label", () => {
  const subject = { body: "See the start page." };

  test("on an issue asks for what the issue says", async () => {
    const github = labeled();
    const run = await setLabel(github, "issues", {
      sender: { login: "maintainer" },
      user: { login: "stranger" },
      subject,
    });
    expect(run.outputs).toMatchObject({
      outcome: "pr-created",
      author: "maintainer",
      "thread-url": "https://github.com/acme/docs/issues/12",
    });
    expect(routesOf(run.requests)[0]).toBe(createRequest);
    expect(promptsOf(run)).toEqual([
      "Links are broken\n\nSee the start page.\n\n---\nAsked for in issue #12\nhttps://github.com/acme/docs/issues/12",
    ]);
  });

  test.each(pulls)("on a pull request asks for its docs (%s)", async (name) => {
    const run = await setLabel(labeled(), name, { subject });
    expect(run.outputs.outcome).toBe("pr-created");
    expect(promptsOf(run)).toEqual([
      "Bring the docs in line with this pull request.\n\nLinks are broken\n\nSee the start page.\n\n---\nAsked for in pull request #12\nhttps://github.com/acme/docs/pull/12",
    ]);
  });

  test.each([null, "", "  "])("asks for the title of an issue whose text is %j", async (body) => {
    const run = await setLabel(labeled(), "issues", { subject: { body } });
    expect(promptsOf(run)[0]).toMatch(/^Links are broken\n\n---\n/);
  });

  test.each(["docs please", "DOCS PLEASE", " Docs Please "])("is the input %j in any case", async (input) => {
    const github = labeled();
    const { outputs } = await setLabel(github, "issues", { inputs: { "trigger-label": input } });
    expect(outputs.outcome).toBe("pr-created");
    expect(github.labels).toEqual(["bug"]);
  });

  test("checks the permission of the account that set it, not of the author", async () => {
    const github = labeled();
    await setLabel(github, "issues", { sender: { login: "maintainer" }, user: { login: "stranger" } });
    expect(github.calls[0]?.parameters).toEqual({ owner: "acme", repo: "docs", username: "maintainer" });
  });

  test("fills a template", async () => {
    const prompt = "{{ label }}|{{ author }}|{{ title }}|{{ number }}|{{ path }}|{{ instruction }}";
    const run = await setLabel(labeled(), "issues", { inputs: { prompt }, subject: { body: "{{ label }}" } });
    expect(promptsOf(run)).toEqual(["Docs please|writer|Links are broken|12||Links are broken\n\n{{ label }}"]);
  });

  test("works without a trigger phrase, and the reply says how to go on", async () => {
    const github = labeled();
    const { outputs } = await setLabel(github, "issues", { inputs: { "trigger-phrase": "" } });
    expect(outputs.outcome).toBe("pr-created");
    expect(github.reply).toContain(
      "<p><sub>To continue with this job, set the label <code>Docs please</code> again.</sub></p>",
    );
    expect(github.reply).not.toContain("comment <code>");
  });
});

describe("the label is removed", () => {
  test("as the job starts, after its marker is in the thread", async () => {
    const github = labeled();
    await setLabel(github, "issues", { label: "docs PLEASE" });
    expect(github.labels).toEqual(["bug"]);
    const writes = github.calls.filter(({ route }) => !route.startsWith("GET"));
    expect(
      writes.map(({ route, parameters }) => (route.startsWith("DELETE") ? parameters.name : route.split(" ")[0])),
    ).toEqual(["POST", "POST", "PATCH", "docs PLEASE", "PATCH", "POST"]);
    expect(writes[2]?.parameters.body).toContain(runMarker("job=job_1"));
  });

  test.each([
    ["the service rejects the request", { respond: () => respondWith(401) }],
    ["it is unknown whether the service accepted it", { respond: () => respondWith(502) }],
    ["the step is cancelled before", { cancelAt: 0 }],
    ["reply is false", { inputs: { reply: "false" } }],
  ])("never if %s", async (_name, options: ThreadEventOptions) => {
    const github = labeled();
    await setLabel(github, "issues", options);
    expect(github.labels).toEqual([label, "bug"]);
  });

  test("without a warning if someone else has removed it", async () => {
    const github = labeled();
    github.labels = [];
    const { toolkit, outputs } = await setLabel(github, "issues");
    expect(outputs.outcome).toBe("pr-created");
    expect(toolkit.annotations).toEqual([]);
  });

  test("or there is the one warning, and the job runs on", async () => {
    const github = githubRejecting(/^DELETE /);
    github.labels = [label];
    const { toolkit, outputs } = await setLabel(github, "issues");
    expect(outputs.outcome).toBe("pr-created");
    expect(toolkit.annotations).toMatchObject([
      {
        level: "warning",
        title: "Cannot update the thread",
        text: expect.stringContaining("Could not remove the label"),
      },
    ]);
    expect(github.reply).toContain("Pull request created");
  });

  test.each([403, 500])("or there is the warning if GitHub answers %i", async (status) => {
    const github = labeled();
    github.fault = ({ route }) => {
      if (route.startsWith("DELETE")) throw new GitHubError("Resource not accessible by integration", status);
    };
    const { toolkit } = await setLabel(github, "issues");
    expect(toolkit.annotations).toMatchObject([{ title: "Cannot update the thread" }]);
  });

  test("never after a signal", async () => {
    const github = labeled();
    await setLabel(github, "issues", {
      respond: () => respondWith(201, record()),
      cancelAt: 500,
      onClock: (clock) => {
        github.fault = ({ route }) => {
          if (route.startsWith("PATCH")) clock.advance(1000);
        };
      },
    });
    expect(github.routes("DELETE")).toEqual([]);
    expect(github.reply).toContain("Cancelled");
  });

  test("or there is only one warning if nothing can be changed", async () => {
    const github = githubRejecting(/^(PATCH|DELETE) /);
    const { toolkit, outputs } = await setLabel(github, "issues");
    expect(outputs.outcome).toBe("pr-created");
    expect(toolkit.annotations).toHaveLength(1);
  });
});

describe("a new issue or pull request", () => {
  test.each(events)("with the phrase at the start of a line asks for the rest (%s)", async (name) => {
    const body = "Hello.\r\n\r\n/Agent fix the quickstart\r\nand the links\r\n";
    const run = await runThreadEvent(new FakeGitHub(), name, "opened", { subject: { body } });
    expect(run.outputs).toMatchObject({ outcome: "pr-created", author: "writer" });
    expect(promptsOf(run)[0]).toMatch(/^fix the quickstart\r\nand the links\n\n---\nAsked for in /);
  });

  test.each<[string, string | null, string]>([
    ["no text", null, "no-trigger"],
    ["no phrase", "See the start page.", "no-trigger"],
    ["the phrase in a line", "Please ask /agent to fix it", "no-trigger"],
    ["a quoted phrase", "> /agent fix it", "no-trigger"],
    ["an indented phrase", "    /agent fix it", "no-trigger"],
    ["the phrase in a code block", "Prompt:\n\n```text\n/agent fix it\n```\n", "no-trigger"],
    ["the phrase in a longer code block", "````\n```\n/agent fix it\n````", "no-trigger"],
    ["the phrase in a code block with tildes", "~~~ `x`\r\n```\r\n/agent fix it\r\n~~~", "no-trigger"],
    ["the phrase in a code block without an end", " ```\n/agent fix it", "no-trigger"],
    ["the phrase after a line that looks like an end", "```\n``` x\n/agent fix it", "no-trigger"],
    ["a longer word", "/agents fix it", "no-trigger"],
    ["no instruction", "Hello\n/agent\n", "no-instruction"],
    ["no instruction after new", "/agent new", "no-instruction"],
  ])("with %s starts nothing", async (_name, body, reason) => {
    const github = new FakeGitHub();
    const { outputs, requests } = await runThreadEvent(github, "issues", "opened", { subject: { body } });
    expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": reason, author: "", "thread-url": "" });
    expect([requests, github.calls]).toEqual([[], []]);
  });

  test.each([
    ["after a code block", "```\n/agent one\n```\n/agent two", "two"],
    ["after one of tildes", "~~~\r\n/agent one\r\n~~~~ \r\n/agent two", "two"],
    ["after inline code", "``` x ```\n/agent two", "two"],
    ["before a code block", "/agent fix\n```\n/agent x\n```", "fix\n```\n/agent x\n```"],
    ["with an indented fence before it", "    ```\n/agent two", "two"],
  ])("may have the phrase %s", async (_name, body, instruction) => {
    const inputs = { prompt: "{{ instruction }}" };
    expect(
      requestsOf(await runThreadEvent(new FakeGitHub(), "issues", "opened", { subject: { body }, inputs })),
    ).toEqual([instruction]);
  });

  test("that is the agent's own, opened by a user, and quotes its prompt, starts nothing", async () => {
    const body = "Prompt of the agent:\n\n```text\nfix this:\n/agent fix it\n```\n\nJob `job_1`.";
    const { outputs, requests } = await runThreadEvent(new FakeGitHub(), "pull_request", "opened", {
      subject: { body },
    });
    expect(outputs["skip-reason"]).toBe("no-trigger");
    expect(requests).toEqual([]);
  });

  test("checks the permission of its author", async () => {
    const github = new FakeGitHub();
    await runThreadEvent(github, "issues", "opened", { subject: { body: "/agent x" }, sender: { login: "other" } });
    expect(github.calls[0]?.parameters.username).toBe("writer");
  });
});

describe("reactions and the marker", () => {
  test.each([
    ["labeled", { label }],
    ["opened", { subject: { body: "/agent fix it" } }],
  ])("%s: reacts to the issue itself and remembers the workflow run", async (action, options) => {
    const github = labeled();
    await runThreadEvent(github, "issues", action, options);
    const [reaction, post] = github.calls.filter(({ route }) => route.startsWith("POST"));
    expect(reaction).toMatchObject({
      route: "POST /repos/{owner}/{repo}/issues/{issue_number}/reactions",
      parameters: { owner: "acme", repo: "docs", issue_number: 12, content: "eyes" },
    });
    expect(post?.parameters.body).toContain(runMarker("pending"));
    expect(github.reactions).toEqual(["eyes", "hooray"]);
    expect(github.reply.split("\n").at(-1)).toBe(runMarker("job=job_1"));
  });

  test("a re-run waits for the job in its own reply, and sends nothing", async () => {
    const github = labeled(`Working\n\n${runMarker("job=job_1")}`, earlierReply("job_2"));
    const { requests, outputs } = await setLabel(github, "issues", { attempt: 2 });
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
    expect(github.comments[0]?.body).toContain("Pull request created");
  });

  test("a re-run sends nothing if an earlier attempt was about to", async () => {
    const github = labeled(`Working\n\n${runMarker("pending")}`);
    const { requests, toolkit } = await setLabel(github, "issues", { attempt: 2, inputs: { "trigger-phrase": "" } });
    expect(requests).toEqual([]);
    expect(toolkit.annotations.at(-1)).toMatchObject({
      title: "Job may have been started",
      text: expect.stringContaining("To send the request regardless, set the label Docs please again."),
    });
    expect(github.labels).toEqual([label, "bug"]);
  });

  test("a comment with the id of the workflow run is another request", async () => {
    const github = labeled(`Done\n\n${markerLine("job_0", { comment: runId })}`);
    const { requests } = await setLabel(github, "issues", { attempt: 2 });
    expect(sentOf(requests)[0]).toBe(messageTo("job_0"));
  });

  test.each(["", "x", "1e3", "-1"])("a run whose id is %j starts nothing", async (id) => {
    const github = labeled();
    const { outputs, requests } = await setLabel(github, "issues", { environment: { GITHUB_RUN_ID: id } });
    expect(outputs.outcome).toBe("error");
    expect([requests, github.calls]).toEqual([[], []]);
  });
});

describe("all ways to ask share the memory of the conversation", () => {
  test("a label, then a comment, then a label go to one job", async () => {
    const github = labeled();
    const first = await setLabel(github, "issues");
    const second = await runComment(github, { respond: completes });
    github.labels = [label];
    const third = await setLabel(github, "issues", { environment: { GITHUB_RUN_ID: "100" } });
    expect([first, second, third].map(({ requests }) => sentOf(requests)[0])).toEqual([
      createRequest,
      messageTo("job_1"),
      messageTo("job_1"),
    ]);
    expect(github.labels).toEqual([]);
    expect(github.comments).toHaveLength(3);
  });

  test("a job that is gone is replaced", async () => {
    const github = labeled(earlierReply("job_gone"));
    const { outputs, requests } = await setLabel(github, "issues", { respond: losesJob });
    expect(routesOf(requests).slice(1, 4)).toEqual([messageTo("job_gone"), pollOf("job_gone"), createRequest]);
    expect(outputs["job-id"]).toBe("job_1");
  });
});

describe("changes", () => {
  function withHistory() {
    const repository = new FakeRepository();
    const base = { sha: repository.head() };
    repository.ref("topic");
    const head = { sha: repository.commit("topic", { message: "Topic", files: ["src/topic.ts"] }) };
    const github = labeled();
    github.repository = repository;
    return { github, repository, subject: { base, head } };
  }

  test.each(pulls)("of a pull request are those since its base (%s)", async (name) => {
    const { github, subject } = withHistory();
    const run = await setLabel(github, name, { subject, inputs: { changes: "list" } });
    expect(run.outputs["changed-files"]).toBe("1");
    expect(promptsOf(run)[0]).toMatch(/^Bring the docs in line with this pull request\..*modified src\/topic\.ts/s);
  });

  test("that do not count start nothing, and the label stays", async () => {
    const { github, subject } = withHistory();
    const inputs = { changes: "list", paths: "docs/**" };
    const { outputs, requests } = await setLabel(github, "pull_request", { subject, inputs });
    expect(outputs["skip-reason"]).toBe("nothing-new");
    expect(requests).toEqual([]);
    expect(github.labels).toEqual([label, "bug"]);
    expect(github.routes("POST")).toEqual([]);
  });

  test("of an issue are nothing to compare", async () => {
    const { github, repository } = withHistory();
    const run = await setLabel(github, "issues", { inputs: { changes: "list" } });
    expect(run.outputs).toMatchObject({ outcome: "pr-created", "changed-files": "" });
    expect(repository.routes).toEqual([]);
  });
});

describe("nothing starts, and nothing is written,", () => {
  test.each<[string, string, string, ThreadEventOptions, string]>([
    ["with another label", "issues", "labeled", { label: "Docs" }, "no-trigger"],
    ["with a longer label", "issues", "labeled", { label: "Docs please!" }, "no-trigger"],
    ["without trigger-label", "issues", "labeled", { label: "", inputs: { "trigger-label": "" } }, "no-trigger"],
    ["if the label is removed", "issues", "unlabeled", { label }, "no-trigger"],
    ["if the label of a pull request is removed", "pull_request", "unlabeled", { label }, "no-trigger"],
    ["if an issue is edited", "issues", "edited", { subject: { body: "/agent fix it" } }, "edited"],
    ["if an issue is reopened", "issues", "reopened", { subject: { body: "/agent fix it" } }, "no-trigger"],
    ["if a pull request is pushed to", "pull_request", "synchronize", { subject: { body: "/agent x" } }, "no-trigger"],
    [
      "without trigger-phrase",
      "issues",
      "opened",
      { subject: { body: "/agent x" }, inputs: { "trigger-phrase": "" } },
      "no-trigger",
    ],
    ["if a bot sets the label", "issues", "labeled", { label, sender: { login: "helper", type: "Bot" } }, "bot"],
    ["if an app sets the label", "issues", "labeled", { label, sender: { login: "x[bot]", type: "User" } }, "bot"],
    [
      "if the author of a new issue is a bot",
      "issues",
      "opened",
      { subject: { body: "/agent fix it" }, user: { login: "renovate[bot]", type: "Bot" } },
      "bot",
    ],
    [
      "if the agent's own pull request quotes the phrase",
      "pull_request",
      "opened",
      { subject: { body: "Asked for by:\n/agent fix it" }, user: { login: "mintlify[bot]", type: "Bot" } },
      "bot",
    ],
  ])("%s", async (_name, event, action, options, reason) => {
    const github = labeled();
    const { outputs, requests, hasPassed } = await runThreadEvent(github, event, action, options);
    expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": reason });
    expect(hasPassed).toBe(true);
    expect([requests, github.calls]).toEqual([[], []]);
  });

  test.each(["labeled", "opened"])("without the required permission (%s)", async (action) => {
    const github = labeled();
    github.permission = { permission: "read", role_name: "triage" };
    const { outputs, requests } = await runThreadEvent(github, "issues", action, {
      label,
      subject: { body: "/agent fix it" },
    });
    expect(outputs).toMatchObject({ "skip-reason": "not-permitted", author: "writer" });
    expect(requests).toEqual([]);
    expect(github.calls.map(({ route }) => route)).toEqual([
      "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
    ]);
    expect(github.labels).toEqual([label, "bug"]);
  });

  test("if the permission cannot be read, and the step fails", async () => {
    const github = labeled();
    github.permission = {};
    const { outputs, requests, toolkit } = await setLabel(github, "issues");
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
    expect(github.routes("POST")).toEqual([]);
    expect(toolkit.annotations[0]?.text).toMatch(/^The permission of the account that set the label cannot be read/);
  });

  test("by fifty labels of someone without permission", async () => {
    const github = labeled();
    github.permission = { permission: "none" };
    let sent = 0;
    for (let run = 0; run < 50; run++) {
      const { requests } = await setLabel(github, "issues", { environment: { GITHUB_RUN_ID: String(run) } });
      sent += requests.length;
    }
    expect(sent).toBe(0);
    expect(github.comments).toEqual([]);
    expect(github.reactions).toEqual([]);
    expect(github.labels).toEqual([label, "bug"]);
  });
});

describe("an account that was deleted", () => {
  const withoutUser = (name: string, action: string) => {
    const payload = threadPayload(name, action);
    const part = (name === "pull_request_review" ? payload.review : (payload.issue ?? payload.pull_request)) as object;
    Object.assign(part, { user: null, body: "/agent fix it" });
    return runThreadEvent(new FakeGitHub(), name, action, { payload });
  };

  test.each([
    ["issues", "locked"],
    ["pull_request", "closed"],
    ["pull_request_review", "dismissed"],
  ])("does not matter if the event asks for nothing: %s %s", async (name, action) => {
    expect((await withoutUser(name, action)).outputs["skip-reason"]).toBe("no-trigger");
  });

  test.each([
    ["issues", "opened"],
    ["pull_request", "opened"],
    ["pull_request_review", "submitted"],
  ])("asks for nothing: %s %s", async (name, action) => {
    const { outputs, requests, toolkit } = await withoutUser(name, action);
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
    expect(toolkit.annotations).toMatchObject([{ level: "error", title: "Cannot read the event" }]);
  });
});

describe("a marker in the text of an issue", () => {
  const quoted = `Look:\n\n${markerLine("job_stolen")}`;

  test("is not read, and does not go to the agent", async () => {
    const github = labeled();
    const run = await setLabel(github, "issues", { subject: { body: quoted } });
    expect(routesOf(run.requests)[0]).toBe(createRequest);
    expect(promptsOf(run)[0]).toContain("Look:");
    expect(promptsOf(run)[0]).not.toContain("job_stolen");
    expect(github.reply).not.toContain("job_stolen");
    expect(github.reply).toContain("1 hidden part");
    expect(run.toolkit.lines.join("\n")).toContain("1 hidden part");
  });

  test("is not read from a comment of someone else either", async () => {
    const github = labeled();
    github.add(otherUser, `x\n\n${runMarker("job=job_stolen")}`);
    const { requests } = await setLabel(github, "issues", { attempt: 2 });
    expect(routesOf(requests)[0]).toBe(createRequest);
  });

  test.each(["run=99 comment=1", "run=", "run=9x", "run=-9", "RUN=99", "issue=99"])(
    "does not count as one if it ends in %s",
    async (request) => {
      const github = labeled();
      github.add(bot, `x\n\n<!-- agent-job-action project=docs attempt=1 job=job_0 ${request} ${ownStep} -->`);
      const { requests } = await setLabel(github, "issues");
      expect(routesOf(requests)[0]).toBe(createRequest);
    },
  );
});

describe("a pull request from a fork", () => {
  const fork = { head: { sha: "a", repo: { id: 2, full_name: "stranger/docs" } }, base: { sha: "b", repo: { id: 1 } } };
  const noKey = { "api-key": "" };

  test.each([
    ["labeled", { label }],
    ["opened", { subject: { ...fork, body: "/agent fix it" } }],
    ["of a fork that was deleted", { subject: { ...fork, head: { sha: "a", repo: null } }, label }],
  ])("that gets no secrets is skipped: %s", async (action, options: ThreadEventOptions) => {
    const github = labeled();
    const name = action.startsWith("of") ? "labeled" : action;
    const { outputs, requests, toolkit, hasPassed } = await runThreadEvent(github, "pull_request", name, {
      ...options,
      subject: { ...fork, ...options.subject },
      inputs: noKey,
    });
    expect(hasPassed).toBe(true);
    expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": "fork", "job-id": "" });
    expect([requests, github.calls]).toEqual([[], []]);
    expect(toolkit.annotations).toMatchObject([
      { level: "notice", title: "Skipped", text: expect.stringContaining("Use pull_request_target instead") },
    ]);
  });

  test("without a summary writes none", async () => {
    const inputs = { ...noKey, summary: "false" };
    const { toolkit } = await runThreadEvent(labeled(), "pull_request", "labeled", { label, subject: fork, inputs });
    expect(toolkit.summary).toBe("");
  });

  test("in a review comment that gets no secrets is skipped, and the notice names issue_comment", async () => {
    const { outputs, toolkit } = await runComment(new FakeGitHub(), {
      review: { path: "a.md", line: 3 },
      payload: {
        pull_request: { number: 12, title: "T", body: "", html_url: "https://github.com/acme/docs/pull/12", ...fork },
      },
      inputs: noKey,
    });
    expect(outputs["skip-reason"]).toBe("fork");
    expect(toolkit.annotations[0]?.text).toContain("issue_comment has secrets");
  });

  test.each<[string, string, ThreadEventOptions]>([
    ["if it has secrets", "pull_request", { subject: fork }],
    ["with pull_request_target", "pull_request_target", { subject: fork }],
  ])("is handled %s", async (_name, event, options) => {
    expect((await setLabel(labeled(), event, options)).outputs.outcome).toBe("pr-created");
  });

  test.each<[string, string, ThreadEventOptions]>([
    ["of the same repository", "pull_request", {}],
    ["with pull_request_target", "pull_request_target", { subject: fork }],
    ["outside comment mode", "pull_request", { subject: fork, inputs: { "trigger-phrase": "", "trigger-label": "" } }],
    ["with a payload that cannot be read", "pull_request", { environment: { GITHUB_EVENT_PATH: "/missing" } }],
  ])("does not excuse an empty key %s", async (_name, event, options) => {
    const { outputs, toolkit } = await setLabel(labeled(), event, {
      ...options,
      inputs: { prompt: "x", ...options.inputs, ...noKey },
    });
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations[0]?.text).toContain("api-key is empty");
  });
});

describe("events that an input does not apply to", () => {
  test.each([
    ["trigger-label", "push"],
    ["trigger-phrase", "push"],
  ])("with only %s, a prompt on %s is sent as written", async (input, name) => {
    const inputs = { "trigger-phrase": "", "trigger-label": "", [input]: "x", prompt: "{{ title }}" };
    const payload = { issue: undefined };
    const run = await setLabel(labeled(), "issues", { inputs, payload, environment: { GITHUB_EVENT_NAME: name } });
    expect(promptsOf(run)).toEqual(["{{ title }}"]);
    expect(run.outputs).toMatchObject({ outcome: "pr-created", author: "", "thread-url": "" });
  });

  test("without a prompt, the message names the input", async () => {
    const { toolkit } = await setLabel(labeled(), "issues", {
      inputs: { "trigger-phrase": "" },
      payload: { issue: undefined },
      environment: { GITHUB_EVENT_NAME: "push" },
    });
    expect(toolkit.annotations[0]?.text).toContain(
      "prompt is empty, and trigger-label only applies to issues and pull requests, not to push events.",
    );
  });

  test("without a token, the message names the input that needs it", async () => {
    const { toolkit } = await setLabel(labeled(), "issues", { inputs: { "trigger-phrase": "", "github-token": "" } });
    expect(toolkit.annotations[0]?.text).toContain("github-token is empty, but trigger-label needs it.");
  });
});

test("the outputs say who asked and where as soon as it is known, also in a thread that goes wrong", async () => {
  const run = await runComment(new FakeGitHub(), { respond: () => respondWith(200, record({ status: "failed" })) });
  expect(run.outputs).toMatchObject({
    author: "writer",
    "thread-url": "https://github.com/acme/docs/issues/12",
  });
});
