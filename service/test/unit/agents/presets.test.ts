import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { presetAgent, presetNames, presetPackage } from "../../../src/agents/presets.ts";
import { finalEventIn } from "../../support/final-event.ts";

const environment = { ANTHROPIC_API_KEY: "a", CODEX_API_KEY: "c", GEMINI_API_KEY: "g", COPILOT_GITHUB_TOKEN: "t" };

function agentOf(name: string) {
  const agent = presetAgent(name, environment);
  if (agent === undefined) throw new Error(`no preset ${name}`);
  const readReport = (stdout: string) => agent.readReport(stdout, undefined, finalEventIn(agent, stdout));
  return { ...agent, readReport };
}

/** Returns the agent's output with the scripted model, without the paths. */
const recorded = (name: string) => readFileSync(join(import.meta.dirname, "output", `${name}.txt`), "utf8");

/** Returns the script of an agent for a turn. */
function script(name: string, isFollowUp: boolean, isSandboxed: boolean): string {
  return agentOf(name).command({ isFollowUp, isSandboxed }).args[1] ?? "";
}

/** Runs an agent's command with another program in place of the agent's, a shell script. Returns its output. */
function run(name: string, program: string, model?: string): string {
  const agent = presetAgent(name, environment, model);
  const { file, args } = agent?.command({ isFollowUp: false, isSandboxed: true }) ?? { file: "", args: [] };
  const folder = temporaryFolder();
  writeFileSync(join(folder, name), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  writeFileSync(join(folder, "prompt"), "Do it");
  const own = { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder, TMPDIR: folder };
  const env = { ...own, AGENT_PROMPT_FILE: join(folder, "prompt") };
  return execFileSync(file, args, { encoding: "utf8", env, cwd: folder, stdio: "pipe" });
}

test("there is one for each coding agent", () => {
  expect(presetNames).toEqual(["claude", "codex", "gemini", "opencode", "aider", "copilot"]);
});

describe.each(presetNames)("%s", (name) => {
  test("is started with the model, whose name the shell does not interpret", () => {
    const printArguments = 'for one; do echo "$one"; done';
    const own = run(name, printArguments).trim().split("\n");
    const all = run(name, printArguments, "$(echo x)").trim().split("\n");
    expect(own).not.toContain("--model");
    const at = all.indexOf("--model");
    expect(all[at + 1]).toBe("$(echo x)");
    expect(all).toHaveLength(own.length + 2);
  });

  test("is confined like any other program, and may use only its own installation", () => {
    expect(agentOf(name)).toMatchObject({ isTrusted: false, programs: [name], reads: [] });
  });

  test("reports its final message", () => {
    const { readReport } = agentOf(name);
    expect(readReport(recorded(`${name}-cannot`))).toMatchObject({ message: "I cannot do this.", error: undefined });
    const message = name === "aider" ? /^Here:\n\nnote.md\n/ : /^Done\. Final @words of #1 the agent\.$/;
    expect(readReport(recorded(`${name}-change`))).toMatchObject({
      message: expect.stringMatching(message),
      error: undefined,
    });
  });

  test("reports an error of its model as text, whatever its exit code is", () => {
    const { error } = agentOf(name).readReport(recorded(`${name}-failure`));
    expect(error).toMatch(/scripted failure$/);
  });

  test("has failed if its output ends before its result", () => {
    const { readReport } = agentOf(name);
    const lines = recorded(`${name}-change`).split("\n");
    for (const output of ["", lines[0] ?? "", '{"type":', "null\n[]\n{}\n"])
      expect(readReport(output)).toEqual({ message: undefined, error: undefined, hasEnded: false });
  });

  test("reads a result whose beginning is cut off", () => {
    const output = recorded(`${name}-cannot`);
    const cut = output.indexOf("\n") - 5;
    expect(agentOf(name).readReport(output.slice(cut)).message).toBe("I cannot do this.");
  });

  test("gets a line before the prompt, so that no prompt starts with a command of its own", () => {
    expect(agentOf(name).promptPrefix).toMatch(/^\w.*\n\n$/);
  });

  test("is shown as its model, or else by its name", () => {
    expect(agentOf(name).model).toBe(name);
    expect(presetAgent(name, environment, "large")?.model).toBe("large");
  });
});

test("codex offers no tool of the provider, for whatever model", () => {
  for (const isFollowUp of [false, true])
    expect(script("codex", isFollowUp, true)).toContain(`-c 'web_search="disabled"' `);
  expect(run("codex", 'for one; do echo "$one"; done', "new-model")).toContain('\n-c\nweb_search="disabled"\n');
});

test("reports what it cost, if the agent says that", () => {
  const costs = presetNames.map((name) => {
    const { costUsd, sessionCost } = agentOf(name).readReport(recorded(`${name}-change`));
    return [name, costUsd ?? sessionCost?.totalUsd];
  });
  expect(Object.fromEntries(costs)).toEqual({
    claude: 0.000047999999999999994,
    codex: undefined,
    gemini: undefined,
    // The cost of two steps.
    opencode: 0.000036,
    aider: 0.000013,
    copilot: undefined,
  });
});

test("claude's cost is that of its session, which a follow-up continues", () => {
  const { readReport } = agentOf("claude");
  const [first, second] = ["claude-change", "claude-cannot"].map((name) => readReport(recorded(name)).sessionCost);
  expect(second?.session).toBe(first?.session);
  expect(second?.totalUsd).toBeGreaterThan(first?.totalUsd ?? 1);
});

test("opencode's cost is unknown if a model has no price, or the first steps are cut off", () => {
  const { readReport } = agentOf("opencode");
  const change = recorded("opencode-change");
  expect(readReport(change.replace('"cost":0.000018', '"cost":0')).costUsd).toBeUndefined();
  expect(readReport(change.replace('"cost":0.000018', '"cost":"0.1"')).costUsd).toBeUndefined();
  expect(readReport(" ".repeat(1024 * 1024 - change.length) + change).costUsd).toBeUndefined();
});

test("aider's cost is that of all its messages, and unknown without a price", () => {
  const { readReport } = agentOf("aider");
  const change = recorded("aider-change");
  const costOf = (end: string) => readReport(change.replace(/Cost: .*/, end)).costUsd;
  expect(costOf("Cost: $0.02 message, $1.25 session.")).toBe(1.25);
  for (const end of ["", "Cost: $0.02 message", "Cost: $0.02 message, $1.25 session. Really: $9 session"])
    expect(costOf(end)).toBeUndefined();
});

test("there is no agent of another name", () => {
  expect(presetAgent("other", environment)).toBeUndefined();
  expect(presetPackage("other")).toBeUndefined();
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
    copilot: "--continue",
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
    copilot: "--allow-tool write",
  });
});

