import { expect, test } from "vitest";
import { help } from "../../../src/options/help.ts";
import { type Option, optionNames, options } from "../../../src/options/table.ts";

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

test("names the agents", () => {
  expect(help).toContain("one of claude, codex, gemini, opencode and aider: a coding agent");
});
