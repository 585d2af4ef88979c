import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type InputName, parseInputs } from "../../../../src/action/inputs/schema.ts";
import { plain, say } from "../../../../src/runner-kit/text.ts";
import { temporaryFolder } from "../../../support/step.ts";

const environment = {
  GITHUB_EVENT_NAME: "schedule",
  GITHUB_REPOSITORY: "acme/docs",
  RUNNER_OS: "Linux",
  PATH: "/usr/bin:/bin",
  ANTHROPIC_API_KEY: "sk-ant-0123456789",
};

function parse(values: Partial<Record<InputName, string>>, more: NodeJS.ProcessEnv = {}) {
  const given: Partial<Record<InputName, string>> = {
    agent: "claude",
    prompt: "Do it",
    "github-token": "ghs_0123456789",
    "workflow-token": "ghs_0123456789",
    ...values,
  };
  const readFile = () => ({ problem: say`is not expected to be read` });
  return parseInputs((name) => given[name] ?? "", { ...environment, ...more }, readFile);
}

/** Returns the problems as they are shown, without what follows the first sentence or colon. */
function problemsOf(values: Partial<Record<InputName, string>>, more: NodeJS.ProcessEnv = {}): string[] {
  const result = parse(values, more);
  return result.ok
    ? []
    : result.problems.map(({ input, problem }) => `${input} ${plain(problem)}`.replace(/(?<=[^-])[:,.] .*/s, ""));
}

function settingsOf(values: Partial<Record<InputName, string>>) {
  const result = parse(values);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.settings;
}

test("an agent needs no service: its address has no port, and its project is the repository's", () => {
  const { baseUrl, projectId, apiKey, agent } = settingsOf({ "timeout-minutes": "20" });
  expect([baseUrl.href, projectId]).toEqual(["http://127.0.0.1/", "acme-docs-claude"]);
  expect(apiKey).toMatch(/^agent_[0-9a-f]{48}$/);
  expect(settingsOf({}).apiKey).not.toBe(apiKey);
  expect(agent).toMatchObject({ agent: "claude", apiKey, projectId, repository: "acme/docs", minutes: 18 });
  expect(agent).toMatchObject({ install: true, remember: true, options: [] });
});

test("the project does not depend on a command's words, but on the agent's name", () => {
  const projectOf = (values: Partial<Record<InputName, string>>) => settingsOf(values).projectId;
  expect(projectOf({ agent: "cat >> notes.md" })).toBe("acme-docs-command");
  expect(projectOf({ agent: "cat > notes.md" })).toBe("acme-docs-command");
  expect(projectOf({ "agent-options": "--name api\n--model opus" })).toBe("acme-docs-api");
});

test("arguments of the agent stay one option, and lines with # say nothing", () => {
  const text = '# - quick\n--agent-args --effort high --append-system-prompt "Be brief"\n';
  const { agent } = settingsOf({ "agent-options": text });
  const [option, ...others] = agent?.options ?? [];
  expect(option).toMatchObject({ name: "agent-args", value: '--effort high --append-system-prompt "Be brief"' });
  expect([others, agent?.agentVersion]).toEqual([[], undefined]);
  expect(settingsOf({ "agent-options": "--agent-version 2.1.330" }).agent?.agentVersion).toBe("2.1.330");
  expect(problemsOf({ "agent-options": "--agent-version latest" })).toEqual([
    "agent-options must have --agent-version with a version",
  ]);
});

test.each([
  [{ CLAUDE_CODE_USE_BEDROCK: "1", AWS_ACCESS_KEY_ID: "AKID" }, []],
  [{ CLAUDE_CODE_USE_BEDROCK: "1" }, ["agent is claude"]],
  [{ CLAUDE_CODE_USE_VERTEX: "1", CLOUDSDK_AUTH_ACCESS_TOKEN: "t" }, []],
  [{ CLAUDE_CODE_USE_FOUNDRY: "yes", ANTHROPIC_FOUNDRY_AUTH_TOKEN: "t" }, []],
  [{ CLAUDE_CODE_USE_FOUNDRY: "0" }, ["agent is claude"]],
  [{ ANTHROPIC_AUTH_TOKEN: "t" }, []],
])("the key of claude's model is that of its cloud or gateway: %o", (variables, problems) => {
  expect(problemsOf({}, { ANTHROPIC_API_KEY: "", ...variables })).toEqual(problems);
});

