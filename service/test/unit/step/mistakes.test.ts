import { expect, test } from "vitest";
import { agentSettings, optionsIn } from "../../../../test/support/agent-settings.ts";
import { readSettings } from "../../../step/settings.ts";

const key = { GITHUB_REPOSITORY: "acme/docs", ANTHROPIC_API_KEY: "sk-ant-0123456789" };

const read = (options: Record<string, string>, variables: Record<string, string>) =>
  readSettings(agentSettings({ agent: "claude", options: optionsIn(options) }), variables);

// What somebody wrote, the words that name the cause and the next step, and that the step starts once that is done.
test.each<[string, RegExp, Record<string, string>, Record<string, string>, Record<string, string>?]>([
  [
    "a variable with its value",
    /must have the name DEPLOY alone: set its value in the environment/,
    { "agent-env": "DEPLOY=abc" },
    { "agent-env": "DEPLOY" },
    { DEPLOY: "abc" },
  ],
  [
    "a variable that is not set",
    /--agent-env DEPLOY requires this variable/,
    { "agent-env": "DEPLOY" },
    { "agent-env": "DEPLOY" },
    { DEPLOY: "abc" },
  ],
  [
    "a model on the runner itself",
    /--model-host localhost:11434 is this machine.*use its name in your network, or --agent-network full/,
    { "model-host": "localhost:11434" },
    { "agent-network": "full" },
  ],
  [
    "a limit of turns that the agent has by another option",
    /--agent-args must not have --max-budget-usd: write --max-cost-usd as an option of its own/,
    { "agent-args": "--max-budget-usd 5" },
    { "max-cost-usd": "5" },
  ],
  [
    "a branch that Git does not take",
    /--branch-prefix must be the beginning of a branch's name, such as docs\/agent-/,
    { "branch-prefix": "/docs/" },
    { "branch-prefix": "docs/agent-" },
  ],
  ...(
    [
      ["from the workspace", "./docs/**", /begins with \.\//],
      ["from the top", "/docs/**", /begins with \/|"\/docs/],
      ["of a list", "- docs/**", /begins with the dash of a list/],
      ["in quotes", '"docs/**"', /has quotation marks/],
      ["of another folder", "../docs/**", /has \.\. in it/],
      ["with a comment", "docs/** # all pages", /write that in a line of its own/],
      ["beside another one", "docs/**, src/**", /write one pattern in each line/],
      ["of Windows", "docs\\api\\**", /backslash/],
    ] as const
  ).map(([what, only, words]): [string, RegExp, Record<string, string>, Record<string, string>] => [
    `a pattern ${what}`,
    words,
    { only },
    { only: "docs/**" },
  ]),
])("%s: the message names what works", (_, words, written, followed, set = {}) => {
  expect(() => read(written, key)).toThrow(words);
  expect(() => read(followed, { ...key, ...set })).not.toThrow();
});
