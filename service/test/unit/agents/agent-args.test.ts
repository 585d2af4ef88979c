import { describe, expect, test } from "vitest";
import { splitWords } from "../../../src/agents/agent-args.ts";
import { presetAgent, presetNames } from "../../../src/agents/presets.ts";

const environment = {
  ANTHROPIC_API_KEY: "a",
  CODEX_API_KEY: "c",
  GEMINI_API_KEY: "g",
  COPILOT_GITHUB_TOKEN: "t",
};

/** Returns the words that follow the program's name. */
function argsOf(agent: string, agentArgs?: string, more: { model?: string; maxCostUsd?: number } = {}) {
  const { model, ...rest } = more;
  const found = presetAgent(agent, environment, model, { ...rest, agentArgs });
  return found?.command({ isFollowUp: false, isSandboxed: true }).args.slice(3);
}

test.each([
  ["--effort high", ["--effort", "high"]],
  ["  -c\ta=1\n-c b=2 ", ["-c", "a=1", "-c", "b=2"]],
  [`--x 'a "b" $HOME \\n' "it's \\"$(id)\\" \\n"`, ["--x", 'a "b" $HOME \\n', `it's "$(id)" \\n`]],
  [`a\\ b'c'"d"e ''`, ["a bcde", ""]],
  ['* ~ # ; | & > "`id`"', ["*", "~", "#", ";", "|", "&", ">", "`id`"]],
])("splits %s as a shell does, and expands nothing", (text, words) => {
  expect(splitWords(text)).toEqual(words);
});

test.each(["'a", '"a', 'a "b\\" c', "a \\"])("rejects %s, which is not closed", (text) => {
  expect(() => splitWords(text)).toThrow("--agent-args has a quotation mark that is not closed.");
});

test.each([
  ["claude", "--effort high --max-turns 40", ["--effort", "high", "--max-turns", "40"]],
  ["claude", "--allowedTools 'Bash(git *)' Edit --safe-mode", ["--allowedTools", "Bash(git *)", "Edit", "--safe-mode"]],
  ["claude", "--append-system-prompt='- Be brief'", ["--append-system-prompt=- Be brief"]],
  ["claude", "--mcp-config .mcp.json", ["--mcp-config", ".mcp.json"]],
  ["codex", "-c model_reasoning_effort=high", ["-c", "model_reasoning_effort=high"]],
  ["codex", "--enable x -c 'tui.a=\"b\"'", ["--enable", "x", "-c", 'tui.a="b"']],
])("%s gets %s as it is", (agent, args, words) => {
  expect(argsOf(agent, args)).toEqual(words);
  expect(argsOf(agent, args, { model: "large" })).toEqual(["--model", "large", ...words]);
});

describe.each([
  ["claude", "high", /must not have high: of claude, only --disable-slash-commands, .* and their values\.$/],
  ["claude", "--effort high please", /must not have please: of claude, only/],
  ["claude", "--safe-mode now", /must not have now/],
  ["claude", "--effort", "--agent-args must have --effort with a value."],
  ["claude", "--effort --safe-mode", "--agent-args must have --effort with a value."],
  ["claude", "--safe-mode=1", "--agent-args must have --safe-mode without a value."],
  ["claude", "--model x", "--agent-args must not have --model: write --model as an option of its own."],
  [
    "claude",
    "--max-budget-usd 5",
    "--agent-args must not have --max-budget-usd: write --max-cost-usd as an option of its own.",
  ],
  ["claude", "--dangerously-skip-permissions", "must not have --dangerously-skip-permissions: of claude, only"],
  ["claude", "--output-format text", "must not have --output-format"],
  ["claude", "--resume x", "must not have --resume"],
  ["claude", "-p", "must not have -p"],
  ["claude", "--constructor x", "must not have --constructor"],
  ["codex", "-m x", "--agent-args must not have -m: write --model as an option of its own."],
  ["codex", "--sandbox danger-full-access", "must not have --sandbox: of codex, only --strict-config, -c, --config,"],
  ["codex", "resume", "must not have resume"],
  ["codex", "-", "must not have -:"],
  ["codex", "-c openai_base_url=x", "--agent-args must not have -c openai_base_url=x, which the service sets."],
  ["codex", "-c model_providers.a.base_url=x", "which the service sets."],
  ["codex", "--config=model=x", "which the service sets."],
])("%s with %s", (agent, args, problem) => {
  test("is rejected", () => expect(() => argsOf(agent, args)).toThrow(problem));
});

test.each(presetNames.filter((name) => name !== "claude" && name !== "codex"))(
  "%s lets no arguments through, because nothing says what they do",
  (agent) => {
    expect(() => argsOf(agent, "--effort high")).toThrow(`--agent-args is for claude and codex, not for ${agent}`);
  },
);

test("only with a highest cost, its proxy refuses many requests at once: the agent's program counts only its own", () => {
  const endpointOf = (maxCostUsd?: number) =>
    presetAgent("claude", environment, undefined, { maxCostUsd })?.modelEndpoint;
  expect(endpointOf(5)?.maxOpenRequests).toBe(16);
  expect(endpointOf()?.maxOpenRequests).toBeUndefined();
});

test("only claude has a highest cost", () => {
  expect(argsOf("claude", "--effort low", { maxCostUsd: 2.5 })).toEqual(["--max-budget-usd", "2.5", "--effort", "low"]);
  for (const agent of presetNames.filter((name) => name !== "claude"))
    expect(() => argsOf(agent, undefined, { maxCostUsd: 1 })).toThrow(
      `--max-cost-usd is for claude: ${agent} has no such limit.`,
    );
});