test("a step of a few minutes leaves its agent half of the time", () => {
  expect(settingsOf({ "timeout-minutes": "3" }).agent?.minutes).toBe(1.5);
});

test("the options of the service are passed on, as on a command line", () => {
  const { agent } = settingsOf({
    "agent-options":
      "\n  --sandbox none\n--agent-network=full\n--time-limit-minutes  7\n--only 'docs/**'\n--commit-as \"Bot <b@example.com>\"\n--trailer='Refs: 1'\n--sign-off\n--remember False\n--install false",
  });
  expect(agent).toMatchObject({ remember: false, install: false });
  expect(agent?.options.map(({ name, value }) => `${name}: ${value}`)).toEqual([
    "sandbox: none",
    "agent-network: full",
    "time-limit-minutes: 7",
    "only: docs/**",
    "commit-as: Bot <b@example.com>",
    "trailer: Refs: 1",
    "sign-off: ",
  ]);
});

test.each([
  ["--base main"],
  ["--github-token ghs_0"],
  ["--port 80"],
  ["--agents 4"],
  ["--setup npm ci"],
  ["model opus"],
  ["use --model opus"],
  ["--model opus --disk-mb 500"],
])("an option of another kind is a problem: %s", (line) => {
  expect(problemsOf({ "agent-options": line })).toEqual([
    expect.stringMatching(/^agent-options must have one of --name/),
  ]);
});

test.each([
  ["--name a/b", "--name with letters, digits, dots, hyphens and underscores"],
  ["--name", "--name with letters, digits, dots, hyphens and underscores"],
  ["--remember yes", "--remember with true or false"],
  ["--install 1", "--install with true or false"],
])("%s is a value of another kind", (line, problem) => {
  const result = parse({ "agent-options": line });
  const texts = result.ok ? [] : result.problems.map(({ problem }) => plain(problem));
  expect(texts).toEqual([`must have ${problem}, not ${line}`]);
});

test.each(["remember false", "name api"])("a second line for a single value is a problem: %s", (option) => {
  const lines = `--${option}\n--agent-env A\n--agent-env B\n--${option}`;
  const name = option.split(" ")[0];
  expect(problemsOf({ "agent-options": lines })).toEqual([`agent-options must have --${name} only once`]);
});

describe("another repository", () => {
  const app = { "github-token": "ghs_of_the_app", "agent-options": "--repository Acme/Site" };

  test("is worked on with its own token, while the workflow's does the rest", () => {
    const settings = settingsOf({ ...app, base: "develop" });
    expect(settings).toMatchObject({ projectId: "acme.site-claude", githubToken: "ghs_0123456789", base: "develop" });
    expect(settings.agent).toMatchObject({
      repository: "Acme/Site",
      isOwnRepository: false,
      githubToken: "ghs_of_the_app",
      workflowToken: "ghs_0123456789",
    });
  });

  test("is none if it is the workflow's, in any case", () => {
    const named = settingsOf({ "agent-options": "--repository ACME/Docs" });
    const { apiKey: _, agent, ...others } = settingsOf({});
    expect(named).toMatchObject(others);
    expect(named.agent).toEqual({ ...agent, apiKey: named.apiKey });
  });

  test.each<[Partial<Record<InputName, string>>, string]>([
    [
      { "github-token": "ghs_0123456789" },
      "github-token is the workflow's own, which can write only to this repository.",
    ],
    [
      { "github-token": "" },
      "github-token is empty. Set it to one that can write to Acme/Site, such as a GitHub App's.",
    ],
    [{ "github-token": "a b" }, "github-token contains characters that no token has"],
    [
      { base: "pull-request" },
      "base is pull-request, a branch of this repository, but the agent works on Acme/Site: name",
    ],
  ])("needs a token and a branch of its own: %j", (values, problem) => {
    const result = parse({ ...app, ...values });
    const texts = result.ok ? [] : result.problems.map(({ input, problem }) => `${input} ${plain(problem)}`);
    expect(texts).toEqual([expect.stringContaining(problem)]);
  });

  test.each(["site", "acme/", "https://github.com/acme/site", "acme/site.git", "acme/site/docs", "acme/..", "-"])(
    "is OWNER/NAME, and not %s",
    (name) => {
      expect(problemsOf({ ...app, "agent-options": `--repository ${name}` })).toEqual([
        "agent-options must have --repository with OWNER/NAME",
      ]);
    },
  );
});

