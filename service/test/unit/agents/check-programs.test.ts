import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { builtInEditor, shellAgent } from "../../../src/agents/agent.ts";
import { checkPrograms } from "../../../src/agents/check-programs.ts";
import { presetAgent } from "../../../src/agents/presets.ts";

function folderWith(name: string, mode: number): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, name), "#!/bin/sh\n");
  chmodSync(join(folder, name), mode);
  return folder;
}

const claude = () => {
  const agent = presetAgent("claude", { ANTHROPIC_API_KEY: "a" });
  if (agent === undefined) throw new Error("no preset claude");
  return agent;
};

test("finds a program in any folder of PATH", () => {
  expect(() => checkPrograms(claude(), `/nowhere:${folderWith("claude", 0o755)}`)).not.toThrow();
});

test("says how to install a preset's program that is missing", () => {
  const advice =
    "the agent claude was not found in PATH: install it with npm install --global @anthropic-ai/claude-code";
  expect(() => checkPrograms(claude(), temporaryFolder())).toThrow(advice);
  expect(() => checkPrograms(claude(), undefined)).toThrow(advice);
});

test("says which file is not executable", () => {
  const folder = folderWith("agent.sh", 0o644);
  const file = join(folder, "agent.sh");
  const advice = `the agent ${file} is not executable: run chmod +x ${file}`;
  expect(() => checkPrograms(shellAgent(`KEY=x ${file} --fast`), "")).toThrow(advice);
  expect(() => checkPrograms(shellAgent("agent.sh"), folder)).toThrow(advice);
});

test.each(["no-such-agent", "exit-agent", "my-exit"])("says what to do if the command %s is missing", (name) => {
  expect(() => checkPrograms(shellAgent(name), temporaryFolder())).toThrow(
    `the agent ${name} was not found in PATH: install it, or change --agent`,
  );
});

test("does not take a folder for a program", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "claude"));
  expect(() => checkPrograms(claude(), folder)).toThrow("was not found in PATH");
});

test.each([
  "cd docs && ./agent.sh",
  "( sleep 1 )",
  "./agent.sh",
  "scripts/agent.sh",
  '"/a b/agent"',
  "exit 1",
  "$AGENT",
])("leaves it to the shell what %j runs", (command) => {
  expect(() => checkPrograms(shellAgent(command), "")).not.toThrow();
});

test("requires nothing for the built-in editor", () => {
  expect(() => checkPrograms(builtInEditor, "")).not.toThrow();
});
