import { expect, test } from "vitest";
import { type InputName, parseInputs } from "../../../../src/action/inputs/schema.ts";
import { plain, say } from "../../../../src/runner-kit/text.ts";

type Inputs = Partial<Record<InputName, string>>;

const token = "ghs_0123456789";
const key = { ANTHROPIC_API_KEY: "sk-ant-0123456789" };
const bedrock = { CLAUDE_CODE_USE_BEDROCK: "1", AWS_REGION: "eu-west-1" };

/** Returns what is wrong with the inputs of a step; nothing if it can start. */
function problemsOf(inputs: Inputs, variables: NodeJS.ProcessEnv): string[] {
  const given: Inputs = { agent: "claude", prompt: "Do it", "github-token": token, "workflow-token": token, ...inputs };
  const environment = { GITHUB_REPOSITORY: "acme/docs", RUNNER_OS: "Linux", PATH: "/usr/bin:/bin", ...variables };
  const result = parseInputs(
    (name) => given[name] ?? "",
    environment,
    () => ({ problem: say`is not read` }),
  );
  return result.ok ? [] : result.problems.map(({ input, problem }) => `${input} ${plain(problem)}`);
}

// What somebody wrote, the words that name the cause and the next step, and what is left once that step is done.
test.each<
  [mistake: string, words: RegExp, written: Inputs, followed: Inputs, env?: NodeJS.ProcessEnv, set?: NodeJS.ProcessEnv]
>([
  [
    "a command line of a known agent",
    /Set agent to claude alone, and its model by the line --model opus of agent-options/,
    { agent: "claude --model opus" },
    { agent: "claude", "agent-options": "--model opus" },
  ],
  ["a version in the agent's name", /Set agent to claude alone/, { agent: "claude@latest" }, { agent: "claude" }],
  [
    "a subcommand of the agent",
    /Set agent to codex alone/,
    { agent: "codex exec" },
    { agent: "codex" },
    { CODEX_API_KEY: "sk-0123456789" },
  ],
  ["no key, as of a secret that is missing", /needs ANTHROPIC_API_KEY or .*Check the secret's name/, {}, {}, {}, key],
  [
    "the key under another name",
    /If that is what CLAUDE_KEY has, rename it, and remove its --agent-env/,
    { "agent-options": "--agent-env CLAUDE_KEY" },
    {},
    { CLAUDE_KEY: "sk-ant-0123456789" },
    key,
  ],
  [
    "a cloud without a key",
    /needs AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID/,
    {},
    {},
    bedrock,
    { ...bedrock, AWS_BEARER_TOKEN_BEDROCK: "bedrock-0123456789" },
  ],
  [
    "a key with a line break",
    /ANTHROPIC_API_KEY in the step's env/,
    {},
    {},
    { ANTHROPIC_API_KEY: "sk-ant-01\n23456789" },
    key,
  ],
  [
    "a value with its variable",
    /^agent-options /,
    { "agent-options": "- --model opus" },
    { "agent-options": "--model opus" },
  ],
])("%s: the message names what works", (_, words, written, followed, env = key, set = env) => {
  expect(problemsOf(written, env).join("\n")).toMatch(words);
  expect(problemsOf(followed, set)).toEqual([]);
});

test.each<[accepted: string, inputs: Inputs, env?: NodeJS.ProcessEnv]>([
  ["OpenAI's own name of the key, for codex", { agent: "codex" }, { OPENAI_API_KEY: "sk-0123456789" }],
  ["a model that is empty, as of a variable that is not set", { "agent-options": "--model " }],
  ["lines of comments", { "agent-options": "# The large one\n--model opus" }],
])("%s is no mistake", (_, inputs, env = key) => {
  expect(problemsOf(inputs, env)).toEqual([]);
});
