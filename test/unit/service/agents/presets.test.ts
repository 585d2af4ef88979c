import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { presetAgent, presetNames } from "../../../../src/service/agents/presets.ts";

const environment = { ANTHROPIC_API_KEY: "a", CODEX_API_KEY: "c", GEMINI_API_KEY: "g" };

function agentOf(name: string) {
  const agent = presetAgent(name, environment);
  if (agent === undefined) throw new Error(`no preset ${name}`);
  return agent;
}

/** Returns what the agent printed when it was run with the scripted model, except for the paths. */
const recorded = (name: string) => readFileSync(join(import.meta.dirname, "output", `${name}.txt`), "utf8");

/** Returns the script of an agent for a turn. */
function script(name: string, isFollowUp: boolean, isSandboxed: boolean): string {
  return agentOf(name).command({ isFollowUp, isSandboxed }).args[1] ?? "";
}

describe.each(presetNames)("%s", (name) => {
  test("reports its final message", () => {
    const { readReport } = agentOf(name);
    expect(readReport(recorded(`${name}-cannot`))).toEqual({ message: "I cannot do this.", error: undefined });
    const message = name === "aider" ? /^Here:\n\nnote.md\n/ : /^Done\. Final @words of #1 the agent\.$/;
    expect(readReport(recorded(`${name}-change`))).toEqual({
      message: expect.stringMatching(message),
      error: undefined,
    });
  });

  test("reports an error of its model, whatever its exit code is", () => {
    const { error } = agentOf(name).readReport(recorded(`${name}-failure`));
    expect(error).toContain("scripted failure");
  });

  test("has failed if its output ends before its result", () => {
    const { readReport } = agentOf(name);
    const lines = recorded(`${name}-change`).split("\n");
    for (const output of ["", lines[0] ?? "", '{"type":', "null\n[]\n{}\n"])
      expect(readReport(output)).toEqual({ message: undefined, error: "it ended without a result" });
  });

  test("reads a result whose beginning is cut off", () => {
    const output = recorded(`${name}-cannot`);
    const cut = output.indexOf("\n") - 5;
    expect(agentOf(name).readReport(output.slice(cut)).message).toBe("I cannot do this.");
  });

  test("gets a line before the prompt, so that no prompt starts with a command of its own", () => {
    expect(agentOf(name).promptPrefix).toMatch(/^\w.*\n\n$/);
  });

  test("gets no word of a model's name as part of the script", () => {
    const agent = presetAgent(name, environment, "$(touch x)");
    expect(agent?.model).toBe("$(touch x)");
    const { file, args } = agent?.command({ isFollowUp: false, isSandboxed: true }) ?? { file: "", args: [] };
    expect(file).toBe("/bin/sh");
    expect(args).toEqual(["-c", script(name, false, true), name, "--model", "$(touch x)"]);
  });
});

test("continues the conversation in a follow-up only", () => {
  const added = presetNames.map((name) => {
    const first = script(name, false, true).split(" ");
    return [
      name,
      script(name, true, true)
        .split(" ")
        .filter((word) => !first.includes(word))
        .join(" "),
    ];
  });
  // aider restores its chat in every turn: it is empty in the first one.
  expect(Object.fromEntries(added)).toEqual({
    claude: "--continue",
    codex: "resume --last",
    gemini: "--resume latest",
    opencode: "--continue",
    aider: "",
  });
});

test("keeps the restrictions of agents outside a sandbox, and lifts them in one", () => {
  const restrictions = presetNames.map((name) => {
    const inside = script(name, false, true).split(" ");
    return [
      name,
      script(name, false, false)
        .split(" ")
        .filter((word) => !inside.includes(word))
        .join(" "),
    ];
  });
  expect(Object.fromEntries(restrictions)).toEqual({
    claude: "--permission-mode acceptEdits",
    codex: "--sandbox workspace-write",
    gemini: "auto_edit",
    opencode: "",
    aider: "",
  });
});

test("uses the first model whose key is set, and passes only that key and its base URL", () => {
  const agent = presetAgent("opencode", { OPENAI_API_KEY: "o", OPENAI_BASE_URL: "http://127.0.0.1:8080/v1" });
  expect(agent).toMatchObject({
    passes: ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
    modelEndpoint: { url: "http://127.0.0.1:8080/v1", keyVariable: "OPENAI_API_KEY" },
  });
  expect(agent?.modelEndpoint?.header("o")).toEqual(["authorization", "Bearer o"]);
  expect(presetAgent("opencode", { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o" })).toMatchObject({
    passes: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
    modelEndpoint: { url: "https://api.anthropic.com/v1", keyVariable: "ANTHROPIC_API_KEY" },
  });
});

test.each(presetNames)(
  "%s reaches no host directly, so that it can use no other key than that of the service",
  (name) => {
    expect(agentOf(name).hosts).toEqual([]);
  },
);

test("rejects a base URL that is none", () => {
  const wrong = { ...environment, ANTHROPIC_BASE_URL: "localhost" };
  expect(() => presetAgent("claude", wrong)).toThrow("ANTHROPIC_BASE_URL must be a URL.");
});

test.each([
  ["claude", "ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN"],
  ["codex", "CODEX_API_KEY"],
  ["gemini", "GEMINI_API_KEY"],
  ["opencode", "ANTHROPIC_API_KEY or OPENAI_API_KEY"],
  ["aider", "ANTHROPIC_API_KEY or OPENAI_API_KEY"],
])("rejects %s without its key", (name, keys) => {
  expect(() => presetAgent(name, { [keys.split(" ")[0] ?? ""]: "" })).toThrow(
    `--agent ${name} requires ${keys} in the environment.`,
  );
});

test("reports a failure of aider only if it was not retried with success", () => {
  const { readReport } = agentOf("aider");
  const retried =
    "litellm.RateLimitError: slow down\nRetrying in 0.2 seconds...\nRepo-map: x\n\nYes.\n\nTokens: 1 sent, 1 received.\n";
  expect(readReport(retried)).toEqual({ message: "Yes.", error: undefined });
  expect(readReport(`${retried}litellm.APIError: gone\n`).error).toBe("litellm.APIError: gone");
});
