import { expect, test } from "vitest";
import { parseCommandLine } from "../../../src/options/command-line.ts";
import { type Option, options, serviceOptions } from "../../../src/options/table.ts";

function helpOf(...words: string[]): string {
  const command = parseCommandLine([...words, "--help"], {});
  if (command.kind !== "help") throw new Error(`the command is ${command.kind}`);
  return command.text;
}

const table: [string, Option<unknown>][] = serviceOptions.map((name) => [name, options[name]]);
const commands = ["", "api", "worker", "backup", "export", "migrate", "jobs", "key"];
const helps = commands.map((word): [string, string[]] => [word, helpOf(...(word ? [word] : [])).split("\n")]);
const inOneLine = (text: string) => text.replace(/\s+/g, " ");

test("the help shows each option with each of its meanings", () => {
  const help = inOneLine(helpOf());
  for (const [name, option] of table)
    for (const [value, text] of Object.entries(option.help))
      expect(help).toContain(inOneLine(` --${name} ${value} ${text} `));
});

test.each(helps)(
  "the help of %j fits a terminal with 132 columns, with texts in one column, and its usage names what it shows",
  (word, lines) => {
    const first = lines.findIndex((line) => line.startsWith("  --"));
    for (const line of lines.slice(first, lines.indexOf("", first)))
      expect(line).toMatch(/^( {2}--\S.{22} \S| {28}\S| {2}--\S+ \S{15,}$)/);
    expect(lines.filter((line) => line.length > 132)).toEqual([]);
    const usage = lines.filter((line) => line.includes("npm run service -- ") && line.includes(`-- ${word}`));
    const named = word === "" ? [] : usage.flatMap((line) => line.match(/(?<=[ [])--[a-z-]+/g) ?? []);
    for (const name of named) expect(lines.some((line) => line.startsWith(`  ${name} `))).toBe(true);
  },
);

test("the help of the service has the usage of all commands", () => {
  for (const word of commands)
    expect(helpOf()).toContain(`npm run service -- ${word.replace(/^(api|worker)$/, "[api|worker]")}`);
});

test("names the agents", () => {
  expect(inOneLine(helpOf())).toContain("one of claude, codex, gemini, opencode, aider and copilot: a coding agent");
});
