import { describe, expect, test } from "vitest";
import type { PromptFile } from "../../../../src/action/inputs/prompt-file.ts";
import { type InputName, type InputsResult, inputDefaults, parseInputs } from "../../../../src/action/inputs/schema.ts";
import { plain, say } from "../../../../src/runner-kit/text.ts";

const valid = { prompt: "Do it", "project-id": "docs", "api-key": "mint_key_0123456789" };

function parse(
  values: Partial<Record<InputName, string>>,
  readPromptFile: (path: string) => PromptFile = () => ({ problem: say`is not expected to be read` }),
  eventName = "push",
): InputsResult {
  const all: Partial<Record<InputName, string>> = { ...valid, ...values };
  const token = { ACTIONS_ID_TOKEN_REQUEST_URL: "https://token.example", ACTIONS_ID_TOKEN_REQUEST_TOKEN: "t" };
  return parseInputs((name) => all[name] ?? "", { GITHUB_EVENT_NAME: eventName, ...token }, readPromptFile);
}

function parsed(values: Partial<Record<InputName, string>>) {
  const result = parse(values);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  if (result.mode.kind !== "plain") throw new Error("comment mode is not expected");
  return { ...result.settings, summary: result.summary, task: result.mode.task };
}

/** Returns the names of the inputs that are rejected. */
function invalidInputs(values: Partial<Record<InputName, string>>): string[] {
  const result = parse(values);
  return result.ok ? [] : result.problems.map(({ input }) => input);
}

test("uses the default of an input that is missing, empty or blank", () => {
  for (const empty of ["", "  ", "\n"]) {
    const blank = Object.fromEntries(Object.keys(inputDefaults).map((name) => [name, empty]));
    expect(parsed({ ...blank, ...valid })).toEqual({
      task: { kind: "create", prompt: "Do it" },
      projectId: "docs",
      auth: "key",
      apiKey: "mint_key_0123456789",
      baseUrl: new URL("https://api.mintlify.com"),
      wait: true,
      timeoutMs: 3_600_000,
      intervals: { minMs: 5000, maxMs: 15_000 },
      failOn: new Set(["failed", "timed-out"]),
      summary: true,
      onRerun: "resume",
      onCancel: "stop",
      base: "",
      dryRun: false,
      session: "",
      changes: undefined,
      githubToken: "",
      workflowToken: "",
      matrixLeg: "",
    });
  }
});

describe("the task", () => {
  test("is a create for a prompt, a message for a prompt with a job-id, and a wait for only a job-id", () => {
    expect(parsed({}).task).toEqual({ kind: "create", prompt: "Do it" });
    expect(parsed({ "job-id": " job_1 " }).task).toEqual({ kind: "message", jobId: "job_1", prompt: "Do it" });
    expect(parsed({ "job-id": "job_1", prompt: " " }).task).toEqual({ kind: "attach", jobId: "job_1" });
  });

  test("takes the prompt from a prompt file", () => {
    const readPromptFile = (path: string) => ({ text: `from ${path}\n` });
    const task = (jobId: string) => {
      const result = parse({ prompt: "", "prompt-file": "docs/prompt.md", "job-id": jobId }, readPromptFile);
      return result.ok && result.mode.kind === "plain" ? result.mode.task : undefined;
    };
    expect(task("")).toEqual({ kind: "create", prompt: "from docs/prompt.md\n" });
    expect(task("job_1")).toEqual({ kind: "message", jobId: "job_1", prompt: "from docs/prompt.md\n" });
  });

  test("keeps the prompt as written", () => {
    expect(parsed({ prompt: " a\n\n b \n" }).task).toEqual({ kind: "create", prompt: " a\n\n b \n" });
  });
});

test("reports all problems at once", () => {
  expect(
    invalidInputs({
      prompt: "",
      "job-id": "..",
      "project-id": "",
      "api-key": "",
      "base-url": "nowhere",
      wait: "yes",
      "timeout-minutes": "0",
      "poll-interval-seconds": "-1",
      "max-poll-interval-seconds": "1e3",
      "fail-on": "everything",
      summary: "1",
      "required-permission": "owner",
      "allowed-bots": "*",
      reply: "no",
      "on-rerun": "again",
      "on-cancel": "maybe",
      base: "../x",
      "dry-run": "perhaps",
      session: "x".repeat(101),
      changes: "all",
      "changes-since": "0h",
      paths: "!docs/**",
      auth: "oidc",
      "agent-options": "--model large",
      setup: "npm ci",
      check: "npm test",
    }).sort(),
  ).toEqual(
    Object.keys(inputDefaults)
      .filter((name) => !["prompt", "prompt-file", "agent", "trigger-phrase", "trigger-label"].includes(name))
      .filter((name) => !["workflow-token", "matrix-leg"].includes(name))
      .sort(),
  );
  expect(invalidInputs({ "prompt-file": "x", wait: "no", "poll-interval-seconds": "20" })).toEqual([
    "wait",
    "prompt-file",
    "max-poll-interval-seconds",
  ]);
  expect(invalidInputs({ prompt: "", "api-key": "" })).toEqual(["api-key", "prompt"]);
});

