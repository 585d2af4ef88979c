import { describe, expect, test } from "vitest";
import { parseInputs } from "../../../../src/action/inputs/schema.ts";
import { plain, say } from "../../../../src/runner-kit/text.ts";

const valid = { prompt: "Do it", "project-id": "docs", "api-key": "mint_key_0123456789" };

/** Returns the problems of these inputs as lines, such as `wait must be true or false`. */
function problemsOf(values: Record<string, string>, eventName = "push", canRequestIdTokens = true): string[] {
  const all: Record<string, string> = { ...valid, ...values };
  const readPromptFile = (path: string) =>
    path === "prompt.md" ? { text: "Do it" } : { problem: say`is ${path}, which does not exist` };
  const environment = {
    GITHUB_EVENT_NAME: eventName,
    ...(canRequestIdTokens && {
      ACTIONS_ID_TOKEN_REQUEST_URL: "https://token.example",
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "t",
    }),
  };
  const result = parseInputs((name) => all[name] ?? "", environment, readPromptFile);
  return result.ok ? [] : result.problems.map(({ input, problem }) => `${input} ${plain(problem)}`);
}

describe("base-url", () => {
  test.each([
    "https://user@example.com",
    "https://:password@example.com",
    "https://user:password@example.com",
    "https://@example.com",
    "HTTPS://@example.com/x",
    "https:\\\\user@example.com",
    "https:\\\\:password@example.com",
  ])("must not contain credentials: %s", (baseUrl) => {
    expect(problemsOf({ "base-url": baseUrl })).toEqual([expect.stringMatching(/^base-url must not contain credent/)]);
  });

  test.each([
    "http://example.com",
    "http://notlocalhost",
    "http://localhost.example",
    "http://128.0.0.1",
    "http://x.127.0.0.1.example",
    "ftp://localhost",
    "ws://localhost",
  ])("must begin with https, except for loopback hosts: %s", (baseUrl) => {
    expect(problemsOf({ "base-url": baseUrl })).toEqual([expect.stringMatching(/^base-url must begin with https/)]);
  });

  test.each([
    "https://example.com/path/@x",
    "https://example.com/path//user@x",
    "http://localhost:1",
    "http://127.0.0.1",
    "http://127.1.2.3",
    "http://[::1]:8080/x",
  ])("may be %s", (baseUrl) => {
    expect(problemsOf({ "base-url": baseUrl })).toEqual([]);
  });
});

test("base needs a service that takes a branch", () => {
  const needsOwn = "base needs a service of your own (base-url): the hosted one takes no branch";
  expect(problemsOf({ base: "main" })).toEqual([needsOwn]);
  expect(problemsOf({ base: "main", "base-url": "https://agents.example.com" })).toEqual([]);
});

test.each<[input: string, value: string, quoted: boolean]>([
  ["wait", "maybe", true],
  ["timeout-minutes", "1h", true],
  ["fail-on", "errors", true],
  ["base-url", "http://example.com", true],
  ["base-url", "user:secret@example.com", false],
])("a wrong value is quoted, unless it may have credentials: %s: %s", (input, value, quoted) => {
  const [problem = ""] = problemsOf({ [input]: value });
  expect([problem.startsWith(input), problem.endsWith(`, not ${value}`)]).toEqual([true, quoted]);
});

describe("an empty project-id", () => {
  test("is in the dashboard of the default service", () => {
    expect(problemsOf({ "project-id": "" })).toEqual([
      expect.stringMatching(/^project-id is empty.*dashboard.*vars\.NAME.*define that variable/),
    ]);
  });

  test("is in another service", () => {
    const problems = problemsOf({ "project-id": "", "base-url": "https://agents.example.com" });
    expect(problems).toEqual([expect.stringMatching(/^project-id is empty.*identifier in the service.*vars\.NAME/)]);
  });
});

