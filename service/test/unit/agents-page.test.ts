import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../test/support/metadata.ts";
import { installCommand, presetAgent, presetNames } from "../../src/agents/presets.ts";
import { agents, packageOf } from "../agents/agents.ts";

const page = readFileSync(resolve(root, "service/docs/agents.md"), "utf8");

/** Returns the cells of an agent's row in the table below a row of these headings. */
function rowOf(name: string, headings: string): string[] {
  const table = page.slice(page.indexOf(headings)).split("\n\n")[0] ?? "";
  const row = table.split("\n").find((line) => line.startsWith(`| \`${name}\` |`)) ?? "";
  return row.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, ""));
}

test("every preset is tested with the real agent", () => {
  expect(agents.map(({ name }) => name)).toEqual(presetNames);
});

test.each(agents)("service/docs/agents.md names the tested version, the package and the keys of $name", (agent) => {
  const [, , version, install, keys = ""] = rowOf(agent.name, "| `--agent` |");
  expect(version).toBe(packageOf(agent).version);
  expect(install).toBe(`\`${installCommand(packageOf(agent))}\``);
  const variables = keys.match(/[A-Z_]{5,}/g)?.join(" or ");
  expect(() => presetAgent(agent.name, {})).toThrow(`--agent ${agent.name} requires ${variables} in the environment.`);
});

test.each(presetNames)("service/docs/agents.md shows the commands of %s", (name) => {
  const environment = { ANTHROPIC_API_KEY: "a", CODEX_API_KEY: "c", GEMINI_API_KEY: "g", COPILOT_GITHUB_TOKEN: "t" };
  const [, cell = ""] = rowOf(name, "| agent | command |");
  const shown = cell.replace(/^`|`$/g, "");
  for (const isFollowUp of [false, true]) {
    const script = presetAgent(name, environment)?.command({ isFollowUp, isSandboxed: true }).args[1] ?? "";
    // Without what it prepares, and without its base URL.
    const command = script
      .replace(/^.*\bexec (?=\w+ )(?!--)/, "")
      .replace(/ \$\{.*\}/, "")
      .replace(" < /dev/null", "");
    expect(command).toBe(isFollowUp ? shown.replace(/[[\]]/g, "") : shown.replace(/\[[^\]]*\] ?/g, ""));
  }
});
