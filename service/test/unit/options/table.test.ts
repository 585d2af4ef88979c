import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../../test/support/metadata.ts";
import { help } from "../../../src/options/help.ts";
import { type Option, optionNames, options, withKeys } from "../../../src/options/table.ts";

const lines = help.split("\n");
const table: [string, Option<unknown>][] = optionNames.map((name) => [name, options[name]]);
const inOneLine = (text: string) => text.replace(/\s+/g, " ");

test.each(table)("the help shows --%s with each of its meanings", (name, option) => {
  for (const [value, texts] of Object.entries(option.help))
    expect(inOneLine(help)).toContain(inOneLine(` --${name} ${value} ${texts.join(" ")} `));
  // An option without help is one of a command, whose usage shows it.
  expect(lines.filter((line) => line.trimStart().startsWith("npm run") || line.startsWith("  --")).join("\n")).toMatch(
    new RegExp(`--${name}( |$)`, "m"),
  );
});

test("the texts of all options are in one column", () => {
  const [first, last] = [lines.findIndex((line) => line.startsWith("  --")), lines.indexOf("", 20)];
  for (const line of lines.slice(first, last)) expect(line).toMatch(/^( {2}--\S.{22} \S| {28}\S| {2}--\S+ \S{15,}$)/);
});

test("no line of the help is wider than a terminal with 132 columns", () => {
  expect(lines.filter((line) => line.length > 132)).toEqual([]);
});

test("docs/operating.md has each key of a project in the configuration, and no other", () => {
  const page = readFileSync(join(root, "service/docs/operating.md"), "utf8");
  const section = /^\| key \| value \|\n\| --- \| --- \|\n((?:\|.*\n)+)/m.exec(page)?.[1] ?? "";
  const shown = section.split("\n").flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)]);
  const keys = table.flatMap(([, { key }]) => key ?? []);
  expect(shown.map(([, key]) => key).sort()).toEqual([...keys, "githubTokenEnv"].sort());
});

test("messages name keys in place of options", () => {
  expect(withKeys("--agent-network model requires --sandbox bwrap, --agents-per-project and --no-option.")).toBe(
    "agentNetwork model requires sandbox bwrap, agents and --no-option.",
  );
});