describe("the prompt", () => {
  test("and a prompt file cannot be used together", () => {
    expect(problemsOf({ "prompt-file": "prompt.md" })).toEqual(["prompt-file cannot be used together with prompt"]);
  });

  test("may come from a file, which must exist", () => {
    expect(problemsOf({ prompt: "", "prompt-file": "prompt.md" })).toEqual([]);
    expect(problemsOf({ prompt: "", "prompt-file": "other.md" })).toEqual([
      "prompt-file is other.md, which does not exist",
    ]);
  });

  test.each([
    ["schedule", "schedule events"],
    ["", "other events"],
  ])("is needed beside a trigger phrase for the event %j", (eventName, events) => {
    const problems = problemsOf({ prompt: "", "trigger-phrase": "/agent" }, eventName);
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^prompt is empty.*not to ${events}`))]);
  });
});

test.each([
  ["", ["failed", "timed-out"]],
  ["none", []],
  [",", undefined],
  ["failed,", undefined],
  ["failed, no-changes", ["failed", "no-changes"]],
])("fail-on: %j", (failOn, expected) => {
  const all: Record<string, string> = { ...valid, "fail-on": failOn };
  const result = parseInputs(
    (name) => all[name] ?? "",
    { GITHUB_EVENT_NAME: "push" },
    () => ({ text: "" }),
  );
  expect(result.ok ? [...result.settings.failOn] : undefined).toEqual(expected);
});

test.each(["ghs 1", "ghs_1\nx", "ghs_1é", "é1", " x y "])("a github-token never looks like %j", (token) => {
  const comment = { "trigger-phrase": "/agent", "github-token": token, prompt: "" };
  expect(problemsOf(comment, "issue_comment")).toEqual(["github-token contains characters that no token has"]);
});

describe("auth: github-oidc", () => {
  const oidc = { auth: "github-oidc", "api-key": "", "base-url": "https://agents.example" };

  test("needs no key", () => {
    expect(problemsOf(oidc)).toEqual([]);
  });

  test("cannot be used together with a key", () => {
    expect(problemsOf({ ...oidc, "api-key": valid["api-key"] })).toEqual([
      "api-key cannot be used together with auth: github-oidc, which takes its place. Remove one of them",
    ]);
  });

  test.each(["", "https://api.mintlify.com", "https://API.mintlify.com/docs"])(
    "never sends a token to the default base-url: %j",
    (baseUrl) => {
      expect(problemsOf({ ...oidc, "base-url": baseUrl })).toEqual([
        "base-url must be the address of a service that trusts this repository: with auth: github-oidc, a token is never sent to the default base-url",
      ]);
    },
  );

  test("needs a protected connection, like a key", () => {
    expect(problemsOf({ ...oidc, "base-url": "http://agents.example" })).toEqual([
      expect.stringMatching(/^base-url must begin with https:/),
    ]);
    expect(problemsOf({ ...oidc, "base-url": "http://127.0.0.1:4111" })).toEqual([]);
  });

  test("needs a permission, and says how to give it", () => {
    expect(problemsOf(oidc, "push", false)).toEqual([
      "auth is github-oidc, but this job may not request a token. Add to the job: permissions: { contents: read, id-token: write }. Permissions that are not named there are none, so name all others that the job needs, too. Runs for pull requests from forks get none: to skip these, give the job if: github.event.pull_request == null || github.event.pull_request.head.repo.full_name == github.repository",
    ]);
  });

  test("must be spelled like this", () => {
    expect(problemsOf({ ...oidc, auth: "GitHub-OIDC", "api-key": valid["api-key"] })).toEqual([
      "auth must be key or github-oidc, not GitHub-OIDC",
    ]);
  });
});

test("auth: key needs a key, whether or not the job could request a token", () => {
  for (const auth of ["", "key"]) {
    expect(problemsOf({ auth, "api-key": "" })).toEqual([expect.stringMatching(/^api-key is empty/)]);
    expect(problemsOf({ auth }, "push", false)).toEqual([]);
  }
});