test.each<[Partial<Record<InputName, string>>, NodeJS.ProcessEnv, string]>([
  [{}, { ANTHROPIC_API_KEY: "" }, "agent is claude"],
  [{ agent: "claud" }, {}, "agent is claud"],
  [{}, { RUNNER_OS: "Windows" }, "agent does not run on Windows"],
  [{}, { RUNNER_OS: "macOS" }, "agent does not run on macOS"],
  [{ "base-url": "https://agents.example" }, {}, "base-url cannot be used together with agent"],
  [{ "project-id": "docs" }, {}, "project-id cannot be used together with agent"],
  [{ "api-key": "mint_0123456789" }, {}, "api-key cannot be used together with agent"],
  [{ wait: "false" }, {}, "wait cannot be used together with agent"],
  [{ "on-cancel": "keep" }, {}, "on-cancel cannot be used together with agent"],
  [{ "job-id": "job_1", prompt: "" }, {}, "job-id needs a prompt with agent"],
  [{ "github-token": "" }, {}, "github-token is empty"],
])("what cannot work is a problem of the inputs: %j %j", (values, more, problem) => {
  expect(problemsOf(values, more)).toEqual([problem]);
});

test("a key with a line break in it is named", () => {
  const result = parse({}, { ANTHROPIC_API_KEY: "sk-ant-\n0123" });
  expect(JSON.stringify(result)).toContain("ANTHROPIC_API_KEY");
  expect(JSON.stringify(result)).toMatch(/contains a line break.*Paste the key into the secret again/);
  expect(JSON.stringify(result)).not.toContain("0123");
  expect(parse({}, { ANTHROPIC_API_KEY: " sk-ant-0123\n" })).toMatchObject({ ok: true });
});

test.each([
  ["claude --model opus", "claude", "opus"],
  ["claude -m=opus -p", "claude", "opus"],
  ["claude@latest", "claude", "NAME"],
  ["codex exec", "codex", "NAME"],
  ["A=b  codex exec --model x", "codex", "x"],
  ["editor --fast", "editor", "NAME"],
])("a known agent with more words is a problem, and no command: %s", (agent, name, model) => {
  const result = parse({ agent, "agent-options": "" });
  const texts = result.ok ? [] : result.problems.map(({ input, problem }) => `${input} ${plain(problem)}`);
  expect(texts).toEqual([
    `agent is ${agent}, which would run as a command of your own. Set agent to ${name} alone, and its model by the line --model ${model} of agent-options. A command line of your own has to be in a script`,
  ]);
});

test.each(["/usr/bin/claude -p", "./codex exec", "cat > claude", "sh -c 'claude -p'"])(
  "another program may have any words: %s",
  (agent) => expect(problemsOf({ agent })).toEqual([]),
);

test("an auth that is not the agent's is a problem", () => {
  expect(problemsOf({ auth: "github-oidc" })).toContain("auth cannot be used together with agent");
});

test("all problems are reported at once", () => {
  const problems = problemsOf({
    agent: "claud",
    "base-url": "https://x.example",
    "agent-options": "--x y",
    wait: "no",
  });
  expect(problems.map((problem) => problem.split(" ")[0])).toEqual([
    "agent",
    "base-url",
    "wait",
    "agent-options",
    "wait",
  ]);
});

test.each(["claude", "my-agent --fix"])(
  "a comment in a fork's pull request, which gets no secrets, is skipped (%s)",
  (agent) => {
    const file = `${temporaryFolder()}/event.json`;
    writeFileSync(file, JSON.stringify({ pull_request: { head: { repo: { id: 2 } }, base: { repo: { id: 1 } } } }));
    const more = { GITHUB_EVENT_NAME: "pull_request_review_comment", GITHUB_EVENT_PATH: file, ANTHROPIC_API_KEY: "" };
    expect(parse({ agent, "trigger-phrase": "/agent" }, more)).toMatchObject({
      ok: false,
      skipped: { reason: "fork" },
    });
  },
);