test("says how to fix each problem, without the key", () => {
  const result = parse({ "api-key": "mint_secret\nkey", "timeout-minutes": "soon" });
  expect(result).toMatchObject({ ok: false });
  const text = JSON.stringify(result);
  expect(text).not.toContain("mint_secret");
  expect(text).toContain("Paste the key into the secret again");
  expect(text).toContain("must be a decimal number greater than 0");
});

test("returns whether to write a summary even if other inputs are invalid", () => {
  expect(parse({ wait: "x", summary: "false" })).toMatchObject({ ok: false, summary: false });
  expect(parse({ wait: "x", summary: "x" })).toMatchObject({ ok: false, summary: true });
});

test.each([
  ["true", true],
  ["True", true],
  ["TRUE", true],
  ["false", false],
  ["False", false],
  ["FALSE", false],
])("accepts the boolean %s", (value, expected) => {
  expect(parsed({ wait: value, summary: value })).toMatchObject({ wait: expected, summary: expected });
});

test.each(["yes", "tRUE", "1", "toString", "on"])("rejects the boolean %s", (value) => {
  expect(invalidInputs({ wait: value })).toEqual(["wait"]);
});

test.each([
  ["0.5", 30_000],
  ["90", 5_400_000],
  [" 1.25 ", 75_000],
])("accepts timeout-minutes: %s", (value, ms) => {
  expect(parsed({ "timeout-minutes": value }).timeoutMs).toBe(ms);
});

test.each(["0", "0.0", "-1", "+1", "1e3", "0x10", "Infinity", "NaN", "1,5", ".5", "5.", "five", "9".repeat(400)])(
  "rejects timeout-minutes: %s",
  (value) => {
    expect(invalidInputs({ "timeout-minutes": value })).toEqual(["timeout-minutes"]);
  },
);

test("accepts equal poll intervals, but not a maximum below the minimum", () => {
  expect(parsed({ "poll-interval-seconds": "20", "max-poll-interval-seconds": "20" }).intervals).toEqual({
    minMs: 20_000,
    maxMs: 20_000,
  });
  expect(invalidInputs({ "poll-interval-seconds": "20", "max-poll-interval-seconds": "19.9" })).toEqual([
    "max-poll-interval-seconds",
  ]);
  expect(invalidInputs({ "poll-interval-seconds": "20" })).toEqual(["max-poll-interval-seconds"]);
});

test.each([
  ["https://example.com", "https://example.com/"],
  ["https://example.com/api/", "https://example.com/api/"],
  ["https://example.com:8443/a%20b", "https://example.com:8443/a%20b"],
  ["http://localhost:8080", "http://localhost:8080/"],
  ["http://127.0.0.1", "http://127.0.0.1/"],
  ["http://127.255.1.2:9/x", "http://127.255.1.2:9/x"],
  ["http://[::1]:8080", "http://[::1]:8080/"],
])("accepts base-url: %s", (value, href) => {
  expect(parsed({ "base-url": value }).baseUrl.href).toBe(href);
});

test.each([
  "http://example.com",
  "http://localhost.example.com",
  "http://128.0.0.1",
  "http://127.0.0.1.example.com",
  "http://[::2]",
  "http://10.0.0.1",
  "http://notlocalhost",
  "ftp://localhost",
  "ftp://example.com",
  "file:///etc/passwd",
  "example.com",
  "/v2",
  "https://user@example.com",
  "https://:@example.com",
  "https://user:secret@example.com",
  "https://example.com/?x=1",
  "https://example.com/?",
  "https://example.com/#",
  "https://example.com/#top",
])("rejects base-url: %s", (value) => {
  expect(invalidInputs({ "base-url": value })).toEqual(["base-url"]);
});

test.each([".", "..", "a\nb", "a\u0000b", "a\u001b[31mb", "a\u0085b"])("rejects the id %j", (value) => {
  expect(invalidInputs({ "job-id": value, "project-id": value })).toEqual(["job-id", "project-id"]);
});

test.each(["a b", "a\nb", "mint_ключ", "mint_dsc_0123456789", "mint_us_0123456789", "a\u0000b"])(
  "rejects the key %j without showing it",
  (value) => {
    expect(invalidInputs({ "api-key": value })).toEqual(["api-key"]);
    expect(JSON.stringify(parse({ "api-key": value }))).not.toContain(JSON.stringify(value).slice(1, -1));
  },
);

