import { describe, expect, test } from "vitest";
import { runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import { prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const respond = () => respondWith(201, record({ status: "completed", prLink }));

describe("trigger", () => {
  test.each([
    ["/agent fix it", "fix it"],
    ["  \n\t/agent fix it", "fix it"],
    ["/AGENT fix it", "fix it"],
    ["/agent\nfix it\n\nand that\n", "fix it\n\nand that"],
    ["/agent newer links", "newer links"],
  ])("%j is an instruction", async (text, instruction) => {
    const { requests, outputs } = await runComment(new FakeGitHub(), {
      text,
      inputs: { prompt: "{{ instruction }}" },
      respond,
    });
    expect(requests[0]?.body).toEqual({ prompt: instruction });
    expect(outputs).toMatchObject({ outcome: "pr-created", "skip-reason": "" });
  });

  test.each([
    ["hello", "no-trigger"],
    ["please /agent fix it", "no-trigger"],
    ["> /agent fix it", "no-trigger"],
    ["/agents fix it", "no-trigger"],
    ["/agent, fix it", "no-trigger"],
    ["", "no-trigger"],
    ["/agent", "no-instruction"],
    ["/agent \n ", "no-instruction"],
    ["/agent new", "no-instruction"],
    ["/agent NEW ", "no-instruction"],
  ])("%j is skipped: %s", async (text, reason) => {
    const github = new FakeGitHub();
    const { outputs, hasPassed, requests, toolkit } = await runComment(github, { text, respond });
    expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": reason, "job-id": "" });
    expect(hasPassed).toBe(true);
    expect(requests).toEqual([]);
    expect(github.calls).toEqual([]);
    expect(toolkit.annotations).toMatchObject([{ level: "notice", title: "Skipped" }]);
    expect(toolkit.summary).toContain("Skipped");
  });

  test.each([
    ["edited", "edited"],
    ["deleted", "no-trigger"],
  ])("a comment that was %s is skipped: %s", async (action, reason) => {
    const { outputs, requests } = await runComment(new FakeGitHub(), { action, respond });
    expect(outputs["skip-reason"]).toBe(reason);
    expect(requests).toEqual([]);
  });

  test("the reasons come in order: action, phrase, instruction, bot, permission", async () => {
    const reason = async (options: Parameters<typeof runComment>[1]) => {
      const github = new FakeGitHub();
      github.permission = { permission: "none" };
      return (await runComment(github, { respond, ...options })).outputs["skip-reason"];
    };
    const stranger = { login: "x[bot]", type: "Bot" };
    expect(await reason({ action: "edited", text: "hello", author: stranger })).toBe("edited");
    expect(await reason({ text: "hello", author: stranger })).toBe("no-trigger");
    expect(await reason({ text: "/agent", author: stranger })).toBe("no-instruction");
    expect(await reason({ author: stranger })).toBe("bot");
    expect(await reason({})).toBe("not-permitted");
  });

  test("the phrase is taken to the letter", async () => {
    const reason = async (phrase: string, text: string) =>
      (await runComment(new FakeGitHub(), { text, inputs: { "trigger-phrase": phrase }, respond })).outputs[
        "skip-reason"
      ];
    expect(await reason("/a.ent", "/agent fix it")).toBe("no-trigger");
    expect(await reason("(docs)", "(DOCS) fix it")).toBe("");
    expect(await reason("@docs-bot", "@docs-bot fix it")).toBe("");
  });

  test("input errors come before all of them", async () => {
    const { outputs, toolkit } = await runComment(new FakeGitHub(), {
      text: "hello",
      inputs: { prompt: "{{ nothing }} {{ instruction }}", "github-token": "" },
      respond,
    });
    expect(outputs).toMatchObject({ outcome: "error", "skip-reason": "" });
    expect(toolkit.annotations[0]?.text).toMatch(
      /prompt uses \{\{ nothing \}\}.*instruction, author, title, body, number, url, path, line.*github-token is empty/s,
    );
  });

  test("on other events the phrase is ignored, and the prompt is sent as written", async () => {
    const prompt = "Explain {{ nothing }} to {{ author }}";
    const { requests } = await runMain({
      inputs: { "trigger-phrase": "/agent", prompt },
      environment: { GITHUB_EVENT_NAME: "schedule" },
      respond,
    });
    expect(requests[0]?.body).toEqual({ prompt });
  });

  test("without the phrase, the event of a comment is like any other", async () => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, { inputs: { "trigger-phrase": "", prompt: "Do it" }, respond });
    expect(outputs.outcome).toBe("pr-created");
    expect(github.calls).toEqual([]);
  });
});

