import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseTrigger } from "../../../../src/action/comments/trigger.ts";
import { type CommentOptions, runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import { hostileText } from "../../../support/hostile-text.ts";
import { prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const respond = () => respondWith(201, record({ status: "completed", prLink }));

describe("the trigger phrase", () => {
  test.each([
    ["/agent fix it", "fix it"],
    ["  \n\t/agent fix it", "fix it"],
    ["/AGENT fix it", "fix it"],
    ["/agent\nfix it\n\nand that\n", "fix it\n\nand that"],
    ["/agent newer links", "newer links"],
  ])("is followed by the instruction: %j", async (text, instruction) => {
    const { requests, outputs } = await runComment(new FakeGitHub(), {
      text,
      inputs: { prompt: "{{ instruction }}" },
      respond,
    });
    expect(requests[0]?.body).toEqual({ prompt: instruction });
    expect(outputs).toMatchObject({ outcome: "pr-created", "skip-reason": "" });
  });

  test("is matched literally", async () => {
    const skipReason = async (phrase: string, text: string) =>
      (await runComment(new FakeGitHub(), { text, inputs: { "trigger-phrase": phrase }, respond })).outputs[
        "skip-reason"
      ];
    expect(await skipReason("/a.ent", "/agent fix it")).toBe("no-trigger");
    expect(await skipReason("(docs)", "(DOCS) fix it")).toBe("");
    expect(await skipReason("@docs-bot", "@docs-bot fix it")).toBe("");
  });

  test("is ignored on other events, and the prompt is sent as written", async () => {
    const prompt = "Explain {{ nothing }} to {{ author }}";
    const { requests } = await runMain({
      inputs: { "trigger-phrase": "/agent", prompt },
      environment: { GITHUB_EVENT_NAME: "schedule" },
      respond,
    });
    expect(requests[0]?.body).toEqual({ prompt });
  });

  test("enables comment mode: without it, a comment event is like any other", async () => {
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, { inputs: { "trigger-phrase": "", prompt: "Do it" }, respond });
    expect(outputs.outcome).toBe("pr-created");
    expect(github.calls).toEqual([]);
  });
});

describe("a comment is skipped", () => {
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
  ])("if its text is %j: %s", async (text, reason) => {
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
  ])("if it was %s: %s", async (action, reason) => {
    const { outputs, requests } = await runComment(new FakeGitHub(), { action, respond });
    expect(outputs["skip-reason"]).toBe(reason);
    expect(requests).toEqual([]);
  });

  test("with the first reason that applies: action, phrase, instruction, bot, permission", async () => {
    const skipReason = async (options: CommentOptions) => {
      const github = new FakeGitHub();
      github.permission = { permission: "none" };
      return (await runComment(github, { respond, ...options })).outputs["skip-reason"];
    };
    const author = { login: "x[bot]", type: "Bot" };
    expect(await skipReason({ action: "edited", text: "hello", author })).toBe("edited");
    expect(await skipReason({ text: "hello", author })).toBe("no-trigger");
    expect(await skipReason({ text: "/agent", author })).toBe("no-instruction");
    expect(await skipReason({ author })).toBe("bot");
    expect(await skipReason({})).toBe("not-permitted");
  });
});

test("reports invalid inputs even if the comment would be skipped", async () => {
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

describe("the payload of the event", () => {
  test.each<[string, CommentOptions, RegExp]>([
    [
      "is not the event's",
      { payload: { issue: null } },
      /the payload of issue_comment lacks, or has a wrong type for: issue$/,
    ],
    ["is missing", { environment: { GITHUB_EVENT_PATH: "/missing/event.json" } }, /ENOENT.*\/missing\/event\.json/],
    ["is not JSON", { environment: { GITHUB_EVENT_PATH: import.meta.filename } }, /SyntaxError/],
  ])("%s: starts nothing and prints the reason as debug output", async (_name, options, reason) => {
    const github = new FakeGitHub();
    const { outputs, requests, toolkit } = await runComment(github, { respond, ...options });
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
    expect(github.calls).toEqual([]);
    expect(toolkit.annotations).toMatchObject([{ level: "error", title: "Cannot read the event" }]);
    const debug = toolkit.events.filter((event) => event.startsWith("debug "));
    expect(debug[0]).toMatch(reason);
    for (const line of debug) expect(line).not.toContain("\\u{a}");
  });
});

const subject = { kind: "issue", number: 1, title: "T", body: "", url: "u" } as const;

test("only a comment that begins with the phrase has an instruction, for any text", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const event = { action: "created", triggerKind: "comment", text, subject } as const;
      const trigger = parseTrigger(event, { phrase: "/agent", label: "" });
      const begins = text.trimStart().toLowerCase().startsWith("/agent");
      if ("instruction" in trigger) expect(begins).toBe(true);
      else if (!begins) expect(trigger).toEqual({ skip: "no-trigger" });
    }),
  );
});