test("says when secrets are empty if the key is empty", () => {
  const result = parse({ "api-key": "" });
  const problem = result.ok ? [] : (result.problems[0]?.problem ?? []);
  expect(plain(problem)).toMatch(/forks.*Dependabot/);
});

test.each([
  ["failed", ["failed"]],
  ["failed,archived , timed-out,no-changes", ["failed", "archived", "timed-out", "no-changes"]],
  ["none", []],
  ["check-failed", ["check-failed"]],
])("accepts fail-on: %s", (value, expected) => {
  expect([...parsed({ "fail-on": value }).failOn]).toEqual(expected);
});

test.each([
  "none, failed",
  "failed;archived",
  "error",
  "cancelled",
  "pr-created",
  "started",
  "skipped",
  "Failed",
  "failed,,archived",
])("rejects fail-on: %s", (value) => {
  expect(invalidInputs({ "fail-on": value })).toEqual(["fail-on"]);
});

describe("trigger-phrase without a prompt", () => {
  test.each([
    ["schedule", "not to schedule events"],
    ["workflow_dispatch", "not to workflow_dispatch events"],
    ["", "not to other events"],
  ])("is rejected on the event %j, which the message names", (eventName, text) => {
    const result = parse({ prompt: "", "trigger-phrase": "/agent" }, undefined, eventName);
    const [problem] = result.ok ? [] : result.problems;
    expect(problem?.input).toBe("prompt");
    expect(plain(problem?.problem ?? [])).toContain(
      `trigger-phrase only applies to comments, issues and pull requests, ${text}.`,
    );
  });
});

/** The kinds of thing that ask by an event; a label can only be set on some. */
test.each([
  ["issue_comment", { phrase: true, label: false }],
  ["pull_request_review_comment", { phrase: true, label: false }],
  ["pull_request_review", { phrase: true, label: false }],
  ["issues", { phrase: true, label: true }],
  ["pull_request", { phrase: true, label: true }],
  ["pull_request_target", { phrase: true, label: true }],
  ["push", { phrase: false, label: false }],
])("on %s, a trigger turns comment mode on: %j", (eventName, expected) => {
  const isOn = (trigger: "trigger-phrase" | "trigger-label"): boolean => {
    const result = parse({ prompt: "", [trigger]: "agent", "github-token": "token" }, undefined, eventName);
    return result.ok && result.mode.kind === "comment";
  };
  expect({ phrase: isOn("trigger-phrase"), label: isOn("trigger-label") }).toEqual(expected);
});

describe("github-token", () => {
  const invalid = ["", "to ken", "to\nken", "tökén"];

  test.each(invalid)("is not checked outside comment mode: %j", (value) => {
    expect(parse({ "github-token": value })).toMatchObject({ ok: true });
    expect(parse({ "github-token": value }, undefined, "issue_comment")).toMatchObject({ ok: true });
    expect(parse({ "github-token": value, "trigger-phrase": "/agent" }, undefined, "push")).toMatchObject({ ok: true });
  });

  test.each(invalid)("is rejected in comment mode, without showing it: %j", (value) => {
    const inputs = { "github-token": value, "trigger-phrase": "/agent", prompt: "" };
    const result = parse(inputs, undefined, "issue_comment");
    expect(result).toMatchObject({ ok: false, problems: [{ input: "github-token" }] });
    if (value) expect(JSON.stringify(result)).not.toContain(JSON.stringify(value).slice(1, -1));
  });
});

test.each([
  ["by itself", ""],
  ["beside a prompt", "Do it"],
])("a prompt file that cannot be used is rejected %s", (_name, prompt) => {
  const result = parse({ prompt, "prompt-file": "missing.md" }, () => ({ problem: say`does not exist` }));
  expect(result.ok).toBe(false);
});

test("setup and check belong to an agent, and are one line", () => {
  const environment = { GITHUB_EVENT_NAME: "push", GITHUB_REPOSITORY: "acme/docs", RUNNER_OS: "Linux", PATH: "" };
  const parseWith = (values: Partial<Record<InputName, string>>) => {
    const all: Partial<Record<InputName, string>> = { prompt: "Do it", "github-token": "ghs_1", ...values };
    return parseInputs(
      (name) => all[name] ?? "",
      environment,
      () => ({ problem: say`is not read` }),
    );
  };
  const result = parseWith({ agent: "editor", setup: "pip install --target .deps mkdocs", check: "npm run build" });
  expect(result.ok && result.settings.agent?.options).toMatchObject([
    { name: "setup", value: "pip install --target .deps mkdocs" },
    { name: "check", value: "npm run build" },
  ]);
  expect(invalidInputs({ setup: "npm ci", check: "a\nb" })).toEqual(["check", "setup", "check"]);
});