describe("who", () => {
  test.each([
    [{ permission: "write", role_name: "write" }, "write", true],
    [{ permission: "write", role_name: "maintain" }, "maintain", true],
    [{ permission: "write", role_name: "write" }, "maintain", false],
    [{ permission: "read", role_name: "triage" }, "triage", true],
    [{ permission: "read", role_name: "triage" }, "write", false],
    [{ permission: "read", role_name: "read" }, "write", false],
    [{ permission: "admin", role_name: "admin" }, "admin", true],
    [{ permission: "write", role_name: "docs-team" }, "write", true],
    [{ permission: "read", role_name: "docs-team" }, "write", false],
    [{ permission: "write" }, "write", true],
    [{ permission: "none", role_name: "none" }, "read", false],
  ])("%j with required-permission: %s may: %s", async (permission, required, may) => {
    const github = new FakeGitHub();
    github.permission = permission;
    const { outputs, requests, hasPassed } = await runComment(github, {
      inputs: { "required-permission": required },
      respond,
    });
    expect(outputs["skip-reason"]).toBe(may ? "" : "not-permitted");
    expect(requests.length > 0).toBe(may);
    expect(hasPassed).toBe(true);
    if (!may) expect(github.comments).toEqual([]);
  });

  test.each([
    [{}],
    [null],
    ["write"],
    [{ permission: 7 }],
    [{ role_name: "docs-team" }],
    [{ permission: "superuser" }],
  ])("the answer %j names none: the step fails, and nothing is started", async (permission) => {
    const github = new FakeGitHub();
    github.permission = permission;
    const { outputs, requests, hasPassed, toolkit } = await runComment(github, { respond });
    expect(outputs.outcome).toBe("error");
    expect(hasPassed).toBe(false);
    expect(requests).toEqual([]);
    expect(github.comments).toEqual([]);
    expect(toolkit.annotations[0]?.text).toContain("nothing was started");
  });

  test("a permission that cannot be read: the step fails, and nothing is started", async () => {
    const github = new FakeGitHub();
    github.fault = () => {
      throw new Error("Server Error");
    };
    const { outputs, requests, toolkit } = await runComment(github, { respond });
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
    expect(toolkit.annotations[0]?.text).toMatch(/cannot be read \(Server Error\), so nothing was started/);
  });

  test("it is the commenter's permission that is asked for", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond });
    expect(github.calls[0]?.parameters).toEqual({ owner: "acme", repo: "docs", username: "writer" });
  });

  test("cancelled while it is read: nothing is started", async () => {
    const github = new FakeGitHub();
    const { outputs, requests } = await runComment(github, {
      respond,
      cancelAt: 1000,
      onClock: (clock) => {
        github.fault = ({ limits }) => {
          clock.advance(5000, limits.signal);
          if (limits.signal.aborted) throw new Error("aborted");
        };
      },
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(requests).toEqual([]);
    expect(github.calls).toHaveLength(1);
  });

  test("author_association is no permission", async () => {
    const github = new FakeGitHub();
    github.permission = { permission: "read", role_name: "read" };
    expect((await runComment(github, { respond })).outputs["skip-reason"]).toBe("not-permitted");
  });

  test.each([
    [{ login: "helper", type: "Bot" }, ""],
    [{ login: "x[bot]", type: "User" }, ""],
    [{ login: "x[bot]", type: "Bot" }, "y[bot], x"],
  ])("the bot %j with allowed-bots: %j is skipped", async (author, allowed) => {
    const github = new FakeGitHub();
    const { outputs, requests } = await runComment(github, { author, inputs: { "allowed-bots": allowed }, respond });
    expect(outputs["skip-reason"]).toBe("bot");
    expect(requests).toEqual([]);
    expect(github.calls).toEqual([]);
  });

  test("a bot that is listed may, in any case of its login", async () => {
    const author = { login: "Renovate[bot]", type: "Bot" };
    const run = await runComment(new FakeGitHub(), {
      author,
      inputs: { "allowed-bots": "x[bot], renovate[BOT]" },
      respond,
    });
    expect(run.outputs.outcome).toBe("pr-created");
  });

  test("a payload that is none: the step fails, and nothing is started", async () => {
    const { outputs, requests } = await runComment(new FakeGitHub(), { payload: { issue: null }, respond });
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
  });
});

describe("prompt", () => {
  const sent = async (options: Parameters<typeof runComment>[1]): Promise<unknown> => {
    const { requests } = await runComment(new FakeGitHub(), { respond, ...options });
    return Object.entries(requests[0]?.body ?? {}).find(([name]) => name === "prompt")?.[1];
  };

  test("without a template: the instruction, and where it was given", async () => {
    expect(await sent({})).toBe(
      'fix it\n\n---\nAsked for in issue #12, "Links are broken"\nhttps://github.com/acme/docs/issues/12',
    );
    expect(await sent({ review: { path: "a.md", line: null, original_line: 7 } })).toMatch(
      /^fix it\n\n---\nAsked for in pull request #12, .*\nFile: a\.md, line 7$/s,
    );
  });

  test("a template, filled in", async () => {
    const prompt =
      "{{instruction}} | {{ author }} | {{  title }} | {{ body }} | {{ number }} | {{ url }} | {{ path }}:{{ line }}";
    expect(await sent({ inputs: { prompt } })).toBe(
      "fix it | writer | Links are broken | See the start page. | 12 | https://github.com/acme/docs/issues/12 | :",
    );
    expect(
      await sent({ inputs: { prompt: "{{ path }}:{{ line }}" }, review: { path: "a.md", line: 3, original_line: 2 } }),
    ).toBe("a.md:3");
    expect(await sent({ inputs: { prompt: "{{ path }}:{{ line }}" }, review: { path: "a.md", line: null } })).toBe(
      "a.md:",
    );
  });

  test("in a pull request, it says so", async () => {
    const subject = {
      number: 12,
      title: "{{ body }}",
      body: "secret",
      html_url: "https://github.com/acme/docs/pull/12",
    };
    const prompt = await sent({ payload: { issue: { ...subject, pull_request: {} } } });
    expect(prompt).toContain('Asked for in pull request #12, "{{ body }}"');
  });

  test("what is filled in is never read again", async () => {
    const text = "/agent say {{ body }} and $& and $1";
    expect(await sent({ text, inputs: { prompt: "{{ instruction }}!" } })).toBe("say {{ body }} and $& and $1!");
  });

  test("one that is empty once filled in starts nothing", async () => {
    const { outputs, requests } = await runComment(new FakeGitHub(), { inputs: { prompt: "{{ path }}" }, respond });
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
  });
});