test("uses the first model whose key is set, and passes only that key and what belongs to it", () => {
  const agent = presetAgent("opencode", { OPENAI_API_KEY: "o", OPENAI_BASE_URL: "http://127.0.0.1:8080/v1" });
  expect(agent).toMatchObject({
    passes: ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_CUSTOM_HEADERS"],
    modelEndpoint: { url: "http://127.0.0.1:8080/v1", keyVariable: "OPENAI_API_KEY" },
  });
  expect(agent?.modelEndpoint?.header("o")).toEqual(["authorization", "Bearer o"]);
  expect(presetAgent("opencode", { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o" })).toMatchObject({
    passes: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"],
    modelEndpoint: { url: "https://api.anthropic.com/v1", keyVariable: "ANTHROPIC_API_KEY" },
  });
});

test.each([
  ["claude", "ANTHROPIC_API_KEY", "x-api-key: the-key"],
  ["claude", "ANTHROPIC_AUTH_TOKEN", "authorization: Bearer the-key"],
  ["claude", "CLAUDE_CODE_OAUTH_TOKEN", "authorization: Bearer the-key"],
  ["codex", "CODEX_API_KEY", "authorization: Bearer the-key"],
  ["codex", "OPENAI_API_KEY", "authorization: Bearer the-key"],
  ["gemini", "GEMINI_API_KEY", "x-goog-api-key: the-key"],
  ["opencode", "ANTHROPIC_API_KEY", "x-api-key: the-key"],
  ["opencode", "OPENAI_API_KEY", "authorization: Bearer the-key"],
  ["aider", "ANTHROPIC_API_KEY", "x-api-key: the-key"],
  ["aider", "OPENAI_API_KEY", "authorization: Bearer the-key"],
  ["copilot", "COPILOT_GITHUB_TOKEN", "authorization: Bearer the-key"],
])("the model of %s gets %s in the header that its API requires", (name, keyVariable, header) => {
  const agent = presetAgent(name, { [keyVariable]: "the-key" });
  expect(agent?.modelEndpoint?.header("the-key").join(": ")).toBe(header);
  expect(agent?.passes[0]).toBe(keyVariable);
});

test("neither updates itself nor reports its use, which need a network that an agent may not have", () => {
  expect(agentOf("claude").environment).toMatchObject({
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  });
  expect(agentOf("opencode").environment).toMatchObject({ OPENCODE_DISABLE_AUTOUPDATE: "1" });
  const settings = JSON.parse(run("gemini", 'cat "$GEMINI_CLI_SYSTEM_SETTINGS_PATH"'));
  expect(settings).toMatchObject({
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
  });
});

test("Gemini takes the key from its environment, and asks for no other way to sign in", () => {
  const settings = JSON.parse(run("gemini", 'cat "$GEMINI_CLI_SYSTEM_SETTINGS_PATH"'));
  expect(settings).toMatchObject({ security: { auth: { selectedType: "gemini-api-key" } } });
});

test.each(presetNames)(
  "%s reaches no host directly, so that it can use no other key than that of the service, and no more of its files",
  (name) => {
    expect(agentOf(name)).toMatchObject({ hosts: [], reads: [], isTrusted: false });
  },
);

test("is installed by the package manager that has it", () => {
  expect(agentOf("claude").install).toMatch(/^npm install --global @anthropic-ai\/claude-code@[\d.]+$/);
  expect(agentOf("aider").install).toMatch(/^pip install aider-chat==[\d.]+$/);
});

test("rejects a base URL that is none", () => {
  const wrong = { ...environment, ANTHROPIC_BASE_URL: "localhost" };
  expect(() => presetAgent("claude", wrong)).toThrow("ANTHROPIC_BASE_URL must be a URL.");
});

test.each([
  ["claude", "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN"],
  ["codex", "CODEX_API_KEY or OPENAI_API_KEY"],
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
  for (const end of ["", "\n", "\n\nSee the log\n"])
    expect(readReport(`${retried}litellm.APIError: gone${end}`).error).toBe("litellm.APIError: gone");
});

test("reads aider's final message, whatever lines are around it and whatever is quoted", () => {
  const { readReport } = agentOf("aider");
  const printed = (before: string, after = "") =>
    `Repo-map: x\n${before}\n\nSee Git repo: a.\nIt works.\n\nTokens: 2.1k sent, 35 received.\n${after}`;
  const report = { message: "See Git repo: a.\nIt works.", error: undefined };
  for (const line of ["Added docs/a.md to the chat", "Applied edit to a.md", "Commit 0123abc Add a page"])
    expect(readReport(printed(line))).toEqual(report);
  const commit = "Commit 0123abc Explain litellm.APIError: gone, and Tokens: 12 sent, 1 received.\n";
  expect(readReport(printed("", commit))).toEqual(report);
});

test.each([
  [
    "a limit of tokens",
    "\n\nModel claude-x has hit a token limit!\nToken counts below are approximate.\n\nInput tokens: ~9\n",
  ],
  ["edits that do not apply", "The LLM did not conform to the edit format.\nOnly 3 reflections allowed, stopping.\n"],
  [
    "a bug of its own",
    'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: x\n\nThe key x is\nmissing\n',
  ],
])("aider has failed if it gave up after an answer: %s", (_, end) => {
  const output = recorded("aider-cannot") + end;
  const { error, message, costUsd } = agentOf("aider").readReport(output);
  const said =
    /^(?:Model claude-x has hit a token limit! Token counts .*|Only 3 reflections allowed, stopping\.|The key x is missing)$/;
  expect({ error, message, costUsd }).toEqual({
    error: expect.stringMatching(said),
    message: undefined,
    costUsd: 0.000013,
  });
});

/** Returns what is read of Gemini CLI's output: an edit, then these events, then a result. */
function geminiEnd(events: readonly object[], status = "success") {
  const edit = [{ type: "tool_use" }, { type: "tool_result", status: "success" }];
  return agentOf("gemini").readReport(
    [said("I edit."), ...edit, ...events, { type: "result", status }].map((event) => JSON.stringify(event)).join("\n"),
  );
}
const said = (content: string) => ({ type: "message", role: "assistant", content, delta: true });
const warned = (message: string, severity: string) => ({ type: "error", severity, message });

test.each([
  [
    "a loop",
    [said("Again."), warned("Loop detected, stopping execution", "warning")],
    "Loop detected, stopping execution",
  ],
  ["a limit", [warned("Maximum session turns exceeded", "error")], "Maximum session turns exceeded"],
  ["a full context or a hook", [], expect.stringMatching(/^it ended without an answer/)],
  ["a rejected prompt", [warned("Agent execution blocked: no", "warning")], "Agent execution blocked: no"],
])("Gemini has failed if it gave up, which it calls a success: %s", (_, events, error) => {
  expect(geminiEnd(events)).toMatchObject({ error });
});

test("Gemini has completed if it went on after a warning", () => {
  const events = [warned("Agent execution blocked: test first", "warning"), said("Tested.")];
  expect(geminiEnd(events)).toEqual({ message: "Tested.", error: undefined, hasEnded: true });
});

test("the reason of Gemini's failure is its last error, if its result has none", () => {
  const reason = "Model response was truncated because it exceeded the token limit.";
  expect(geminiEnd([warned(reason, "error")], "error").error).toBe(reason);
});

test.each(["hook_stopped", "tool_deferred"])(
  "claude has failed if a hook ended it, which it calls a success: %s",
  (end) => {
    const output = recorded("claude-change").replace('"terminal_reason":"completed"', `"terminal_reason":"${end}"`);
    expect(agentOf("claude").readReport(output).error).toBe(`a hook stopped it: ${end}`);
  },
);

test("joins the pieces of Gemini's final message, also if it used no tool", () => {
  const piece = (content: string) => JSON.stringify({ type: "message", role: "assistant", content });
  const output = [piece("I can"), piece("not"), piece(" do this."), '{"type":"result","status":"success"}'].join("\n");
  expect(agentOf("gemini").readReport(output).message).toBe("I cannot do this.");
});

test.each(["null", '{"message":42}', '{"message":null}', "{}", '"message"'])(
  "reports a failure without a reason if an agent gives none that is text: %s",
  (error) => {
    const failed = { message: undefined, error: "no reason", hasEnded: true };
    expect(agentOf("codex").readReport(`{"type":"turn.failed","error":${error}}`)).toEqual(failed);
    expect(agentOf("gemini").readReport(`{"type":"result","status":"error","error":${error}}`)).toEqual(failed);
    expect(agentOf("opencode").readReport(`{"type":"error","error":{"data":${error}}}`)).toEqual(failed);
  },
);
